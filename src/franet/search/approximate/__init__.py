"""FRANe on very many features, without looking at all pairs.

Edges of sparse networks are found between near neighbours, dense networks are seen
through a sample of the features, and the outcome says how far it may be off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import Setting, UsageError
from franet.pairs.similarity import CORRELATIONS
from franet.search.approximate._cells import Features
from franet.search.approximate._check import Approximation
from franet.search.approximate._search import Search
from franet.search.exact import ONE_FEATURE, Outcome, Settings, no_winner

__all__ = ["Approximation", "check_settings", "search_approximately"]


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
    check_settings(settings, similarity)
    columns = np.asarray(columns)
    if len(columns) < 2:
        return no_winner(len(columns), settings, ONE_FEATURE)
    random = settings.random or np.random.mtrand._rand
    rows = Features(table, columns, similarity, n_threads, random)
    return Search(rows, settings, random).run()


def check_settings(settings: Settings, similarity: str) -> None:
    """Refuse what has no approximate search."""
    for name, value, known in (
        ("similarity", similarity, CORRELATIONS),
        # Others need all pairs.
        ("thresholds", settings.thresholds, ("geometric", "linear")),
        ("centrality", settings.centrality, ("pagerank",)),
        ("quality", settings.quality, ("rqh",)),
        ("store_candidates", settings.store_candidates, (False,)),
        ("tie_break", "denser" if settings.second_key else "column", ("column",)),
    ):
        if value not in known:
            raise UsageError(
                "{} goes with {}{} only.",
                Setting("search", "approximate"),
                Setting(name, known[0]),
                "".join(f" or {other!r}" for other in known[1:]),
                Setting("search", "exact"),
                remedy="Use {3} for others.",
            )
