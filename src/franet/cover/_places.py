"""Groups of features by where they are, so that picks keep a distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from franet._common.checked import NUMBER, check_value, checked
from franet._common.features import FeatureIndex
from franet.exceptions import DataError, Setting

# Distances that miss the limit by this share do so by rounding, as on a grid.
_ROUNDING = 1e-9


@checked(min_distance=NUMBER)
def groups_by_distance(coordinates: Any, min_distance: float) -> dict[Any, list[int]]:
    """Return ``groups`` for rankers, so that no two picks are closer than a distance.

    Each pair of places that are closer than `min_distance` is a group, and of each
    group one feature may be picked. So the distance of any two picks is at least
    `min_distance`, exactly, and no other choice is ruled out.

    Parameters
    ----------
    coordinates : array-like or data frame of shape (n_features, 2) or (n_features, 3)
        Where each feature is, in the order of the columns of the table. Distances are
        Euclidean: on a sphere give points in space, not longitude and latitude.
    min_distance : float
        The smallest distance of two picks, in the unit of the coordinates. Positive.
        A pair exactly that far apart, up to rounding, may be picked.

    Returns
    -------
    groups : dict
        The labels of its groups for each feature that has neighbors. Keys are
        positions; or names, if `coordinates` is a pandas data frame whose index is
        text.

    Notes
    -----
    What is guaranteed holds for the features that a ranker picks or selects, for
    those in `include`, which are an error if they are too close, and with any other
    constraint. Not guaranteed is how many features fit: picks are made one after
    another, so that they may end before as many as could be placed. Asking for more is
    an error that says how many there are. Memory grows with the number of pairs that
    are too close, and nothing depends on the order of the places.

    Examples
    --------
    >>> import numpy as np
    >>> from franet import Cover, groups_by_distance
    >>> places = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [9.0, 0.0]])
    >>> groups_by_distance(places, 2.0)
    {0: [0], 1: [0, 1], 2: [1]}
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> ranker = Cover(3, groups=groups_by_distance(places, 2.0)).fit(X)
    >>> sorted(ranker.order_[:3].tolist())
    [0, 2, 3]
    """
    from scipy.spatial import KDTree

    is_fine = 0.0 < min_distance < np.inf
    check_value(
        "min_distance", min_distance, is_fine, "give a positive, finite number."
    )
    index = getattr(coordinates, "index", None)
    try:
        places = np.asarray(coordinates, np.float64)
    except (TypeError, ValueError):
        raise _wrong("it is not a table of numbers.") from None
    if places.ndim != 2 or places.shape[1] not in (2, 3):
        raise _wrong(f"its shape is {places.shape}.")
    if len(bad := np.flatnonzero(~np.isfinite(places).all(axis=1))):
        raise _wrong(f"row {bad[0]} is not finite.")
    names: list[Any] = [*range(len(places))]
    if index is not None and getattr(index, "inferred_type", "") == "string":
        names = [*index]
        FeatureIndex(np.array(names, object)).check_unique("groups_by_distance")
    limit = min_distance * (1.0 - _ROUNDING)
    pairs = KDTree(places).query_pairs(limit, output_type="ndarray")
    found: dict[Any, list[int]] = {}
    for group, pair in enumerate(pairs[np.lexsort(pairs.T[::-1])].tolist()):
        for j in pair:
            found.setdefault(names[j], []).append(group)
    return found


def _wrong(problem: str) -> DataError:
    """Return what is wrong with the coordinates."""
    remedy = "Give a row of 2 or 3 finite numbers for each feature."
    return DataError("{}: " + problem, Setting("coordinates"), remedy=remedy)
