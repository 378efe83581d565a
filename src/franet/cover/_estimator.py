"""`FRANe(redundancy="cover")`: checks, the ranking, and the attributes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._base import names_of
from franet._coded import column_name
from franet._threads import count_threads
from franet._torch import choose_device, free_bytes, wanted
from franet._validation import check_table, number_to_select
from franet.cover._constraints import Constraints, read_constraints
from franet.cover._fit import CoverRanking, rank_by_cover, star
from franet.cover._shares import EXAMPLES
from franet.exceptions import DataError, UnitsWarning, UsageError
from franet.network import AttributeNetwork
from franet.network._recipe import cover_recipe
from franet.network._represent import represent
from franet.rankers._greedy import dense, how_many
from franet.similarity import CORRELATIONS
from franet.similarity._sparse import constant_in

if TYPE_CHECKING:
    from franet._frane import FRANe

__all__ = ["choose_place", "fit_cover"]

# A column that holds more of the variance than all others together.
_MOST_OF_IT = 0.5
# … and so many times its part, because of three columns one may do so by chance.
_TIMES = 5.0


# Entries of a table from which a CUDA device is worth its start.
LARGE = 5_000_000
# What the blocks of a computation take on a device, besides the table.
_ROOM = 2**31


def fit_cover(ranker: FRANe, X: Any) -> None:
    """Fit a ranker whose `redundancy` is ``"cover"``."""
    _check_parameters(ranker)
    table = check_table(ranker, X)
    constant = constant_in(table)
    if constant.all():
        raise DataError("All columns are constant: there is nothing to rank.")
    constraints = read_constraints(
        names_of(ranker),
        constant,
        include=ranker.include,
        exclude=ranker.exclude,
        cost=ranker.cost,
        groups=ranker.groups,
    )
    n_select = _n_select(ranker, constraints)
    selected = n_select if isinstance(n_select, int) else None
    n_picks = how_many(ranker.n_ranked, selected, ranker.n_features_in_)
    found = rank_by_cover(
        dense(table),
        constant,
        constraints,
        n_select=n_select,
        n_picks=min(
            max(n_picks, selected or 1, len(constraints.include)), constraints.n_open()
        ),
        ranks=ranker.similarity == "spearman",
        n_threads=count_threads(ranker.n_jobs),
        device=choose_place(ranker.backend, ranker.device, table.shape),
    )
    _set_attributes(ranker, found, constant, names_of(ranker))
    _warn_of_units(ranker, found)


def choose_place(backend: str, device: Any, shape: tuple[int, int]) -> Any:
    """Return the torch device on which to rank a table; None: in NumPy.

    Parameters
    ----------
    backend : {"auto", "numpy", "torch"}
        ``"auto"`` takes torch if `device` is given, or if there is a CUDA device, the
        table is large and the device has room for it.
    device : str, torch.device or None
        The device; None: CUDA where it is, or else the CPU.
    shape : tuple of int
        The number of examples and of features.
    """
    m, n = shape
    if backend == "dask":
        raise UsageError(
            "redundancy='cover' needs the table in memory, not backend='dask'. Set "
            "backend='numpy' or 'torch'."
        )
    if not wanted(backend, device, pays=m * n >= LARGE):
        return None
    place = choose_device(device)
    # The features, what is left of them, and those among which neighbours are; two
    # products of examples, or what the picks explain and a copy of it.
    needed = 8 * (n * (2 * m + min(m, EXAMPLES)) + 2 * m * min(m, n)) + _ROOM
    free = free_bytes(place)
    if needed <= free:
        return place
    if backend == "auto" and device is None:
        return None
    raise UsageError(
        f"device={str(place)!r} has {free / 1e9:.1f} GB left, and redundancy='cover' "
        f"needs {needed / 1e9:.1f} GB there. Set backend='numpy', or free some."
    )


def _warn_of_units(ranker: FRANe, found: CoverRanking) -> None:
    """Warn if neighbours are those of one column."""
    names = getattr(ranker, "feature_names_in_", None)
    j, share = found.loudest
    if share > max(_MOST_OF_IT, _TIMES / len(found.scores)):
        ranker._diagnosis = (
            f"{column_name(j, names)} holds {share:.0%} of the variance of the table, "
            "so that neighbours are those of this column. Scale the columns first, as "
            "sklearn.preprocessing.StandardScaler does, if their units are arbitrary."
        )
        # Past `fit` and scikit-learn's wrapper around it, to the caller.
        warnings.warn(ranker._diagnosis, UnitsWarning, stacklevel=5)


def _check_parameters(ranker: FRANe) -> None:
    if ranker.similarity not in CORRELATIONS:
        raise UsageError(
            f"redundancy='cover' needs a correlation, one of {CORRELATIONS}, not "
            f"similarity={ranker.similarity!r}."
        )
    if ranker.missing != "error":
        raise UsageError(
            f"redundancy='cover' needs a table without gaps, not missing="
            f"{ranker.missing!r}. Fill them first."
        )
    if ranker.scheduler is not None:
        raise UsageError(
            "redundancy='cover' needs the table in memory, not scheduler="
            f"{str(ranker.scheduler)!r}. Leave it out."
        )


def _n_select(ranker: FRANe, constraints: Constraints) -> int | str | None:
    """Return how many are selected, checked against how many there are."""
    wanted, n_open = ranker.n_features_to_select, constraints.n_open()
    if n_open == 0:
        raise UsageError("exclude leaves no feature that could be picked.")
    if wanted is None or wanted == "auto":
        return wanted
    count = number_to_select(wanted, ranker.n_features_in_)
    if count > n_open:
        raise UsageError(
            f"n_features_to_select={wanted}, but only {n_open} features can be picked: "
            "others are constant, excluded, or in a group of another one."
        )
    if count < len(constraints.include):
        raise UsageError(
            f"n_features_to_select={wanted}, but include names "
            f"{len(constraints.include)} features."
        )
    return count


def _set_attributes(
    ranker: FRANe,
    found: CoverRanking,
    constant: NDArray[np.bool_],
    names: NDArray[Any],
) -> None:
    ranker._forget()
    ranker._set_scores(found.scores, last=found.last, n_selected=found.n_selected)
    ranker.constant_ = constant
    ranker.n_ranked_ = len(found.order)
    ranker.gains_ = found.gains
    ranker.coverage_ = found.coverage
    ranker.represented_by_ = found.represented_by
    ranker.representation_ = found.representation
    ranker.represents_ = _represents(found)
    ranker.suggestion_ = found.suggestion
    ranker.n_features_suggested_ = found.suggestion.count
    adjacency = star(found)
    ranker.network_ = AttributeNetwork(
        adjacency=adjacency,
        names=names,
        scores=ranker.scores_,
        ranking=ranker.ranking_,
        threshold=np.nan,
        n_edges=adjacency.nnz // 2,
        representation=represent(found.represented_by, found.representation, names),
        _recipe=cover_recipe(ranker),
    )


def _represents(found: CoverRanking) -> dict[int, NDArray[np.intp]]:
    by, strength = found.represented_by, -np.abs(found.representation)
    order = np.lexsort((np.arange(len(by)), strength))
    return {
        int(j): order[(by[order] == j) & (order != j)]
        for j in found.order[: found.n_representatives]
    }
