"""The table that every reader returns, and the checks that all of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from franet.exceptions import DataError, UsageError
from franet.io._formats import FORMATS
from franet.io._source import check_shape

Auto = bool | Literal["auto"]
_SHOWN = 10
_LONG = 60  # characters of a name that are shown


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
    """What the caller of `read_table` said about the file.

    `looked_through` says that another process has read the file before it is opened.
    """

    format: str
    transpose: bool = False
    header: Auto = "auto"
    index: Auto = "auto"
    drop: bool = False
    text: bool = False
    variable: str | None = None
    lazy: int | None = None
    decimal: Literal["auto", ".", ","] = "auto"
    looked_through: bool = False

    def only_opens(self, nbytes: int) -> bool:
        """Return whether a table of this size is opened, not read."""
        return self.lazy is not None and nbytes > self.lazy and not self.transpose


@dataclass(frozen=True, eq=False)
class Raw:
    """What a reader found, as it lies in the file (not yet transposed).

    X may be an array or a sparse matrix in a file that is open as long as it is held.
    """

    X: Any
    columns: Sequence[str] | None = None
    rows: Sequence[str] | None = None
    dropped: list[str] = field(default_factory=list)
    labels: str | None = None
    held: ExitStack = field(default_factory=ExitStack)


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
    if not hasattr(X, "read_rows") and not hasattr(X, "levels"):
        with raw.held:
            X = _checked(path, X)
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


def coded(path: Path, frame: Any) -> Any:
    """Return a data frame with text as a `CodedTable`, or say why it is none."""
    from franet.pairs.coded import code_table

    try:
        found = code_table(frame)
    except (DataError, TypeError) as err:
        raise DataError(f"{path}: {err}") from err
    # A column without any value is neither text nor numbers.
    return frame.to_numpy().astype(float) if found is None else found


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

    if hasattr(X, "to_memory"):
        X = X.to_memory()
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
    elif not isinstance(X, np.ndarray):
        X = X[...]
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


def choose(
    path: Path, shapes: Mapping[str, tuple[int, ...]], variable: str | None
) -> str:
    """Return the name of the variable to read.

    The only variable is the table, and so is the only one with several rows and
    columns; otherwise the user has to say which.
    """
    if not shapes:
        raise DataError(f"{path}: holds no arrays")
    if variable is not None:
        if variable not in shapes:
            raise UsageError(
                f"{path}: has no variable {variable!r}; it has {_listed(shapes)}"
            )
        return variable
    if len(shapes) == 1:
        return next(iter(shapes))
    tables = [name for name, shape in shapes.items() if _is_table(shape)]
    if len(tables) == 1:
        return tables[0]
    raise DataError(
        f"{path}: holds several variables: {_listed(shapes)}; choose one by --variable "
        "(variable=)"
    )


def check_tables(
    path: Path, shapes: Mapping[str, tuple[int, ...]], variable: str | None
) -> None:
    """Raise a DataError where there is a sparse matrix in parts, or no table at all.

    A sparse matrix is likely to be the table, even if there is an array beside it.

    Parameters
    ----------
    path : Path
        The file.
    shapes : mapping
        Shapes of arrays by their paths in the file.
    variable : str or None
        Which of them, or which group of them, is wanted.
    """
    tables = [name for name, shape in shapes.items() if len(shape) == 2]
    wanted = None if variable is None else variable.strip("/")
    for group in _sparse_groups(shapes):
        if wanted in (None, group):
            other = "; choose another array by --variable (variable=)" if tables else ""
            raise DataError(
                f"{path}: {_shown(group) or 'it'} is a sparse matrix in parts (data, "
                "indices, indptr), which is read from h5ad files only; read it by "
                "another tool, such as scanpy.read_10x_h5 for a file of 10x Genomics, "
                f"and save it by adata.write_h5ad{other}"
            )
    if len(shapes) > 1 and not tables and variable is None:
        raise DataError(
            f"{path}: holds no array with rows and columns: {_listed(shapes)}; save "
            "the table as an array of two dimensions, examples in rows"
        )


def _sparse_groups(shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Return the groups that hold the parts of a sparse matrix."""
    groups = [name.rpartition("/")[0] for name in shapes]
    return [
        group
        for group in dict.fromkeys(groups)
        if all(
            f"{group}/{part}".lstrip("/") in shapes
            for part in ("data", "indices", "indptr")
        )
    ]


def _listed(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(
        f"{_shown(name)} ({'×'.join(map(str, shape)) or 'a number'})"
        for name, shape in list(shapes.items())[:20]
    )


def _shown(name: str) -> str:
    """Return a name as it is where it is a plain one."""
    return name if name.isprintable() and len(name) <= _LONG else repr(name[:_LONG])


def _is_table(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and min(shape) > 1
