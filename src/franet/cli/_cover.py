"""What a ranking by `Cover` adds to the screen and the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from franet.exceptions import UsageError

__all__ = ["can_be_picked", "facts", "plan", "rows"]

# What a fit takes beside the table: copies of it in float64, and the rest.
_COPIES, _REST = 5.5, 40_000_000


def can_be_picked(
    X: Any, labels: Sequence[str], parameters: Mapping[str, Any]
) -> tuple[int, int]:
    """Return how many features must be picked, and how many can be.

    What the user allows is checked here, where features have their names.
    """
    import numpy as np

    from franet.cover._constraints import read_constraints
    from franet.pairs.similarity._sparse import constant_in

    given = ("include", "exclude", "cost", "groups")
    found = read_constraints(
        np.array(labels, object),
        constant_in(X),
        **{name: parameters[name] for name in given if name in parameters},
    )
    return len(found.include), found.n_open()


def rows(ranker: Any, order: Any, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return what is shown of each feature, best first.

    Those behind the last pick are there where all that is left repeats the picks.
    """
    import numpy as np

    place = {int(j): i for i, j in enumerate(ranker.order_[: ranker.n_ranked_])}
    found = []
    for rank, j in enumerate(map(int, order), start=1):
        others = ranker.members_.get(j, [])
        r = np.abs(ranker.representative_corr_[others])
        gain = ranker.gains_[place[j]] if j in place else ranker.scores_[j]
        found.append(
            {
                "rank": rank,
                "name": labels[j],
                "index": j,
                "score": float(ranker.scores_[j]),
                "gain": float(gain),
                "coverage": float(ranker.coverage_[place.get(j, -1)]),
                "n_members": len(others),
                "mean_abs_r": float(r.mean()) if len(others) else None,
            }
        )
    return found


def facts(ranker: Any) -> dict[str, Any]:
    """Return what is to know about the whole ranking."""
    suggestion = ranker.suggestion_
    return {
        "gains": ranker.gains_.tolist(),
        "coverage": ranker.coverage_.tolist(),
        "suggestion": {
            "count": suggestion.count,
            "low": suggestion.low,
            "high": suggestion.high,
            "sentence": f"{suggestion}.",
        },
        "n_constant": int(ranker.constant_.sum()),
    }


def plan(X: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the fit will take; its time is not known before."""
    from franet import Cover
    from franet._common.threads import count_threads

    place = Cover(**parameters)._place()
    if place.kind not in ("auto", "numpy"):
        raise UsageError(
            "Memory can be predicted for the cores of this machine only, not for "
            f"{place.given}. Set backend='numpy'."
        )
    m, n = X.shape
    return {
        "ranker": "cover",
        "n_features": n,
        "n_examples": m,
        "n_threads": count_threads(parameters.get("n_jobs")),
        "memory": int(_COPIES * 8 * m * n) + _REST,
    }
