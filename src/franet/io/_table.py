"""The table that every reader returns, and the checks that all of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from franet.exceptions import DataError
from franet.io._registry import FORMATS
from franet.io._source import check_shape

__all__ = [
    "Options",
    "Raw",
    "Table",
    "check_numbers",
    "few",
    "finish",
    "from_structured",
    "non_numeric",
]

_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Table:
    """A numeric table read from a file.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_examples, n_features)
        The numbers; CSR or CSC where the file is sparse. A `CodedTable` where text
        was wanted and is there, `Columns` where the file is only opened.
    names : list of str or None
        The names of the features, where the file has any.
    dropped : list of str
        The non-numeric columns that were left out.
    path : Path
        Where the table was read from.
    labels : str or None
        The column that was taken for the labels of the rows because of its words.
    """

    X: Any
    names: list[str] | None
    dropped: list[str]
    path: Path
    labels: str | None = None


@dataclass(frozen=True)
class Options:
    """What the caller of `read_table` said about the file."""

    format: str
    transpose: bool = False
    header: bool | Literal["auto"] = "auto"
    index: bool | Literal["auto"] = "auto"
    drop: bool = False
    text: bool = False
    variable: str | None = None
    lazy: int | None = None
    decimal: Literal["auto", ".", ","] = "auto"

    def only_opens(self, nbytes: int) -> bool:
        """Return whether a table of this size is opened, not read."""
        return self.lazy is not None and nbytes > self.lazy and not self.transpose


@dataclass(frozen=True, eq=False)
class Raw:
    """What a reader found, as it lies in the file (not yet transposed)."""

    X: Any
    columns: Sequence[str] | None = None
    rows: Sequence[str] | None = None
    dropped: list[str] = field(default_factory=list)
    labels: str | None = None


def few(items: Iterable[str]) -> str:
    """Quote the first ten items, and count the rest.

    Examples
    --------
    >>> few(["a", "b"])
    "'a', 'b'"
    """
    quoted = [repr(item) for item in items]
    more = len(quoted) - _SHOWN
    return ", ".join(quoted[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def non_numeric(path: Path, names: Sequence[str], text: bool = False) -> DataError:
    """Say which columns are not numbers, and what can be done.

    `text` says whether the reader of the file could keep text.
    """
    use = "franet rank --ranker frane --similarity mixed (text=True)"
    keep = f", to rank text use {use}" if text else ""
    count = "1 column is" if len(names) == 1 else f"{len(names)} columns are"
    return DataError(
        f"{path}: {count} not numeric: {few(names)}; to leave such columns out "
        f"use --drop-non-numeric (drop_non_numeric=True){keep}"
    )


def from_structured(path: Path, records: Any, drop: bool) -> Raw:
    """Turn a one-dimensional structured array into a table with names."""
    import numpy as np

    names = list(records.dtype.names)
    good = [name for name in names if records.dtype[name].kind in "buif"]
    bad = [name for name in names if name not in set(good)]
    if bad and not drop:
        raise non_numeric(path, bad)
    if not good:
        raise DataError(f"{path}: no numeric column is left")
    X = np.column_stack([records[name] for name in good])
    return Raw(X, columns=good, dropped=bad)


def finish(path: Path, raw: Raw, options: Options, names: Sequence[str] | None) -> Any:
    """Check what a reader found and turn it into (X, names)."""
    X = raw.X
    check_shape(path, X.shape)
    if not hasattr(X, "read_rows"):
        X = _coded(path, X) if hasattr(X, "columns") else _checked(path, X)
    found = raw.columns
    if options.transpose:
        X, found = X.T, raw.rows
    if names is not None:
        _check_count(path, names, X.shape)
        found = names
    if found is None:
        return X, None
    if len(found) != X.shape[1]:
        raise DataError(
            f"{path}: has {len(found)} names for {X.shape[1]} features; it is damaged, "
            "write it again"
        )
    filled = [name if name else f"x{j}" for j, name in enumerate(found)]
    _check_unique(path, filled, options.format)
    return X, filled


def _coded(path: Path, frame: Any) -> Any:
    """Return a data frame with text as a `CodedTable`, or say why it is none."""
    from franet.pairs.coded import code_table

    try:
        coded = code_table(frame)
    except (DataError, TypeError) as err:
        raise DataError(f"{path}: {err}") from err
    # A column without any value is neither text nor numbers.
    return _checked(path, frame.to_numpy().astype(float)) if coded is None else coded


def check_numbers(path: Path, dtype: Any) -> None:
    """Raise a DataError where an array does not hold real numbers."""
    if dtype.kind == "c":
        raise DataError(
            f"{path}: the numbers are complex; save their real or absolute values"
        )
    if dtype.kind not in "buif":
        raise DataError(
            f"{path}: the array holds {dtype} values, not numbers; "
            "save it with a numeric dtype"
        )


def _checked(path: Path, X: Any) -> Any:
    """Return `X` as a native numeric 2-d array, or say why it is none."""
    import numpy as np
    from scipy import sparse

    check_numbers(path, X.dtype)
    if X.ndim != 2:
        raise DataError(
            f"{path}: the array has shape {X.shape}; a table needs two dimensions, "
            "rows (examples) and columns (features)"
        )
    if 0 in X.shape:
        what = "rows" if X.shape[0] == 0 else "columns"
        raise DataError(f"{path}: the table has no {what}")
    if sparse.issparse(X):
        X = _sound(path, X)
    if X.dtype.kind == "b":
        X = X.astype(np.uint8)
    elif X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        with np.errstate(all="ignore"):  # what is too large becomes infinite
            X = X.astype(np.float32 if X.dtype.itemsize == 2 else np.float64)
    elif not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    return X if sparse.issparse(X) else np.asarray(X)


def _sound(path: Path, X: Any) -> Any:
    """Return a sparse matrix as CSR or CSC, or say that it is damaged.

    It is looked at first: SciPy's conversions trust every index.
    """
    from scipy import sparse

    from franet.pairs.columns._kinds import check_indices

    try:
        check_indices(X)
        X = sparse.csc_array(X) if X.format == "csc" else sparse.csr_array(X)
        check_indices(X)
    except Exception as err:
        raise DataError(f"{path}: the sparse matrix is damaged ({err})") from err
    return X


def _check_count(path: Path, names: Sequence[str], shape: tuple[int, int]) -> None:
    n_rows, n_columns = shape
    if len(names) == n_columns:
        return
    hint = "give one name per feature"
    if len(names) == n_rows:
        hint = "they fit the rows: use --transpose (transpose=True)"
    elif len(names) == n_columns + 1:
        hint = "there is one too many: remove the header line of the name file"
    raise DataError(
        f"{path}: {len(names)} feature names for {n_columns} features; {hint}"
    )


def _check_unique(path: Path, names: Sequence[str], kind: str) -> None:
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    rename = "rename them"
    if kind == "h5ad":
        rename = "call adata.var_names_make_unique() and write it again"
    hint = ""
    if "header" in FORMATS[kind].takes:
        hint = ", or, where the first line is data, use --no-header (header=False)"
    raise DataError(
        f"{path}: feature names occur more than once: {few(twice)}; {rename}, give "
        f"others by --feature-names (feature_names=){hint}"
    )
