"""The network map as a Bokeh figure; the page moves its labels and highlights."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import HoverTool, Range1d
from bokeh.plotting import figure

from franet.report._palette import OTHER, community_color
from franet.report._style import plain, sources
from franet.report._text import short, significant

__all__ = ["map_figure"]

_LINE = {"x0": "x0", "y0": "y0", "x1": "x1", "y1": "y1", "line_color": OTHER}
_COVER_TOOLTIPS = [
    ("feature", "@name"),
    ("rank", "@rank"),
    ("stands for", "@stands"),
    ("represented by", "@by"),
]
_TOOLTIPS = [
    ("feature", "@name"),
    ("rank", "@rank"),
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
    fig = figure(
        name="map",
        height=560,
        sizing_mode="stretch_width",
        tools="pan,wheel_zoom,box_zoom,tap,reset,save",
        active_drag="pan",
        x_range=_around(x),
        y_range=_around(y),
        toolbar_location="above",
    )
    plain(fig, axes=False)
    _add_edges(fig, drawn, x, y)
    points = _add_nodes(fig, summary, x, y)
    _add_labels(fig)
    tooltips = _TOOLTIPS if summary.get("cover") is None else _COVER_TOOLTIPS
    fig.add_tools(HoverTool(renderers=[points], tooltips=tooltips))
    return fig


def _around(values: Any) -> Range1d:
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.08 * (high - low) or 1.0
    return Range1d(low - room, high + room)


def _add_edges(fig: Any, drawn: dict[str, Any], x: Any, y: Any) -> None:
    a, b = np.array(drawn["a"], int), np.array(drawn["b"], int)
    weight = np.array(drawn["weight"], float)
    spread = np.ptp(weight) if len(weight) else 0.0
    share = (weight - weight.min()) / spread if spread else np.ones(len(weight))
    negative = drawn.get("negative") or [False] * len(a)
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
    cover = summary.get("cover") is not None
    score = np.array([_importance(feature, cover) for feature in shown])
    # Many nodes are drawn smaller; the area of a disc is its score.
    largest = float(np.interp(len(x), [40, 300], [28, 17]))
    size = 4.0 + (largest - 4.0) * np.sqrt(score / (score.max() or 1.0))
    nodes = sources(
        "nodes",
        x=x,
        y=y,
        size=np.round(size, 2),
        color=[community_color(feature["community"]) for feature in shown],
        alpha=np.full(len(x), 0.95),
        line=np.full(len(x), 1.0),
        name=[short(feature["name"], 48) for feature in shown],
        rank=[feature["rank"] for feature in shown],
        score=[significant(feature["score"]) for feature in shown],
        community=[_number(feature["community"]) for feature in shown],
        neighbors=[feature["n_neighbors"] for feature in shown],
        **(_roles(shown, summary["measure"]["symbol"]) if cover else {}),
    )
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
    # The page says by alpha what is selected.
    points.selection_glyph = points.nonselection_glyph = None
    return points


def _importance(feature: dict[str, Any], cover: bool) -> float:
    """Return the area of a node: its score, or how many features it stands for."""
    if cover:
        return 1.0 + int(feature["members"]["count"])
    return feature["score"] or 0.0


def _roles(shown: list[dict[str, Any]], symbol: str) -> dict[str, list[str]]:
    """Return for each node how many features it stands for, and what for it."""
    by = []
    for feature in shown:
        there = feature["representative"]
        by.append(
            f"{short(there['name'], 40)} ({symbol} = {significant(there['weight'], 2)})"
            if there
            else "itself"
        )
    return {"stands": [f"{f['members']['count']:,}" for f in shown], "by": by}


def _number(label: int) -> str:
    return "none" if label < 0 else str(label + 1)


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
