"""The ranking itself: a plain dict, from which JSON, table and file are made.

Imported when a command runs: it loads all that a ranking needs.
"""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler

from franet._common.memory import available_bytes, parse_bytes
from franet._common.sentences import not_measured
from franet._common.threads import count_threads
from franet.cli._constraints import in_names
from franet.cli._errors import in_words
from franet.cli._options import AUTO
from franet.cover._constraints import CONSTRAINTS, read_constraints
from franet.estimators._constrained import ConstrainedRanker
from franet.estimators._cover import LARGE
from franet.estimators._draws import FEWEST, Draws
from franet.estimators._stability import HALVES, PERMUTED, Stability
from franet.estimators._validation import TableOfFit
from franet.exceptions import DataError
from franet.pairs.alike import REDUNDANT, correlations, redundant_among
from franet.pairs.columns import Columns
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.similarity._standardize import powers_of_two
from franet.rankers import get

COVER, FRANE = "cover", "frane"
_DEFAULT_TOP = 16
# Similarities from 0 to 1, by what their edges weigh where they are 0.
_UNRELATED = {"correlation": 1.0, "spearman": 1.0, "abs-correlation": 0.0, "mixed": 0.0}
# Beyond this power of two, and below its inverse, squares leave what a float can hold.
_FAR = 256
# What is shown of the stability of a ranking.
_AGREEMENT = (
    "n_halves", "level", "top", "agreement", "kuncheva", "jaccard", "n_degenerate"
)  # fmt: skip
# What nobody asked for may take this many seconds, or this many times the ranking.
_PATIENCE, _TIMES = 10.0, 5.0
NOT_ASKED = not_measured("it was not asked for")


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
    work : float
        Seconds that the cores worked for it.
    """

    summary: dict[str, Any]
    columns: dict[str, Any]
    fitted: Any
    X: Any
    labels: list[str]
    work: float


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
    default = _check_constraints(X, labels, parameters, ranker)
    top = default if top is None else top
    parameters = _to_suggest(ranker, {"n_features_to_select": top, **parameters})
    start, worked = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = get(ranker)(**parameters).fit(X)
    seconds = time.perf_counter() - start
    work = max(seconds, time.process_time() - worked)
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
    return Ranking(summary, columns, fitted, X, labels, work)


def plan_table(X: Any, parameters: Mapping[str, Any], ranker: str) -> dict[str, Any]:
    """Return what ranking the columns of a table would take; see `FRANe.plan`."""
    found: dict[str, Any] = get(ranker)(**_to_suggest(ranker, parameters)).plan(X)
    return found


def _to_suggest(ranker: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters by which enough is picked to say how many are enough."""
    more = {"n_ranked": AUTO} if ranker == COVER else {}
    return more | dict(parameters)


def largest_to_load(ranker: str, parameters: Mapping[str, Any]) -> int | None:
    """Return from how many bytes on a file is read piece by piece; None: never.

    Cover, and the paper's ranking by correlations, can do without the whole table in
    memory.
    """
    from franet.estimators._backend import reads_pieces

    if ranker not in (COVER, FRANE):
        return None
    made = get(ranker)(**parameters)
    if ranker == FRANE and not reads_pieces(made):
        return None
    given = made.max_memory
    memory = available_bytes() // 2 if given is None else parse_bytes(given)
    # The table, its checks and its standardized copy.
    return memory // 4


def add_stability(
    ranking: Ranking, n_halves: int, seed: int | None, n_jobs: int | None
) -> Stability:
    """Rank half-samples, and add how sure ranks are to what `rank_table` returned.

    See `FeatureRanker.stability`.
    """
    found = _stability(ranking, n_halves, seed, n_jobs)
    for name in ("rank_low", "rank_high", "selected", "picked_again", "held"):
        of_all = getattr(found, name)
        # Of a feature that was not picked there is no share.
        whole = np.issubdtype(of_all.dtype, np.integer)
        values = [x if whole else _number(x) for x in of_all.tolist()]
        shown = "selected_share" if name == "selected" else name
        ranking.columns[shown] = [values[j] for j in ranking.fitted.order_]
        for row in ranking.summary["features"]:
            row[shown] = values[row["index"]]
    ranking.summary["stability"] = {
        **{name: getattr(found, name) for name in _AGREEMENT},
        "permuted": found.permuted.tolist(),
        "sentences": found.sentences,
    }
    return found


