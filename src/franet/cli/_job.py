"""The ranking itself: a plain dict, from which JSON, table and file are made.

Imported when a command runs: it loads all that a ranking needs.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler

from franet._common.memory import available_bytes, parse_bytes
from franet._common.threads import count_threads
from franet.cli._constraints import in_names
from franet.cli._errors import in_words
from franet.cli._options import AUTO
from franet.cover._constraints import CONSTRAINTS, read_constraints
from franet.cover._rows import n_drawn
from franet.estimators._validation import UNASKED
from franet.exceptions import Setting, UsageError
from franet.pairs.alike import REDUNDANT, correlations, redundant_among
from franet.pairs.coded import CodedTable
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.similarity._standardize import powers_of_two
from franet.rankers import get

COVER, FRANE = "cover", "frane"
_DEFAULT_TOP = 16
# Similarities from 0 to 1, by what their edges weigh where they are 0.
_UNRELATED = {"correlation": 1.0, "spearman": 1.0, "abs-correlation": 0.0, "mixed": 0.0}
# What a fit by Cover takes beside the table: copies of it, and of the samples that are
# predicted; products of its rows or columns, whichever are fewer; and the rest.
_COPIES, _PRODUCTS, _REST = 3.0, 4.5, 40_000_000
# Beyond this power of two, and below its inverse, squares leave what a float can hold.
_FAR = 256
# What is shown of the stability of a ranking.
_AGREEMENT = (
    "n_boot", "method", "level", "top", "kuncheva", "jaccard", "n_degenerate"
)  # fmt: skip


class Ranking(NamedTuple):
    """The ranking of a table.

    Attributes
    ----------
    summary : dict
        What is shown, fit for JSON.
    columns : dict
        The full ranking, best first, as columns.
    fitted : ranker
        The ranker itself.
    X : array of shape (n_examples, n_features)
        The table.
    labels : list of str
        What its features are called.
    """

    summary: dict[str, Any]
    columns: dict[str, Any]
    fitted: Any
    X: Any
    labels: list[str]


def rank_table(
    X: Any,
    labels: list[str],
    parameters: Mapping[str, Any],
    *,
    ranker: str = COVER,
    top: int | str | None = None,
) -> Ranking:
    """Rank the columns of a table.

    Parameters
    ----------
    X : array of shape (n_examples, n_features)
        The table.
    labels : list of str
        What its features are called.
    parameters : mapping
        The parameters of the estimator, without the number of features; features by
        position.
    ranker : str, default="cover"
        The name of the ranker.
    top : int or "auto", optional
        How many features to show and select; 16, or all if there are fewer.
    """
    if ranker == COVER or top is None:
        default = _check_constraints(X, labels, parameters, ranker)
        top = default if top is None else top
    parameters = {"n_features_to_select": top, **parameters}
    if ranker == COVER and top != AUTO:
        # To say how many are enough.
        parameters = {"n_ranked": max(int(top), UNASKED), **parameters}
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = get(ranker)(**parameters).fit(X)
    seconds = time.perf_counter() - start
    messages = [
        in_words(warning.message)
        for warning in caught
        if issubclass(warning.category, UserWarning | RuntimeWarning)
    ]
    if ranker == FRANE and fitted.network_.truncated_:
        messages.append(
            f"The network has {fitted.network_.n_edges} edges; only the strongest of "
            "each feature are kept to find redundant features."
        )
    parameters = fitted.get_params()
    is_given = parameters.get("similarity") == "precomputed"
    findings = {COVER: _picks, FRANE: _central}.get(ranker, _plain)
    shown = fitted.order_[: fitted.n_features_]
    summary = {
        "format": "franet-ranking",
        "version": 1,
        "ranker": ranker,
        "n_features": len(labels),
        "n_examples": None if is_given else X.shape[0],
        **findings(fitted, X, shown, labels),
        "warnings": list(dict.fromkeys(messages)),
        "parameters": in_names(parameters, labels),
        "seconds": round(seconds, 6),
    }
    columns = fitted._columns(labels)
    if ranker == COVER:  # of some features there is none
        for name in ("explained", "increase", "correlation"):
            columns[name] = [_number(value) for value in columns[name]]
    first = {name: columns.pop(name) for name in ("rank", "feature")}
    columns = {**first, "index": fitted.order_, **columns}
    return Ranking(summary, columns, fitted, X, labels)


def plan_table(X: Any, parameters: Mapping[str, Any], ranker: str) -> dict[str, Any]:
    """Return what ranking the columns of a table would take; see `FRANe.plan`."""
    planned = get(ranker)(**parameters)
    if ranker == FRANE:
        found: dict[str, Any] = planned.plan(X)
        return found
    place = planned._place()
    if place.kind not in ("auto", "numpy"):
        raise UsageError(
            "Memory can be predicted for the cores of this machine only, not for {}.",
            place.given,
            Setting("backend", "numpy"),
            remedy="Set {1}.",
        )
    m, n = X.shape
    k = n_drawn(X)
    return {
        "ranker": COVER,
        "n_features": n,
        "n_examples": m,
        "n_threads": count_threads(parameters.get("n_jobs")),
        "memory": int(8 * (_COPIES * n * (m + k) + _PRODUCTS * min(k, n) ** 2)) + _REST,
    }


def largest_to_load(ranker: str, parameters: Mapping[str, Any]) -> int | None:
    """Return from how many bytes on a file is read piece by piece; None: never.

    The paper's ranking by correlations can do without the whole table in memory.
    """
    from franet.estimators._backend import reads_pieces

    if ranker != FRANE:
        return None
    frane = get(ranker)(**parameters)
    if not reads_pieces(frane):
        return None
    given = frane.max_memory
    memory = available_bytes() // 2 if given is None else parse_bytes(given)
    # The table, its checks and its standardized copy.
    return memory // 4


def add_stability(
    ranking: Ranking, n_boot: int, seed: int | None, n_jobs: int | None
) -> None:
    """Rank resampled tables, and add how sure ranks are to what `rank_table` returned.

    See `FeatureRanker.stability`.
    """
    summary, columns, fitted, X, _ = ranking
    found = fitted.stability(
        X,
        n_boot,
        # Rows drawn twice make rare levels tell everything.
        method="half" if isinstance(X, CodedTable) else "bootstrap",
        random_state=0 if seed is None else seed,
        n_jobs=n_jobs,
    )
    values = {
        "rank_low": found.rank_low,
        "rank_high": found.rank_high,
        "selected_share": found.selected,
    }
    for name, of_all in values.items():
        columns[name] = of_all[fitted.order_]
        for row in summary["features"]:
            row[name] = of_all[row["index"]].item()
    summary["stability"] = {name: getattr(found, name) for name in _AGREEMENT}


def _check_constraints(
    X: Any, labels: list[str], parameters: Mapping[str, Any], ranker: str
) -> int:
    """Return how many features are selected where no number is given.

    What the user allows is checked here, where features have their names.
    """
    least, most = 0, X.shape[1]
    if ranker == COVER:
        given = {name: parameters.get(name) for name in CONSTRAINTS}
        found = read_constraints(np.array(labels, object), constant_in(X), **given)
        least, most = len(found.include), found.n_open()
    # At least 1: the ranker explains why nothing can be picked.
    return max(1, least, min(_DEFAULT_TOP, most))


def _picks(ranker: Any, X: Any, order: Any, labels: list[str]) -> dict[str, Any]:
    """Return the features that `Cover` picked, and what is to know about them.

    Those behind the last pick are there where all that is left repeats the picks.
    """
    # All that were picked are selected where no number is suggested.
    if ranker.n_features_to_select == AUTO and not ranker.n_features_suggested_:
        order = order[:_DEFAULT_TOP]
    place = {int(j): i for i, j in enumerate(ranker.order_[: ranker.n_ranked_])}
    features = _rows(ranker, order, labels)
    increases = np.diff(ranker.explained_, prepend=0.0).tolist()
    for row in features:
        j = row["index"]
        others = ranker.members_.get(j, [])
        r = np.abs(ranker.representative_corr_[others])
        at = place.get(j)
        row["explained"] = None if at is None else float(ranker.explained_[at])
        row["increase"] = None if at is None else increases[at]
        row["n_members"] = len(others)
        row["mean_abs_r"] = float(r.mean()) if len(others) else None
    return {
        "features": features,
        "n_selected": int(ranker.n_features_),
        "explained": ranker.explained_.tolist(),
        "n_suggested": ranker.n_features_suggested_,
        "n_not_represented": int(
            np.sum((ranker.representative_ < 0) & ~ranker.constant_)
        ),
        "sentences": ranker.sentences(),
        "n_constant": int(ranker.constant_.sum()),
    }


def _central(ranker: Any, X: Any, order: Any, labels: list[str]) -> dict[str, Any]:
    """Return the features that `FRANe` ranks first, and facts about its network.

    An edge alone does not make a feature redundant: at a low threshold there are edges
    between features that have nothing in common. A distance knows no bar that would.
    """
    partner, weight = ranker.network_.redundant_with()
    known = ranker.weighted and ranker.variant == "paper"
    if known and ranker.similarity in _UNRELATED:
        weak = ~(weight - _UNRELATED[ranker.similarity] >= REDUNDANT)
        partner[weak], weight[weak] = -1, math.nan
    facts: dict[str, Any] = {
        "features": _repeating(ranker, order, labels, partner[order], weight[order]),
        "threshold": _number(ranker.threshold_),
        "quality": None,
        "n_edges": int(ranker.network_.n_edges),
        "n_isolated": int(ranker.n_isolated_),
        "n_constant": int(ranker.constant_.sum()),
    }
    if ranker.winner_ is not None:
        facts["quality"] = _number(ranker.quality_[ranker.winner_])
    if ranker.search == "approximate":
        facts["approximation"] = str(ranker.approximation_)
    return facts


def _plain(ranker: Any, X: Any, order: Any, labels: list[str]) -> dict[str, Any]:
    """Return the features that any ranker ranks first; redundant ones by their r."""
    at, weight = redundant_among(correlations(X, order))
    partner = np.where(at < 0, -1, order[at])
    return {
        "features": _repeating(ranker, order, labels, partner, weight),
        "n_constant": int(constant_in(X).sum()),
    }


def _rows(ranker: Any, order: Any, labels: list[str]) -> list[dict[str, Any]]:
    """Return features with their ranks and scores."""
    scores = [_number(score) for score in ranker.scores_[order]]
    return [
        {"rank": rank, "name": labels[j], "index": int(j), "score": score}
        for rank, (j, score) in enumerate(zip(order, scores, strict=True), start=1)
    ]


def _repeating(
    ranker: Any, order: Any, labels: list[str], partner: Any, weight: Any
) -> list[dict[str, Any]]:
    """Return features with the better one that each repeats most; -1: none."""
    rows = _rows(ranker, order, labels)
    for row, k, close in zip(rows, partner, weight, strict=True):
        row["redundant_with"] = labels[k] if k >= 0 else None
        row["similarity"] = _number(close)
    return rows


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def standardized(X: Any) -> Any:
    """Return the table, dense or sparse, with columns of unit variance.

    A table that holds infinity comes back as it is: the ranker names its column.
    """
    if np.isinf(X.data if issparse(X) else X).any():
        return X
    if issparse(X):
        largest = abs(X).nanmax(axis=0).toarray().ravel()
    else:
        largest = np.fmax.reduce(np.abs(X), axis=0, initial=0)
    far = np.abs(np.frexp(largest)[1]) > _FAR
    if far.any():
        factors = np.where(far, powers_of_two(largest), 1.0)
        scaled = X.multiply(factors) if issparse(X) else X * factors
        X = scaled.asformat(X.format) if issparse(X) else scaled
    with np.errstate(invalid="ignore"):  # the mean of a column of gaps alone
        return StandardScaler(with_mean=False).fit_transform(X)
