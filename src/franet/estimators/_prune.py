"""Dropping correlated columns: a function, and the same as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.checked import check_value
from franet._common.docs import entries, shared_docs
from franet._common.joints import connected
from franet._common.memory import available_bytes
from franet._common.optional import require
from franet._common.table import TextTable
from franet._common.threads import count_threads
from franet.cover._constraints import read_preferences
from franet.estimators._base import FeatureSelector
from franet.estimators._parameters import PRUNE, constraints
from franet.estimators._validation import check_table, fit_context, names_of
from franet.exceptions import (
    CollapsedBlockWarning,
    Column,
    DataError,
    MissingExtraError,
    Setting,
    UsageError,
)
from franet.network._explain import signed
from franet.network._html import best_html
from franet.pairs.coded import CodedTable, column_at
from franet.pairs.columns import Columns, open_columns
from franet.pairs.columns._base import PAIRWISE, check_finite
from franet.pairs.columns._kinds import ChosenColumns
from franet.pairs.columns._open import in_memory
from franet.pairs.similarity import open_source
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.tiles import PairSource
from franet.pruning._keys import content_keys
from franet.pruning._links import survey
from franet.pruning._select import Selection, select

# Columns from which tiles in float32 are worth the pairs that are computed again.
_MANY = 2048
# A connected part of so many columns, of which one or two are kept, is warned of: if
# not all of them are copies.
_BLOCK, _FEW, _COPY = 20, 2, 0.9999
# Correlations that differ beyond these digits only are equal.
_DIGITS = 9
# Groups that a notebook shows.
_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class CorrelatedColumns:
    """Which columns of a table are kept, and which of these represents each other one.

    Attributes
    ----------
    kept : ndarray of int
        The positions of the kept columns, ascending.
    kept_names : list of str
        Their names.
    representative : ndarray of int of shape (n,)
        For each column the kept one with the largest ``|r|``, by position; itself if it
        is kept, -1 for constant columns that are dropped.
    r : ndarray of shape (n,)
        The correlation of each column with its representative; 1 for kept columns, NaN
        for constant ones that are dropped.
    constant : ndarray of int
        The positions of the constant columns.
    least : float or None
        With ``exact=True``, what kept columns cost at least, as was proven; where no
        costs are given, how many must be kept at least.
    cost : float
        What the kept columns cost: how many they are, where no costs are given.
    cutoff : float
        The cutoff.
    similarity : str
        How columns were compared.
    names : list of str
        The names of all columns.
    collapsed : list of ndarray of int
        Connected blocks of at least 20 columns, not all copies, of which only one or
        two are kept.
    """

    kept: NDArray[np.intp]
    representative: NDArray[np.intp]
    r: NDArray[np.float64]
    constant: NDArray[np.intp]
    least: float | None
    cost: float
    cutoff: float
    similarity: str
    names: list[str]
    collapsed: list[NDArray[np.intp]]
    _has_names: bool = False

    @cached_property
    def kept_names(self) -> list[str]:
        """The names of the kept columns."""
        return [self.names[j] for j in self.kept]

    @cached_property
    def groups(self) -> dict[int, NDArray[np.intp]]:
        """For each kept column that represents others, these, the closest first.

        The largest group comes first.
        """
        others = np.flatnonzero(self._is_dropped & (self.representative >= 0))
        by = self.representative[others]
        order = np.lexsort((others, -np.abs(self.r[others]).round(_DIGITS), by))
        found, first = np.unique(by[order], return_index=True)
        parts = np.split(others[order], first[1:]) if len(found) else []
        pairs = zip(found.tolist(), parts, strict=True)
        return dict(sorted(pairs, key=lambda pair: (-len(pair[1]), pair[0])))

    @property
    def _is_dropped(self) -> NDArray[np.bool_]:
        dropped = np.ones(len(self.names), bool)
        dropped[self.kept] = False
        return dropped

    @property
    def dropped(self) -> Any:
        """The dropped columns as a frame: column, representative, r and reason.

        Of pandas, or of polars where pandas is not installed; a plain table that prints
        itself where neither is.
        """
        for library in ("pandas", "polars"):
            try:
                return self.to_frame(library)
            except MissingExtraError:
                continue
        columns = self.columns()
        rows = zip(*columns.values(), strict=True)
        return TextTable([*columns], [list(row) for row in rows])

    def to_frame(self, library: str = "pandas") -> Any:
        """Return the dropped columns as a data frame, in the order of the table.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Whose data frame.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Columns ``column``, ``representative`` and ``r`` (both empty for constant
            columns), and ``reason``: ``"correlated"`` or ``"constant"``.
        """
        is_fine = library in ("pandas", "polars")
        check_value("library", library, is_fine, "choose 'pandas' or 'polars'.")
        frames = require(library, "to_frame", library)
        return frames.DataFrame(self.columns())

    def columns(self) -> dict[str, list[Any]]:
        """Return the dropped columns as plain lists: what `dropped` has as a frame."""
        dropped = np.flatnonzero(self._is_dropped)
        by = self.representative[dropped]
        r = self.r[dropped].tolist()
        return {
            "column": [self.names[j] for j in dropped],
            "representative": [self.names[k] if k >= 0 else None for k in by],
            "r": [x if k >= 0 else None for x, k in zip(r, by, strict=True)],
            "reason": ["correlated" if k >= 0 else "constant" for k in by],
        }

    def transform(self, X: Any) -> Any:
        """Return the kept columns of a table, which stays what it is.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            The table, or another one with the same columns.

        Returns
        -------
        X_kept : array, sparse matrix, data frame or AnnData
            Its kept columns, in the order of the table.
        """
        n, shape = len(self.names), getattr(X, "shape", None)
        if shape is None:
            X = np.asarray(X)
            shape = X.shape
        if len(shape) != 2 or shape[1] != n:
            raise DataError(
                f"X has the shape {tuple(shape)}, but {n} columns were compared. Pass "
                "a table with these columns."
            )
        columns = getattr(X, "columns", getattr(X, "var_names", None))
        if self._has_names and columns is not None:
            given = [str(name) for name in columns]
            if given != self.names:
                j = next(j for j in range(n) if given[j] != self.names[j])
                raise DataError(
                    f"Column {j} of X is {given[j]!r}, that of the table was "
                    f"{self.names[j]!r}. Pass the same columns in the same order."
                )
        if hasattr(X, "iloc"):
            return X.iloc[:, self.kept]
        if sparse.issparse(X) and X.format not in ("csr", "csc"):
            X = X.tocsr()
        return X[:, self.kept.tolist() if hasattr(X, "get_columns") else self.kept]

    def report(self, path: Any, *, title: str | None = None, top: int = 500) -> None:
        """Write the groups as one HTML page: who represents whom, and how closely.

        A file that is there is replaced.

        Parameters
        ----------
        path : path-like
            The file: a page that needs nothing else if its name ends in .html, the
            data of the page if it ends in .json.
        title : str, default=None
            What was pruned, such as the name of a file.
        top : int, default=500
            How many groups, the largest first, are listed.
        """
        page = connected("report")
        page.check_report(path, force=True)
        page.write(page.summarize_groups(self, title=title, top=top), path, force=True)

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def named(self, names: list[str]) -> CorrelatedColumns:
        """Return the same with other names of the columns.

        Parameters
        ----------
        names : list of str
            A name for each column.
        """
        return replace(self, names=names, _has_names=True)

    def summary(self) -> dict[str, Any]:
        """Return what was found as a plain dict, fit for JSON."""
        dropped = self.columns()
        rows = zip(*dropped.values(), strict=True)
        return {
            "format": "franet-pruning",
            "version": 1,
            "n_columns": len(self.names),
            "n_kept": len(self.kept),
            "cutoff": self.cutoff,
            "similarity": self.similarity,
            "cost": self.cost,
            "least": self.least,
            "kept": self.kept_names,
            "dropped": [dict(zip(dropped, row, strict=True)) for row in rows],
            "collapsed": [
                [self.names[j] for j in np.intersect1d(block, self.kept)]
                for block in self.collapsed
            ],
        }

    def lines(self) -> list[str]:
        """Return what was found as sentences."""
        n, n_constant = len(self.names), int((self.representative < 0).sum())
        n_dropped = n - len(self.kept) - n_constant
        found = [
            f"{len(self.kept):,} of {_count(n, 'column')} kept at {self.symbol} "
            f"{self.cutoff:g}"
        ]
        if n_dropped:
            found.append(
                f"{n_dropped:,} dropped, represented by "
                f"{_count(len(self.groups), 'kept column')}"
            )
        if n_constant:
            found.append(f"{_count(n_constant, 'constant column')} dropped")
        if self.least is not None:
            found.append(self._proof())
        return found

    @property
    def symbol(self) -> str:
        """What is compared with the cutoff."""
        return {"spearman": "|ρ|", "mixed": "similarity"}.get(self.similarity, "|r|")

    def _proof(self) -> str:
        """Return what is known about the least cost."""
        assert self.least is not None
        if self.cost <= self.least * (1 + 1e-9):
            return "proven: fewer or cheaper columns cannot keep both guarantees"
        if self.cost == len(self.kept):
            return f"proven: at least {self.least:,.0f} columns are needed"
        return f"proven: kept columns cost at least {self.least:.6g}"

    def _repr_html_(self) -> str:
        lines = "".join(f"<div>{escape(line)}</div>" for line in self.lines())
        rows = [
            (self.names[k], f"{len(members):,}", self._members(members))
            for k, members in [*self.groups.items()][:_SHOWN]
        ]
        head = ("kept", "represents", "columns")
        table = best_html(head, rows, len(self.groups), "groups") if rows else ""
        return f"<div>{lines}{table}</div>"

    def _members(self, members: NDArray[np.intp]) -> str:
        shown = [f"{self.names[j]} ({signed(self.r[j])})" for j in members[:3]]
        return ", ".join(shown) + (" …" if len(members) > 3 else "")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@dataclass(eq=False, repr=False, kw_only=True)
class DropCorrelated(FeatureSelector):
    """Drop correlated columns: keep few, such that each other is close to a kept one.

    Two guarantees hold always: no two kept columns have ``|r|`` at or above the cutoff,
    and each dropped column has a kept representative at or above it, constant columns
    aside.

    Parameters
    ----------
    cutoff : float, default=0.9
        The largest ``|r|`` of two columns, above 0 and at most 1, from which on they
        are not kept both. With 1 only copies are dropped.
    similarity : {"correlation", "spearman", "mixed"}, default="correlation"
        How columns are compared: by Pearson's correlation, by that of ranks, or, in
        tables with text and categories, as ``FRANe(similarity="mixed")`` does. Signs do
        not count.
    keep : sequence of str or int, default=None
        Columns, by name, pattern (``"MT-*"``) or position, that are kept in any case.
        No two of them may be correlated above the cutoff.
    cost : mapping or array-like of shape (n_features,), default=None
        What each column costs: a price, or ``1 + X.isna().mean()``, so that columns
        with few gaps are kept. Kept columns cost little in all. A mapping or a pandas
        Series names some columns, others cost 1. By default few columns are kept.
    missing : {"pairwise", "error"}, default="pairwise"
        What NaN means: a gap, so that two columns are compared in the rows that both
        have (uncorrelated, if these are fewer than three); or an error. It is an error
        with another similarity than ``"correlation"``, in sparse tables, and in tables
        that are read piece by piece because they do not fit into memory.
    keep_constant : bool, default=False
        Whether constant columns are kept.
    exact : bool, default=False
        Whether the fewest columns are searched for by integer programming, in each
        connected part that is small enough. What was proven is in ``result_.least``.
    n_jobs : int, default=None
        Number of threads; -1 and None mean all cores. No result depends on it.

    Attributes
    ----------
    result_ : CorrelatedColumns
        What was found: ``kept``, ``dropped`` (a frame), ``groups``, ``report(path)``.
    kept_ : ndarray of int
        The positions of the kept columns, ascending.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that `transform` keeps.
    n_features_ : int
        How many those are.
    representative_ : ndarray of int of shape (n_features_in_,)
        For each column the kept one with the largest ``|r|``; itself if it is kept, -1
        for constant columns that are dropped.
    representative_corr_ : ndarray of shape (n_features_in_,)
        The correlation of each column with it; NaN for constant columns that are
        dropped.
    constant_ : ndarray of bool of shape (n_features_in_,)
        Constant columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    See Also
    --------
    drop_correlated : The same as a function.
    Cover : Picks a given number of columns that represent the others, together; for
        spectra, and other tables in which neighbors are nearly copies.

    Notes
    -----
    Columns with ``|r|`` at or above the cutoff are linked; 1e-12 below it counts as at
    it. Kept columns are an independent dominating set of this graph. It is found
    greedily: always the column that covers most uncovered columns for its cost. Then
    kept columns are exchanged for others, as long as fewer or cheaper ones are enough.

    Ties are broken by content: the sum of the squared correlations with all other
    columns, then the third absolute moment. So neither names, units, signs nor the
    order of rows and columns matter, copies aside, of which the first is kept.

    There is never an n × n matrix: tiles of correlations are visited, and linked pairs
    stored if there are at most 8 million. Otherwise columns with the most links are
    kept first, and links of uncovered columns are counted again each time that half of
    them are covered, until links can be stored. It takes O(m·n²), and two to three
    copies of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet import DropCorrelated
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> pruned = DropCorrelated(cutoff=0.9).fit(X)
    >>> pruned.transform(X).shape
    (569, 20)
    >>> pruned.result_.to_frame().round(3).head(3)
               column   representative      r      reason
    0     mean radius  worst perimeter  0.965  correlated
    1    mean texture    worst texture  0.912  correlated
    2  mean perimeter  worst perimeter  0.970  correlated
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = constraints(PRUNE)
    _for_text: ClassVar[Setting | None] = Setting("similarity", "mixed")

    cutoff: float = field(default=0.9, kw_only=False)
    similarity: str = "correlation"
    keep: Any = None
    cost: Any = None
    missing: str = "pairwise"
    keep_constant: bool = False
    exact: bool = False
    n_jobs: int | None = None

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns of a table that are kept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, SciPy CSR or CSC. Text and categories
            need ``similarity="mixed"``.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        result = self._prune(X)
        # Past scikit-learn's wrapper around this method, to the caller.
        _warn(result, stacklevel=4)
        return self

    def _prune(self, X: Any) -> CorrelatedColumns:
        """Set the attributes of a fit."""
        table = self._checked(X)
        names, n = names_of(self), self.n_features_in_
        keep, cost = read_preferences(names, self.keep, self.cost)
        known = getattr(self, "feature_names_in_", None)
        cutoff, n_threads = float(self.cutoff), count_threads(self.n_jobs)
        with closing(_Opened(table, self.similarity, n_threads)) as opened:
            varied = opened.columns
            fixed = np.isin(varied, keep)
            opened.check_apart(np.flatnonzero(fixed), known, cutoff)
            found = select(
                opened,
                len(varied),
                cutoff,
                keys=opened.keys(),
                cost=cost[varied],
                fixed=fixed,
                exact=self.exact,
                n_threads=n_threads,
            )
        kept = np.zeros(n, bool)
        kept[varied[found.kept]] = kept[opened.alone] = True
        # A constant column that is asked for is kept, although it holds nothing.
        kept[keep] = True
        if self.keep_constant:
            kept |= opened.constant
        if not kept.any():
            raise DataError(
                "All columns are constant: none of them would be kept.",
                Setting("keep_constant", True),
                remedy="Set {0} to keep them.",
            )
        representative, r = (
            np.where(kept, np.arange(n), -1),
            np.where(kept, 1.0, np.nan),
        )
        representative[varied] = varied[found.representative]
        r[varied] = np.clip(found.r, -1.0, 1.0)
        total, least = float(cost[kept].sum()), found.least
        if least is not None:
            least += total - float(cost[varied[found.kept]].sum())
        self.support_ = kept
        self.n_features_ = int(kept.sum())
        self.representative_, self.representative_corr_ = representative, r
        self.constant_ = opened.constant
        self.kept_ = np.flatnonzero(kept)
        self.result_ = CorrelatedColumns(
            kept=self.kept_,
            representative=representative,
            r=r,
            constant=np.flatnonzero(opened.constant),
            least=least,
            cost=total,
            cutoff=cutoff,
            similarity=self.similarity,
            names=[str(name) for name in names],
            collapsed=[varied[part] for part in _collapsed(found)],
            _has_names=hasattr(self, "feature_names_in_"),
        )
        return self.result_

    def _checked(self, X: Any) -> Any:
        """Return the table, checked; `Columns` if it is read piece by piece."""
        columns = open_columns(X)
        if columns is None:
            is_sparse = sparse.issparse(in_memory(X)[0])
            fits = True
        else:
            is_sparse = columns.is_sparse
            # The table, its checks and its standardized copy.
            fits = columns.nbytes <= available_bytes() // 4
        reads_gaps = self._allows_gaps and fits and not is_sparse
        missing = "pairwise" if reads_gaps else "error"
        table = check_table(self, X, lazy=True, missing=missing)
        if sparse.issparse(table) and reads_gaps:  # a frame with sparse columns
            check_finite(table, names_of(self), False, None)
        return table

    @property
    def _allows_gaps(self) -> bool:
        return self.missing == "pairwise" and self.similarity == "correlation"

    def _for_gaps(self, is_sparse: bool) -> Setting | None:
        is_wrong = is_sparse or self.similarity != "correlation" or self._allows_gaps
        return None if is_wrong else PAIRWISE

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_gaps
        return tags


