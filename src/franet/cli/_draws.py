"""--stability: how sure a ranking is, beside the ranking."""

from __future__ import annotations

from typing import Any

from franet._common.progress import Listener, listening
from franet.pairs.coded import CodedTable

__all__ = ["add_stability", "draw"]


def draw(
    ranker: Any,
    X: Any,
    n_boot: int,
    seed: int | None,
    n_jobs: int | None,
    listener: Listener | None,
) -> Any:
    """Rank resampled tables; see `FeatureRanker.stability`."""
    with listening(listener):
        return ranker.stability(
            X,
            n_boot,
            # Rows drawn twice make rare levels tell everything.
            method="half" if isinstance(X, CodedTable) else "bootstrap",
            random_state=0 if seed is None else seed,
            n_jobs=n_jobs,
        )


def add_stability(
    found: Any, order: Any, summary: dict[str, Any], columns: dict[str, Any]
) -> None:
    """Add intervals of ranks and shares of selection to what is shown and written."""
    values = {
        "rank_low": found.rank_low,
        "rank_high": found.rank_high,
        "selected_share": found.selected,
    }
    columns.update({name: of_all[order] for name, of_all in values.items()})
    for row in summary["features"]:
        row.update(
            {name: of_all[row["index"]].item() for name, of_all in values.items()}
        )
    summary["stability"] = {
        "n_boot": found.n_boot,
        "method": found.method,
        "level": found.level,
        "top": found.top,
        "kuncheva": found.kuncheva,
        "jaccard": found.jaccard,
        "n_degenerate": found.n_degenerate,
    }
