"""Rankers and their parameters, data sets and numbers, as a user writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from franet.cli._options import AUTO, OPTIONS, takers_of
from franet.exceptions import UsageError
from franet.rankers import NAMES

ALL = "all"
COVER, FRANE = "cover", "frane"
# Parameters that name features: see `franet.cli._constraints`.
OF_FEATURES = ("include", "exclude", "cost", "groups")
_OPEN, _CLOSE = "([{", ")]}"


def parameters_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the ranker that were typed; those of features apart.

    Parameters
    ----------
    params : mapping
        The arguments of ``franet rank``.

    Raises
    ------
    UsageError
        An option was given that the ranker would ignore, or a parameter twice.
    """
    ranker = params["ranker"]
    known = _known(ranker)
    found = {}
    for parameter, option in OPTIONS.items():
        value = params.get(parameter)
        if value in (None, ()):
            continue
        if parameter in known:
            takers = takers_of(parameter, value)
            if takers and ranker not in takers:
                raise _not_of(ranker, f"{option} {value}", takers)
            if parameter not in OF_FEATURES:
                found[parameter] = value
        # Resampled tables are ranked on several threads, by any ranker.
        elif parameter != "n_jobs" or params["n_boot"] is None:
            others = [name for name in NAMES if parameter in _known(name)]
            raise _not_of(ranker, option, others)
    if params["top"] == AUTO and ranker != COVER:
        raise _not_of(ranker, "--top auto", [COVER])
    if params["dry_run"] and ranker not in (COVER, FRANE):
        raise _not_of(ranker, "--dry-run", [COVER, FRANE])
    if params["seed"] is not None and "random_state" in known:
        found["random_state"] = params["seed"]
    for setting in params["settings"]:
        name, value = parse_setting("--set", ranker, setting, known)
        if name in OPTIONS or name in found:
            raise UsageError(
                f"--set {setting}: {name} is set by {OPTIONS.get(name, '--set')}; set "
                "it once, by that option"
            )
        found[name] = value
    return found


def _known(ranker: str) -> set[str]:
    """Return the names of the parameters of a ranker."""
    from franet.rankers import get

    return set(get(ranker)().get_params(deep=False))


def _not_of(ranker: str, option: str, others: Iterable[str]) -> UsageError:
    known = " or ".join(f"--ranker {name}" for name in others)
    return UsageError(
        f"{option} is not an option of --ranker {ranker}; use {known}, or leave it out"
    )


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
    number, *more = _numbers("--folds", text)
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
    try:
        return parameter, json.loads(value)
    except ValueError:
        return parameter, value


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
