"""What all pictures share: axes, colours, names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from franet._common.optional import require
from franet.exceptions import DataError, UsageError
from franet.network import AttributeNetwork

__all__ = [
    "INK",
    "MUTED",
    "OTHER",
    "PALETTE",
    "best_of",
    "colours_of",
    "network_of",
    "new_axes",
    "short",
    "star",
    "tidy",
]

# Told apart by people with any kind of colour vision, in this order.
PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#7b5ea7",
    "#b8a800",
    "#8c564b",
    "#17a2a2",
)
OTHER = "#b4b9c0"
INK = "#23272e"
MUTED = "#6b7280"
_LOST = "\N{REPLACEMENT CHARACTER}"


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the given axes, or those of a new figure."""
    pyplot = require("matplotlib.pyplot", "Plotting", "plot")
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def tidy(ax: Any) -> None:
    """Leave out the lines of a frame that say nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color("#c4c9d0")
    ax.tick_params(colors=MUTED, labelcolor=INK)


def star(ax: Any, x: float, y: float, words: str) -> None:
    """Mark what was chosen; y may be NaN where only its place is known."""
    ax.axvline(x, color=PALETTE[5], lw=0.8, alpha=0.5, zorder=1)
    ax.plot(
        [x],
        [y],
        marker="*",
        ms=15,
        color=PALETTE[5],
        mec="white",
        mew=0.8,
        ls="",
        label=words,
        zorder=5,
    )


def colours_of(labels: NDArray[np.intp]) -> list[str]:
    """Return a colour for each community label; those beyond the palette share one."""
    return [PALETTE[c] if 0 <= c < len(PALETTE) else OTHER for c in labels.tolist()]


def short(name: Any, longest: int = 24) -> str:
    """Return a name for a picture: one line, not too long, no formulae."""
    plain = "".join(c if c.isprintable() else _LOST for c in str(name))
    plain = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    return plain.replace("$", r"\$")  # else two of them start a formula


def network_of(given: Any) -> AttributeNetwork:
    """Return the network of a fitted ranker, or a network as it is."""
    if isinstance(given, AttributeNetwork):
        net = given
    else:
        check_is_fitted(given)
        if not hasattr(given, "network_"):
            raise UsageError(
                f"{type(given).__name__} has no network to draw; fit FRANe or Cover."
            )
        net = given.network_
    if not len(net):
        raise DataError("The network has no features: there is nothing to draw.")
    return net


def best_of(net: AttributeNetwork, top: int) -> NDArray[np.intp]:
    """Return the positions of the best features, the best first."""
    if top < 1:
        raise UsageError(f"top={top}: give a number of features, at least 1")
    return np.argsort(net.ranking, kind="stable")[:top]
