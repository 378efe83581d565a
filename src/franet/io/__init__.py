"""Reading tables of numbers from files, and writing results.

Libraries are loaded only when a file needs them: importing this module is cheap.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from franet._common.checked import FLAG, PATH, TEXT, WHOLE, Kind, checked, optional
from franet._common.files import atomic_write, check_target
from franet.exceptions import UsageError
from franet.io._source import FORMATS, check_readable, find_format, read_names
from franet.io._table import Auto, Options, Table, finish
from franet.io._write import write_table

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["Table", "atomic_write", "check_target", "read_table", "write_table"]


def _is_number_type(dtype: Any) -> bool:
    import numpy as np

    try:
        return np.dtype(dtype).kind in "iuf"
    except TypeError:
        return False


def _one_of(words: str, *values: bool | str) -> Kind:
    return Kind(words, lambda x: isinstance(x, bool | str) and x in values)


_AUTO = _one_of("True, False or 'auto'", True, False, "auto")
_SIGN = _one_of("'.', ',' or 'auto'", ".", ",", "auto")
_DTYPE = Kind("a type of numbers, such as 'float32'", _is_number_type)
_NAMES = Kind(
    "a path or a list of names", lambda x: isinstance(x, os.PathLike | Iterable)
)


@checked(
    path=PATH,
    format=optional(TEXT),
    transpose=FLAG,
    header=_AUTO,
    index=_AUTO,
    decimal=_SIGN,
    drop_non_numeric=FLAG,
    text=FLAG,
    variable=optional(TEXT),
    feature_names=optional(_NAMES),
    dtype=optional(_DTYPE),
    lazy=optional(WHOLE),
)
def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    transpose: bool = False,
    header: Auto = "auto",
    index: Auto = "auto",
    decimal: Literal["auto", ".", ","] = "auto",
    drop_non_numeric: bool = False,
    text: bool = False,
    variable: str | None = None,
    feature_names: str | os.PathLike[str] | Sequence[str] | None = None,
    dtype: DTypeLike | None = None,
    lazy: int | None = None,
) -> Table:
    """Read a table of numbers, with the names of its features, from a file.

    Parameters
    ----------
    path : path-like
        The file. Its ending says what it is: csv, tsv, txt, mtx, libsvm and arff
        (also gzipped), parquet, feather, npy, npz, mat (all versions), h5ad, h5 and
        hdf5; a zarr folder.
    format : str, optional
        The format, where the ending does not say it.
    transpose : bool, default=False
        Whether the file has features in rows and examples in columns. The labels of
        the rows are then the names of the features.
    header : bool or "auto", default="auto"
        Whether the first line of a text file holds names. By default it does where
        it has a field that is not a number, or counts its columns (0, 1, 2, …).
    index : bool or "auto", default="auto"
        Whether the first column holds the labels of the rows. By default it does
        where its name is empty, where the header is one field short, or where it
        holds distinct words and all other columns hold numbers.
    decimal : {"auto", ".", ","}, default="auto"
        The decimal sign of a text file; the other sign may then separate thousands.
        By default all cells decide: one such as ``3,14`` makes the comma the decimal
        sign, one such as ``1,234.5`` the dot. Cells such as ``1,234`` alone, and
        files with both decimal signs, are an error.
    drop_non_numeric : bool, default=False
        Leave out columns that are not numeric; by default they are an error.
    text : bool, default=False
        Keep columns of text and categories, for ``similarity="mixed"``; in csv, tsv,
        txt, parquet and feather files.
    variable : str, optional
        Which array of a npz, mat, hdf5 or zarr file, or which layer of AnnData.
    feature_names : path-like or sequence of str, optional
        The names of the features, or a file with one name a line (of a line with
        tabs, the first field counts, as in the `features.tsv` of 10x Genomics).
    dtype : dtype, optional
        The type of the numbers; by default as in the file, float64 for text.
    lazy : int, optional
        A table of npy, h5ad, hdf5, parquet and zarr files that takes more bytes than
        this is only opened, for ``FRANe().fit(table.X)`` to read piece by piece. By
        default, and with `transpose` or `dtype`, all of it is read.

    Returns
    -------
    Table
        The numbers, the names and the columns that were left out. Blank cells, `NA`
        and `NaN` of text files are NaN.

    Raises
    ------
    DataError
        Where the file cannot be used; the message names the file and the remedy.
    UsageError
        Where an option does not fit the file.
    MissingExtraError
        Where the format needs a library that is not installed.

    Examples
    --------
    >>> from franet.io import read_table
    >>> table = read_table("genes.csv.gz", transpose=True)  # doctest: +SKIP
    >>> table.X.shape, table.names[:2]  # doctest: +SKIP
    ((62, 2000), ['Hsa.3004', 'Hsa.13491'])
    """
    path = Path(path)
    # A folder has an ending, too, if it is one that can be read.
    check_readable(path, folder=(format or path.suffix).lower().lstrip(".") == "zarr")
    name = find_format(path, format)
    lazy = None if dtype is not None or text else lazy
    options = Options(
        name, transpose, header, index, drop_non_numeric, text, variable, lazy, decimal
    )
    _check_options(options, dtype)
    names: Any = feature_names
    if isinstance(names, str | os.PathLike):
        names = read_names(Path(names))
    elif names is not None:
        names = [str(name) for name in names]
    read = FORMATS[name].read
    if FORMATS[name].libraries:
        from franet.io._sandbox import read
    raw = read(path, options)
    X, found = finish(path, raw, options, names)
    if dtype is not None:
        X = X.astype(dtype, copy=False)
    return Table(X, found, list(raw.dropped), path, raw.labels)


def _check_options(options: Options, dtype: Any) -> None:
    """Raise where an option means nothing for the file, or text could not be kept."""
    for option in ("header", "index", "decimal", "variable", "text"):
        is_given = getattr(options, option) != getattr(Options, option)
        if is_given and option not in FORMATS[options.format].takes:
            takers = [name for name, kind in FORMATS.items() if option in kind.takes]
            known = ", ".join(takers)
            if option == "text":
                raise UsageError(
                    f"--similarity mixed (text=True) reads {known} files, not "
                    f"{options.format}; for numbers alone use --similarity "
                    "abs-correlation, which is the same"
                )
            raise UsageError(
                f"--{option} ({option}=) means nothing for {options.format} files, "
                f"only for {known}; leave it out"
            )
    against = {
        "--transpose (transpose=True) would make rows of columns of text": (
            options.transpose
        ),
        "--drop-non-numeric (drop_non_numeric=True) would leave text out": options.drop,
        "dtype is for numbers alone": dtype is not None,
    }
    for what, is_given in against.items():
        if is_given and options.text:
            raise UsageError(
                f"{what}, which --similarity mixed (text=True) keeps; leave one of "
                "them out"
            )


def __dir__() -> list[str]:
    return sorted(__all__)
