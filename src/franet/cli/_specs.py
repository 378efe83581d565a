"""Rankers, data sets and numbers as they are written on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from franet.exceptions import UsageError
from franet.rankers import NAMES

__all__ = [
    "ALL",
    "parse_counts",
    "parse_folds",
    "parse_measures",
    "parse_rankers",
    "parse_setting",
]

ALL = "all"
_OPEN, _CLOSE = "([{", ")]}"


def parse_rankers(text: str) -> dict[str, Any]:
    """Return estimators by label, from ``name:param=value:param=value,name,…``.

    Parameters
    ----------
    text : str
        Specifications with commas between them, or ``all`` for every ranker. A value
        is JSON, such as ``5``, ``true`` or ``[1, 2]``, and otherwise text.

    Returns
    -------
    rankers : dict of estimator
        By specification, as it was written.

    Examples
    --------
    >>> parse_rankers("cover")
    {'cover': Cover()}
    >>> parse_rankers("frane:variant=reference:n_thresholds=50,random")
    {'frane:variant=reference:n_thresholds=50': FRANe(n_thresholds=50,
    variant='reference'), 'random': RandomRanking()}
    """
    specs = NAMES if text.strip() == ALL else _split(text, ",")
    rankers: dict[str, Any] = {}
    for spec in specs:
        if spec in rankers:
            raise UsageError(f"--rankers names {spec!r} twice; leave one out")
        rankers[spec] = _ranker(spec)
    if not rankers:
        raise UsageError(f"--rankers names none; choose from: {', '.join(NAMES)}")
    return rankers


def parse_counts(text: str) -> Any:
    """Return ``powers``, or a list of numbers of features."""
    return text if text == "powers" else _numbers("--n-features", text)


def parse_folds(text: str) -> str | int:
    """Return ``paper``, or a number of folds."""
    if text == "paper":
        return text
    (number, *more) = _numbers("--folds", text)
    if more:
        raise UsageError(f"--folds {text}: give 'paper' or one number")
    return number


def parse_measures(text: str | None) -> list[str] | None:
    """Return names of measures; None for the default."""
    from franet.evaluation.measures import MEASURES

    if text is None:
        return None
    return list(MEASURES) if text == ALL else _split(text, ",")


def _ranker(spec: str) -> Any:
    from franet.rankers import get

    name, *settings = _split(spec, ":")
    ranker = get(name)()
    known = ranker.get_params(deep=False)
    parameters = dict(parse_setting(spec, name, item, known) for item in settings)
    ranker.set_params(**parameters)
    try:
        ranker._validate_params()
    except ValueError as err:
        raise UsageError(f"{spec}: {err}") from err
    return ranker


def parse_setting(
    where: str, ranker: str, text: str, known: Iterable[str]
) -> tuple[str, Any]:
    """Return a parameter of a ranker and its value, from ``parameter=value``.

    Parameters
    ----------
    where : str
        Where it is written, for messages.
    ranker : str
        The name of the ranker.
    text : str
        The setting. The value is JSON, and otherwise text.
    known : iterable of str
        The parameters of the ranker.
    """
    parameter, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise UsageError(f"{where}: {text!r} is not of the form parameter=value")
    if parameter not in known:
        raise UsageError(
            f"{where}: {ranker} has no parameter {parameter!r}; it has: "
            f"{', '.join(sorted(known))}"
        )
    return parameter, _value(value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as err:
        raise UsageError(f"{option} {text}: give whole numbers") from err


def _split(text: str, mark: str) -> list[str]:
    """Return the parts between marks that stand outside brackets and quotes."""
    parts, depth, quoted = [""], 0, False
    for c in text:
        if c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c in _OPEN) - (c in _CLOSE)
        if c == mark and depth <= 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]
