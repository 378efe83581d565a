"""What is known of each data set before it is here."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from franet._common.checked import TEXT, checked
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
        if wanted in _spellings(entry):
            return entry
    known = ", ".join(sorted(DATASETS, key=str.lower))
    raise UsageError(f"There is no data set {name!r}. Choose one of: {known}.")


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def _spellings(entry: Entry) -> set[str]:
    stems = (file.removesuffix(".mat") for file in entry.filenames)
    return {_plain(name) for name in (entry.published, *stems) if name}


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
