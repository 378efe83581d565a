"""What is known of each data set before it is here, and where its file would be."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from franet._common.checked import FLAG, TEXT, checked, optional
from franet.exceptions import UsageError

_ADDRESS = "https://jundongl.github.io/scikit-feature/files/datasets/"
_DEPENDENT = "left out by the paper, so that the data sets are independent"


@dataclass(frozen=True)
class Entry:
    """What is known of a data set.

    Attributes
    ----------
    name : str
        Its name here, and the name of its file without ``.mat``.
    n_examples : int
        Number of examples (rows).
    n_features : int
        Number of features (columns).
    n_classes : int
        Number of classes of the labels, which no ranker uses.
    domain : str
        Where the data come from, in the words of the paper.
    url : str
        The public address of the file.
    sha256 : str or None
        The SHA-256 of the file, None where it is not known.
    git_id : str or None
        Where the SHA-256 is not known: the id that git gives the file in the
        repository behind the address (SHA-1 of a short header and the content).
    published : str
        Its name in the table of the paper, empty if it is not there.
    excluded : str
        Why the paper left it out, empty if it did not.
    """

    name: str
    n_examples: int
    n_features: int
    n_classes: int
    domain: str
    url: str
    sha256: str | None = None
    git_id: str | None = None
    published: str = ""
    excluded: str = ""

    @property
    def in_paper(self) -> bool:
        """Whether the data set is one of the 26 in the table of the paper."""
        return bool(self.published)

    @property
    def filenames(self) -> tuple[str, ...]:
        """The names that its file may have: ours, and that at the public address."""
        theirs = self.url.rpartition("/")[2]
        return tuple(dict.fromkeys((f"{self.name}.mat", theirs)))


@checked(name=TEXT)
def get(name: str) -> Entry:
    """Return what is known of a data set.

    Parameters
    ----------
    name : str
        Its name. Case, ``-`` and ``_`` do not matter, and the spellings of the paper
        and of scikit-feature are known.

    Returns
    -------
    Entry
        The entry in `DATASETS`.

    Raises
    ------
    UsageError
        Where there is no such data set.

    Examples
    --------
    >>> from franet.datasets import get
    >>> get("tox_171").name, get("baseshock").name, get("lung_discrete").name
    ('TOX-171', 'BASEHOCK', 'lung_small')
    """
    if name in DATASETS:
        return DATASETS[name]
    wanted = _plain(name)
    for entry in DATASETS.values():
        stems = (file.removesuffix(".mat") for file in entry.filenames)
        if wanted in {_plain(other) for other in (entry.published, *stems) if other}:
            return entry
    known = ", ".join(sorted(DATASETS, key=str.lower))
    raise UsageError(f"There is no data set {name!r}. Choose one of: {known}.")


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def _read() -> dict[str, Entry]:
    """Read the registry: in the order of the paper's table, then what it left out."""
    text = files(__package__).joinpath("registry.csv").read_text(encoding="utf-8")
    entries = [_entry(**row) for row in csv.DictReader(text.splitlines())]
    return {entry.name: entry for entry in entries}


def _entry(file: str, **row: str) -> Entry:
    about: dict[str, Any] = dict(row)
    for count in ("n_examples", "n_features", "n_classes"):
        about[count] = int(row[count])
    for checksum in ("sha256", "git_id"):
        about[checksum] = row[checksum] or None
    excluded = "" if row["published"] else _DEPENDENT
    return Entry(**about, url=_ADDRESS + file, excluded=excluded)


# Every data set by its name.
DATASETS: Mapping[str, Entry] = _read()


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
    usual = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path.home() / usual / "franet"


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
    places = (folder / name for folder in folders() for name in entry.filenames)
    return next((path for path in places if path.is_file()), None)


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
