"""FRANe on very many features, without looking at all pairs.

Edges of sparse networks are found between near neighbours, dense networks are seen
through a sample of the features, and the outcome says how far it may be off.
"""

from franet._common.supports import Supports
from franet.exceptions import Setting
from franet.pairs.similarity import CORRELATIONS
from franet.search.approximate._check import Approximation
from franet.search.approximate._search import search_approximately

__all__ = ["APPROXIMATE", "Approximation", "search_approximately"]

_ALL_PAIRS = "an approximate search makes no passes over all pairs"
APPROXIMATE = Supports(
    Setting("search", "approximate"),
    Setting("search", "exact"),
    {
        "similarity": CORRELATIONS,
        "thresholds": ("geometric", "linear"),
        "centrality": ("pagerank",),
        "quality": ("rqh",),
        "store_candidates": (False,),
        "tie_break": ("column",),
        "missing": ("error",),
        "backend": ("auto", "numpy"),
        "checkpoint": (None,),
        "max_memory": (None,),
    },
    tables=("dense", "sparse"),
    because={
        "thresholds": "others need all pairs",
        "missing": "it needs a table without gaps",
        "backend": "it runs on the cores of this machine",
        "checkpoint": _ALL_PAIRS,
        "max_memory": _ALL_PAIRS,
    },
)
