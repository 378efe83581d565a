"""Numbers, names and communities as a page shows them.

Names are data, and may hold anything.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable
from typing import Any

from franet._common import sentences
from franet.network._html import COLORS

# Color is never the only sign: communities have numbers too.
_COMMUNITIES = (*COLORS, "#a89a1b", "#8170c4")
OTHER = "#8d96a1"

_FOR_HTML = {
    ord(c): f"\\u{ord(c):04x}" for c in ("<", ">", "&", "\u2028", "\u2029", "'")
}

_TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def community_color(label: int) -> str:
    """Return the color of a community; small ones and none share one."""
    return _COMMUNITIES[label] if 0 <= label < len(_COMMUNITIES) else OTHER


def type_color(at: int, count: int) -> str:
    """Return the color of one of some types, each its own; a legend names them."""
    if count <= len(_COMMUNITIES):
        return _COMMUNITIES[at]
    # Neighbors in the list differ in lightness, too.
    return f"hsl({360 * at / count:.0f} 62% {(42, 58, 50)[at % 3]}%)"


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


def json_for_html(value: Any) -> str:
    r"""Return JSON that cannot end the script element it stands in.

    Examples
    --------
    >>> json_for_html({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_FOR_HTML)


def visible(text: str) -> str:
    """Return a name with signs in place of line ends and other control characters.

    Examples
    --------
    >>> visible("two lines".replace(" ", chr(10)))
    'two␊lines'
    """
    if text.isprintable():
        return text
    return "".join(_sign(c) for c in text)


def _sign(c: str) -> str:
    if ord(c) < 0x20:
        return chr(0x2400 + ord(c))
    if c == "\x7f":
        return "␡"
    odd = unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")
    # Marks that turn the direction of text would also turn what stands beside it.
    return "�" if odd or unicodedata.bidirectional(c) in _TURNS else c


def clip(text: str, length: int) -> str:
    """Return a text of at most so many characters, with … for what is left out."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def short(text: str, length: int = 28) -> str:
    """Return a name that fits a label.

    Examples
    --------
    >>> short("a very long name", 8)
    'a very …'
    """
    return clip(visible(text), length)


def significant(value: float | None, digits: int = 4) -> str:
    """Return a number as people write it.

    Examples
    --------
    >>> significant(0.000123456), significant(1234567.0), significant(None)
    ('0.0001235', '1.235e+06', '–')
    """
    return "–" if value is None else f"{value:.{digits}g}".replace("-", "−")


def percent(share: float | None) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.4803), percent(None)
    ('48.0 %', '–')
    """
    return "–" if share is None else sentences.tenths(share)
