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


def parse_counts(text: str) -> str | list[int]:
    """Return ``powers``, or a list of numbers of features."""
    try:
        return text if text == "powers" else [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--n-features {text}: give 'powers' or whole numbers"
        ) from None


def parse_folds(text: str) -> str | int:
    """Return ``paper``, or a number of folds."""
    try:
        return text if text == "paper" else int(text)
    except ValueError:
        raise UsageError(f"--folds {text}: give 'paper' or a whole number") from None


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


def parsed(parse: Callable[[str], Any], metavar: str, **more: Any) -> dict[str, Any]:
    """Return what click is to know about an option whose text is parsed."""

    def callback(ctx: click.Context, param: click.Parameter, text: str) -> Any:
        # A shell that completes the line needs no values.
        return text if ctx.resilient_parsing else parse(text)

    return {"callback": callback, "metavar": metavar, **more}


_COUNT = {"type": click.IntRange(min=1)}
FORCE: Rows = {"--force": ("Replace files that exist.", FLAG)}
# Of which rankings are judged, and how.
JUDGING: Rows = {
    "--rankers": (
        "Rankers with commas between them, or all. With parameters: "
        "frane:variant=reference:n_thresholds=50",
        parsed(parse_rankers, "SPECS", shell_complete=_complete.rankers, default="all"),
    ),
    "--folds": (
        "The partition of the paper, or a number of shuffled folds.",
        parsed(parse_folds, "paper|N", default="paper"),
    ),
    "--repeats": (
        "Repetitions of --folds N, with other shuffles.",
        {"default": 1, **_COUNT},
    ),
    "--n-features": (
        "At how many features rankings are judged; powers: 1, 2, 4, … and all.",
        parsed(parse_counts, "powers|16,64", default="powers"),
    ),
    "--seed": (
        "The seed of --folds N, and of rankers that have none.",
        {"default": 0, **SEED},
    ),
}
# Of which results are shown.
SHOWN: Rows = {
    "--at": ("How many features the results are shown for.", {"default": 16, **_COUNT}),
    "--measure": (
        "The measure to show.",
        {"default": "rmae", "shell_complete": _complete.measures},
    ),
}
