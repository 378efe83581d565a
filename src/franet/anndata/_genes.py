"""What a panel is chosen from: values, batches, and the genes that may be picked."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.checked import NUMBER, check_value
from franet._common.files import unguard
from franet.cover._constraints import find_features
from franet.exceptions import DataError, Setting, UsageError
from franet.io._source import check_readable, open_text, read_names, reading
from franet.pairs.columns._centered import CenteredColumns

# With fewer cells the mean of a batch takes away more than a tenth of what varies.
LEAST = 10
# Whole numbers up to this one may be something else than counts, such as genotypes;
# from the other one on all floats are whole.
_FEW, _MANY = 2, 2**53
_SHARE = "give a share from 0 to 1."
NORMALIZE = ("log1p", "none")
BOUNDS = ("level", "min_cells", "max_cells", "min_level", "max_level", "max_total")


@dataclass(frozen=True, eq=False)
class Limits:
    """What genes have to be like to be picked; None: anything.

    Attributes
    ----------
    mask : str or array of bool
        Which genes, or the column of `var` that says so.
    level : str
        The column of `var` that holds the levels; None: the means of the table.
    min_cells, max_cells : float
        The least and the largest share of cells in which a gene is detected.
    min_level, max_level : float
        The lowest and the highest level.
    max_total : float
        The most that the levels of all picks add up to.
    """

    mask: Any = None
    level: str | None = None
    min_cells: float | None = None
    max_cells: float | None = None
    min_level: float | None = None
    max_level: float | None = None
    max_total: float | None = None


@dataclass(frozen=True, eq=False)
class Levels:
    """How much of each gene there is.

    Attributes
    ----------
    detected : ndarray of shape (n,)
        The share of cells with a value other than 0.
    level : ndarray of shape (n,)
        The mean over all cells, or what a column of `var` says.
    """

    detected: NDArray[np.float64]
    level: NDArray[np.float64]


def holds_counts(X: Any) -> bool:
    """Return whether all values are whole numbers from 0 on, some of them above 2."""
    values = X.data if sparse.issparse(X) else X
    if not values.size or values.min() < 0 or not _FEW < values.max() < _MANY:
        return False
    return values.dtype.kind in "iu" or bool((values == np.floor(values)).all())


def normalized(X: Any, how: str | None) -> Any:
    """Return log values of counts, or values as they are; counts are refused.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The values; they are not changed.
    how : {"log1p", "none"} or None
        What to do with counts; None: nothing, they are an error.
    """
    check_value(
        "normalize", how, how is None or how in NORMALIZE, "give 'log1p' or 'none'."
    )
    is_counts = how != "none" and holds_counts(X)
    if how == "log1p" and not is_counts:
        raise DataError(
            "{} is for raw counts, and the values are not whole numbers from 0 on.",
            Setting("normalize", how),
            remedy="Leave it out, or choose the layer of counts.",
        )
    if how is None and is_counts:
        raise DataError(
            "The values are raw counts: what all genes share would be the depth of "
            "the cells.",
            Setting("normalize", "log1p"),
            Setting("normalize", "none"),
            remedy="Choose normalized, log-transformed values, or set {0}, or {1} to "
            "rank counts.",
        )
    if how != "log1p":
        return X
    totals = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    scale = np.divide(
        np.median(totals), totals, out=np.zeros_like(totals), where=totals > 0
    )
    if sparse.issparse(X):
        return sparse.csr_array(X).multiply(scale[:, None]).tocsr().log1p()
    return np.log1p(X * scale[:, None])


def read_batches(adata: Any, key: str) -> NDArray[np.intp]:
    """Return the batch of each cell, as numbers from 0 on."""
    import pandas as pd

    codes, names = pd.factorize(column(adata.obs, "obs", "batch_key", key), sort=False)
    if (codes < 0).any():
        cell = str(adata.obs_names[np.argmax(codes < 0)])
        raise DataError(
            "{}: {!r} has no batch. Fill the value, or leave out the cell.",
            Setting("batch_key", key),
            cell,
        )
    counts = np.bincount(codes)
    if counts.min() < LEAST:
        least = int(counts.argmin())
        cells = "1 cell" if counts[least] == 1 else f"{counts[least]} cells"
        raise DataError(
            f"{{}}: the batch {{!r}} has {cells}, and at least {LEAST} are needed to "
            "center genes within it. Merge it with another one, or leave out its "
            "cells.",
            Setting("batch_key", key),
            str(names[least]),
        )
    return np.asarray(codes, np.intp)


def centered(X: Any, batches: NDArray[np.intp] | None, names: Any) -> Any:
    """Return the table less the means of batches; as it is if there are none."""
    return X if batches is None else CenteredColumns(X, batches, names)


def levels_of(X: Any, adata: Any, key: str | None) -> Levels:
    """Return how much of each gene there is."""
    m, n = X.shape
    if sparse.issparse(X):
        filled = sparse.csc_array(X)
        column_of = np.repeat(np.arange(n), np.diff(filled.indptr))
        detected = np.bincount(column_of[filled.data != 0], minlength=n) / m
    else:
        detected = np.count_nonzero(X, axis=0) / m
    level = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    if key is not None:
        given = column(adata.var, "var", "level", key)
        level = np.array(given, object).astype(float)
    return Levels(detected, level)


def closed_by(limits: Limits, X: Any, adata: Any) -> NDArray[np.bool_]:
    """Return the genes that may not be picked.

    Parameters
    ----------
    limits : Limits
        What a gene has to be like.
    X : ndarray or sparse matrix
        The values, not centered.
    adata : AnnData
        The data, for columns of `var`.
    """
    closed = np.zeros(X.shape[1], bool)
    of_level = limits.min_level, limits.max_level, limits.max_total
    if limits.level is not None and of_level == (None, None, None):
        raise UsageError(
            "{} is for {}, {} and {}, of which none is given.",
            Setting("level", limits.level),
            Setting("min_level"),
            Setting("max_level"),
            Setting("max_total"),
            remedy="Leave it out.",
        )
    if all(value is None for value in vars(limits).values()):
        return closed
    found = levels_of(X, adata, limits.level)
    if limits.mask is not None:
        closed |= ~_mask(adata, limits.mask)
    bounds = {
        "min_cells": found.detected,
        "max_cells": found.detected,
        "min_level": found.level,
        "max_level": found.level,
    }
    for name, values in bounds.items():
        bound = getattr(limits, name)
        if bound is None:
            continue
        share = name.endswith("cells")
        is_fine = NUMBER.accepts(bound) and (not share or 0 <= bound <= 1)
        check_value(name, bound, is_fine, _SHARE if share else "give a number.")
        # What is unknown is not within a limit.
        fits = values >= bound if name.startswith("min") else values <= bound
        closed |= ~fits
    if closed.all():
        raise UsageError(
            "{} and limits of expression leave no gene that could be picked.",
            Setting("mask_var"),
            remedy="Loosen one of them.",
        )
    return closed


def within_total(
    fit: Callable[..., Any], limits: Limits, X: Any, adata: Any, **given: Any
) -> Any:
    """Return what `fit` returns where the levels of the picks add up to a limit.

    Picks are taken in their order. At the first that goes beyond the limit, it and all
    genes that would go beyond it there are left out, and the rest is picked again
    behind those before it: as if each pick were the best that is still affordable.

    Parameters
    ----------
    fit : callable
        It takes `include`, `exclude` and `n`, how many genes, and returns a fitted
        ranker, or something that has one as `fitted`.
    limits : Limits
        Their `max_total` and `level`; without a total all is fitted once.
    X : ndarray or sparse matrix
        The values, not centered.
    adata : AnnData
        The data, for columns of `var`.
    **given : object
        The first `include` and `exclude`, by position, and `n`.
    """
    total = limits.max_total
    if total is None:
        return fit(**given)
    is_fine = NUMBER.accepts(total) and total > 0
    check_value("max_total", total, is_fine, "give a positive number.")
    level = np.nan_to_num(levels_of(X, adata, limits.level).level, nan=np.inf)
    if level.min() < 0.0:
        raise DataError(
            "{} adds up levels, and {!r} has a level below 0. Choose values that are "
            "not scaled, or levels by {}.",
            Setting("max_total", total),
            str(adata.var_names[level.argmin()]),
            Setting("level"),
        )
    include, exclude, n = (given[name] for name in ("include", "exclude", "n"))
    n_start = len(include or ())
    while True:
        found = fit(include=include, exclude=exclude, n=n)
        ranker = getattr(found, "fitted", found)
        k = min(ranker.n_features_, getattr(ranker, "n_ranked_", ranker.n_features_))
        picks = ranker.order_[:k]
        spent = np.cumsum(level[picks])
        if not (spent > total).any():
            return found
        at = int(np.argmax(spent > total))
        closed = level > total - (spent[at - 1] if at else 0.0)
        closed[picks[:at]] = False
        closed[exclude or []] = True
        left = int(np.sum(~closed & ~getattr(ranker, "constant_", False)))
        if at < n_start or not left:
            raise UsageError(
                "{} is less than the genes have that are picked first.",
                Setting("max_total", total),
                remedy="Raise it.",
            )
        include, exclude = picks[:at].tolist() or None, np.flatnonzero(closed).tolist()
        n = min(n, left) if isinstance(n, int) else n


def _mask(adata: Any, given: Any) -> NDArray[np.bool_]:
    name = Setting("mask_var", given if isinstance(given, str) else ...)
    values = given
    if isinstance(given, str):
        values = column(adata.var, "var", "mask_var", given)
    values = np.asarray(values)
    if values.dtype != bool or values.shape != (adata.n_vars,):
        raise UsageError(
            f"{{}}: expected True or False for each of {adata.n_vars} genes.", name
        )
    return values


def read_labels(adata: Any, key: str) -> Any:
    """Return the label of each cell, of which there have to be two."""
    labels = column(adata.obs, "obs", "label", key)
    kinds = labels.dropna().unique()
    if len(kinds) < 2:
        have = f"one label, {str(kinds[0])!r}" if len(kinds) else "no label"
        raise DataError(
            f"{{}}: all cells have {have}, and two or more are needed to judge a "
            "panel. Choose another column, or leave it out.",
            Setting("label", key),
        )
    return labels


def column(frame: Any, where: str, parameter: str, key: str) -> Any:
    """Return a column of `obs` or `var`, named by a parameter."""
    if key not in frame:
        known = [str(name) for name in frame.columns]
        close = get_close_matches(str(key), known, n=3) or known[:10]
        raise UsageError(
            f"{{}}: adata.{where} has no such column.",
            Setting(parameter, key),
            ", ".join(close),
            remedy="Choose one, such as {1}." if close else "It has none.",
        )
    return frame[key]


def read_panel(given: Any) -> list[str]:
    """Return the genes of a list, or of a file: one a line, or a column of a table.

    Parameters
    ----------
    given : path-like or sequence of str
        The genes; or a text file with one a line, where # begins a remark; or a .csv or
        .tsv file with a column ``feature`` or ``gene``, such as one of ``franet
        panel``.
    """
    if not isinstance(given, str | os.PathLike):
        return list(given)
    path = Path(given)
    check_readable(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        mark = "\t" if path.suffix.lower() == ".tsv" else ","
        with reading(path, "lines of text"), open_text(path) as file:
            rows = csv.DictReader(file, delimiter=mark)
            heads = rows.fieldnames or []
            head = next((name for name in ("feature", "gene") if name in heads), None)
            if head is None:
                raise DataError(
                    f"{path}: has no column 'feature' or 'gene'; name one so, or write "
                    "one gene a line into a .txt file"
                )
            genes = [unguard(row[head] or "") for row in rows]
    else:
        genes = [name.strip() for name in read_names(path)]
    genes = [name for name in genes if name and not name.startswith("#")]
    if not genes:
        raise DataError(f"{path}: names no gene; write one a line")
    return genes


def start_first(
    ranker: Any,
    names: Sequence[str],
    start: Any,
    closed: NDArray[np.bool_],
    max_total: float | None = None,
) -> dict[str, Any]:
    """Return the parameters with which a ranker starts from genes and leaves out some.

    Genes that it starts from are picked whatever their expression.

    Parameters
    ----------
    ranker : ranker
        The ranker, whose own `include` and `exclude` are kept.
    names : sequence of str
        The names of all genes.
    start : sequence of str, path-like or None
        Genes that are picked first.
    closed : ndarray of bool
        Genes that may not be picked.
    max_total : float, optional
        The most that levels of picks add up to.
    """
    from franet.estimators._constrained import ConstrainedRanker

    if start is None and not closed.any() and max_total is None:
        return {}
    if not isinstance(ranker, ConstrainedRanker):
        raise UsageError(
            "{} picks no genes one by one: {}, {} and limits of expression are for "
            "Cover, ColumnSubset and FacilityLocation.",
            type(ranker).__name__,
            Setting("start"),
            Setting("mask_var"),
        )
    known = np.array([str(name) for name in names], object)
    first = []
    if start is not None:
        first = find_features(known, read_panel(start), "start")
    own = find_features(known, ranker.include, "include")
    include = [*dict.fromkeys([*first, *own])]
    closed = closed.copy()
    closed[include] = False
    exclude = find_features(known, ranker.exclude, "exclude")
    exclude = [*dict.fromkeys([*exclude, *np.flatnonzero(closed).tolist()])]
    return {"include": include or None, "exclude": exclude or None}
