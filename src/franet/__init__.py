"""franet: rank the features of unlabelled data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from franet._common.global_state import restored_state
from franet._common.joints import connect
from franet._common.version import __version__

if TYPE_CHECKING:
    from franet import (
        anndata,
        callbacks,
        datasets,
        evaluation,
        exceptions,
        io,
        network,
        plotting,
        quality,
        rankers,
        report,
    )
    from franet.cover._places import groups_by_distance
    from franet.estimators._cover import Cover
    from franet.estimators._frane import FRANe
    from franet.estimators._prune import (
        CorrelatedColumns,
        DropCorrelated,
        drop_correlated,
    )
    from franet.exceptions import DataError, DegenerateRankingWarning
    from franet.network import AttributeNetwork

__all__ = [
    "AttributeNetwork",
    "CorrelatedColumns",
    "Cover",
    "DataError",
    "DegenerateRankingWarning",
    "DropCorrelated",
    "FRANe",
    "__version__",
    "anndata",
    "callbacks",
    "datasets",
    "drop_correlated",
    "evaluation",
    "exceptions",
    "groups_by_distance",
    "io",
    "network",
    "plotting",
    "quality",
    "rankers",
    "report",
]

# Loaded on first use: scikit-learn and numba take seconds, `import franet` does not.
_HOME = {
    "AttributeNetwork": "franet.network",
    "CorrelatedColumns": "franet.estimators._prune",
    "Cover": "franet.estimators._cover",
    "DataError": "franet.exceptions",
    "DegenerateRankingWarning": "franet.exceptions",
    "DropCorrelated": "franet.estimators._prune",
    "FRANe": "franet.estimators._frane",
    "drop_correlated": "franet.estimators._prune",
    "groups_by_distance": "franet.cover._places",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'franet' has no attribute {name!r}")
    with restored_state():
        if name not in _HOME:
            return import_module(f"franet.{name}")
        value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


# Rankers write reports and measure themselves, results draw themselves: by packages
# above their own.
connect(__getattr__)