def stability_unasked(
    ranking: Ranking, seed: int | None, n_jobs: int | None
) -> Stability | str:
    """Return how sure ranks are where this takes little time, or why it is not known.

    It is for the report alone: what else is shown does not depend on time.
    """
    fitted, summary = ranking.fitted, ranking.summary
    if summary["n_examples"] is None:
        return not_measured("similarities have no samples to draw")
    if summary["n_examples"] < FEWEST:
        return not_measured(f"it needs at least {FEWEST} samples")
    # A fit that a device does has that device for itself.
    backend = getattr(fitted, "backend", "numpy")
    small = math.prod(ranking.X.shape) < LARGE
    shares = backend == "numpy" or (backend == "auto" and small)
    n_threads = count_threads(n_jobs) if shares else 1
    fits, took = HALVES + 2 * PERMUTED, summary["seconds"]
    most = max(_PATIENCE, _TIMES * took)
    each = ranking.work / n_threads
    try:
        # The first fit of a process is slower than others: a half is tried.
        if most < fits * each and ranking.work <= most:
            each = _seconds_of_a_half(ranking) / n_threads
        if most < fits * each:
            return not_measured(
                f"ranking took {took:.3g} s, and {fits} half-samples take longer than "
                f"{most:.3g} s"
            )
        return _stability(ranking, HALVES, seed, n_jobs)
    except DataError as err:
        return not_measured(in_words(err).rstrip("."))


def _seconds_of_a_half(ranking: Ranking) -> float:
    """Return how long one core takes to rank a half-sample."""
    table = TableOfFit(ranking.fitted)(ranking.X, False)
    table = table.tocsr() if issparse(table) else table
    start = time.perf_counter()
    Draws(ranking.fitted, table, 1, 0).run(1)
    return time.perf_counter() - start


def _stability(
    ranking: Ranking, n_halves: int, seed: int | None, n_jobs: int | None
) -> Stability:
    """Return how sure the ranking is, with the names of the features."""
    seed = 0 if seed is None else seed
    found: Stability = ranking.fitted.stability(
        ranking.X, n_halves, random_state=seed, n_jobs=n_jobs
    )
    return dataclasses.replace(found, names=np.array(ranking.labels, object))


def _check_constraints(
    X: Any, labels: list[str], parameters: Mapping[str, Any], ranker: str
) -> int:
    """Return how many features are selected where no number is given.

    What the user allows is checked here, where features have their names.
    """
    least, most = 0, X.shape[1]
    if issubclass(get(ranker), ConstrainedRanker):
        given = {name: parameters.get(name) for name in CONSTRAINTS}
        # A table that is read piece by piece is read when it is ranked.
        is_stored = isinstance(X, Columns)
        constant = np.zeros(len(labels), bool) if is_stored else constant_in(X)
        found = read_constraints(np.array(labels, object), constant, **given)
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
    features = _rows(order, labels)
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


def _rows(order: Any, labels: list[str]) -> list[dict[str, Any]]:
    """Return features with their ranks."""
    return [
        {"rank": rank, "name": labels[j], "index": int(j)}
        for rank, j in enumerate(order, start=1)
    ]


def _repeating(
    ranker: Any, order: Any, labels: list[str], partner: Any, weight: Any
) -> list[dict[str, Any]]:
    """Return features with the better one that each repeats most; -1: none."""
    rows = _rows(order, labels)
    for row, k, close in zip(rows, partner, weight, strict=True):
        row["score"] = _number(ranker.scores_[row["index"]])
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
