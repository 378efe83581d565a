"""How sure a ranking is, as a plain dict: what `FeatureRanker.stability` found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from franet._common.sentences import not_measured
from franet.exceptions import Setting, UsageError
from franet.report._text import number

_NAMED = 3  # stand-ins


def of_ranking(ranker: Any, stability: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return what is known of the ranking as a whole; null where nothing is.

    Parameters
    ----------
    ranker : FeatureRanker
        The fitted ranker.
    stability : Stability or None
        What its `stability` returned.
    names : sequence of str
        The names of the features.
    """
    if stability is None:
        keys = ("n_halves", "level", "top", "agreement", "permuted", "kuncheva")
        return {"text": not_measured(), "notes": [], **dict.fromkeys(keys)}
    if not np.array_equal(stability.ranking, ranker.ranking_):
        raise UsageError(
            "{} is that of another ranking.",
            Setting("stability"),
            remedy="Pass what ranker.stability(X) returned.",
        )
    text, *notes = replace(stability, names=np.array(names, object)).sentences
    return {
        "text": text,
        "notes": notes,
        "n_halves": stability.n_halves,
        "level": stability.level,
        "top": stability.top,
        "agreement": number(stability.agreement, 5),
        "permuted": [number(share, 5) for share in stability.permuted],
        "kuncheva": number(stability.kuncheva, 5),
    }


def of_feature(stability: Any, j: int, names: Sequence[str]) -> dict[str, Any] | None:
    """Return what is known of a feature; None if nothing is.

    Parameters
    ----------
    stability : Stability or None
        What was found.
    j : int
        The position of the feature.
    names : sequence of str
        The names of the features.
    """
    if stability is None:
        return None
    others = list(stability.interchangeable.get(j, ()))[:_NAMED]
    return {
        "rank_low": int(stability.rank_low[j]),
        "rank_high": int(stability.rank_high[j]),
        "picked_again": number(stability.picked_again[j], 5),
        "held": number(stability.held[j], 5),
        "stand_ins": [names[k] for k in others],
    }
