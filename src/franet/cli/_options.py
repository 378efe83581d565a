"""The options that say how a file is read, how features are ranked, what is written.

And what they say: the arguments of the reader and the parameters of the ranker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import click

from franet.cli._complete import one_of
from franet.cli._paths import Command, Reads, WordOrFile, Writes
from franet.estimators._parameters import (
    AGNOS,
    COVER,
    FRANE,
    GREEDY,
    Choices,
    Parameter,
    Range,
)
from franet.exceptions import UsageError
from franet.io._source import FORMATS
from franet.rankers import NAMES, get

AUTO, STANDARD, NONE = "auto", "standard", "none"
# Rankers whose parameters have options of their own.
_DECLARED = {
    "cover": COVER,
    "frane": FRANE,
    "agnos": AGNOS,
    "column-subset": GREEDY,
    "facility-location": GREEDY,
}
# Parameters that name features: see `franet.cli._constraints`.
OF_FEATURES = tuple(GREEDY)


def option_of(name: str) -> str:
    """Return the option that sets a parameter."""
    return f"--{name.replace('_', '-')}"


# The option of each parameter that has one.
OPTIONS = {
    name: option_of(name)
    for parameters in _DECLARED.values()
    for name, parameter in parameters.items()
    if parameter.help
} | {"n_features_to_select": "--top", "random_state": "--seed"}

# By the names of an option: its help, and what else click is to know about it.
Rows = dict[str, tuple[str, Mapping[str, Any]]]


class GroupedCommand(Command):
    """A command whose help lists options under headings."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, those without a heading last."""
        found: dict[str, list[tuple[str, str]]] = {name: [] for name in _SECTIONS}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                heading = _heading_of.get(option.opts[0], "Other")
                found.setdefault(heading, []).append(record)
        for heading, records in found.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def number_or_auto(text: str) -> int | str:
    """Return a number of features, or ``auto``."""
    if text == AUTO:
        return AUTO
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise click.BadParameter(f"{text!r} is not a positive integer or 'auto'.")


def halves(text: str) -> int:
    """Return a number of half-samples; 0 for none."""
    if text == NONE:
        return 0
    if text.isdecimal() and int(text) > 1:
        return int(text)
    raise click.BadParameter(
        f"{text!r} is neither a whole number from 2 on nor 'none'."
    )


def _choices(allowed: Iterable[Any]) -> list[str]:
    return [each for kind in allowed if isinstance(kind, Choices) for each in kind]


def _type_of(allowed: list[Any]) -> Any:
    """Return the click type of what a parameter may be."""
    if choices := _choices(allowed):
        return click.Choice([*dict.fromkeys(choices), *[NONE] * (None in allowed)])
    if str in allowed:
        return str
    for kind in allowed:
        if isinstance(kind, Range):
            ranges = click.IntRange if kind.kind is Integral else click.FloatRange
            low_open = kind.closed in ("neither", "right")
            high_open = kind.closed == "neither" and kind.high is not None
            return ranges(kind.low, kind.high, low_open, high_open)
    if "boolean" in allowed:
        return bool
    return int


def of_parameters(
    shown: Mapping[str, Mapping[str, Any]],
    rankers: Mapping[str, Mapping[str, Parameter]] = _DECLARED,
) -> Rows:
    """Return options that set parameters, and what click cannot know of them."""
    rows: Rows = {}
    for name, more in shown.items():
        declared = {
            ranker: parameters[name]
            for ranker, parameters in rankers.items()
            if name in parameters
        }
        texts = {each.help for each in declared.values()}
        if len(declared) > len(texts) or len(rankers) == 1:  # one text for all
            text = texts.pop()
            text = text[0].upper() + text[1:]
        else:
            texts_of = [f"{ranker}: {each.help}" for ranker, each in declared.items()]
            text = "; ".join(texts_of)
        allowed = [kind for each in declared.values() for kind in each.allowed]
        defaults = [each.unset or str(each.default or "") for each in declared.values()]
        default = "; ".join(dict.fromkeys(filter(None, defaults)))
        text += f".  [default: {default}]" if default else "."
        rows[option_of(name)] = (text, {"type": _type_of(allowed), **more})
    return rows


FLAG = {"is_flag": True}
SEED = {"type": click.IntRange(0, 2**32 - 1)}
A_FILE = {"metavar": "FILE", "type": Reads(path_type=Path)}
NEW_FILE = {"metavar": "FILE", "type": Writes(path_type=Path)}
FEATURES = {"metavar": "FEATURES", "multiple": True}
AS_JSON: Rows = {"--json as_json": ("Print one JSON document.", FLAG)}
_DETECTED = {"default": None, "show_default": "auto-detected"}
_BACKENDS = one_of("auto", "numpy", "torch", "cuda", "dask")
# Parameters that are listed elsewhere than under "Ranking".
_CONSTRAINTS: dict[str, Mapping[str, Any]] = {
    "include": FEATURES,
    "exclude": FEATURES,
    "cost": A_FILE,
    "groups": A_FILE,
}
_COMPUTE: dict[str, Mapping[str, Any]] = {
    "backend": {"metavar": "NAME", "shell_complete": _BACKENDS},
    "checkpoint": {"metavar": "FOLDER", "type": Writes()},
    "max_memory": {"metavar": "SIZE"},
    "n_jobs": {},
}
_MORE: dict[str, Mapping[str, Any]] = {
    "weights": {
        "metavar": "RULE|FILE",
        "type": WordOrFile(_choices(COVER["weights"].allowed), "feature,weight"),
    }
}
_ELSEWHERE = {*_CONSTRAINTS, *_COMPUTE, "n_features_to_select", "random_state"}

