"""The network map as a Bokeh figure; the page moves its labels and highlights."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import Range1d

from franet.report._figures import add_hover, new_figure, sources
from franet.report._text import OTHER, community_color, short, significant

_LINE = {"x0": "x0", "y0": "y0", "x1": "x1", "y1": "y1", "line_color": OTHER}
_COVER_TOOLTIPS = [("stands for", "@stands"), ("represented by", "@by")]
_TOOLTIPS = [
    ("score", "@score"),
    ("community", "@community"),
    ("neighbours", "@neighbors"),
]


def map_figure(summary: dict[str, Any]) -> Any:
    """Return the network map, None where no feature has an edge."""
    drawn = summary["map"]
    if not drawn["row"]:
        return None
    x, y = np.array(drawn["x"]), np.array(drawn["y"])
    fig = new_figure(
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
    add_hover(fig, points, ("feature", "@name"), ("rank", "@rank"), *tooltips)
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
    edges = sources(
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
    spokes = sources("spokes", x0=[], y0=[], x1=[], y1=[])
    fig.segment(source=spokes, line_width=1.6, name="spoke-lines", **_LINE)


def _add_nodes(fig: Any, summary: dict[str, Any], x: Any, y: Any) -> Any:
    shown = [summary["features"][row] for row in summary["map"]["row"]]
    cover = summary["cover"] is not None
    # The area of a disc is its score, or how many features it represents.
    area = [1.0 + f["members"]["count"] if cover else f["score"] or 0.0 for f in shown]
    # Many nodes are drawn smaller.
    largest = float(np.interp(len(x), [40, 300], [28, 17]))
    size = 4.0 + (largest - 4.0) * np.sqrt(np.array(area) / (max(area) or 1.0))
    nodes = sources(
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
        community=[
            "none" if f["community"] < 0 else str(f["community"] + 1) for f in shown
        ],
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
        source=sources("labels", x=[], y=[], text=[], up=[], style=[]),
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
