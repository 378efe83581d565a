"""What all pictures share: parameters, axes, colors, names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from franet._common.checked import AXES, Kind, check_value, checked, optional
from franet._common.docs import shared_docs
from franet._common.optional import require
from franet.exceptions import DataError, UsageError
from franet.network import AttributeNetwork
from franet.network._html import COLORS, shorten

Function = TypeVar("Function", bound=Callable[..., Any])

# Used in this order.
PALETTE = (*COLORS, "#7b5ea7", "#b8a800", "#8c564b", "#17a2a2")
OTHER = "#b4b9c0"
INK = "#23272e"
MUTED = "#6b7280"
# Lines of what is not the subject.
DASHED: dict[str, Any] = {"color": MUTED, "ls": (0, (4, 2))}
_AX = """
ax : matplotlib.axes.Axes, optional
    Where to draw; by default in a new figure.
"""
_AX_TO_AXES = f"""{_AX}
Returns
-------
ax : matplotlib.axes.Axes
    The axes.
"""


def picture(**kinds: Kind) -> Callable[[Function], Function]:
    """Return a decorator for a function that draws.

    It checks the parameters, `ax` among them, and describes `ax` in the docstring:
    ``{ax}`` is its entry as a parameter, ``{ax_to_axes}`` the same and what is
    returned.

    Parameters
    ----------
    **kinds : Kind
        What the other parameters have to be.
    """

    def decorate(function: Function) -> Function:
        documented = shared_docs(ax=_AX, ax_to_axes=_AX_TO_AXES)(function)
        return checked(**kinds, ax=optional(AXES))(documented)

    return decorate


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the given axes, or those of a new figure."""
    pyplot = require("matplotlib.pyplot", "Plotting", "plot")
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def tidy(ax: Any) -> None:
    """Leave out the lines of a frame that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["bottom", "left"]].set_color("#c4c9d0")
    ax.tick_params(colors=MUTED, labelcolor=INK)


def add_title(ax: Any, text: str) -> None:
    """Write a sentence above a picture."""
    ax.set_title(text, fontsize=10, color=MUTED, loc="left")


def add_star(ax: Any, x: float, y: float, label: str) -> None:
    """Mark what was chosen; y may be NaN where only its place is known."""
    color = PALETTE[5]
    ax.axvline(x, color=color, lw=0.8, alpha=0.5, zorder=1)
    style = {"marker": "*", "ms": 15, "color": color, "mec": "white", "mew": 0.8}
    ax.plot([x], [y], ls="", label=label, zorder=5, **style)


def colors_of(place: NDArray[np.intp]) -> list[str]:
    """Return a color for each place; those beyond the palette and -1 share one."""
    return [PALETTE[c] if 0 <= c < len(PALETTE) else OTHER for c in place.tolist()]


def add_legend(
    ax: Any,
    net: AttributeNetwork,
    member: NDArray[np.intp],
    place: NDArray[np.intp],
    handle: Callable[..., Any],
    text: Callable[[str, int], str],
    *,
    others: str,
    fontsize: int,
    **options: Any,
) -> None:
    """Name the communities of a picture.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    net : AttributeNetwork
        The network that has the communities.
    member, place : ndarray of int
        The community of each feature in the picture, and its place in the palette.
    handle : callable
        Returns what is drawn before a text, by its color and the text.
    text : callable
        Returns what is written, by the name of the best feature and the size.
    others : str
        What is written for features without a color of their own.
    fontsize : int
        The size of the text.
    **options : dict
        Other arguments of ``ax.legend``.
    """
    found = net.communities()
    named = {
        at: text(net.names[found.hub[c]], found.size[c])
        for at, c in zip(place.tolist(), member.tolist(), strict=True)
        if 0 <= at < len(PALETTE)
    }
    handles = [handle(color=PALETTE[at], label=named[at]) for at in sorted(named)]
    if OTHER in colors_of(place):
        handles.append(handle(color=OTHER, label=others))
    style = {"fontsize": fontsize, "title_fontsize": fontsize, "alignment": "left"}
    ax.legend(handles=handles, frameon=False, **style, **options)


def short(name: Any, longest: int = 24) -> str:
    """Return a name for a picture: one line, not too long, no formulae."""
    # Two dollars would start a formula.
    return shorten(str(name), longest).replace("$", r"\$")


def network_of(given: Any) -> AttributeNetwork:
    """Return the network of a fitted ranker, or a network as it is."""
    net = given
    if not isinstance(given, AttributeNetwork):
        check_is_fitted(given)
        net = getattr(given, "network_", None)
    if net is None:
        raise UsageError(
            f"{type(given).__name__} has no network to draw; fit FRANe or Cover."
        )
    if not len(net):
        raise DataError("The network has no features: there is nothing to draw.")
    return net


def best_of(net: AttributeNetwork, top: int) -> NDArray[np.intp]:
    """Return the positions of the best features, the best first."""
    check_value("top", top, top >= 1, "give a number of features, at least 1.")
    return np.argsort(net.ranking, kind="stable")[:top]