class _Opened:
    """Opens the correlations of columns that vary.

    Parameters
    ----------
    table : ndarray, sparse array, CodedTable or Columns
        The table, checked.
    similarity : str
        How columns are compared.
    n_threads : int
        Number of threads; no result depends on it.

    Attributes
    ----------
    columns : ndarray of int
        The columns that are compared.
    constant : ndarray of bool
        Constant columns.
    alone : ndarray of int
        Columns that cannot be compared, because no two of their texts are equal.
    """

    def __init__(self, table: Any, similarity: str, n_threads: int) -> None:
        self._table = table.tocsc() if sparse.issparse(table) else table
        is_coded = isinstance(table, CodedTable)
        # Between numbers alone the mixed similarity is the correlation without signs.
        known = "correlation" if similarity == "mixed" and not is_coded else similarity
        self.alone = np.empty(0, np.intp)
        self.n_threads = n_threads
        self._options = {
            "similarity": known,
            "pairwise": isinstance(table, np.ndarray) and _has_gaps(table),
            "n_thresholds": 1,
            "n_threads": n_threads,
            "rough": table.shape[1] >= _MANY,
        }
        # Kept until asked for: with all it is known which columns are constant.
        self._all: PairSource | None = None
        if isinstance(table, np.ndarray) or sparse.issparse(table):
            self.constant = constant_in(self._table)
            self.columns = np.flatnonzero(~self.constant)
            return
        self._all, left_out = open_source(table, **self._options)
        self.constant = left_out
        self.columns = np.flatnonzero(~left_out)
        if is_coded:
            self.alone = np.asarray(self._all.identifiers, np.intp)  # type: ignore[attr-defined]
            self.constant = left_out.copy()
            self.constant[self.alone] = False

    def __call__(self, columns: NDArray[np.intp]) -> PairSource:
        """Return the correlations of some of the columns, in the order given."""
        is_all = len(columns) == len(self.columns) and bool(
            (np.diff(columns) > 0).all()
        )
        if is_all:
            source, self._all = self._all, None
            # Constant columns are left out again.
            return source or open_source(self._table, **self._options)[0]
        chosen = self.columns[columns]
        part: Any
        if isinstance(self._table, Columns):
            part = ChosenColumns(self._table, chosen)
        else:
            part = self._table[:, chosen]
        return open_source(part, **self._options)[0]

    def keys(self) -> NDArray[np.float64]:
        """Return numbers from the content of the columns.

        Tables that are read piece by piece are not read once more for it.
        """
        if isinstance(self._table, Columns):
            return np.zeros(len(self.columns))
        return content_keys(self._table)[self.columns]

    def check_apart(
        self, fixed: NDArray[np.intp], names: NDArray[Any] | None, cutoff: float
    ) -> None:
        """Raise where two of some columns are correlated above the cutoff."""
        if len(fixed) < 2:
            return
        whole, self._all = self._all, None
        with closing(self(fixed)) as source:
            links = survey(source, cutoff, self.n_threads, len(fixed) ** 2).links
        self._all = whole
        if links is None or not len(links.r):
            return
        worst = int(np.argmax(np.abs(links.r)))
        ends = (fixed[int(links.j[worst])], fixed[int(links.k[worst])])
        a, b = (self._column(j, names) for j in sorted(ends))
        raise UsageError(
            "{}: {} and {} have |r| = {}, at or above {}.",
            Setting("keep"),
            a,
            b,
            f"{abs(links.r[worst]):.3f}",
            Setting("cutoff", cutoff),
            remedy="Leave out one of them, or raise the cutoff.",
        )

    def _column(self, j: int, names: NDArray[Any] | None) -> Column:
        """Return a column as messages name it."""
        return column_at(int(self.columns[j]), names)

    def close(self) -> None:
        """Give temporary files back that nothing has asked for."""
        if self._all is not None:
            self._all.close()


