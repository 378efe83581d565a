"""The options that say how a file is read, how features are ranked, what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import click

from franet.cli._complete import one_of
from franet.cli._paths import Command, Reads, Writes
from franet.estimators._parameters import (
    AGNOS,
    COVER,
    FRANE,
    Choices,
    Parameter,
    Range,
)
from franet.io._registry import FORMATS
from franet.rankers import NAMES

AUTO = "auto"
# Parameters with an option of their own, by the rankers that declare them.
_DECLARED: Mapping[str, Mapping[str, Parameter]] = {
    "cover": COVER,
    "frane": FRANE,
    "agnos": AGNOS,
}
# Headings of the help, in their order.
_INPUT, _RANKING, _COUNT = "Input", "Ranking", "How many"
_CONSTRAINTS, _OUTPUT, _COMPUTE = "Constraints", "Output", "Compute"
_HEADINGS = (_INPUT, _RANKING, _COUNT, _CONSTRAINTS, _OUTPUT, _COMPUTE)

Decorator = Callable[[Any], Any]
# Names of an option and their help, with what else click is to know about it.
Rows = Mapping[str, tuple[str, Mapping[str, Any]]]


class Option(click.Option):
    """An option under a heading of the help.

    Parameters
    ----------
    heading : str
        Where it is listed.
    parameter : str, optional
        The parameter of the ranker that it sets. Rankers without it refuse the option.
    """

    def __init__(
        self, *args: Any, heading: str, parameter: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.heading, self.parameter = heading, parameter


class GroupedCommand(Command):
    """A command whose help lists options under headings."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, those without a heading last."""
        found: dict[str, list[tuple[str, str]]] = {name: [] for name in _HEADINGS}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                heading = option.heading if isinstance(option, Option) else "Other"
                found.setdefault(heading, []).append(record)
        for heading, records in found.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class Top(click.ParamType):
    """A number of features, or ``auto``."""

    name = "number|auto"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | str:
        """Return what is meant, or raise."""
        if value == AUTO:
            return AUTO
        try:
            return int(click.IntRange(min=1).convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is not a positive integer or 'auto'.")


def _not_zero(
    ctx: click.Context, option: click.Parameter, value: int | None
) -> int | None:
    if value == 0:
        raise click.BadParameter("0 threads do no work; use 1 or more, or -1 for all.")
    return value


def _under(heading: str, rows: Rows) -> list[Decorator]:
    return [
        click.option(*names.split(), cls=Option, heading=heading, help=text, **more)
        for names, (text, more) in rows.items()
    ]


def _together(options: Iterable[Decorator]) -> Decorator:
    def decorate(command: Any) -> Any:
        for option in reversed([*options]):
            command = option(command)
        return command

    return decorate


_FLAG = {"is_flag": True}
_FILE = {"metavar": "FILE", "type": Reads(path_type=Path)}
_NEW_FILE = {"metavar": "FILE", "type": Writes(path_type=Path)}
_FEATURES = {"metavar": "FEATURES", "multiple": True}
# Where options of parameters are listed, and what click cannot know from constraints.
_SHOWN: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "include": (_CONSTRAINTS, _FEATURES),
    "exclude": (_CONSTRAINTS, _FEATURES),
    "cost": (_CONSTRAINTS, _FILE),
    "groups": (_CONSTRAINTS, _FILE),
    "backend": (
        _COMPUTE,
        {
            "metavar": "NAME",
            "shell_complete": one_of("auto", "numpy", "torch", "cuda", "dask"),
        },
    ),
    "checkpoint": (_COMPUTE, {"metavar": "FOLDER", "type": Writes()}),
    "max_memory": (_COMPUTE, {"metavar": "SIZE"}),
    "n_jobs": (_COMPUTE, {"callback": _not_zero}),
}


def takers_of(parameter: str, value: str) -> list[str]:
    """Return the rankers that know a choice of a parameter."""
    return [
        ranker
        for ranker, parameters in sorted(_DECLARED.items())
        if parameter in parameters and value in _choices(parameters[parameter].allowed)
    ]


def _choices(allowed: Iterable[Any]) -> list[str]:
    return [each for kind in allowed if isinstance(kind, Choices) for each in kind]


def _type_of(allowed: list[Any]) -> Any:
    """Return the click type of what a parameter may be."""
    if choices := _choices(allowed):
        return click.Choice([*dict.fromkeys(choices)])
    if str in allowed:
        return str
    for kind in allowed:
        if isinstance(kind, Range):
            ranges = click.IntRange if kind.kind is Integral else click.FloatRange
            is_open = kind.closed == "neither"
            high_open = is_open and kind.high is not None
            return ranges(kind.low, kind.high, is_open, high_open)
    return int


