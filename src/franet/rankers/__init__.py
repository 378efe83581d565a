"""Every ranker of the field, under one roof: the same parameters and attributes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from franet._common.checked import TEXT, checked
from franet.exceptions import UsageError

if TYPE_CHECKING:
    from franet.rankers.agnos import AgnoS
    from franet.rankers.column_subset import ColumnSubset
    from franet.rankers.facility_location import FacilityLocation
    from franet.rankers.genie3 import Genie3
    from franet.rankers.mcfs import MCFS
    from franet.rankers.ndfs import NDFS
    from franet.rankers.simple import RandomRanking, Variance
    from franet.rankers.spectral import SPEC, LaplacianScore
    from franet.rankers.udfs import UDFS
    from franet.rankers.urelief import URelief

__all__ = [
    "MCFS",
    "NAMES",
    "NDFS",
    "RANKERS",
    "SPEC",
    "UDFS",
    "AgnoS",
    "ColumnSubset",
    "FacilityLocation",
    "Genie3",
    "LaplacianScore",
    "RandomRanking",
    "URelief",
    "Variance",
    "get",
]

# The name on the command line: module and class. Loaded on first use.
RANKERS = {
    "agnos": ("franet.rankers.agnos", "AgnoS"),
    "column-subset": ("franet.rankers.column_subset", "ColumnSubset"),
    "cover": ("franet.estimators._cover", "Cover"),
    "facility-location": ("franet.rankers.facility_location", "FacilityLocation"),
    "frane": ("franet.estimators._frane", "FRANe"),
    "genie3": ("franet.rankers.genie3", "Genie3"),
    "laplacian": ("franet.rankers.spectral", "LaplacianScore"),
    "mcfs": ("franet.rankers.mcfs", "MCFS"),
    "ndfs": ("franet.rankers.ndfs", "NDFS"),
    "random": ("franet.rankers.simple", "RandomRanking"),
    "spec": ("franet.rankers.spectral", "SPEC"),
    "udfs": ("franet.rankers.udfs", "UDFS"),
    "urelief": ("franet.rankers.urelief", "URelief"),
    "variance": ("franet.rankers.simple", "Variance"),
}
# What `get` knows.
NAMES = sorted(RANKERS)


@checked(name=TEXT)
def get(name: str) -> Any:
    """Return the class of a ranker by its short name.

    Parameters
    ----------
    name : str
        One of `NAMES`, such as ``"cover"`` or ``"ndfs"``.

    Returns
    -------
    ranker : type
        The estimator class.
    """
    if name not in RANKERS:
        raise UsageError(
            f"There is no ranker {name!r}. Choose one of: {', '.join(NAMES)}."
        )
    module, attribute = RANKERS[name]
    return getattr(import_module(module), attribute)


def __getattr__(name: str) -> Any:
    for module, ranker in RANKERS.values():
        if name == ranker and name in __all__:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'franet.rankers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
