"""Data sets: the benchmarks of the paper by name, and made ones with known answers."""

from franet.datasets._load import Dataset, Fetched, fetch, load
from franet.datasets._registry import DATASETS, Entry, cache_folder, find, get, names
from franet.datasets._synthetic import Groups, make_groups

__all__ = [
    "DATASETS",
    "Dataset",
    "Entry",
    "Fetched",
    "Groups",
    "cache_folder",
    "fetch",
    "find",
    "get",
    "load",
    "make_groups",
    "names",
]


def __dir__() -> list[str]:
    return sorted(__all__)
