"""What each parameter of FRANe may be."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from franet._backend import BACKENDS
from franet._base import FeatureRanker
from franet.centrality import CENTRALITIES
from franet.quality import QUALITIES
from franet.similarity import SIMILARITIES
from franet.thresholds import PROGRESSIONS

__all__ = ["CONSTRAINTS"]

CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [
        *FeatureRanker._parameter_constraints["n_features_to_select"],
        StrOptions({"auto"}),
    ],
    "similarity": [StrOptions(set(SIMILARITIES)), callable],
    "thresholds": [StrOptions(set(PROGRESSIONS)), callable],
    "n_thresholds": [Interval(Integral, 2, None, closed="left")],
    "min_mean_degree": [Interval(Real, 0, None, closed="left")],
    "damping": [Interval(Real, 0, 1, closed="neither")],
    "weighted": ["boolean"],
    "centrality": [StrOptions({"pagerank", *CENTRALITIES}), callable],
    "quality": [StrOptions({"random", *QUALITIES}), callable],
    "variant": [StrOptions({"paper", "reference"})],
    "redundancy": [None, StrOptions({"cover"})],
    # A single name has an error of its own, which says how to write it.
    "include": [None, "array-like", str],
    "exclude": [None, "array-like", str],
    "cost": [None, "array-like", dict],
    "groups": [None, "array-like", dict],
    "n_ranked": [None, Interval(Integral, 1, None, closed="left")],
    "p": [Interval(Real, 1, None, closed="left")],
    "missing": [StrOptions({"error", "pairwise"})],
    "tie_break": [StrOptions({"column", "denser"})],
    "keep_all": ["boolean"],
    "search": [StrOptions({"exact", "approximate"})],
    "backend": [StrOptions(set(BACKENDS))],
    "device": [None, str],
    # A client of Dask, which is loaded only where it is used.
    "scheduler": [None, str, HasMethods("submit")],
    "checkpoint": [None, str, HasMethods("__fspath__")],
    "max_edges": [Interval(Integral, 1, None, closed="left")],
    "max_memory": [None, Interval(Real, 0, None, closed="neither"), str],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
}
