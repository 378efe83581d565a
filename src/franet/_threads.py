"""How many threads `n_jobs` means."""

from __future__ import annotations

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

__all__ = ["count_threads"]


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for a value of `n_jobs`.

    As in scikit-learn, a number counts and -1 means all cores. None takes what
    ``joblib.parallel_config`` says and otherwise all cores, as BLAS does: results do
    not depend on it.
    """
    if n_jobs is None:
        configured = get_active_backend()[1]
        n_jobs = -1 if configured is None else configured
    return max(1, int(effective_n_jobs(n_jobs)))
