"""One ranker on one fold: rank, judge, and report what it took, and on what."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from sklearn.base import clone

from franet._common.version import __version__
from franet.evaluation.measures import FoldScorer
from franet.exceptions import DegenerateRankingWarning, UsageError

# So many of the first features are kept, for stability and a second look.
TOP = 256
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")


def prepare(ranker: Any, fold: int, counts: Sequence[int], seed: int = 0) -> Any:
    """Return a fresh copy of a ranker for one fold.

    Where they are None, ``random_state`` becomes a number of its own for each fold,
    and greedy rankers put as many features in order as are judged (up to 256).

    Parameters
    ----------
    ranker : estimator
        Not changed.
    fold : int
        Number of the fold.
    counts : sequence of int
        Numbers of features that are judged.
    seed : int, default=0
        Seed of the whole evaluation.

    Returns
    -------
    ranker : estimator
        Not fitted.
    """
    fresh = clone(ranker)
    if hasattr(fresh, "_for_order"):
        fresh._for_order = True
    known = fresh.get_params(deep=False)
    if "random_state" in known and known["random_state"] is None:
        fresh.set_params(random_state=seed + fold)
    if "n_ranked" in known and known["n_ranked"] in (None, "auto"):
        judged = max((k for k in counts if k <= TOP), default=TOP)
        first = known.get("include")  # picked in any case
        n_ranked = judged if first is None else max(judged, np.size(first))
        # The order counts, not the selection.
        fresh.set_params(n_features_to_select=None, n_ranked=n_ranked)
    return fresh


def run_unit(
    ranker: Any, scorer: FoldScorer, counts: Sequence[int], measures: Sequence[str]
) -> dict[str, Any]:
    """Rank the training part of a fold and judge the ranking.

    Parameters
    ----------
    ranker : estimator
        It is fitted.
    scorer : FoldScorer
        The fold.
    counts : sequence of int
        Rising numbers of features.
    measures : sequence of str
        Names from `MEASURES`.

    Returns
    -------
    outcome : dict
        Fields of a `Record`: what was measured, how long and with how much memory,
        on which machine and by which version.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DegenerateRankingWarning)
        before = _start_peak()
        start = perf_counter()
        ranker.fit(scorer.train)
        seconds = perf_counter() - start
        peak = _memory_of("self", "VmHWM")
    order = order_of(ranker)
    return {
        "values": scorer.score(order, counts, measures),
        "top": order[:TOP].tolist(),
        "n_features": scorer.train.shape[1],
        "test_share": len(scorer.test) / (len(scorer.train) + len(scorer.test)),
        "seconds": seconds,
        "memory": None if before is None or peak is None else max(0, peak - before),
        "warnings": list(dict.fromkeys(str(each.message) for each in caught)),
        "machine": machine(),
        "version": __version__,
    }


def order_of(ranker: Any) -> NDArray[np.intp]:
    """Return the features of a fitted ranker, the best first.

    Parameters
    ----------
    ranker : estimator
        With ``ranking_`` (1 is best) or ``feature_importances_`` (large is good).

    Returns
    -------
    order : ndarray of int
        Features that rank equal stay in the order of their columns.
    """
    if hasattr(ranker, "ranking_"):
        return np.argsort(ranker.ranking_, kind="stable")
    if hasattr(ranker, "feature_importances_"):
        return np.argsort(-np.asarray(ranker.feature_importances_), kind="stable")
    raise UsageError(
        f"{type(ranker).__name__} has neither ranking_ nor feature_importances_ after "
        "fit: it is no ranker of features"
    )


def versions() -> dict[str, str]:
    """Return the versions of franet, Python and the packages that compute."""
    found = {"franet": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """Return processor, cores, memory and system; None for what is not known."""
    memory = None
    with suppress(AttributeError, OSError, ValueError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    named = _entry("/proc/cpuinfo", "model name")
    return {
        "processor": named or platform.processor() or platform.machine() or None,
        "cores": cpu_count(),
        "memory": memory,
        "platform": platform.platform(),
    }


def _start_peak() -> int | None:
    """Set the peak of memory back to what is in use, and return it; None elsewhere."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
        return _memory_of("self", "VmHWM")
    return None


def resident(pid: int | None) -> int | None:
    """Return the bytes of memory that a process has in use; None where unknown."""
    return _memory_of(str(pid), "VmRSS")


def _memory_of(pid: str, key: str) -> int | None:
    found = _entry(f"/proc/{pid}/status", key)
    return int(found.split()[0]) * 1024 if found else None


def _entry(path: str, key: str) -> str:
    """Return what a file of the system says of a key; "" where it says nothing."""
    with suppress(OSError):
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return ""