def _has_gaps(table: NDArray[Any]) -> bool:
    # The sum is NaN as soon as one value is: one pass, no mask.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(table.sum()) and np.isnan(table).any())


def _collapsed(found: Selection) -> list[NDArray[np.intp]]:
    """Return the blocks of many columns, not all copies, of which few are kept."""
    order = np.argsort(found.block, kind="stable")
    _, first = np.unique(found.block[order], return_index=True)
    parts = np.split(order, first[1:])
    return [
        part
        for part in parts
        if len(part) >= _BLOCK
        and found.kept[part].sum() <= _FEW
        and np.abs(found.r[part]).min() < _COPY
    ]


def _warn(result: CorrelatedColumns, stacklevel: int) -> None:
    """Warn of blocks of many columns that are represented by one or two."""
    if not result.collapsed:
        return
    largest = max(result.collapsed, key=len)
    names = result.names if result._has_names else None
    kept = [column_at(int(j), names) for j in np.intersect1d(largest, result.kept)]
    others = len(result.collapsed) - 1
    more = f", and {_count(others, 'other block')} likewise" if others else ""
    warning = CollapsedBlockWarning(
        f"A block of {len(largest):,} connected columns is represented by "
        f"{' and '.join(['{}'] * len(kept))} alone"
        f"{more}: in spectra and other smooth tables a cutoff loses what columns hold "
        "together.",
        *kept,
        remedy="Use Cover, which picks columns that rebuild the others, or a higher "
        "cutoff.",
    )
    warnings.warn(warning, stacklevel=stacklevel)


