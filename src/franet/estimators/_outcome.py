"""What a search found, as attributes of the ranker."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from franet.estimators._backend import comparison_of, settings_of
from franet.estimators._base import names_of
from franet.estimators._validation import TableOfFit
from franet.exceptions import ApproximationWarning, DegenerateRankingWarning
from franet.network import AttributeNetwork
from franet.network._origin import Origin, among_all, complete_above
from franet.search.exact import Outcome

if TYPE_CHECKING:
    from franet.estimators._frane import FRANe

__all__ = ["set_outcome", "warn_of"]


def set_outcome(ranker: FRANe, outcome: Outcome, constant: Any) -> None:
    """Set the attributes of a fitted ranker."""

    def widen(values: Any) -> Any:
        wide = np.zeros((*values.shape[:-1], ranker.n_features_in_))
        wide[..., ~constant] = values
        return wide

    ranker._forget()
    second = outcome.second_key
    ranker._set_scores(
        widen(outcome.scores),
        last=constant,
        second=None if second is None else widen(second),
    )
    ranker.constant_ = constant
    ranker.thresholds_ = outcome.thresholds
    ranker.quality_ = outcome.quality
    ranker.quality_bound_ = outcome.quality_bound
    ranker.too_sparse_ = outcome.too_sparse
    ranker.n_edges_ = outcome.n_edges
    ranker.winner_ = outcome.winner
    won = outcome.winner is not None
    ranker.threshold_ = float(outcome.thresholds[outcome.winner]) if won else np.nan
    ranker.n_isolated_ = int((outcome.degrees == 0.0).sum())
    if outcome.approximation is not None:
        ranker.approximation_ = outcome.approximation
    if outcome.all_scores is not None:
        ranker.all_scores_ = widen(outcome.all_scores)
    settings, columns, floor = settings_of(ranker), np.flatnonzero(~constant), None
    if outcome.truncated:
        floor = np.full(len(constant), -np.inf)
        floor[columns] = complete_above(
            outcome.network, settings.max_edges, len(columns)
        )
    ranker.network_ = AttributeNetwork(
        adjacency=among_all(outcome.network, columns, len(constant)),
        names=names_of(ranker),
        scores=ranker.scores_,
        ranking=ranker.ranking_,
        threshold=ranker.threshold_,
        n_edges=int(outcome.n_edges[outcome.winner]) if won else 0,
        truncated_=bool(outcome.truncated),
        _origin=Origin(
            read=TableOfFit(ranker),
            comparison=comparison_of(ranker),
            settings=settings,
            columns=np.arange(len(constant)),
            n_jobs=ranker.n_jobs,
            floor=floor,
        ),
    )


def warn_of(ranker: FRANe, outcome: Outcome) -> None:
    """Warn if the ranking says less than its length suggests."""
    n = len(outcome.scores)
    found = outcome.approximation
    if found is not None and found.is_poor:
        message = f"The ranking may differ from the exact one. {found}"
        warnings.warn(message, ApproximationWarning, stacklevel=4)
    if outcome.winner is None:
        message = f"All features score the same: {outcome.reason}."
    elif ranker.n_isolated_ > n // 2:
        by = (
            "column. tie_break='denser' looks at the next denser network."
            if ranker.tie_break == "column"
            else "their scores in the next denser network."
        )
        message = (
            f"{ranker.n_isolated_} of {n} features have no edge at the winning "
            f"threshold; they share one score and rank by {by}"
        )
    else:
        return
    # Past `fit` and scikit-learn's wrapper around it, to the caller.
    warnings.warn(message, DegenerateRankingWarning, stacklevel=4)
