"""Options that the commands share which judge rankers: evaluate and bench."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from franet.cli import _complete
from franet.cli._options import FLAG, SEED, Rows, parse_setting
from franet.exceptions import UsageError
from franet.rankers import NAMES, get

_ALL = "all"
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
    specs = NAMES if text.strip() == _ALL else _split(text, ",")
    rankers: dict[str, Any] = {}
    for spec in specs:
        if spec in rankers:
            raise UsageError(f"--rankers names {spec!r} twice; leave one out")
        rankers[spec] = _ranker(spec)
    if not rankers:
        raise UsageError(f"--rankers names none; choose from: {', '.join(NAMES)}")
    return rankers


def parse_datasets(text: str, paper: bool | None = True) -> list[str]:
    """Return the names of data sets, each once.

    Parameters
    ----------
    text : str
        Names in any spelling with commas between them, or ``all``.
    paper : bool or None, default=True
        Which ones are all; see `franet.datasets.names`.
    """
    from franet.datasets import get, names

    wanted = [name for name in map(str.strip, text.split(",")) if name]
    if not wanted:
        raise UsageError("Name the data sets, or say all.")
    if _ALL in map(str.lower, wanted):
        return names(paper=paper)
    return list(dict.fromkeys(get(name).name for name in wanted))


def parse_counts(text: str) -> Any:
    """Return ``powers``, or a list of numbers of features."""
    return text if text == "powers" else _numbers("--n-features", text)


def parse_folds(text: str) -> str | int:
    """Return ``paper``, or a number of folds."""
    if text == "paper":
        return text
    number, *more = _numbers("--folds", text)
    if more:
        raise UsageError(f"--folds {text}: give 'paper' or one number")
    return number


def parse_measures(text: str | None) -> list[str] | None:
    """Return names of measures; None for the default."""
    from franet.evaluation.measures import MEASURES

    if text is None:
        return None
    return list(MEASURES) if text == _ALL else _split(text, ",")


def _ranker(spec: str) -> Any:
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


def parsed_by(parse: Callable[[str], Any]) -> Callable[..., Any]:
    """Return the callback of an option whose text is parsed, unless by a shell."""

    def parsed(ctx: click.Context, param: click.Parameter, text: str) -> Any:
        return text if ctx.resilient_parsing else parse(text)

    return parsed


_COUNT = {"type": click.IntRange(min=1)}
FORCE: Rows = {"--force": ("Replace files that exist.", FLAG)}
# Of which rankings are judged, and how.
JUDGING: Rows = {
    "--rankers": (
        "Rankers with commas between them, or all. With parameters: "
        "frane:variant=reference:n_thresholds=50",
        {
            "default": "all",
            "metavar": "SPECS",
            "callback": parsed_by(parse_rankers),
            "shell_complete": _complete.rankers,
        },
    ),
    "--folds": (
        "The partition of the paper, or a number of shuffled folds.",
        {"default": "paper", "metavar": "paper|N", "callback": parsed_by(parse_folds)},
    ),
    "--repeats": (
        "Repetitions of --folds N, with other shuffles.",
        {"default": 1, **_COUNT},
    ),
    "--n-features": (
        "At how many features rankings are judged; powers: 1, 2, 4, … and all.",
        {
            "default": "powers",
            "metavar": "powers|16,64",
            "callback": parsed_by(parse_counts),
        },
    ),
    "--seed": (
        "The seed of --folds N, and of rankers that have none.",
        {"default": 0, **SEED},
    ),
}
# Of which results are shown.
SHOWN: Rows = {
    "--at": (
        "How many features the results are shown for.",
        {"default": 16, **_COUNT},
    ),
    "--measure": (
        "The measure to show.",
        {"default": "rmae", "shell_complete": _complete.measures},
    ),
}
