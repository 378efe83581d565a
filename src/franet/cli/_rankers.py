"""Rankers other than FRANe on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from franet.exceptions import UsageError

__all__ = ["check_ranker", "parameters_of", "redundant_among"]

# Options that any ranker may have, and the parameters they set.
_SHARED = {"seed": "random_state", "n_jobs": "n_jobs"}
# Options that need the network of FRANe.
_FRANE_ONLY = (
    "similarity", "p", "thresholds", "n_thresholds", "min_mean_degree", "damping",
    "unweighted", "centrality", "quality", "variant", "missing", "tie_break",
    "max_memory", "report", "dry_run",
)  # fmt: skip
# Shown features that are correlated at least so much repeat each other.
REDUNDANT = 0.8


def check_ranker(ranker: str, ctx: click.Context) -> None:
    """Raise where options were given that the ranker does not have."""
    if ranker == "frane":
        return
    known = _parameters(ranker)
    strange = [
        *_FRANE_ONLY,
        *(option for option, name in _SHARED.items() if name not in known),
    ]
    for option in strange:
        if ctx.get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise UsageError(
                f"--{option.replace('_', '-')} does not belong to --ranker {ranker}; "
                "leave it out"
            )


def parameters_of(ranker: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator that the options stand for."""
    if ranker != "frane":
        known = _parameters(ranker)
        return {
            name: options[option] for option, name in _SHARED.items() if name in known
        }
    parameters = {
        **options,
        "weighted": not options["unweighted"],
        "random_state": options["seed"],
    }
    del parameters["unweighted"], parameters["seed"]
    return parameters


def _parameters(ranker: str) -> set[str]:
    from franet.rankers import get

    return set(get(ranker)._get_param_names())


def redundant_among(X: Any, order: Any) -> tuple[dict[int, int], dict[int, float]]:
    """Return for each shown feature the better one it repeats most, and their r.

    Parameters
    ----------
    X : array or sparse array of shape (m, n)
        The table, without missing values.
    order : ndarray of int
        The shown features, best first.

    Returns
    -------
    partner : dict
        For each of them another one before it, -1 if none is correlated enough.
    r : dict
        Their correlation, NaN if there is none.
    """
    import numpy as np

    from franet.similarity._standardise import standardise

    dense = isinstance(X, np.ndarray)
    columns = X[:, order] if dense else X.tocsc()[:, order].toarray()
    rows = np.ascontiguousarray(columns.T, np.float64)
    standardise(rows)
    R = rows @ rows.T
    partner, r = {int(order[0]): -1}, {int(order[0]): float("nan")}
    for at in range(1, len(order)):
        best = int(np.argmax(np.abs(R[at, :at])))
        near = abs(R[at, best]) >= REDUNDANT
        partner[int(order[at])] = int(order[best]) if near else -1
        r[int(order[at])] = float(R[at, best]) if near else float("nan")
    return partner, r
