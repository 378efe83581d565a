"""From the name of a data set to its numbers, by pooch where its file is not here."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import FLAG, TEXT, checked
from franet._common.optional import require
from franet._common.progress import report
from franet.datasets._registry import Entry, cache_folder, find, folders, get
from franet.exceptions import DataError, UsageError
from franet.io import read_table

# Seconds without an answer, and further attempts after a failure that may pass.
_TIMEOUT = 30
_RETRIES = 2


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
        _verify(path, entry)
    elif download:
        path = fetch(entry.name).path
    else:
        raise DataError(_not_here(entry, "is not on this machine"))
    X, y = _read(path, entry)
    return Dataset(entry.name, X, y, path)


@dataclass(frozen=True)
class Fetched:
    """A data set that is on this machine.

    Attributes
    ----------
    name : str
        The name of the data set.
    path : Path
        Its file.
    sha256 : str
        The SHA-256 of the file, computed.
    downloaded : bool
        Whether it was downloaded by this call.
    """

    name: str
    path: Path
    sha256: str
    downloaded: bool


def fetch(name: str) -> Fetched:
    """Make sure that a data set is on this machine.

    A file that is here already is checked and left as it is. Otherwise the file is
    downloaded into `cache_folder`; a damaged one there is replaced. The file appears
    there only when all of it has come and has passed every check.

    Parameters
    ----------
    name : str
        The name of the data set.

    Returns
    -------
    Fetched
        Where the file is, and its SHA-256.

    Raises
    ------
    DataError
        Where it cannot be downloaded, or is not what it should be.
    UsageError
        Where there is no such data set.
    MissingExtraError
        Where it must be downloaded and pooch is not installed.
    """
    entry = get(name)
    path = find(entry.name)
    # What lies in FRANET_DATA is the user's own, and not ours to replace.
    if path is not None and path.parent != cache_folder():
        _verify(path, entry)
    downloaded = False
    if path is None or _difference(path, entry):
        path, downloaded = _download(entry), True
    return Fetched(entry.name, path, _digest(path), downloaded)


def _digest(path: Path, kind: Any = "sha256") -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def _difference(path: Path, entry: Entry) -> str:
    """Say how the checksum of a file differs from the known one, if it does."""
    if entry.sha256 is not None:
        kind, found, known = "SHA-256", _digest(path), entry.sha256
    elif entry.git_id is not None:
        header = f"blob {path.stat().st_size}\0".encode()
        start = partial(hashlib.sha1, header, usedforsecurity=False)
        kind, found, known = "git id", _digest(path, start), entry.git_id
    else:
        return ""
    return "" if found == known else f"its {kind} is {found} instead of {known}"


def _verify(path: Path, entry: Entry) -> None:
    """Raise a DataError if the file has another checksum than the known one."""
    if wrong := _difference(path, entry):
        raise DataError(
            f"{path}: is not {entry.name} as published ({wrong}): damaged, or another "
            f"version; delete it, then run 'franet datasets fetch {entry.name}'"
        )


def _read(path: Path, entry: Entry) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read table and classes, and check their shapes against the registry."""
    remedy = f"delete the file, then run 'franet datasets fetch {entry.name}'"
    try:
        found = [read_table(path, format="mat", variable=name).X for name in "XY"]
    except UsageError as err:  # no such variable: the caller here did not choose it
        raise DataError(f"{err}; {remedy}") from err
    X, y = (part.toarray() if hasattr(part, "toarray") else part for part in found)
    shape = (entry.n_examples, entry.n_features)
    if X.shape != shape or y.size != shape[0]:
        raise DataError(
            f"{path}: holds {X.shape[0]} × {X.shape[1]} numbers and {y.size} classes; "
            f"{entry.name} is {shape[0]} × {shape[1]}; {remedy}"
        )
    return np.ascontiguousarray(X, np.float64), y.ravel().astype(np.int64)


