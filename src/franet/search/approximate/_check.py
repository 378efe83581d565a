"""How far an approximate ranking may be off, told from the data themselves.

Some features get all their edges, by products with every other feature. What the
search found of these edges, and what their scores would be with all of them, tells
about the features that were not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.search.approximate._dense import DenseGraphs
from franet.search.ranking import rank_correlation

# Features drawn, and features of the top of the ranking, that are checked.
DRAWN, TOP = 512, 400
# Of so many at the top it is told how many stay there.
_KEPT = 100
_TOLD = 0.001  # percent; less is rounding


@dataclass(frozen=True)
class Approximation:
    """How an approximate ranking was found, and how far it may be off.

    All figures are about the network at the winning threshold. They come from
    features drawn at random, and from those at the top of the ranking, with all their
    edges.

    Attributes
    ----------
    sampled : bool
        Whether the network is too dense to be stored, so that scores come from a
        sample of the features. Otherwise from edges between near features, or, in a
        nearly complete network, from all edges at once.
    n_checked : int
        Number of features drawn.
    n_cells, n_probes : int
        Number of cells of features, and of those that each feature looked into.
    recall : float
        The share of its edges that was found of a feature, on average over those that
        have edges; NaN if the network was not stored.
    degree_error : float
        The mean error of a weighted degree, as a share of the mean degree.
    score_error : float
        A bound on the mean error of a score, as a share of the mean score, but for
        the chance of the draw.
    score_agreement : float
        Spearman correlation of the scores of the features drawn with their scores by
        all their edges.
    top_agreement : float
        The share of the first 100 features that stay among the first 100 by all their
        edges.
    n_rivals : int
        Number of other thresholds that may be the winner instead: their quality was
        estimated only, and the estimate comes close.
    """

    sampled: bool
    n_checked: int
    n_cells: int
    n_probes: int
    recall: float
    degree_error: float
    score_error: float
    score_agreement: float
    top_agreement: float
    n_rivals: int

    def __str__(self) -> str:
        how = (
            "scores from a sample of the features"
            if self.sampled
            else "a nearly complete network"
            if np.isnan(self.recall)
            else f"{100 * self.recall:.2f} % of the edges found"
        )
        rivals = (
            f"; {self.n_rivals} other thresholds may be as good"
            if self.n_rivals > 1
            else "; another threshold may be as good"
            if self.n_rivals
            else ""
        )
        return (
            f"Approximate: {how}; mean error of a score at most "
            f"{max(100 * self.score_error, _TOLD):.2g} %, rank correlation "
            f"{self.score_agreement:.3f}, {100 * self.top_agreement:.0f} % of the "
            f"first {_KEPT} stay, by all edges of {self.n_checked} features{rivals}."
        )

    @property
    def is_poor(self) -> bool:
        """Whether the ranking may differ visibly from the exact one."""
        return bool(
            self.sampled
            or self.n_rivals
            or self.recall < 0.99
            or self.score_agreement < 0.95
            or self.top_agreement < 0.9
        )


def check(
    graphs: DenseGraphs,
    i: int,
    scores: NDArray[np.float64],
    degrees: NDArray[np.float64],
    z: NDArray[np.float64],
    counts: NDArray[np.int64] | None,
    random: np.random.RandomState,
) -> dict[str, Any]:
    """Return the figures of an approximation that features with all edges tell.

    Parameters
    ----------
    graphs : DenseGraphs
        The graphs, which here only give rows in full.
    i : int
        The graph.
    scores, degrees, z : ndarray of shape (n,)
        What was found for it: z is what a unit of weight passes on.
    counts : ndarray of int of shape (n,) or None
        The number of edges found of each feature; None where edges were not looked
        for.
    random : RandomState
        Draws the features.
    """
    n, δ = len(scores), graphs.damping
    base = (1.0 - δ) / n
    drawn = np.sort(random.permutation(n)[:DRAWN])
    top = np.argsort(-scores, kind="stable")[:TOP]
    true_degrees, passed = graphs.rows(i, drawn, z)
    again = base + δ * passed
    # In the norm Σ d|z| the equation contracts by δ, so that a residual bounds the
    # error; to it comes the error of the degrees with which z became a score.
    kept = true_degrees * z[drawn]
    kept[degrees[drawn] == 0.0] = base
    residual = np.abs(again - kept).mean() / (1.0 - δ)
    off = np.abs(kept - scores[drawn]).mean()
    _, passed = graphs.rows(i, top, z)
    mean_degree = max(float(true_degrees.mean()), 1e-300)
    found = np.nan
    if counts is not None:
        plain = replace(graphs, measure=replace(graphs.measure, weighted=False))
        every, _ = plain.rows(i, drawn, z)
        some = every > 0
        shares = np.minimum(counts[drawn][some] / every[some], 1.0)
        found = float(shares.mean()) if some.any() else 1.0
    return {
        "n_checked": len(drawn),
        "recall": found,
        "degree_error": float(np.abs(degrees[drawn] - true_degrees).mean())
        / mean_degree,
        "score_error": float(residual + off) / float(scores.mean()),
        "score_agreement": rank_correlation(_rounded(scores[drawn]), _rounded(again)),
        "top_agreement": _stay(scores[top], base + δ * passed),
    }


def _rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores of which those equal up to rounding are equal."""
    return np.asarray(np.round(scores / scores.max(), 7))


def _stay(scores: NDArray[np.float64], again: NDArray[np.float64]) -> float:
    """Return the share of the first features that stay first; `scores` descend."""
    size = min(_KEPT, len(scores))
    least = np.sort(again)[-size] * (1.0 - 1e-6)
    return float((again[:size] >= least).mean())