def drop_correlated(
    X: Any,
    cutoff: float = 0.9,
    *,
    similarity: str = "correlation",
    keep: Any = None,
    cost: Mapping[Any, float] | Any = None,
    missing: str = "pairwise",
    keep_constant: bool = False,
    exact: bool = False,
    n_jobs: int | None = None,
) -> CorrelatedColumns:
    """Return which columns of a table to keep so that none of them repeats another one.

    Two guarantees hold always: no two kept columns have ``|r|`` at or above the cutoff,
    and each dropped column has a kept representative at or above it, constant columns
    aside.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table: NumPy, pandas, polars, SciPy CSR or CSC, AnnData, or one in a file.
    {cutoff}
    {similarity}
    {keep}
    {cost}
    {missing}
    {keep_constant}
    {exact}
    {n_jobs}

    Returns
    -------
    result : CorrelatedColumns
        ``kept``, ``kept_names``, ``dropped`` (a frame: column, representative, r),
        ``transform(X)`` and ``report(path)``.

    See Also
    --------
    DropCorrelated : The same as a scikit-learn transformer, with notes on the method.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet import drop_correlated
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = drop_correlated(X, cutoff=0.9)
    >>> found
    20 of 30 columns kept at |r| 0.9
    10 dropped, represented by 4 kept columns
    >>> found.transform(X).shape
    (569, 20)
    """
    selector = DropCorrelated(
        cutoff=cutoff,
        similarity=similarity,
        keep=keep,
        cost=cost,
        missing=missing,
        keep_constant=keep_constant,
        exact=exact,
        n_jobs=n_jobs,
    )
    selector._validate_params()
    result = selector._prune(X)
    _warn(result, stacklevel=3)
    return result


_parameters = entries(DropCorrelated.__doc__)
shared_docs(**{name: _parameters[name] for name in PRUNE})(drop_correlated)
