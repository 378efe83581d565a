"""The pictures of the page, as Bokeh documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.models import (
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    PlainText,
    Range1d,
)
from bokeh.palettes import interp_palette
from bokeh.plotting import figure

from franet.report._coverage_figure import coverage_figure
from franet.report._curve import edge_figure, quality_figure
from franet.report._network_figure import map_figure
from franet.report._palette import DIVERGING, SEQUENTIAL
from franet.report._style import plain, sources
from franet.report._text import short

__all__ = ["documents"]

_FONT = "11px"
_SHADES = 65  # odd: the middle of a diverging scale is a colour of its own


def documents(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of every figure, by the id of the element it goes into."""
    makers = {
        "figure-map": ("map", map_figure),
        "figure-coverage": ("cover", coverage_figure),
        "figure-quality": ("thresholds", quality_figure),
        "figure-edges": ("thresholds", edge_figure),
        "figure-heat": ("heat", _heat),
    }
    figures = {
        place: make(summary)
        for place, (key, make) in makers.items()
        if summary.get(key) is not None
    }
    return {
        place: _document(model) for place, model in figures.items() if model is not None
    }


def _document(model: Any) -> dict[str, Any]:
    document = Document()
    document.add_root(model)
    # Bokeh counts its models over the life of the process; ours start from one.
    content = _renumbered(document.to_json(deferred=False), {})
    return {"doc": content, "root": content["roots"][0]["id"]}


def _renumbered(value: Any, new: dict[str, str]) -> Any:
    if isinstance(value, list | tuple):
        return [_renumbered(item, new) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _renumbered(item, new) for key, item in value.items() if key != "id"}
    if "id" in value:
        found["id"] = new.setdefault(value["id"], f"m{len(new) + 1}")
    return found


def _heat(summary: dict[str, Any]) -> Any:
    heat, measure = summary["heat"], summary["measure"]
    k = len(heat["row"])
    if k < 2:
        return None
    names = [summary["features"][row]["name"] for row in heat["row"]]
    values = np.array(heat["weight"], float) + measure["offset"]
    i, j = np.nonzero(np.isfinite(values))
    if not len(i):
        return None
    labels = np.array([short(name, 48) for name in names], object)
    source = sources(
        "cells", x=j, y=k - 1 - i, value=values[i, j], one=labels[i], other=labels[j]
    )
    fig = figure(
        name="heat",
        sizing_mode="scale_width",
        aspect_ratio=1.12,
        max_width=900,
        x_range=Range1d(-0.5, k - 0.5),
        y_range=Range1d(-0.5, k - 0.5),
        tools="save",
        toolbar_location=None,
    )
    plain(fig, axes=True)
    color = {"field": "value", "transform": _mapper(values, measure)}
    cells = fig.rect(
        "x",
        "y",
        width=1,
        height=1,
        source=source,
        fill_color=color,
        line_color=color,  # or seams shine through
    )
    _name_axes(fig, names)
    fig.add_tools(
        HoverTool(
            renderers=[cells],
            tooltips=[
                ("", "@one"),
                ("", "@other"),
                (measure["symbol"], "@value{0.000}"),
            ],
        )
    )
    return fig


def _mapper(values: Any, measure: dict[str, Any]) -> LinearColorMapper:
    if measure["low"] == -1.0:
        return _colors(DIVERGING, -1.0, 1.0)
    known = values[np.isfinite(values)]
    low = measure["low"] if measure["low"] is not None else float(known.min())
    high = measure["high"] if measure["high"] is not None else float(known.max())
    return _colors(SEQUENTIAL, low, high)


def _colors(palette: Sequence[str], low: float, high: float) -> LinearColorMapper:
    return LinearColorMapper(
        palette=interp_palette(palette, _SHADES), low=low, high=high
    )


def _name_axes(fig: Any, names: list[str]) -> None:
    """Write names beside the cells; as plain text, for `$$` means TeX to Bokeh."""
    k = len(names)
    for axis, at in ((fig.xaxis, range(k)), (fig.yaxis, range(k - 1, -1, -1))):
        axis.ticker = FixedTicker(ticks=list(range(k)))
        axis.major_label_overrides = {
            place: PlainText(text=short(name, 20))
            for place, name in zip(at, names, strict=True)
        }
        axis.major_label_text_font_size = _FONT if k <= 32 else "10px"
        axis.major_tick_line_color = None
        axis.axis_line_color = None
    fig.xaxis.major_label_orientation = 1.2
    fig.grid.visible = False
