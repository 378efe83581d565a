"""Text for a page: names are data, and may hold anything."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

__all__ = ["json_for_html", "percent", "short", "significant", "visible"]

_FOR_HTML = {
    ord(c): f"\\u{ord(c):04x}" for c in ("<", ">", "&", "\u2028", "\u2029", "'")
}


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
    # Marks that turn the direction of text would also turn what stands beside it.
    return "�" if unicodedata.bidirectional(c) in _TURNS or _is_odd(c) else c


_TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def _is_odd(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")


def short(text: str, length: int = 28) -> str:
    """Return a name that fits a label.

    Examples
    --------
    >>> short("a very long name", 8)
    'a very …'
    """
    text = visible(text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


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
    >>> percent(0.4803), percent(1.0), percent(None)
    ('48.0 %', '100 %', '–')
    """
    if share is None:
        return "–"
    return "100 %" if share >= 0.9995 else f"{100 * share:.1f} %"
