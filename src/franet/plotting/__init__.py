"""Pictures of rankings and networks, with matplotlib (the extra ``plot``)."""

from franet.plotting._comparisons import (
    plot_critical_difference,
    plot_curves,
    plot_simplex,
)
from franet.plotting._network import plot_network
from franet.plotting._ranking import (
    plot_explained,
    plot_quality,
    plot_scores,
    plot_similarity,
)

__all__ = [
    "plot_critical_difference",
    "plot_curves",
    "plot_explained",
    "plot_network",
    "plot_quality",
    "plot_scores",
    "plot_similarity",
    "plot_simplex",
]


def __dir__() -> list[str]:
    return sorted(__all__)
