"""Colours that people with colour-blindness tell apart, on light and on dark."""

from __future__ import annotations

__all__ = ["DIVERGING", "OTHER", "SEQUENTIAL", "community_color"]

# After Okabe and Ito; colour is never the only sign, communities have numbers too.
_COMMUNITIES = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#a89a1b",
    "#8170c4",
)
OTHER = "#8d96a1"

# Orange to blue through white, and white to blue: safe without red and green.
_BLUES = ("#e3eef7", "#c3dbee", "#9cc4e2", "#6ca9d3", "#3f8cc1", "#1d6dab", "#0a4c85")
_BROWNS = ("#f9ead7", "#f4d2a7", "#eab271", "#dc8f42", "#c4702a", "#a0541d", "#763b12")
DIVERGING = (*reversed(_BROWNS), "#f7f7f5", *_BLUES)
SEQUENTIAL = ("#f7f7f5", *_BLUES)


def community_color(label: int) -> str:
    """Return the colour of a community; small ones and none share one."""
    return _COMMUNITIES[label] if 0 <= label < len(_COMMUNITIES) else OTHER
