"""The parameters of a ranker, from the options of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from franet.cli._options import AUTO, Option
from franet.cli._specs import parse_setting
from franet.exceptions import UsageError
from franet.rankers import NAMES

__all__ = ["check_options", "largest_to_load", "parameters_of"]

COVER, FRANE = "cover", "frane"
# Options that name features or files of features: see `franet.cli._constraints`.
_OF_FEATURES = ("include", "exclude", "cost", "groups")


def check_options(ctx: click.Context) -> None:
    """Raise where an option was given that the ranker would ignore."""
    ranker, given = ctx.params["ranker"], _given(ctx)
    known = _known(ranker)
    if ctx.params["n_boot"] is not None:
        known |= {"n_jobs"}
    for option in given:
        if option.parameter not in known:
            raise _not_of(ranker, option.opts[0], _with_parameter(option.parameter))
        if isinstance(option.type, click.Choice):
            parameter, value = str(option.parameter), ctx.params[str(option.name)]
            if not _takes(ranker, parameter, value):
                others = [name for name in NAMES if _takes(name, parameter, value)]
                raise _not_of(ranker, f"{option.opts[0]} {value}", others)
    if ctx.params["top"] == AUTO and ranker != COVER:
        raise _not_of(ranker, "--top auto", [COVER])
    if ctx.params["dry_run"] and ranker not in (COVER, FRANE):
        raise _not_of(ranker, "--dry-run", [COVER, FRANE])


def parameters_of(ctx: click.Context) -> dict[str, Any]:
    """Return the parameters of the ranker that were given.

    Those that name features are left out: see `franet.cli._constraints`.
    """
    ranker = ctx.params["ranker"]
    known = _known(ranker)
    found = {
        str(option.parameter): ctx.params[str(option.name)]
        for option in _given(ctx)
        if option.parameter not in _OF_FEATURES and option.parameter in known
    }
    if ctx.params["seed"] is not None and "random_state" in known:
        found["random_state"] = ctx.params["seed"]
    options = _options_by_parameter(ctx)
    for setting in ctx.params["settings"]:
        name, value = parse_setting("--set", ranker, setting, known)
        if name in options or name in found:
            raise UsageError(
                f"--set {setting}: {name} is set by {options.get(name, '--set')}; set "
                "it once, by that option"
            )
        found[name] = value
    return found


def largest_to_load(ranker: str, parameters: Mapping[str, Any]) -> int | None:
    """Return from how many bytes on a file is read piece by piece; None: never.

    The paper's ranking by correlations can do without the whole table in memory.
    """
    from franet._common.memory import available_bytes, parse_bytes
    from franet.estimators._backend import reads_pieces
    from franet.rankers import get

    if ranker != FRANE:
        return None
    frane = get(ranker)(**parameters)
    if not reads_pieces(frane):
        return None
    given = frane.max_memory
    memory = available_bytes() // 2 if given is None else parse_bytes(given)
    # The table, its checks and its standardized copy.
    return memory // 4


def _given(ctx: click.Context) -> list[Option]:
    """Return the options on the command line that set a parameter of the ranker."""
    return [
        option
        for option in ctx.command.params
        if isinstance(option, Option)
        and option.parameter is not None
        and ctx.params[str(option.name)] not in (None, ())
    ]


def _options_by_parameter(ctx: click.Context) -> dict[str, str]:
    named = {"n_features_to_select": "--top", "random_state": "--seed"}
    for option in ctx.command.params:
        if isinstance(option, Option) and option.parameter is not None:
            named[option.parameter] = option.opts[0]
    return named


def _known(ranker: str) -> set[str]:
    """Return the names of the parameters of a ranker."""
    from franet.rankers import get

    return set(get(ranker)().get_params(deep=False))


def _with_parameter(parameter: str | None) -> list[str]:
    return [name for name in NAMES if parameter in _known(name)]


def _takes(ranker: str, parameter: str, value: str) -> bool:
    """Return whether a parameter of a ranker may have the value."""
    from franet.rankers import get

    kinds = get(ranker)._parameter_constraints.get(parameter, [])
    return any(value in getattr(kind, "options", ()) for kind in kinds)


def _not_of(ranker: str, option: str, others: Iterable[str]) -> UsageError:
    known = " or ".join(f"--ranker {name}" for name in others)
    return UsageError(
        f"{option} is not an option of --ranker {ranker}; use {known}, or leave it out"
    )
