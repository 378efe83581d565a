"""The parameters of rankers: default, what each may be, and a line of help.

Plain data, from which scikit-learn's constraints are made, and the options of the
command line before anything heavy is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple


class Choices(tuple[str, ...]):
    """Texts of which a parameter may be one."""


class Range(NamedTuple):
    """Numbers that a parameter may be.

    Attributes
    ----------
    kind : type
        ``Integral`` or ``Real``.
    low, high : int, float or None
        The ends; None is infinity.
    closed : {"left", "right", "neither"}
        Which end belongs to it.
    """

    kind: type
    low: Any
    high: Any
    closed: str


class Methods(NamedTuple):
    """Objects that have a method of this name."""

    name: str


class Parameter(NamedTuple):
    """A parameter of a ranker.

    Attributes
    ----------
    default : object
        The value where none is given.
    allowed : tuple
        What it may be: `Choices`, `Range`, `Methods`, and what scikit-learn's
        ``_parameter_constraints`` take.
    help : str
        A phrase for the help of its option; empty where it has no option of its own.
    unset : str
        The default in words, where its value does not say all.
    """

    default: Any
    allowed: tuple[Any, ...]
    help: str = ""
    unset: str = ""


def constraints(parameters: Mapping[str, Parameter]) -> dict[str, list[Any]]:
    """Return the ``_parameter_constraints`` of an estimator."""
    from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

    def made(kind: Any) -> Any:
        match kind:
            case Choices():
                return StrOptions(set(kind))
            case Range():
                return Interval(kind.kind, kind.low, kind.high, closed=kind.closed)
            case Methods():
                return HasMethods(kind.name)
        return kind

    return {name: [*map(made, each.allowed)] for name, each in parameters.items()}


_BACKEND = (
    "where it runs: numpy (the cores), torch, a torch device such as cuda:1; frane "
    "also dask or the address of a Dask scheduler, such as tcp://host:8786"
)
SIMILARITIES = Choices((
    "correlation", "abs-correlation", "spearman", "mixed", "euclidean", "sqeuclidean",
    "seuclidean", "manhattan", "chebyshev", "canberra", "minkowski", "precomputed",
))  # fmt: skip
PROGRESSIONS = Choices(
    ("geometric", "linear", "linear-mean", "linear-median", "quantile", "logspace")
)
CENTRALITIES = Choices(("pagerank", "degree", "eigenvector", "closeness", "harmonic"))
QUALITIES = Choices(("rqh", "gini", "cv", "entropy", "random"))
_MAX_MEMORY = (None, Range(Real, 0, None, "neither"), str)
_N_JOBS = Parameter(None, (Integral, None), "number of threads", "all cores")

COVER = {
    "similarity": Parameter(
        "correlation",
        (Choices(("correlation", "spearman")),),
        "how alike two features are, by correlation or spearman",
    ),
    "scale": Parameter(
        "standard",
        (Choices(("standard",)), None),
        "the units in which samples are compared, standard ones or those of the file "
        "(none); other rankers: standard scales columns to unit variance first",
        "standard; other rankers: none",
    ),
    "weights": Parameter(
        "robust",
        (Choices(("robust", "variance")), "array-like", dict),
        "what features count; robust: alike, less in tables of columns of few samples; "
        "variance: by the variance that others explain, for columns of one unit; or a "
        "csv or tsv file with lines 'feature,weight', others count 1",
        "robust; h5ad files: variance",
    ),
    "objective": Parameter(
        "balanced",
        (Choices(("balanced", "linear", "neighbors")),),
        "what the picks are for, linear prediction, nearest neighbors or both",
    ),
    # A single name has an error of its own, which says how to write it.
    "include": Parameter(
        None,
        (None, "array-like", str),
        "features that are picked first, by name, position or pattern (MT-*), "
        "separated by commas; may be repeated",
    ),
    "exclude": Parameter(
        None, (None, "array-like", str), "features that are never picked, likewise"
    ),
    "cost": Parameter(
        None,
        (None, "array-like", dict),
        "a csv or tsv file with lines 'feature,cost'; others cost 1",
    ),
    "groups": Parameter(
        None,
        (None, "array-like", dict),
        "a csv or tsv file with lines 'feature,group'; one feature of each group is "
        "picked, and a feature with several lines is in several groups",
    ),
    "n_ranked": Parameter(
        None, (None, Choices(("auto",)), Range(Integral, 1, None, "left"))
    ),
    "backend": Parameter("auto", (str,), _BACKEND),
    "max_memory": Parameter(
        None,
        _MAX_MEMORY,
        "memory for the work, such as '2 GB'",
        "cover: about 2 GB for tables that do not fit; frane: half of what is free",
    ),
    "n_jobs": _N_JOBS,
}

# What the other rankers that pick one feature after another take of these.
GREEDY = {name: COVER[name] for name in ("include", "exclude", "cost", "groups")}

FRANE = {
    "similarity": Parameter(
        "correlation",
        (SIMILARITIES, callable),
        "by any of these; mixed ranks text and categories beside numbers",
    ),
    "variant": Parameter(
        "paper",
        (Choices(("paper", "reference")),),
        "its definition (paper) or its code's (reference)",
    ),
    "thresholds": Parameter(
        "geometric", (PROGRESSIONS, callable), "how the thresholds are spaced"
    ),
    "n_thresholds": Parameter(
        100, (Range(Integral, 2, None, "left"),), "how many thresholds are tried"
    ),
    "min_mean_degree": Parameter(1.0, (Range(Real, 0, None, "left"),)),
    "centrality": Parameter(
        "pagerank", (CENTRALITIES, callable), "what scores the nodes of a network"
    ),
    "damping": Parameter(
        0.85, (Range(Real, 0, 1, "neither"),), "the damping factor of PageRank"
    ),
    "weighted": Parameter(True, ("boolean",)),
    "quality": Parameter(
        "rqh", (QUALITIES, callable), "what chooses among the networks"
    ),
    "p": Parameter(2.0, (Range(Real, 1, None, "left"),)),
    "tie_break": Parameter(
        "column", (Choices(("column", "denser")),), "how equal scores are ordered"
    ),
    "missing": Parameter(
        "error", (Choices(("error", "pairwise")),), "what NaN means, an error or a gap"
    ),
    "store_candidates": Parameter(False, ("boolean",)),
    "search": Parameter(
        "exact",
        (Choices(("exact", "approximate")),),
        "approximate is for very many features, and reports its error",
    ),
    # Text, or a Dask client, which is loaded only where it is used.
    "backend": Parameter("auto", (str, Methods("submit")), _BACKEND),
    "checkpoint": Parameter(
        None,
        (None, str, os.PathLike),
        "a folder that keeps what is done; a stopped run continues from it",
    ),
    "max_edges": Parameter(5_000_000, (Range(Integral, 1, None, "left"),)),
    "max_memory": Parameter(
        None,
        _MAX_MEMORY,
        "memory for the work, such as '2 GB'",
        "cover: about 2 GB for tables that do not fit; frane: half of what is free",
    ),
    "random_state": Parameter(None, ("random_state",)),
    "n_jobs": _N_JOBS,
}

PRUNE = {
    "cutoff": Parameter(
        0.9,
        (Range(Real, 0, 1, "right"),),
        "columns that are correlated this much, or more, are not kept together",
    ),
    "similarity": Parameter(
        "correlation",
        (Choices(("correlation", "spearman", "mixed")),),
        "how alike two columns are; mixed compares text and categories with numbers",
    ),
    # A single name has an error of its own, which says how to write it.
    "keep": Parameter(
        None,
        (None, "array-like", str),
        "columns that are kept in any case, by name, position or pattern (MT-*), "
        "separated by commas; may be repeated",
    ),
    "cost": Parameter(
        None,
        (None, "array-like", dict),
        "a csv or tsv file with lines 'column,cost'; others cost 1, and cheap columns "
        "are kept",
    ),
    "missing": Parameter(
        "pairwise",
        (Choices(("pairwise", "error")),),
        "what NaN means, a gap that two columns leave out, or an error",
    ),
    "keep_constant": Parameter(False, ("boolean",), "keep constant columns"),
    "exact": Parameter(
        False,
        ("boolean",),
        "search for the fewest columns, and prove how few there are",
    ),
    "n_jobs": _N_JOBS,
}

# Those parameters of AgnoS whose options it shares with FRANe.
AGNOS = {
    "variant": Parameter(
        "slack", (Choices(("slack", "weights")),), "slack variables or weights"
    )
}
