"""What all figures share; colours of text and lines are set in the page."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource

__all__ = ["plain", "sources"]


def plain(fig: Any, *, axes: bool) -> None:
    """Make a figure transparent and quiet, so that the page shows through."""
    fig.background_fill_color = fig.border_fill_color = None
    fig.outline_line_color = None
    fig.toolbar.logo = None
    fig.toolbar.visible = fig.toolbar_location is not None
    fig.min_border = 4
    fig.axis.visible = axes
    fig.grid.visible = axes
    fig.axis.minor_tick_line_color = None
    fig.axis.major_label_text_font_size = fig.axis.axis_label_text_font_size = "12px"
    fig.axis.major_label_text_font = fig.axis.axis_label_text_font = "sans-serif"


def sources(name: str, /, **columns: Any) -> ColumnDataSource:
    """Return a source of columns that the page finds by its name."""
    return ColumnDataSource(data=columns, name=name)
