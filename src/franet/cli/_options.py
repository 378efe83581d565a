"""The options that say how a file is read and how features are ranked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from franet.cli._complete import one_of
from franet.cli._paths import Reads, Writes
from franet.io._registry import FORMATS
from franet.rankers import NAMES

__all__ = ["AUTO", "Top", "ranking_options", "reading_options", "take_reading"]

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

Decorator = Callable[[Any], Any]


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
            self.fail(f"{value!r} is no number of features from 1 on, nor auto.")


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


def _choice(name: str, choices: tuple[str, ...], text: str) -> Decorator:
    return click.option(
        name,
        type=click.Choice(choices),
        default=choices[0],
        show_default=True,
        help=text,
    )


reading_options = _together(
    click.option(
        "--format",
        type=click.Choice([*FORMATS]),
        help="What the file is, where its ending does not say it.",
    ),
    click.option(
        "--transpose", is_flag=True, help="Features are in rows, as in gene tables."
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line holds names.  [default: found out]",
    ),
    click.option(
        "--index/--no-index",
        default=None,
        help="Whether the first column holds row labels.  [default: found out]",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="The decimal sign of a text file; the other one may separate thousands.  "
        "[default: auto-detected]",
    ),
    click.option(
        "--variable",
        metavar="NAME",
        help="Which array of a npz or mat file, which layer of a h5ad file.",
    ),
    click.option(
        "--feature-names",
        metavar="FILE",
        type=Reads(),
        help="A file with one feature name a line, such as 10x features.tsv.",
    ),
    click.option(
        "--drop-non-numeric", is_flag=True, help="Leave out non-numeric columns."
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


_cover_options = _together(
    click.option(
        "--redundancy",
        type=click.Choice(["cover", "none"]),
        help="cover: each pick for what the earlier ones do not tell; none: the "
        "paper's ranking.  [default: cover; none with an option marked 'paper']",
    ),
    click.option(
        "--include",
        metavar="FEATURES",
        multiple=True,
        help="cover: features that are picked first, by name or position; with commas "
        "between them, or again and again.",
    ),
    click.option(
        "--exclude",
        metavar="FEATURES",
        multiple=True,
        help="cover: features that are never picked, likewise.",
    ),
    click.option(
        "--cost",
        metavar="FILE",
        type=Reads(path_type=Path),
        help="cover: a csv or tsv file with lines 'feature,cost'; others cost 1.",
    ),
    click.option(
        "--groups",
        metavar="FILE",
        type=Reads(path_type=Path),
        help="cover: a csv or tsv file with lines 'feature,group'; one of each "
        "group is picked.",
    ),
)


ranking_options = _together(
    click.option(
        "--ranker",
        type=click.Choice(NAMES),
        default="cover",
        show_default=True,
        help="What ranks: cover is FRANe with --redundancy cover, frane with none. Of "
        "the options below, other rankers know --seed and --n-jobs at the most.",
    ),
    _cover_options,
    _choice(
        "--similarity",
        SIMILARITIES,
        "How alike two features are; those that are no correlations: paper. mixed "
        "ranks text and categories beside numbers.",
    ),
    click.option(
        "--p",
        type=click.FloatRange(min=1),
        default=2.0,
        show_default=True,
        help="paper: the exponent of minkowski.",
    ),
    _choice("--thresholds", THRESHOLDS, "paper: how the thresholds are spaced."),
    click.option(
        "--n-thresholds",
        type=click.IntRange(min=2),
        default=100,
        show_default=True,
        help="paper: how many thresholds are tried.",
    ),
    click.option(
        "--min-mean-degree",
        type=click.FloatRange(min=0),
        default=1.0,
        show_default=True,
        help="paper: networks with a smaller mean degree are no candidates.",
    ),
    click.option(
        "--damping",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.85,
        show_default=True,
        help="paper: the damping factor of PageRank.",
    ),
    click.option("--unweighted", is_flag=True, help="paper: all edges weigh the same."),
    _choice("--centrality", CENTRALITIES, "paper: what scores the nodes of a network."),
    _choice("--quality", QUALITIES, "paper: what chooses among the networks."),
    _choice(
        "--variant", ("paper", "reference"), "paper: its definition or its code's."
    ),
    _choice(
        "--missing",
        ("error", "pairwise"),
        "What NaN means: an error, or a gap (paper).",
    ),
    _choice(
        "--tie-break", ("column", "denser"), "paper: how equal scores are ordered."
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        help="The seed of --stability, --quality random, and rankers that need one.",
    ),
    _choice(
        "--search",
        ("exact", "approximate"),
        "paper: approximate is for very many features, and says how far it is off.",
    ),
    _choice(
        "--backend",
        ("auto", "numpy", "torch", "dask"),
        "What works: this machine's cores, a torch device, a Dask cluster (paper).",
    ),
    click.option(
        "--device",
        metavar="NAME",
        shell_complete=one_of("cpu", "cuda"),
        help="The torch device, such as cuda or cpu.  [default: a GPU where one is]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="paper: the scheduler of the Dask cluster, such as tcp://host:8786.",
    ),
    click.option(
        "--checkpoint",
        metavar="FOLDER",
        type=Writes(),
        help="paper: keep what is done here: stopped and begun again, it goes on.",
    ),
    click.option(
        "--max-memory",
        metavar="SIZE",
        help="paper: memory for the work, such as '2 GB'.  [default: half of what is "
        "free]",
    ),
    click.option(
        "--n-jobs",
        type=int,
        callback=_not_zero,
        help="Number of threads.  [default: all cores]",
    ),
)
