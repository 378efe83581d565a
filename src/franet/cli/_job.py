"""The ranking itself: a plain dict, from which JSON, table and file are made."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from franet._common.progress import Listener, listening
from franet.cli import _cover
from franet.cli._constraints import in_names
from franet.cli._draws import add_stability, draw
from franet.cli._options import AUTO
from franet.cli._rankers import COVER
from franet.cli._report import Reporter
from franet.cli._words import as_options, name_column
from franet.exceptions import BackendError, DataError, UsageError

__all__ = ["feature_labels", "in_words_of_the_shell", "plan_table", "rank_table"]

_DEFAULT_TOP = 16
# Similarities from 0 to 1, by what their edges weigh where they are 0.
_UNRELATED = {"correlation": 1.0, "spearman": 1.0, "abs-correlation": 0.0, "mixed": 0.0}


def rank_table(
    X: Any,
    names: Sequence[str] | None,
    parameters: Mapping[str, Any],
    *,
    ranker: str = COVER,
    top: int | str | None = None,
    n_boot: int | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    listener: Listener | None = None,
    report: Reporter | None = None,
) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """Rank the columns of a table.

    Parameters
    ----------
    X : array of shape (n_examples, n_features)
        The table.
    names : sequence of str or None
        The names of its features.
    parameters : mapping
        The parameters of the estimator, without the number of features; features by
        position.
    ranker : str, default="cover"
        The name of the ranker.
    top : int or "auto", optional
        How many features to show and select; 16, or all if there are fewer.
    n_boot : int, optional
        How many resampled tables are ranked too, to measure how sure the ranks are.
    seed, n_jobs : int, optional
        The seed of these, and the number of threads that rank them.
    listener : callable, optional
        Called as ``listener(stage, done, total)`` during the work.
    report : callable, optional
        Called as ``report(ranker, X, names, seconds, messages)`` after it.

    Returns
    -------
    summary : dict
        What is shown, fit for JSON.
    columns : dict
        The full ranking, best first, as columns.
    fitted : ranker
        The ranker itself.
    """
    from franet.rankers import get

    labels = feature_labels(X, names)
    with in_words_of_the_shell(names):
        top = _number_of_features(top, X, labels, parameters, ranker)
    parameters = {"n_features_to_select": top, **parameters}
    start = time.perf_counter()
    fitted, messages = _fit(ranker, X, names, parameters, listener)
    seconds = time.perf_counter() - start
    order = fitted.order_
    if report is not None:
        report(fitted, X, labels, seconds, messages)
    summary = {
        "format": "franet-ranking",
        "version": 1,
        "ranker": ranker,
        **_findings(fitted, X, order, labels),
        "warnings": messages,
        "parameters": in_names({**get(ranker)().get_params(), **parameters}, labels),
        "seconds": round(seconds, 6),
    }
    columns = _columns(fitted, labels)
    if n_boot is not None:
        with in_words_of_the_shell(names):
            found = draw(fitted, X, n_boot, seed, n_jobs, listener)
        add_stability(found, order, summary, columns)
    return summary, columns, fitted


def feature_labels(X: Any, names: Sequence[str] | None) -> list[str]:
    """Return the names of the features, made up where there are none."""
    return [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)


def plan_table(
    X: Any, names: Sequence[str] | None, parameters: Mapping[str, Any], ranker: str
) -> dict[str, Any]:
    """Return what ranking the columns of a table would take; see `FRANe.plan`."""
    from franet import FRANe

    with in_words_of_the_shell(names):
        if ranker == COVER:
            return _cover.plan(X, parameters)
        return FRANe(**parameters).plan(X)


def _number_of_features(
    top: int | str | None,
    X: Any,
    labels: list[str],
    parameters: Mapping[str, Any],
    ranker: str,
) -> int | str:
    """Return how many features are selected, checked."""
    least, can_be_picked = 0, X.shape[1]
    most, why = X.shape[1], f"the table has {X.shape[1]} features"
    if ranker == COVER:
        least, can_be_picked = _cover.can_be_picked(X, labels, parameters)
        if "exclude" in parameters or "groups" in parameters:
            most = can_be_picked
            why = (
                f"only {most} features can be picked: others are constant, excluded, "
                "or in a group of another one"
            )
    if top is None:
        # At least 1: the ranker explains why nothing can be picked.
        return max(1, least, min(_DEFAULT_TOP, can_be_picked))
    if isinstance(top, int) and 0 < most < top:
        raise UsageError(f"--top {top}: {why}; ask for at most {most}")
    return top


@contextmanager
def in_words_of_the_shell(names: Sequence[str] | None = None) -> Iterator[None]:
    """Name options instead of parameters, and columns by their names, in errors."""
    try:
        yield
    except (BackendError, DataError, UsageError) as err:
        raise type(err)(as_options(name_column(str(err), names))) from err


def _fit(
    name: str,
    X: Any,
    names: Sequence[str] | None,
    parameters: Mapping[str, Any],
    listener: Listener | None,
) -> tuple[Any, list[str]]:
    """Return the fitted ranker and what it warned of."""
    from franet.rankers import get

    with warnings.catch_warnings(record=True) as caught, listening(listener):
        warnings.simplefilter("always")
        with in_words_of_the_shell(names):
            ranker = get(name)(**parameters).fit(X)
    messages = [
        as_options(name_column(str(warning.message), names))
        for warning in caught
        if issubclass(warning.category, UserWarning | RuntimeWarning)
    ]
    if hasattr(ranker, "network_") and ranker.network_.truncated_:
        messages.append(
            f"The network has {ranker.network_.n_edges} edges; only the strongest of "
            "each feature are kept to find redundant features."
        )
    return ranker, list(dict.fromkeys(messages))


def _findings(ranker: Any, X: Any, order: Any, labels: list[str]) -> dict[str, Any]:
    """Return the features that are shown, and what is to know about the ranking."""
    given = getattr(ranker, "similarity", None) == "precomputed"
    shown = order[: ranker.n_features_]
    if is_cover := hasattr(ranker, "suggestion_"):
        # All that were picked are selected where no number is suggested.
        if ranker.n_features_to_select == AUTO and not ranker.n_features_suggested_:
            shown = shown[:_DEFAULT_TOP]
        features, facts = _cover.rows(ranker, shown, labels), _cover.facts(ranker)
    else:
        features = _features(ranker, X, shown, labels)
        has_network = hasattr(ranker, "network_")
        facts = _network_facts(ranker) if has_network else _plain_facts(X)
    return {
        "features": features,
        "n_features": len(labels),
        "n_examples": None if given else X.shape[0],
        **({"n_selected": int(ranker.n_features_)} if is_cover else {}),
        **_approximation(ranker),
        **facts,
    }


def _approximation(ranker: Any) -> dict[str, str]:
    found = getattr(ranker, "approximation_", None)
    return {} if found is None else {"approximation": str(found)}


def _columns(ranker: Any, labels: list[str]) -> dict[str, Any]:
    """Return the full ranking, best first, as columns."""
    columns = ranker._columns(labels)
    if "correlation" in columns:  # of constant columns there is none
        columns["correlation"] = [_number(r) for r in columns["correlation"]]
    first = {name: columns.pop(name) for name in ("rank", "feature")}
    return {**first, "index": ranker.order_, **columns}


def _features(
    ranker: Any, X: Any, order: Any, labels: list[str]
) -> list[dict[str, Any]]:
    if hasattr(ranker, "network_"):
        partner, weight = _redundant_in_network(ranker)
    else:
        partner, weight = _redundant_among(X, order)
    return [
        {
            "rank": rank,
            "name": labels[j],
            "index": int(j),
            "score": _number(ranker.scores_[j]),
            "redundant_with": labels[partner[j]] if partner[j] >= 0 else None,
            "similarity": _number(weight[j]),
        }
        for rank, j in enumerate(order, start=1)
    ]


def _redundant_in_network(ranker: Any) -> tuple[Any, Any]:
    """Return for each feature the better one it repeats most, and what weighs the edge.

    An edge alone does not tell: at a low threshold there are edges between features
    that have nothing in common. A distance knows no bar that would.
    """
    from franet.pairs.alike import REDUNDANT

    partner, weight = ranker.network_.redundant_with()
    known = ranker.weighted and ranker.variant == "paper"
    if known and ranker.similarity in _UNRELATED:
        weak = ~(weight - _UNRELATED[ranker.similarity] >= REDUNDANT)
        partner[weak], weight[weak] = -1, math.nan
    return partner, weight


def _redundant_among(X: Any, order: Any) -> tuple[dict[int, int], dict[int, float]]:
    """Return for each shown feature the better one it repeats most, and their r."""
    from franet.pairs.alike import correlations, redundant_among

    at, weight = redundant_among(correlations(X, order))
    partner = {
        int(j): int(order[k]) if k >= 0 else -1 for j, k in zip(order, at, strict=True)
    }
    return partner, dict(zip(partner, weight.tolist(), strict=True))


def _network_facts(ranker: Any) -> dict[str, Any]:
    return {
        "threshold": _number(ranker.threshold_),
        "quality": _winning_quality(ranker),
        "n_edges": int(ranker.network_.n_edges),
        "n_isolated": int(ranker.n_isolated_),
        "n_constant": int(ranker.constant_.sum()),
    }


def _plain_facts(X: Any) -> dict[str, Any]:
    """Return what is to know of any ranking; a table that was ranked holds no NaN."""
    lo, hi = (getattr(X, end)(axis=0) for end in ("min", "max"))
    if hasattr(lo, "toarray"):
        lo, hi = lo.toarray(), hi.toarray()
    return {"n_constant": int((lo == hi).sum())}


def _winning_quality(ranker: Any) -> float | None:
    if ranker.winner_ is None:
        return None
    return _number(ranker.quality_[ranker.winner_])


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