def _of_parameter(name: str) -> Decorator:
    """Return the option that sets a parameter of the ranker."""
    declared = {
        ranker: parameters[name]
        for ranker, parameters in _DECLARED.items()
        if name in parameters
    }
    texts = {each.help for each in declared.values()}
    if len(declared) > len(texts):  # one text for all
        text = texts.pop()
        text = text[0].upper() + text[1:]
    else:
        text = "; ".join(f"{ranker}: {each.help}" for ranker, each in declared.items())
    heading, more = _SHOWN.get(name, (_RANKING, {}))
    allowed = [kind for each in declared.values() for kind in each.allowed]
    defaults = [each.unset or str(each.default or "") for each in declared.values()]
    shown = "; ".join(dict.fromkeys(filter(None, defaults)))
    return click.option(
        OPTIONS[name],
        cls=Option,
        heading=heading,
        parameter=name,
        help=f"{text}.  [default: {shown}]" if shown else f"{text}.",
        **{"type": _type_of(allowed), **more},
    )


# The option of each parameter that has one.
OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for parameters in _DECLARED.values()
    for name, each in parameters.items()
    if each.help
}
_parameters = [_of_parameter(name) for name in OPTIONS]
OPTIONS |= {"n_features_to_select": "--top", "random_state": "--seed"}

_DETECTED = {"default": None, "show_default": "auto-detected"}
_READING: Rows = {
    "--format": (
        "What the file is, where its ending does not say it.",
        {"type": click.Choice([*FORMATS])},
    ),
    "--transpose": ("Features are in rows, as in gene tables.", _FLAG),
    "--header/--no-header": ("Whether the first line holds names.", _DETECTED),
    "--index/--no-index": ("Whether the first column holds row labels.", _DETECTED),
    "--decimal": (
        "The decimal sign of a text file; the other one may separate thousands.",
        {"type": click.Choice([".", ","]), **_DETECTED},
    ),
    "--variable": (
        "Which array of a npz or mat file, which layer of a h5ad file.",
        {"metavar": "NAME"},
    ),
    "--feature-names": (
        "A file with one feature name a line, such as 10x features.tsv.",
        {"metavar": "FILE", "type": Reads()},
    ),
    "--drop-non-numeric": ("Leave out non-numeric columns.", _FLAG),
}
_RANK: Rows = {
    "--ranker": (
        "cover picks features that represent the rest; frane is the paper's method. An "
        "option that the ranker does not have is an error.",
        {"type": click.Choice(NAMES), "default": "cover", "show_default": True},
    ),
    "--set settings": (
        "Any other parameter of the ranker, such as --ranker ndfs --set n_clusters=8; "
        "may be repeated.",
        {"metavar": "NAME=VALUE", "multiple": True},
    ),
    "--seed": (
        "The seed of --stability and of rankers that draw at random.",
        {"type": click.IntRange(0, 2**32 - 1)},
    ),
    "--standardize": (
        "Scale columns to unit variance first, where their units are arbitrary.",
        _FLAG,
    ),
}
_NUMBERS: Rows = {
    "--top": (
        "How many features to show and select; cover: auto for as many as it suggests."
        "  [default: 16]",
        {"type": Top(), "shell_complete": one_of(AUTO)},
    ),
    "--stability n_boot": (
        "Rank N resampled tables too, and show how sure the ranks are.",
        {"metavar": "N", "type": click.IntRange(min=2)},
    ),
}
_WRITING: Rows = {
    "--output": (
        "Write the full ranking to this .csv, .tsv, .json or .parquet file; of a h5ad "
        "file a copy with the ranking in it to this .h5ad file.",
        _NEW_FILE,
    ),
    "--report": (
        "Write a page that shows the ranking to this .html (or .json) file.",
        _NEW_FILE,
    ),
    "--open open_report": ("Show the report in the browser.", _FLAG),
    "--force": ("Replace files to write if they exist.", _FLAG),
    "--json as_json": ("Print one JSON document.", _FLAG),
    "--quiet": ("No table, no progress, no warnings.", _FLAG),
}
_PLAN: Rows = {"--dry-run": ("Only predict what the work will take, then stop.", _FLAG)}

reading_options = _together(_under(_INPUT, _READING))
rank_options = _together(
    [
        *_under(_RANKING, _RANK),
        *_parameters,
        *_under(_COUNT, _NUMBERS),
        *_under(_OUTPUT, _WRITING),
        *_under(_COMPUTE, _PLAN),
    ]
)


def take_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take the arguments of the reader out of `options`, and return them."""
    names = [name.partition("/")[0][2:].replace("-", "_") for name in _READING]
    reading = {name: options.pop(name) for name in names}
    for name in ("header", "index", "decimal"):
        if reading[name] is None:
            reading[name] = "auto"
    return reading