# By the headings of the help.
_SECTIONS: dict[str, Rows] = {
    "Input": {
        "--format": (
            "What the file is, where its ending does not say it.",
            {"type": click.Choice([*FORMATS])},
        ),
        "--transpose": ("Features are in rows, as in gene tables.", FLAG),
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
        "--drop-non-numeric": ("Leave out non-numeric columns.", FLAG),
    },
    "Ranking": {
        "--ranker": (
            "cover picks features that represent the rest; frane is the paper's "
            "method. An option that the ranker does not have is an error.",
            {"type": click.Choice(NAMES), "default": "cover"},
        ),
        **of_parameters(
            {name: _MORE.get(name, {}) for name in OPTIONS if name not in _ELSEWHERE}
        ),
        "--set settings": (
            "Any other parameter of the ranker, such as --ranker ndfs --set "
            "n_clusters=8; may be repeated.",
            {"metavar": "NAME=VALUE", "multiple": True},
        ),
        "--seed": ("The seed of --stability and of rankers that draw at random.", SEED),
    },
    "How many": {
        "--top": (
            "How many features to show and select; cover: auto for as many as it "
            "suggests.  [default: 16]",
            {
                "metavar": "NUMBER|AUTO",
                "type": number_or_auto,
                "shell_complete": one_of(AUTO),
            },
        ),
        "--stability n_halves": (
            "Rank N halves of the samples too, and show how sure the picks are; none: "
            "not in the report, either.  [default: 20 where --report is given and "
            "they take 10 s or 5 times the ranking at most]",
            {"metavar": "N|none", "type": halves},
        ),
    },
    "Constraints (cover, column-subset, facility-location)": of_parameters(
        _CONSTRAINTS
    ),
    "Output": {
        "--output": (
            "Write the full ranking to this .csv, .tsv, .json or .parquet file; of a "
            "h5ad file a copy with the ranking in it to this .h5ad file.",
            NEW_FILE,
        ),
        "--report": (
            "Write a page that shows the ranking to this .html (or .json) file.",
            NEW_FILE,
        ),
        "--open open_report": ("Show the report in the browser.", FLAG),
        "--force": ("Replace files to write if they exist.", FLAG),
        **AS_JSON,
        "--quiet": ("No table, no progress, no warnings.", FLAG),
    },
    "Compute": {
        **of_parameters(_COMPUTE),
        "--dry-run": ("Only predict what the work will take, then stop.", FLAG),
    },
}
_heading_of = {
    names.split()[0].partition("/")[0]: heading
    for heading, rows in _SECTIONS.items()
    for names in rows
}


def add(rows: Rows) -> Callable[[Any], Any]:
    """Return a decorator that adds options; a default is part of the help."""

    def decorate(command: Any) -> Any:
        for names, (text, more) in reversed(rows.items()):
            arguments = {"show_default": "default" in more, **more}
            command = click.option(*names.split(), help=text, **arguments)(command)
        return command

    return decorate


def group(name: str, text: str) -> click.Group:
    """Return a group of commands that shows its help where no command is given."""

    @click.pass_context
    def show_help(ctx: click.Context) -> None:
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())

    return click.Group(name, help=text, callback=show_help, invoke_without_command=True)


reading_options = add(_SECTIONS["Input"])
rank_options = add(
    {names: row for rows in _SECTIONS.values() for names, row in rows.items()}
)


def take_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take the arguments of the reader out of `options`, and return those given."""
    starts = [names.partition("/")[0] for names in _SECTIONS["Input"]]
    names = [start[2:].replace("-", "_") for start in starts]
    found = {name: options.pop(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


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
            takers = _takers(parameter, value)
            if takers and ranker not in takers:
                raise _not_of(ranker, f"{option} {value}", takers)
            if parameter not in OF_FEATURES and not isinstance(value, Path):
                found[parameter] = None if value == NONE else value
        # Resampled tables are ranked on several threads, and tables scaled, by any.
        elif parameter != "scale" and (parameter != "n_jobs" or not params["n_halves"]):
            others = [name for name in NAMES if parameter in _known(name)]
            raise _not_of(ranker, option, others)
    if params["top"] == AUTO and ranker != "cover":
        raise _not_of(ranker, "--top auto", ["cover"])
    if params["dry_run"] and ranker not in ("cover", "frane"):
        raise _not_of(ranker, "--dry-run", ["cover", "frane"])
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
    return set(get(ranker)().get_params(deep=False))


def _not_of(ranker: str, option: str, others: Iterable[str]) -> UsageError:
    known = " or ".join(f"--ranker {name}" for name in others)
    return UsageError(
        f"{option} is not an option of --ranker {ranker}; use {known}, or leave it out"
    )


def _takers(parameter: str, value: str) -> list[str]:
    """Return the rankers that know a choice of a parameter."""
    return [
        ranker
        for ranker, parameters in sorted(_DECLARED.items())
        if parameter in parameters and value in _choices(parameters[parameter].allowed)
    ]


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
