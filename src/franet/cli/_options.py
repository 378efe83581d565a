"""The options that say how a file is read and how features are ranked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from franet.cli._complete import one_of
from franet.cli._paths import Command, Reads, Writes
from franet.io._formats import FORMATS
from franet.rankers import NAMES

__all__ = [
    "AUTO",
    "GroupedCommand",
    "Top",
    "grouped",
    "ranking_options",
    "reading_options",
    "take_reading",
]

AUTO = "auto"
CORRELATIONS = ("correlation", "abs-correlation", "spearman")
SIMILARITIES = (
    *CORRELATIONS,
    "mixed",
    "euclidean",
    "sqeuclidean",
    "seuclidean",
    "manhattan",
    "chebyshev",
    "canberra",
    "minkowski",
    "precomputed",
)
THRESHOLDS = (
    "geometric",
    "linear",
    "linear-mean",
    "linear-median",
    "quantile",
    "logspace",
)
CENTRALITIES = ("pagerank", "degree", "eigenvector", "closeness", "harmonic")
QUALITIES = ("rqh", "gini", "cv", "entropy", "random")
# Headings of the help, in their order.
INPUT, RANKING, COUNT = "Input", "Ranking", "How many"
CONSTRAINTS, OUTPUT, COMPUTE = "Constraints (cover)", "Output", "Compute"
_HEADINGS = (INPUT, RANKING, COUNT, CONSTRAINTS, OUTPUT, COMPUTE)

Decorator = Callable[[Any], Any]


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
                heading = getattr(option, "heading", "Other")
                found.setdefault(heading, []).append(record)
        for heading, records in found.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def grouped(heading: str, *names: str, **kwargs: Any) -> Decorator:
    """Return a decorator that adds an option under a heading."""
    return click.option(*names, cls=Option, heading=heading, **kwargs)


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


def _together(*options: Decorator) -> Decorator:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _not_zero(
    ctx: click.Context, option: click.Parameter, value: int | None
) -> int | None:
    if value == 0:
        raise click.BadParameter("0 threads do no work; use 1 or more, or -1 for all.")
    return value


def _sets(parameter: str, heading: str, text: str, **kwargs: Any) -> Decorator:
    """Return an option that sets a parameter of the ranker of the same name."""
    name = f"--{parameter.replace('_', '-')}"
    return grouped(heading, name, parameter=parameter, help=text, **kwargs)


def _choice(parameter: str, choices: tuple[str, ...], text: str) -> Decorator:
    text = f"{text}  [default: {choices[0]}]"
    return _sets(parameter, RANKING, text, type=click.Choice(choices))


reading_options = _together(
    grouped(
        INPUT,
        "--format",
        type=click.Choice([*FORMATS]),
        help="What the file is, where its ending does not say it.",
    ),
    grouped(
        INPUT,
        "--transpose",
        is_flag=True,
        help="Features are in rows, as in gene tables.",
    ),
    grouped(
        INPUT,
        "--header/--no-header",
        default=None,
        help="Whether the first line holds names.  [default: auto-detected]",
    ),
    grouped(
        INPUT,
        "--index/--no-index",
        default=None,
        help="Whether the first column holds row labels.  [default: auto-detected]",
    ),
    grouped(
        INPUT,
        "--decimal",
        type=click.Choice([".", ","]),
        help="The decimal sign of a text file; the other one may separate thousands.  "
        "[default: auto-detected]",
    ),
    grouped(
        INPUT,
        "--variable",
        metavar="NAME",
        help="Which array of a npz or mat file, which layer of a h5ad file.",
    ),
    grouped(
        INPUT,
        "--feature-names",
        metavar="FILE",
        type=Reads(),
        help="A file with one feature name a line, such as 10x features.tsv.",
    ),
    grouped(
        INPUT, "--drop-non-numeric", is_flag=True, help="Leave out non-numeric columns."
    ),
)


def take_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take the arguments of the reader out of `options`, and return them."""
    names = (
        "format",
        "transpose",
        "header",
        "index",
        "decimal",
        "variable",
        "feature_names",
        "drop_non_numeric",
    )
    reading = {name: options.pop(name) for name in names}
    for name in ("header", "index", "decimal"):
        if reading[name] is None:
            reading[name] = "auto"
    return reading


