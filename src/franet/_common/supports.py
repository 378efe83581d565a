"""What goes with a choice, such as an engine: declared once, and checked in one place.

A choice is the value of a parameter. What it supports says which values of other
parameters, and which tables, go with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from franet.exceptions import DataError, Setting, UsageError

# What to do about tables that are not supported.
_DENSE = {"sparse": "Pass X.toarray()", "text": "Drop or encode columns of text"}


@dataclass(frozen=True)
class Supports:
    """What a choice supports.

    Attributes
    ----------
    choice : Setting or str
        The parameter that makes the choice, and its value; or what is chosen, in words.
    instead : Setting, optional
        The choice that supports all.
    values : mapping from str to tuple
        The values of other parameters that go with it; any where one is not named.
    tables : tuple of str
        Which of ``"dense"``, ``"sparse"`` and ``"text"`` tables go with it.
    stored : tuple of str
        Similarities under which a table may be read piece by piece.
    because : mapping from str to str
        Why others do not go with it, by the name of the parameter, or by its value.
    """

    choice: Setting | str
    instead: Setting | None = None
    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    tables: tuple[str, ...] = ("dense", "sparse", "text")
    stored: tuple[str, ...] = ()
    because: Mapping[Any, str] = field(default_factory=dict)


def supported(
    all_of: Iterable[Supports], parameters: Mapping[str, Any], table: str | None = None
) -> bool:
    """Return whether parameters, and a kind of table, go with all of some choices."""
    return next(_refusals(all_of, parameters, table), None) is None


def check_supported(
    all_of: Iterable[Supports], parameters: Mapping[str, Any], table: str | None = None
) -> None:
    """Raise an error for the first parameter, or the table, that is not supported.

    Parameters
    ----------
    all_of : iterable of Supports
        The choices.
    parameters : mapping
        The parameters that are set.
    table : {"dense", "sparse", "text"}, optional
        The kind of table.
    """
    for error in _refusals(all_of, parameters, table):
        raise error


def _refusals(
    all_of: Iterable[Supports], parameters: Mapping[str, Any], table: str | None
) -> Iterator[DataError | UsageError]:
    for each in all_of:
        for name, known in each.values.items():
            value = parameters.get(name, known[0])
            if not any(value is one or value == one for one in known):
                yield _unsupported(each, Setting(name, value), known)
        if table is not None and table not in each.tables:
            yield DataError(
                "{0} does not support {2} tables.",
                each.choice,
                each.instead,
                table,
                remedy=_remedy(_DENSE[table], each),
            )


def _unsupported(each: Supports, given: Setting, known: tuple[Any, ...]) -> UsageError:
    what, why = "{2}", each.because.get(given.parameter, "")
    if callable(given.value):
        what = "a function as {3}"
    elif isinstance(given.value, str):
        why = each.because.get(given.value, why)
    fix = "Leave out {3}"
    if len(known) > 1:
        *first, last = map(repr, known)
        fix = f"Set {{3}} to {', '.join(first)} or {last}"
    return UsageError(
        f"{{0}} does not support {what}{why and ': '}{why}.",
        each.choice,
        each.instead,
        given,
        Setting(given.parameter),
        remedy=_remedy(fix, each),
    )


def _remedy(fix: str, each: Supports) -> str:
    return f"{fix}." if each.instead is None else f"{fix}, or set {{1}}."
