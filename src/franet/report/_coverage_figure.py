"""How much of the table the picks cover, and how many of them are suggested."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, HoverTool, NumeralTickFormatter, Range1d, Span
from bokeh.plotting import figure

from franet.report._palette import OTHER, community_color
from franet.report._style import plain, sources
from franet.report._text import short, significant

__all__ = ["coverage_figure"]

_ACCENT, _CHOSEN = community_color(0), community_color(5)


def coverage_figure(summary: dict[str, Any]) -> Any:
    """Return the coverage over the number of picks, and what they keep."""
    cover = summary["cover"]
    n = len(cover["coverage"])
    fig = figure(
        height=320,
        sizing_mode="stretch_width",
        tools="",
        toolbar_location=None,
        x_range=Range1d(0.5 if n > 1 else 0.0, n + 0.5),
        y_range=Range1d(0.0, 1.04),
    )
    plain(fig, axes=True)
    fig.xgrid.visible = False
    fig.min_border_left, fig.min_border_right = 56, 16
    fig.xaxis.axis_label = "features, in the order in which they were picked"
    fig.xaxis.ticker.min_interval = 1
    fig.yaxis.formatter = NumeralTickFormatter(format="0%")
    _add_suggestion(fig, cover)
    source = _points(cover)
    if cover["kept"] is not None:
        fig.line(
            "x", "kept", source=source, line_width=1.5, line_color=OTHER, line_dash=[5]
        )
    fig.line("x", "y", source=source, line_width=2, line_color=_ACCENT)
    dots = fig.scatter("x", "y", source=source, size=6 if n <= 80 else 4, color=_ACCENT)
    _add_mark(fig, cover)
    _add_hover(fig, cover, dots)
    return fig


def _points(cover: dict[str, Any]) -> Any:
    n = len(cover["coverage"])
    columns = {
        "x": np.arange(1, n + 1),
        "y": cover["coverage"],
        "name": [short(name, 48) for name in cover["pick"]],
        "gain": [significant(gain, 3) for gain in cover["gain"]],
    }
    if cover["kept"] is not None:
        columns["kept"] = cover["kept"]
    return sources("coverage", **columns)


def _add_suggestion(fig: Any, cover: dict[str, Any]) -> None:
    """Mark the band and the suggested number, or the least that is needed."""
    count, low, high = cover["n_suggested"], cover["low"], cover["high"]
    at = low if count is None else count
    if at is None:
        return
    if high is not None and low < high:
        fig.add_layout(
            BoxAnnotation(
                left=low,
                right=high,
                fill_color=_CHOSEN,
                fill_alpha=0.1,
                line_color=None,
            )
        )
    fig.add_layout(
        Span(
            location=at,
            dimension="height",
            line_color=_CHOSEN,
            line_dash="dotted" if count is None else "dashed",
            line_width=1.5,
        )
    )


def _add_mark(fig: Any, cover: dict[str, Any]) -> None:
    at = cover["n_suggested"]
    if at is None:
        return
    fig.scatter(
        [at],
        [cover["coverage"][at - 1]],
        size=13,
        marker="diamond",
        fill_color=_CHOSEN,
        line_color=_CHOSEN,
    )


def _add_hover(fig: Any, cover: dict[str, Any], renderer: Any) -> None:
    tooltips = [
        ("features", "@x{0,0}"),
        ("picked last", "@name"),
        ("it adds", "@gain"),
        ("covered", "@y{0.0%}"),
    ]
    if cover["kept"] is not None:
        tooltips.append(("kept", "@kept{0.0%}"))
    fig.add_tools(HoverTool(renderers=[renderer], tooltips=tooltips))