ranking_options = _together(
    grouped(
        RANKING,
        "--ranker",
        type=click.Choice(NAMES),
        default="cover",
        show_default=True,
        help="cover picks features that represent the rest; frane is the paper's "
        "method. An option that the ranker does not have is an error.",
    ),
    _sets(
        "similarity",
        RANKING,
        "How alike two features are. cover: correlation or spearman; frane: all; mixed "
        "ranks text and categories beside numbers.  [default: correlation]",
        type=click.Choice(SIMILARITIES),
    ),
    _sets(
        "variant",
        RANKING,
        "frane: its definition (paper) or its code's (reference); agnos: slack or "
        "weights.  [default: paper; slack]",
        type=click.Choice(("paper", "reference", "slack", "weights")),
    ),
    _choice("thresholds", THRESHOLDS, "frane: how the thresholds are spaced."),
    _sets(
        "n_thresholds",
        RANKING,
        "frane: how many thresholds are tried.  [default: 100]",
        type=click.IntRange(min=2),
    ),
    _choice("centrality", CENTRALITIES, "frane: what scores the nodes of a network."),
    _sets(
        "damping",
        RANKING,
        "frane: the damping factor of PageRank.  [default: 0.85]",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
    ),
    _choice("quality", QUALITIES, "frane: what chooses among the networks."),
    _choice("tie_break", ("column", "denser"), "frane: how equal scores are ordered."),
    _choice(
        "missing",
        ("error", "pairwise"),
        "frane: what NaN means, an error or a gap.",
    ),
    _choice(
        "search",
        ("exact", "approximate"),
        "frane: approximate is for very many features, and reports its error.",
    ),
    grouped(
        RANKING,
        "--set",
        "settings",
        metavar="NAME=VALUE",
        multiple=True,
        help="Any other parameter of the ranker, such as --ranker ndfs --set "
        "n_clusters=8; may be repeated.",
    ),
    grouped(
        RANKING,
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        help="The seed of --stability and of rankers that draw at random.",
    ),
    _sets(
        "include",
        CONSTRAINTS,
        "Features that are picked first, by name or position, separated by commas; may "
        "be repeated.",
        metavar="FEATURES",
        multiple=True,
    ),
    _sets(
        "exclude",
        CONSTRAINTS,
        "Features that are never picked, likewise.",
        metavar="FEATURES",
        multiple=True,
    ),
    _sets(
        "cost",
        CONSTRAINTS,
        "A csv or tsv file with lines 'feature,cost'; others cost 1.",
        metavar="FILE",
        type=Reads(path_type=Path),
    ),
    _sets(
        "groups",
        CONSTRAINTS,
        "A csv or tsv file with lines 'feature,group'; one feature of each group is "
        "picked.",
        metavar="FILE",
        type=Reads(path_type=Path),
    ),
    _sets(
        "backend",
        COMPUTE,
        "numpy (the cores), torch, a torch device such as cuda:1; frane also dask or "
        "the address of a Dask scheduler, such as tcp://host:8786.  [default: auto]",
        metavar="NAME",
        shell_complete=one_of("auto", "numpy", "torch", "cuda", "dask"),
    ),
    _sets(
        "checkpoint",
        COMPUTE,
        "frane: a folder that keeps what is done; a stopped run continues from it.",
        metavar="FOLDER",
        type=Writes(),
    ),
    _sets(
        "max_memory",
        COMPUTE,
        "frane: memory for the work, such as '2 GB'.  [default: half of what is free]",
        metavar="SIZE",
    ),
    _sets(
        "n_jobs",
        COMPUTE,
        "Number of threads.  [default: all cores]",
        type=int,
        callback=_not_zero,
    ),
)
