"""The table that every reader returns, and the checks that all of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from franet.exceptions import DataError, UsageError
from franet.io._source import FORMATS, check_shape

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
    """What the caller of `read_table` said about the file."""

    format: str
    transpose: bool = False
    header: Auto = "auto"
    index: Auto = "auto"
    drop: bool = False
    text: bool = False
    variable: str | None = None
    lazy: int | None = None
    decimal: Literal["auto", ".", ","] = "auto"
    # Not the table, but what a h5ad file says of its rows and columns.
    annotations: bool = False

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


def check_columns(
    path: Path, good: Sequence[Any], bad: Sequence[str], options: Options
) -> None:
    """Raise a DataError where columns are not numbers and may not be left out."""
    if bad and not options.drop:
        count = "1 column is" if len(bad) == 1 else f"{len(bad)} columns are"
        keep = ""
        if "text" in FORMATS[options.format].takes:
            keep = ", to rank text use franet rank --ranker frane --similarity mixed "
            keep += "(text=True)"
        raise DataError(
            f"{path}: {count} not numeric: {few(bad)}; to leave such columns out "
            f"use --drop-non-numeric (drop_non_numeric=True){keep}"
        )
    if not good:
        raise DataError(f"{path}: no numeric column is left")


def from_structured(path: Path, records: Any, options: Options) -> Raw:
    """Turn a one-dimensional structured array into a table with names."""
    import numpy as np

    names = records.dtype.names
    good = [name for name in names if records.dtype[name].kind in "buif"]
    bad = [name for name in names if records.dtype[name].kind not in "buif"]
    check_columns(path, good, bad, options)
    X = np.column_stack([records[name] for name in good])
    return Raw(X, columns=good, dropped=bad)


def finish(path: Path, raw: Raw, options: Options, names: Sequence[str] | None) -> Any:
    """Check what a reader found and turn it into (X, names)."""
    X = raw.X
    check_shape(path, X.shape)
    check_matrix(path, X.shape, getattr(X, "values", X).dtype)
    if not hasattr(X, "read_rows") and not hasattr(X, "levels"):
        with raw.held:
            X = _native(path, X)
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


def check_matrix(path: Path, shape: tuple[int, ...], dtype: Any) -> None:
    """Raise a DataError unless real numbers are in rows and columns."""
    if dtype.kind == "c":
        raise DataError(
            f"{path}: the numbers are complex; save their real or absolute values"
        )
    if dtype.kind not in "buif":
        raise DataError(
            f"{path}: the array holds {dtype} values, not numbers; "
            "save it with a numeric dtype"
        )
    if len(shape) != 2:
        raise DataError(
            f"{path}: the array has shape {shape}; a table needs two dimensions, "
            "rows (examples) and columns (features)"
        )
    if 0 in shape:
        what = "rows" if shape[0] == 0 else "columns"
        raise DataError(f"{path}: the table has no {what}")


def _native(path: Path, X: Any) -> Any:
    """Return a table in memory, of a type that every ranker takes."""
    import numpy as np
    from scipy import sparse

    from franet.pairs.columns._kinds import check_indices

    X = X.to_memory() if hasattr(X, "to_memory") else X
    if sparse.issparse(X):
        try:
            check_indices(X)  # first: SciPy's conversions trust every index
            X = sparse.csc_array(X) if X.format == "csc" else sparse.csr_array(X)
            check_indices(X)
        except Exception as err:
            raise DataError(f"{path}: the sparse matrix is damaged ({err})") from err
    else:
        X = np.asarray(X)
    if X.dtype.kind == "b":
        return X.astype(np.uint8)
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        with np.errstate(all="ignore"):  # what is too large becomes infinite
            return X.astype(np.float32 if X.dtype.itemsize == 2 else np.float64)
    return X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))


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
    columns; otherwise the user has to say which. A sparse matrix in parts is likely to
    be the table, even if there is an array beside it.

    Parameters
    ----------
    path : Path
        The file.
    shapes : mapping
        Shapes of arrays by their paths in the file.
    variable : str or None
        Which of them, or which group of them, is wanted.
    """
    if not shapes:
        raise DataError(f"{path}: holds no arrays")
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    for name in shapes:
        group, slash, last = name.rpartition("/")
        parts = {group + slash + part for part in ("data", "indices", "indptr")}
        wanted = variable is None or variable.strip("/") == group
        if last == "indptr" and parts <= shapes.keys() and wanted:
            other = "; choose another array by --variable (variable=)"
            raise DataError(
                f"{path}: {_shown(group) or 'it'} is a sparse matrix in parts (data, "
                "indices, indptr), which is read from h5ad files only; read it by "
                "another tool, such as scanpy.read_10x_h5 for a file of 10x Genomics, "
                f"and save it by adata.write_h5ad{other if matrices else ''}"
            )
    if variable is not None:
        if variable not in shapes:
            raise UsageError(
                f"{path}: has no variable {variable!r}; it has {_listed(shapes)}"
            )
        return variable
    if len(shapes) == 1:
        return next(iter(shapes))
    if not matrices:
        raise DataError(
            f"{path}: holds no array with rows and columns: {_listed(shapes)}; save "
            "the table as an array of two dimensions, examples in rows"
        )
    tables = [name for name in matrices if min(shapes[name]) > 1]
    if len(tables) == 1:
        return tables[0]
    raise DataError(
        f"{path}: holds several variables: {_listed(shapes)}; choose one by --variable "
        "(variable=)"
    )


def _listed(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(
        f"{_shown(name)} ({'×'.join(map(str, shape)) or 'a number'})"
        for name, shape in list(shapes.items())[:20]
    )


def _shown(name: str) -> str:
    """Return a name as it is where it is a plain one."""
    return name if name.isprintable() and len(name) <= _LONG else repr(name[:_LONG])
