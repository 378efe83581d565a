"""Rankers other than FRANe on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from franet.exceptions import UsageError

__all__ = ["check_ranker", "parameters_of"]

# Options that any ranker may have, and the parameters they set.
_SHARED = {"seed": "random_state", "n_jobs": "n_jobs"}
# Options that only FRANe has.
_FRANE_ONLY = (
    "similarity", "p", "thresholds", "n_thresholds", "min_mean_degree", "damping",
    "unweighted", "centrality", "quality", "variant", "missing", "tie_break",
    "max_memory", "dry_run",
)  # fmt: skip


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
