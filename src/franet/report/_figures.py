"""Bokeh figures; the page sets colors of text and lines, and names nodes of the map."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import (
    BoxAnnotation,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    NumeralTickFormatter,
    PlainText,
    Range1d,
    Span,
)
from bokeh.palettes import interp_palette
from bokeh.plotting import figure

from franet.report._text import OTHER, community_color, short, significant

_THRESHOLD, _EDGES = ("threshold", "@threshold"), ("edges", "@edges{0,0}")
_ACCENT, _CHOSEN = community_color(0), community_color(5)
# Orange to blue through white, and white to blue: safe without red and green.
_BLUES = ("#e3eef7", "#c3dbee", "#9cc4e2", "#6ca9d3", "#3f8cc1", "#1d6dab", "#0a4c85")
_BROWNS = ("#f9ead7", "#f4d2a7", "#eab271", "#dc8f42", "#c4702a", "#a0541d", "#763b12")
_SEQUENTIAL = ("#f7f7f5", *_BLUES)
_DIVERGING = (*reversed(_BROWNS), *_SEQUENTIAL)
_SHADES = 65  # odd: the middle of a diverging scale is a color of its own
_LINE = {"x0": "x0", "y0": "y0", "x1": "x1", "y1": "y1", "line_color": OTHER}
_COVER_TOOLTIPS = [("represents", "@stands"), ("represented by", "@by")]
_TOOLTIPS = [
    ("score", "@score"),
    ("community", "@community"),
    ("neighbours", "@neighbors"),
]


def _new_figure(*, axes: bool, toolbar_location: str | None, **options: Any) -> Any:
    """Return a figure, transparent and quiet, so that the page shows through."""
    fig = figure(toolbar_location=toolbar_location, **options)
    fig.background_fill_color = fig.border_fill_color = None
    fig.outline_line_color = None
    fig.toolbar.logo = None
    fig.toolbar.visible = toolbar_location is not None
    fig.min_border = 4
    fig.axis.visible = axes
    fig.grid.visible = axes
    fig.axis.minor_tick_line_color = None
    fig.axis.major_label_text_font_size = fig.axis.axis_label_text_font_size = "12px"
    fig.axis.major_label_text_font = fig.axis.axis_label_text_font = "sans-serif"
    return fig


def _source(name: str, /, **columns: Any) -> ColumnDataSource:
    """Return a source of columns that the page finds by its name."""
    return ColumnDataSource(data=columns, name=name)


def _add_hover(fig: Any, renderer: Any, *tooltips: tuple[str, str]) -> None:
    """Show these values of what the pointer is on."""
    fig.add_tools(HoverTool(renderers=[renderer], tooltips=list(tooltips)))


def _new_chart(height: int, left: int, **options: Any) -> Any:
    """Return a figure of a curve."""
    fig = _new_figure(
        axes=True,
        toolbar_location=None,
        tools="",
        height=height,
        sizing_mode="stretch_width",
        **options,
    )
    fig.xgrid.visible = False
    fig.min_border_left, fig.min_border_right = left, 16
    return fig


def _add_line(fig: Any, source: ColumnDataSource, size: int) -> Any:
    """Draw a line through points, and return the points."""
    fig.line("x", "y", source=source, line_width=2, line_color=_ACCENT)
    return fig.scatter("x", "y", source=source, size=size, color=_ACCENT)


def _add_band(fig: Any, color: str, left: float | None, right: float) -> None:
    fig.add_layout(
        BoxAnnotation(
            left=left, right=right, fill_color=color, fill_alpha=0.1, line_color=None
        )
    )


def _add_mark(fig: Any, at: float, y: float | None) -> None:
    """Mark what was chosen; without a point where only a bound is known."""
    line = Span(location=at, dimension="height", line_color=_CHOSEN, line_width=1.5)
    line.line_dash = "dotted" if y is None else "dashed"
    fig.add_layout(line)
    if y is not None:
        color = {"fill_color": _CHOSEN, "line_color": _CHOSEN}
        fig.scatter([at], [y], size=13, marker="diamond", **color)


def _name_ticks(axis: Any, at: Any, texts: Any) -> None:
    """Write texts at places of an axis; as plain text, for `$$` means TeX to Bokeh."""
    axis.ticker = FixedTicker(ticks=sorted(at))
    axis.major_label_overrides = {
        place: PlainText(text=text) for place, text in zip(at, texts, strict=True)
    }


def explained_figure(summary: dict[str, Any]) -> Any:
    """Return what the first picks explain, and as many principal components."""
    cover = summary["cover"]
    explained, components = cover["explained"], cover["components"]
    n = len(explained)
    lowest = min(0.0, *explained, *(components or [0.0]))
    fig = _new_chart(
        320,
        56,
        x_range=Range1d(0.5 if n > 1 else 0.0, n + 0.5),
        y_range=Range1d(lowest, 1.04),
    )
    fig.xaxis.axis_label = "features, in the order in which they were picked"
    fig.xaxis.ticker.min_interval = 1
    fig.yaxis.formatter = NumeralTickFormatter(format="0%")
    source = _source(
        "explained",
        x=np.arange(1, n + 1),
        y=explained,
        name=[short(name, 48) for name in cover["pick"]],
        increase=cover["increase"],
    )
    tooltips = [
        ("features", "@x{0,0}"),
        ("picked last", "@name"),
        ("explained", "@y{0.0%}"),
        ("increase", "@increase{0.0%}"),
    ]
    if components is not None:
        source.data["components"] = components
        tooltips.append(("components", "@components{0.0%}"))
        style = {"line_width": 1.5, "line_color": OTHER, "line_dash": [5]}
        fig.line("x", "components", source=source, **style)
    dots = _add_line(fig, source, 6 if n <= 80 else 4)
    if (count := cover["n_suggested"]) is not None:
        _add_mark(fig, count, explained[count - 1])
    _add_hover(fig, dots, *tooltips)
    return fig


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
    fig = _threshold_chart(summary, 300, "quality", drawn)
    dots = _add_line(fig, _points(summary, solved, quality), 7)
    # Triangles that point down: at most so much.
    hollow = {"fill_color": None, "line_color": OTHER, "line_width": 1.5}
    source = _points(summary, proved, bound)
    tops = fig.scatter(
        "x", "y", source=source, size=8, marker="inverted_triangle", **hollow
    )
    _add_winner(fig, summary, quality)
    for points, label in ((dots, "quality"), (tops, "quality is at most")):
        _add_hover(fig, points, _THRESHOLD, (label, "@shown"), _EDGES)
    return fig


def edge_figure(summary: dict[str, Any]) -> Any:
    """Return the number of edges at each threshold."""
    edges = np.array(summary["thresholds"]["n_edges"], float)
    there = np.flatnonzero(edges > 0)
    if not len(there):
        return None
    fig = _threshold_chart(summary, 190, "edges", edges[there])
    symbol = summary["measure"]["symbol"]
    fig.xaxis.axis_label = f"threshold on {symbol}, sparse to dense"
    dots = _add_line(fig, _points(summary, there, edges), 4)
    _add_winner(fig, summary, edges)
    _add_hover(fig, dots, _THRESHOLD, _EDGES)
    return fig


def _threshold_chart(
    summary: dict[str, Any], height: int, label: str, values: Any
) -> Any:
    """Return a figure of values at thresholds, without the values."""
    n = len(summary["thresholds"]["threshold"])
    wide = values.min() > 0 and values.max() > 30 * values.min()
    fig = _new_chart(
        height,
        64,  # the same for both, so that they are in line
        y_axis_type="log" if wide else "linear",
        x_range=Range1d(-1.5, n + 0.5),
    )
    fig.yaxis.axis_label = label
    sparse = int(np.sum(summary["thresholds"]["too_sparse"]))
    if sparse:
        _add_band(fig, OTHER, None, sparse - 0.5)
    ticks = np.unique(np.linspace(0, n - 1, min(n, 6)).round().astype(int)).tolist()
    _name_ticks(fig.xaxis, ticks, [_threshold(summary, at) for at in ticks])
    return fig


def _threshold(summary: dict[str, Any], at: int) -> str:
    value = summary["thresholds"]["threshold"][at]
    offset = summary["measure"]["offset"]
    return significant(None if value is None else value + offset, 3)


def _points(summary: dict[str, Any], at: Any, values: Any) -> ColumnDataSource:
    edges = summary["thresholds"]["n_edges"]
    return _source(
        "curve",
        x=at,
        y=values[at],
        threshold=[_threshold(summary, i) for i in at],
        edges=[edges[i] for i in at],
        shown=[significant(values[i]) for i in at],
    )


def _add_winner(fig: Any, summary: dict[str, Any], values: Any) -> None:
    at = summary["thresholds"]["winner"]
    if at is not None and np.isfinite(values[at]):
        _add_mark(fig, at, values[at])


def heat_figure(summary: dict[str, Any]) -> Any:
    """Return the similarities of the best features, None where there are none."""
    heat, measure = summary["heat"], summary["measure"]
    names = [summary["features"][row]["name"] for row in heat["row"]]
    k = len(names)
    values = np.array(heat["weight"], float).reshape(k, k) + measure["offset"]
    i, j = np.nonzero(np.isfinite(values))
    if k < 2 or not len(i):
        return None
    labels = np.array([short(name, 48) for name in names], object)
    source = _source(
        "cells", x=j, y=k - 1 - i, value=values[i, j], one=labels[i], other=labels[j]
    )
    fig = _new_figure(
        axes=True,
        toolbar_location=None,
        name="heat",
        sizing_mode="scale_width",
        aspect_ratio=1.12,
        max_width=900,
        x_range=Range1d(-0.5, k - 0.5),
        y_range=Range1d(-0.5, k - 0.5),
        tools="save",
    )
    color = {"field": "value", "transform": _shades(values[i, j], measure)}
    # The lines too, or seams shine through.
    cells = fig.rect(
        "x", "y", width=1, height=1, source=source, fill_color=color, line_color=color
    )
    for axis, at in ((fig.xaxis, range(k)), (fig.yaxis, range(k - 1, -1, -1))):
        _name_ticks(axis, at, [short(name, 20) for name in names])
        axis.major_label_text_font_size = "11px" if k <= 32 else "10px"
        axis.major_tick_line_color = None
        axis.axis_line_color = None
    fig.xaxis.major_label_orientation = 1.2
    fig.grid.visible = False
    symbol = measure["symbol"]
    _add_hover(fig, cells, ("", "@one"), ("", "@other"), (symbol, "@value{0.000}"))
    return fig


def _shades(known: Any, measure: dict[str, Any]) -> LinearColorMapper:
    low, high = measure["low"], measure["high"]
    palette = _DIVERGING if low == -1.0 else _SEQUENTIAL
    return LinearColorMapper(
        palette=interp_palette(palette, _SHADES),
        low=float(known.min()) if low is None else low,
        high=float(known.max()) if high is None else high,
    )


def map_figure(summary: dict[str, Any]) -> Any:
    """Return the network map, None where no feature has an edge."""
    drawn = summary["map"]
    if not drawn["row"]:
        return None
    x, y = np.array(drawn["x"]), np.array(drawn["y"])
    fig = _new_figure(
        axes=False,
        toolbar_location="above",
        name="map",
        height=560,
        sizing_mode="stretch_width",
        tools="pan,wheel_zoom,box_zoom,tap,reset,save",
        active_drag="pan",
        x_range=_around(x),
        y_range=_around(y),
    )
    _add_edges(fig, drawn, x, y)
    points = _add_nodes(fig, summary, x, y)
    _add_labels(fig)
    tooltips = _TOOLTIPS if summary["cover"] is None else _COVER_TOOLTIPS
    _add_hover(fig, points, ("feature", "@name"), ("rank", "@rank"), *tooltips)
    return fig


def _around(values: Any) -> Range1d:
    low, high = float(np.min(values)), float(np.max(values))
    margin = 0.08 * (high - low) or 1.0
    return Range1d(low - margin, high + margin)


def _add_edges(fig: Any, drawn: dict[str, Any], x: Any, y: Any) -> None:
    a, b = np.array(drawn["a"], int), np.array(drawn["b"], int)
    weight = np.array(drawn["weight"], float)
    spread = np.ptp(weight) if len(weight) else 0.0
    share = (weight - weight.min()) / spread if spread else np.ones(len(weight))
    negative = drawn["negative"] or [False] * len(a)
    edges = _source(
        "edges",
        x0=x[a],
        y0=y[a],
        x1=x[b],
        y1=y[b],
        width=np.round(0.6 + 1.8 * share, 3),
        alpha=np.full(len(a), 0.4),
        dash=["dashed" if flag else "solid" for flag in negative],
    )
    fig.segment(
        source=edges,
        line_width="width",
        line_alpha="alpha",
        line_dash="dash",
        name="edge-lines",
        **_LINE,
    )
    # From a selected node to its strongest neighbours, drawn otherwise or not.
    spokes = _source("spokes", x0=[], y0=[], x1=[], y1=[])
    fig.segment(source=spokes, line_width=1.6, name="spoke-lines", **_LINE)


def _add_nodes(fig: Any, summary: dict[str, Any], x: Any, y: Any) -> Any:
    shown = [summary["features"][row] for row in summary["map"]["row"]]
    cover = summary["cover"] is not None
    # The area of a disc is its score, or how many features it represents.
    area = [1.0 + f["members"]["count"] if cover else f["score"] or 0.0 for f in shown]
    # Many nodes are drawn smaller.
    largest = float(np.interp(len(x), [40, 300], [28, 17]))
    size = 4.0 + (largest - 4.0) * np.sqrt(np.array(area) / (max(area) or 1.0))
    nodes = _source(
        "nodes",
        x=x,
        y=y,
        size=np.round(size, 2),
        color=[community_color(f["community"]) for f in shown],
        alpha=np.full(len(x), 0.95),
        line=np.full(len(x), 1.0),
        name=[short(f["name"], 48) for f in shown],
        rank=[f["rank"] for f in shown],
        score=[significant(f["score"]) for f in shown],
        community=[_label(f["community"]) for f in shown],
        neighbors=[f["n_neighbors"] for f in shown],
    )
    if cover:
        symbol = summary["measure"]["symbol"]
        nodes.data["stands"] = [f"{f['members']['count']:,}" for f in shown]
        nodes.data["by"] = [_role(f["representative"], symbol) for f in shown]
    points = fig.scatter(
        "x",
        "y",
        source=nodes,
        size="size",
        fill_color="color",
        fill_alpha="alpha",
        line_alpha="alpha",
        line_width="line",
        line_color="#ffffff",
        name="node-points",
    )
    # The page shows by alpha what is selected.
    points.selection_glyph = points.nonselection_glyph = None
    return points


def _label(community: int) -> str:
    return "none" if community < 0 else str(community + 1)


def _role(by: dict[str, Any] | None, symbol: str) -> str:
    """Return what represents a feature."""
    if by is None:
        return "itself"
    return f"{short(by['name'], 40)} ({symbol} = {significant(by['weight'], 2)})"


def _add_labels(fig: Any) -> None:
    fig.text(
        "x",
        "y",
        text="text",
        source=_source("labels", x=[], y=[], text=[], up=[], style=[]),
        text_font=value("sans-serif"),
        text_font_size="12px",
        text_font_style="style",
        text_align="center",
        text_baseline="bottom",
        y_offset="up",
        background_fill_color="#ffffff",
        background_fill_alpha=0.78,
        border_radius=3,
        padding=[1, 3],
        name="node-labels",
    )
