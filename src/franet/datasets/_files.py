"""Where the files of data sets are, and whether they are what they should be."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from franet._common.checked import FLAG, checked, optional
from franet.datasets._registry import DATASETS, Entry, get
from franet.exceptions import DataError

_CHUNK = 1 << 20


def cache_folder() -> Path:
    """Return the folder for data sets that were downloaded.

    It is the environment variable ``FRANET_CACHE``, if set. Otherwise it is where the
    system keeps caches, as `pooch.os_cache` would say; pooch need not be installed
    to find what is there.

    Returns
    -------
    Path
        The folder, whether it exists or not.
    """
    given = os.environ.get("FRANET_CACHE")
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "franet" / "franet" / "Cache"
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):
        return Path(shared) / "franet"
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "franet"
    return home / ".cache" / "franet"


def folders() -> list[Path]:
    """Return where files are looked for: FRANET_DATA in two ways, then the cache."""
    given = os.environ.get("FRANET_DATA")
    if not given:
        return [cache_folder()]
    data = Path(given).expanduser()
    return [data, data / "datasets", cache_folder()]


def find(name: str) -> Path | None:
    """Return the file of a data set, if it is on this machine.

    Parameters
    ----------
    name : str
        The name of the data set.

    Returns
    -------
    Path or None
        The file, or None where there is none. It is looked for in the folder
        ``FRANET_DATA`` and its subfolder ``datasets``, then in `cache_folder`. Its
        content is not checked; `load` does that.
    """
    entry = get(name)
    for folder in folders():
        for filename in entry.filenames:
            path = folder / filename
            if path.is_file():
                return path
    return None


@checked(paper=optional(FLAG), available=optional(FLAG))
def names(paper: bool | None = None, available: bool | None = None) -> list[str]:
    """Return the names of the data sets.

    Parameters
    ----------
    paper : bool, optional
        Only those that are in the table of the paper, or only those that are not.
    available : bool, optional
        Only those that are on this machine, or only those that are not.

    Returns
    -------
    list of str
        The names, in the order of `DATASETS`.

    Examples
    --------
    >>> from franet.datasets import names
    >>> len(names()), names(paper=False)
    (29, ['orlraws10P', 'warpAR10P', 'lung_small'])
    """
    return [
        name
        for name, entry in DATASETS.items()
        if paper in (None, entry.in_paper)
        and available in (None, find(name) is not None)
    ]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return _digest(path, hashlib.sha256())


def difference(path: Path, entry: Entry) -> str:
    """Say how the checksum of a file differs from the known one, if it does."""
    if entry.sha256 is not None:
        kind, found, known = "SHA-256", sha256_of(path), entry.sha256
    elif entry.git_id is not None:
        header = f"blob {path.stat().st_size}\0".encode()
        found = _digest(path, hashlib.sha1(header, usedforsecurity=False))
        kind, known = "git id", entry.git_id
    else:
        return ""
    return "" if found == known else f"its {kind} is {found} instead of {known}"


def verify(path: Path, entry: Entry) -> None:
    """Raise a DataError if the file has another checksum than the known one."""
    if wrong := difference(path, entry):
        raise DataError(
            f"{path}: is not {entry.name} as published ({wrong}): damaged, or another "
            f"version; delete it, then run 'franet datasets fetch {entry.name}'"
        )


def _digest(path: Path, state: hashlib._Hash) -> str:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()
