"""Pictures of rankings and networks, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from franet.plotting._coverage import plot_coverage
from franet.plotting._critical_difference import plot_critical_difference
from franet.plotting._curves import plot_curves
from franet.plotting._network import plot_network
from franet.plotting._quality import plot_quality
from franet.plotting._scores import plot_scores
from franet.plotting._similarity import plot_similarity
from franet.plotting._simplex import plot_simplex

__all__ = [
    "plot_coverage",
    "plot_critical_difference",
    "plot_curves",
    "plot_network",
    "plot_quality",
    "plot_scores",
    "plot_similarity",
    "plot_simplex",
]


def __dir__() -> list[str]:
    return sorted(__all__)
