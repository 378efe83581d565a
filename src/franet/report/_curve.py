"""The quality of every threshold, and the edges of its network."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, FixedTicker, HoverTool, PlainText, Range1d, Span
from bokeh.plotting import figure

from franet.report._palette import OTHER, community_color
from franet.report._style import plain, sources
from franet.report._text import significant

__all__ = ["edge_figure", "quality_figure"]

_ACCENT, _CHOSEN = community_color(0), community_color(5)


def quality_figure(summary: dict[str, Any]) -> Any:
    """Return the qualities, and bounds where a candidate was discarded by proof."""
    curve = summary["thresholds"]
    quality = np.array(curve["quality"], float)
    bound = np.array(curve["bound"], float)
    solved = np.flatnonzero(np.isfinite(quality))
    proved = np.flatnonzero(np.isnan(quality) & np.isfinite(bound))
    drawn = np.concatenate([quality[solved], bound[proved]])
    if not len(drawn):
        return None
    fig = _figure(summary, 300, _scale(drawn))
    fig.yaxis.axis_label = "quality"
    line = fig.line("x", "y", source=_points(summary, solved, quality), line_width=2)
    line.glyph.line_color = _ACCENT
    dots = fig.scatter(
        "x", "y", source=_points(summary, solved, quality), size=7, color=_ACCENT
    )
    # Triangles that point down: at most so much.
    tops = fig.scatter(
        "x",
        "y",
        source=_points(summary, proved, bound),
        size=8,
        marker="inverted_triangle",
        fill_color=None,
        line_color=OTHER,
        line_width=1.5,
    )
    _mark(fig, summary, quality)
    _hover(fig, summary, dots, "quality")
    _hover(fig, summary, tops, "quality is at most")
    return fig


def edge_figure(summary: dict[str, Any]) -> Any:
    """Return the number of edges at each threshold."""
    edges = np.array(summary["thresholds"]["n_edges"], float)
    there = np.flatnonzero(edges > 0)
    if not len(there):
        return None
    fig = _figure(summary, 190, _scale(edges[there]))
    fig.yaxis.axis_label = "edges"
    fig.xaxis.axis_label = f"threshold on {_symbol(summary)}, sparse to dense"
    source = _points(summary, there, edges)
    fig.line("x", "y", source=source, line_width=2, line_color=_ACCENT)
    dots = fig.scatter("x", "y", source=source, size=4, color=_ACCENT)
    _mark(fig, summary, edges)
    _hover(fig, summary, dots, None)
    return fig


def _figure(summary: dict[str, Any], height: int, scale: str) -> Any:
    n = len(summary["thresholds"]["threshold"])
    fig = figure(
        height=height,
        sizing_mode="stretch_width",
        tools="",
        toolbar_location=None,
        y_axis_type=scale,
        x_range=Range1d(-1.5, n + 0.5),
    )
    plain(fig, axes=True)
    fig.xgrid.visible = False
    sparse = int(np.sum(summary["thresholds"]["too_sparse"]))
    if sparse:
        fig.add_layout(
            BoxAnnotation(
                right=sparse - 0.5, fill_color=OTHER, fill_alpha=0.1, line_color=None
            )
        )
    fig.min_border_left = 64  # the same for both, so that they stand in line
    fig.min_border_right = 16
    ticks = np.unique(np.linspace(0, n - 1, min(n, 6)).round().astype(int))
    fig.xaxis.ticker = FixedTicker(ticks=ticks.tolist())
    fig.xaxis.major_label_overrides = {
        int(at): PlainText(text=_threshold(summary, int(at))) for at in ticks
    }
    return fig


def _scale(values: Any) -> str:
    positive = float(values.min()) > 0
    return "log" if positive and values.max() > 30 * values.min() else "linear"


def _symbol(summary: dict[str, Any]) -> str:
    return str(summary["measure"]["symbol"])


def _threshold(summary: dict[str, Any], at: int) -> str:
    value = summary["thresholds"]["threshold"][at]
    return (
        "–" if value is None else significant(value + summary["measure"]["offset"], 3)
    )


def _points(summary: dict[str, Any], at: Any, values: Any) -> Any:
    edges = summary["thresholds"]["n_edges"]
    return sources(
        "curve",
        x=at,
        y=values[at],
        threshold=[_threshold(summary, int(i)) for i in at],
        edges=[edges[i] for i in at],
        shown=[significant(values[i]) for i in at],
    )


def _mark(fig: Any, summary: dict[str, Any], values: Any) -> None:
    """Mark the chosen threshold, by a line and a larger point."""
    at = summary["thresholds"]["winner"]
    if at is None or not np.isfinite(values[at]):
        return
    fig.add_layout(
        Span(
            location=at,
            dimension="height",
            line_color=_CHOSEN,
            line_dash="dashed",
            line_width=1.5,
        )
    )
    fig.scatter(
        [at],
        [values[at]],
        size=13,
        marker="diamond",
        fill_color=_CHOSEN,
        line_color=_CHOSEN,
    )


def _hover(fig: Any, summary: dict[str, Any], renderer: Any, label: str | None) -> None:
    tooltips = [("threshold", "@threshold"), ("edges", "@edges{0,0}")]
    if label:
        tooltips.insert(1, (label, "@shown"))
    fig.add_tools(HoverTool(renderers=[renderer], tooltips=tooltips))
