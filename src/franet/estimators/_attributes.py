"""The types of what a fit of FRANe sets, for users' type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from franet.network import AttributeNetwork
    from franet.search.approximate._check import Approximation

__all__ = ["Fitted"]


class Fitted:
    """What a fit sets, beside scores and ranks; `FRANe` says what each means.

    Only types: nothing is there before the fit.
    """

    network_: AttributeNetwork
    constant_: NDArray[np.bool_]
    thresholds_: NDArray[np.float64]
    threshold_: float
    winner_: int | None
    quality_: NDArray[np.float64]
    quality_bound_: NDArray[np.float64]
    too_sparse_: NDArray[np.bool_]
    n_edges_: NDArray[np.int64]
    n_isolated_: int
    all_scores_: NDArray[np.float64]
    approximation_: Approximation
    feature_names_in_: NDArray[Any]
