"""The posterior of a comparison in a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import AXES, COMPARISON, checked, optional
from franet.plotting._style import INK, MUTED, PALETTE, new_axes, short

if TYPE_CHECKING:
    from franet.evaluation.statistics import Comparison

__all__ = ["plot_simplex"]

HEIGHT = np.sqrt(3.0) / 2.0
# Where the first is better, where both are equal, where the second is better.
CORNERS = np.array([[0.0, 0.0], [0.5, HEIGHT], [1.0, 0.0]])


@checked(comparison=COMPARISON, ax=optional(AXES))
def plot_simplex(comparison: Comparison, *, ax: Any = None) -> Any:
    """Draw each draw of a comparison by its probabilities of the three regions.

    The nearer a draw is to a corner, the more probable that region. Grey lines part the
    triangle by the most probable region; the numbers are the shares of draws in each.

    Parameters
    ----------
    comparison : Comparison
        What `franet.evaluation.statistics.hierarchical` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from franet.plotting import plot_simplex
    >>> ax = plot_simplex(comparison)  # doctest: +SKIP
    """
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.patches import Polygon

    ax = new_axes(ax, (6.0, 5.4))
    frame = Polygon(CORNERS, closed=True, fc="#f7f8fa", ec=INK, lw=1.2, zorder=1)
    ax.add_patch(frame)
    places = project(comparison.regions)
    shades = LinearSegmentedColormap.from_list("draws", ["#b9d7ea", PALETTE[0], INK])
    cells = ax.hexbin(
        *places.T,
        gridsize=(48, 24),
        extent=(0.0, 1.0, 0.0, HEIGHT),
        mincnt=1,
        cmap=shades,
        norm=LogNorm(),
        linewidths=0.1,
        zorder=2,
    )
    # Cells at an edge may stick out a little, else draws along it would not be seen.
    cells.set_clip_path(Polygon(_grown(0.012), closed=True, transform=ax.transData))
    _borders(ax)
    _label(ax, comparison)
    ax.set_xlim(-0.22, 1.22)
    ax.set_ylim(-0.17, HEIGHT + 0.15)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def project(regions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points of the triangle whose distances to the sides are these."""
    return np.asarray(regions @ CORNERS)


def _grown(by: float) -> NDArray[np.float64]:
    middle = CORNERS.mean(axis=0)
    return np.asarray(middle + (CORNERS - middle) * (1.0 + 2.0 * np.sqrt(3.0) * by))


def _borders(ax: Any) -> None:
    middle = CORNERS.mean(axis=0)
    for j in range(3):
        side = (CORNERS[j] + CORNERS[(j + 1) % 3]) / 2.0
        ax.plot(*np.transpose([middle, side]), color=MUTED, lw=1.0, ls="--", zorder=3)


def _label(ax: Any, comparison: Comparison) -> None:
    first, second = (short(name, 20) for name in comparison.names)
    texts = (
        (f"{first} better", comparison.p_first, (0.0, -0.03), "top"),
        (
            f"equal within {comparison.rope:g}",
            comparison.p_equal,
            (0.5, HEIGHT + 0.03),
            "bottom",
        ),
        (f"{second} better", comparison.p_second, (1.0, -0.03), "top"),
    )
    for text, p, (x, y), align in texts:
        ax.text(x, y, f"{text}\n{p:.3f}", ha="center", va=align, fontsize=10, color=INK)
