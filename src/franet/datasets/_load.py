"""From the name of a data set to its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import FLAG, TEXT, checked
from franet.datasets._download import fetch, not_here
from franet.datasets._files import find, verify
from franet.datasets._registry import Entry, get
from franet.exceptions import DataError, UsageError
from franet.io import read_table


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set in memory.

    Attributes
    ----------
    name : str
        Its name.
    X : ndarray of shape (n_examples, n_features)
        The numbers: float64, C-contiguous and dense.
    y : ndarray of shape (n_examples,)
        The classes, int64, as numbered in the file. No ranker uses them.
    path : Path
        The file.
    feature_names : None
        The files have no names of features.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    path: Path
    feature_names: None = None


@checked(name=TEXT, download=FLAG)
def load(name: str, *, download: bool = True) -> Dataset:
    """Load a data set by its name.

    The file is looked for in the folder ``FRANET_DATA`` and its subfolder
    ``datasets``, then in `cache_folder`; then it is downloaded.

    Parameters
    ----------
    name : str
        Its name; see `get` for what is understood.
    download : bool, default=True
        Whether it may be downloaded.

    Returns
    -------
    Dataset
        The numbers and the classes.

    Raises
    ------
    DataError
        Where the file is not here and cannot be fetched, or is not what it should be.
    UsageError
        Where there is no such data set.
    MissingExtraError
        Where it must be downloaded and pooch is not installed.

    Examples
    --------
    >>> from franet.datasets import load
    >>> load("colon").X.shape  # doctest: +SKIP
    (62, 2000)
    """
    entry = get(name)
    path = find(entry.name)
    if path is not None:
        verify(path, entry)
    elif download:
        path = fetch(entry.name).path
    else:
        raise DataError(not_here(entry, "is not on this machine"))
    X, y = read(path, entry)
    return Dataset(entry.name, X, y, path)


def read(path: Path, entry: Entry) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read table and classes, and check their shapes against the registry."""
    X, y = (_variable(path, name, entry) for name in ("X", "Y"))
    shape = (entry.n_examples, entry.n_features)
    if X.shape != shape or y.size != shape[0]:
        raise DataError(
            f"{path}: holds {X.shape[0]} × {X.shape[1]} numbers and {y.size} classes; "
            f"{entry.name} is {shape[0]} × {shape[1]}; {_remedy(entry)}"
        )
    return np.ascontiguousarray(X, np.float64), y.ravel().astype(np.int64)


def _variable(path: Path, name: str, entry: Entry) -> Any:
    try:
        table = read_table(path, format="mat", variable=name)
    except UsageError as err:  # no such variable: the caller here did not choose it
        raise DataError(f"{err}; {_remedy(entry)}") from err
    return table.X.toarray() if hasattr(table.X, "toarray") else table.X


def _remedy(entry: Entry) -> str:
    return f"delete the file, then run 'franet datasets fetch {entry.name}'"
