"""Numbers as JSON can hold them and people can read them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["number", "numbers", "words"]


def number(value: Any, digits: int | None = None) -> float | None:
    """Return a Python float of so many significant digits; None if it is not finite.

    Examples
    --------
    >>> number(0.123456, 3), number(float("nan"))
    (0.123, None)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    return value if digits is None else float(f"{value:.{digits}g}")


def numbers(values: Iterable[Any], digits: int | None = None) -> list[float | None]:
    """Return the same for each value."""
    return [number(value, digits) for value in values]


def words(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> words(1, "feature"), words(12000, "feature")
    ('1 feature', '12,000 features')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
