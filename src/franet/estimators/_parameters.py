"""What each parameter of FRANe may be."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from franet.estimators._base import FeatureRanker
from franet.pairs.similarity import SIMILARITIES
from franet.quality import QUALITIES
from franet.search.centrality import CENTRALITIES
from franet.search.thresholds import PROGRESSIONS

__all__ = ["CONSTRAINTS"]

CONSTRAINTS: dict[str, list[Any]] = {
    **FeatureRanker._parameter_constraints,
    "similarity": [StrOptions(set(SIMILARITIES)), callable],
    "thresholds": [StrOptions(set(PROGRESSIONS)), callable],
    "n_thresholds": [Interval(Integral, 2, None, closed="left")],
    "min_mean_degree": [Interval(Real, 0, None, closed="left")],
    "damping": [Interval(Real, 0, 1, closed="neither")],
    "weighted": ["boolean"],
    "centrality": [StrOptions({"pagerank", *CENTRALITIES}), callable],
    "quality": [StrOptions({"random", *QUALITIES}), callable],
    "variant": [StrOptions({"paper", "reference"})],
    "p": [Interval(Real, 1, None, closed="left")],
    "missing": [StrOptions({"error", "pairwise"})],
    "tie_break": [StrOptions({"column", "denser"})],
    "store_candidates": ["boolean"],
    "search": [StrOptions({"exact", "approximate"})],
    # Text, or a Dask client, which is loaded only where it is used.
    "backend": [str, HasMethods("submit")],
    "checkpoint": [None, str, HasMethods("__fspath__")],
    "max_edges": [Interval(Integral, 1, None, closed="left")],
    "max_memory": [None, Interval(Real, 0, None, closed="neither"), str],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
}
