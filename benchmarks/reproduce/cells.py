"""Figures and tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def plain(value: Any) -> str:
    """Return a count as it is, any other number with two digits."""
    return str(value) if isinstance(value, int | np.integer) else f"{value:.2f}"


def listed(words: Iterable[str]) -> str:
    """Return words with commas, or that there are none."""
    return ", ".join(words) or "none"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; numbers stand to the right."""
    lines = [f"| {' | '.join(columns)} |", f"|---{'|--:' * (len(columns) - 1)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