def _not_here(entry: Entry, why: str) -> str:
    """Say where a data set was looked for, and what can be done."""
    places = ", ".join(map(str, folders()))
    return (
        f"{entry.name}: {why}; looked for {' or '.join(entry.filenames)} in {places}; "
        f"run 'franet datasets fetch {entry.name}' where there is a connection to "
        f"{entry.url}, or put that file into a folder and set FRANET_DATA to the folder"
    )


class _HopelessError(Exception):
    """A failure that another attempt will not mend, so that pooch makes none."""


class _Progress:
    """What pooch takes for a progress bar, told to whoever listens."""

    def __init__(self, name: str) -> None:
        self.total = -1  # pooch sets it once the server has answered
        self._name = name
        self._done = 0

    def update(self, size: int) -> None:
        self._done = min(self._done + size, self.total)
        report(f"fetching {self._name}", self._done, self.total)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """Do nothing: the listener goes on."""


def _download(entry: Entry) -> Path:
    pooch = require("pooch", f"Downloading {entry.name}", "datasets")
    requests = require("requests", f"Downloading {entry.name}", "datasets")
    folder, filename = cache_folder(), f"{entry.name}.mat"
    downloads = pooch.create(
        path=folder,
        base_url="",
        registry={filename: entry.sha256},
        urls={filename: entry.url},
        retry_if_failed=_RETRIES,
    )

    def download(url: str, temporary: str, _: Any) -> None:
        """Download into pooch's temporary file, and check what pooch does not.

        The checks stand here because pooch gives the file its name right afterwards.
        A ValueError makes pooch try again.
        """
        bar = _Progress(entry.name)
        http = pooch.HTTPDownloader(progressbar=bar, timeout=_TIMEOUT)
        try:
            http(url, temporary, downloads)
        except requests.ConnectionError as err:
            if bar.total >= 0:
                raise  # it broke off
            raise _HopelessError(f"no connection: {_short(err)}") from err
        except requests.HTTPError as err:
            err.response.close()  # pooch leaves it open
            if err.response.status_code >= 500:
                raise  # the server's own trouble may pass
            raise _HopelessError(_short(err)) from err
        if entry.sha256 is None:  # pooch would compare it
            _check_download(Path(temporary), entry)

    logger = pooch.get_logger()
    level = logger.level
    # pooch writes to the screen: errors and progress come from here.
    logger.setLevel(logging.CRITICAL)
    try:
        # pooch takes a file without a known SHA-256 for good, whatever is in it. One
        # that is good was put there meanwhile, by another process.
        for path in (folder / name for name in entry.filenames):
            if path.exists() and _difference(path, entry):
                path.unlink(missing_ok=True)
        downloads.fetch(filename, downloader=download)
    except _HopelessError as err:
        raise DataError(_not_here(entry, f"cannot be downloaded ({err})")) from err
    except requests.RequestException as err:
        why = f"the download failed {_RETRIES + 1} times ({_short(err)})"
        raise DataError(_not_here(entry, why)) from err
    except ValueError as err:
        raise DataError(
            f"{entry.name}: what came from {entry.url} is something else "
            f"({_short(err)}); nothing was kept; try again later"
        ) from err
    except OSError as err:
        raise DataError(
            f"{folder}: cannot be written ({_short(err)}); set FRANET_CACHE to another "
            "folder"
        ) from err
    finally:
        logger.setLevel(level)
    return folder / filename


def _check_download(path: Path, entry: Entry) -> None:
    """Raise a ValueError where a file is not what it should be."""
    if wrong := _difference(path, entry):
        raise ValueError(wrong)
    try:
        _read(path, entry)
    except DataError as err:  # names the temporary file
        shape = f"{entry.n_examples} × {entry.n_features}"
        raise ValueError(f"not a table of {shape} numbers with classes") from err


def _short(err: Exception) -> str:
    """Return what went wrong at the bottom: requests wraps it in several layers."""
    reason = getattr(err.args[0], "reason", err) if err.args else err
    return " ".join(str(reason).split())[:300]
