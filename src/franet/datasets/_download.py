"""Fetching data sets from their public address, by pooch."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from franet._common.optional import require
from franet._common.progress import report
from franet.datasets._files import (
    cache_folder,
    difference,
    find,
    folders,
    sha256_of,
    verify,
)
from franet.datasets._registry import Entry, get
from franet.exceptions import DataError

# Seconds without an answer, and further attempts after a failure that may pass.
_TIMEOUT = 30
_RETRIES = 2


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
    if path is not None:
        # What lies in FRANET_DATA is the user's own, and not ours to replace.
        if path.parent != cache_folder():
            verify(path, entry)
        if not difference(path, entry):
            return Fetched(entry.name, path, sha256_of(path), downloaded=False)
    path = _download(entry)
    return Fetched(entry.name, path, sha256_of(path), downloaded=True)


def not_here(entry: Entry, why: str) -> str:
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
    try:
        # pooch takes a file without a known SHA-256 for good, whatever is in it. One
        # that is good was put there meanwhile, by another process.
        for path in (folder / name for name in entry.filenames):
            if path.exists() and difference(path, entry):
                path.unlink(missing_ok=True)
        with _silence(pooch.get_logger()):
            downloader = _Downloader(entry, pooch.HTTPDownloader)
            downloads.fetch(filename, downloader=downloader)
    except _HopelessError as err:
        raise DataError(not_here(entry, f"cannot be downloaded ({err})")) from err
    except requests.RequestException as err:
        why = f"the download failed {_RETRIES + 1} times ({_short(err)})"
        raise DataError(not_here(entry, why)) from err
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
    return folder / filename


class _Downloader:
    """Download into pooch's temporary file, and check what pooch does not.

    The checks stand here because pooch gives the file its name right afterwards. A
    ValueError makes pooch try again.
    """

    def __init__(self, entry: Entry, http: Any) -> None:
        self._entry = entry
        self._http = http

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        import requests

        bar = _Progress(self._entry.name)
        try:
            self._http(progressbar=bar, timeout=_TIMEOUT)(url, output_file, pooch)
        except requests.ConnectionError as err:
            if bar.total >= 0:
                raise  # it broke off
            raise _HopelessError(f"no connection: {_short(err)}") from err
        except requests.HTTPError as err:
            response: Any = err.response
            response.close()  # pooch leaves it open
            if response.status_code >= 500:
                raise  # the server's own trouble may pass
            raise _HopelessError(_short(err)) from err
        self._check(Path(output_file))

    def _check(self, path: Path) -> None:
        from franet.datasets._load import read

        entry = self._entry
        if entry.sha256 is not None:
            return  # pooch compares it
        if wrong := difference(path, entry):
            raise ValueError(wrong)
        try:
            read(path, entry)
        except DataError as err:  # names the temporary file
            shape = f"{entry.n_examples} × {entry.n_features}"
            raise ValueError(f"not a table of {shape} numbers with classes") from err


@contextmanager
def _silence(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from writing to the screen: errors and progress come from here."""
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _short(err: Exception) -> str:
    """Return what went wrong at the bottom: requests wraps it in several layers."""
    reason = getattr(err.args[0], "reason", err) if err.args else err
    return " ".join(str(reason).split())[:300]
