"""franet: rank the features of unlabelled data by attribute networks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from franet._global_state import restored_state

if TYPE_CHECKING:
    from franet._frane import FRANe
    from franet.exceptions import DataError, DegenerateRankingWarning
    from franet.network import AttributeNetwork

__version__ = "0.1.0"

__all__ = [
    "AttributeNetwork",
    "DataError",
    "DegenerateRankingWarning",
    "FRANe",
    "__version__",
]

# Loaded on first use: scikit-learn and numba take seconds, `import franet` does not.
_HOME = {
    "AttributeNetwork": "franet.network",
    "DataError": "franet.exceptions",
    "DegenerateRankingWarning": "franet.exceptions",
    "FRANe": "franet._frane",
}

# The exception is small: rich draws from `random` when it is loaded, which would
# otherwise happen within the first call that loads scikit-learn.
with restored_state():
    import_module("rich.style")


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'franet' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
