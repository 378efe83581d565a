"""The options that say how a file is read and how features are ranked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from franet.io._registry import FORMATS
from franet.rankers import RANKERS

__all__ = ["ranking_options", "reading_options", "take_reading"]

SIMILARITIES = (
    "correlation",
    "abs-correlation",
    "spearman",
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
        "--variable",
        metavar="NAME",
        help="Which array of a npz or mat file, which layer of a h5ad file.",
    ),
    click.option(
        "--feature-names",
        metavar="FILE",
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
        "variable",
        "feature_names",
        "drop_non_numeric",
    )
    reading = {name: options.pop(name) for name in names}
    for name in ("header", "index"):
        if reading[name] is None:
            reading[name] = "auto"
    return reading


ranking_options = _together(
    click.option(
        "--ranker",
        type=click.Choice(sorted(RANKERS)),
        default="frane",
        show_default=True,
        help="What ranks. Of the options below, others than frane know --seed and "
        "--n-jobs at the most.",
    ),
    _choice("--similarity", SIMILARITIES, "How alike two features are."),
    click.option(
        "--p",
        type=click.FloatRange(min=1),
        default=2.0,
        show_default=True,
        help="The exponent of minkowski.",
    ),
    _choice("--thresholds", THRESHOLDS, "How the thresholds are spaced."),
    click.option(
        "--n-thresholds",
        type=click.IntRange(min=2),
        default=100,
        show_default=True,
        help="How many thresholds are tried.",
    ),
    click.option(
        "--min-mean-degree",
        type=click.FloatRange(min=0),
        default=1.0,
        show_default=True,
        help="Networks with a smaller mean degree are no candidates.",
    ),
    click.option(
        "--damping",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.85,
        show_default=True,
        help="The damping factor of PageRank.",
    ),
    click.option("--unweighted", is_flag=True, help="All edges weigh the same."),
    _choice("--centrality", CENTRALITIES, "What scores the nodes of a network."),
    _choice("--quality", QUALITIES, "What chooses among the networks."),
    _choice(
        "--variant", ("paper", "reference"), "The paper's definition or its code's."
    ),
    _choice("--missing", ("error", "pairwise"), "What NaN means: an error, or a gap."),
    _choice("--tie-break", ("column", "denser"), "How equal scores are ordered."),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        help="The seed of --quality random, and of rankers that need one.",
    ),
    click.option(
        "--max-memory",
        metavar="SIZE",
        help="Memory for the work, such as '2 GB'.  [default: half of what is free]",
    ),
    click.option(
        "--n-jobs",
        type=int,
        callback=_not_zero,
        help="Number of threads.  [default: all cores]",
    ),
)
