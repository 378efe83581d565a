"""FRANe on very many features, without looking at all pairs.

Edges of sparse networks are found between near neighbours, dense networks are seen
through a sample of the features, and the outcome says how far it may be off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.supports import Supports
from franet.exceptions import Setting
from franet.pairs.similarity import CORRELATIONS
from franet.search.approximate._cells import Features
from franet.search.approximate._check import Approximation
from franet.search.approximate._search import Search
from franet.search.exact import ONE_FEATURE, Outcome, Settings, no_winner

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


def search_approximately(
    table: Any,
    columns: NDArray[np.intp],
    settings: Settings,
    *,
    similarity: str = "correlation",
    n_threads: int = 1,
) -> Outcome:
    """Find about the threshold, and about the scores, that a full search finds.

    Parameters
    ----------
    table : ndarray or CSC array of shape (m, n_columns), or a store of columns
        The table without missing values. Anything with a shape of which
        ``table[:, columns]`` gives columns will do; it is read once, in parts.
    columns : ndarray of int
        The columns that take part, none of them constant.
    settings : Settings
        What is asked for; `random` draws the samples.
    similarity : {"correlation", "abs-correlation", "spearman"}
        How alike two features are.
    n_threads : int, default=1
        Number of threads; the outcome does not depend on it.

    Returns
    -------
    outcome : Outcome
        As of a full search; `approximation` says how far it may be off, and is None
        where there is no winner.
    """
    columns = np.asarray(columns)
    if len(columns) < 2:
        return no_winner(len(columns), settings, ONE_FEATURE)
    random = settings.random or np.random.mtrand._rand
    rows = Features(table, columns, similarity, n_threads, random)
    return Search(rows, settings, random).run()
