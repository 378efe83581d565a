"""Tables with known groups of features, known redundancy and known noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import FLAG, RANDOM, WHOLE, Kind, checked, optional
from franet.exceptions import Setting, UsageError


def _from(least: int) -> Kind:
    words = f"a whole number from {least} on"
    return Kind(words, lambda value: WHOLE.accepts(value) and value >= least)


def _each(kind: Kind) -> Kind:
    """Return the kind of one value for all groups, or of one for each."""
    return Kind(
        kind.words,
        lambda given: all(map(kind.accepts, given if np.ndim(given) else [given])),
    )


_SHARE = Kind(
    "a correlation from 0 to 1",
    lambda value: isinstance(value, Real) and 0 <= float(value) <= 1,
)


@dataclass(frozen=True, eq=False)
class Groups:
    """A made table, and what it was made of.

    Attributes
    ----------
    X : ndarray of shape (n_examples, n_features)
        The table; every column has mean 0 and variance 1.
    groups : ndarray of int of shape (n_features,)
        The group of each feature, -1 for noise.
    representatives : ndarray of int of shape (n_groups,)
        The representative of each group: the column that its members were made from.
    copy_of : ndarray of int of shape (n_features,)
        For each feature that repeats another exactly: which; -1 for the others.
    names : list of str
        ``g0`` for the representative of group 0, ``g0.1``, ``g0.2``, … for its members,
        ``noise0``, … and ``copy0``, ….
    """

    X: NDArray[np.float64]
    groups: NDArray[np.intp]
    representatives: NDArray[np.intp]
    copy_of: NDArray[np.intp]
    names: list[str]


@checked(
    n_examples=_from(3),  # with two, every correlation is 1 or -1
    n_groups=_from(1),
    group_size=_each(_from(1)),
    redundancy=_each(_SHARE),
    n_noise=_from(0),
    duplicates=_from(0),
    exact=FLAG,
    shuffle=FLAG,
    random_state=optional(RANDOM),
)
def make_groups(
    n_examples: int = 100,
    n_groups: int = 5,
    group_size: int | Sequence[int] = 10,
    *,
    redundancy: float | Sequence[float] = 0.9,
    n_noise: int = 0,
    duplicates: int = 0,
    exact: bool = True,
    shuffle: bool = True,
    random_state: Any = None,
) -> Groups:
    """Make a table in which groups of features repeat a representative each.

    With the representative z and noise e of its own, a member is
    ``ρ·z + sqrt(1 − ρ²)·e``. Two members of a group have correlation ρ² but for
    chance; features of different groups, and noise, have correlation 0 but for chance.
    So the representative is the centre of its group, and one feature of each group
    says most of what all say.

    Parameters
    ----------
    n_examples : int, default=100
        Number of examples, at least 3.
    n_groups : int, default=5
        Number of groups.
    group_size : int or sequence of int, default=10
        Number of features of each group, its representative included.
    redundancy : float or sequence of float, default=0.9
        The correlation ρ of members with their representative, from 0 to 1.
    n_noise : int, default=0
        Number of features that belong to no group.
    duplicates : int, default=0
        Number of features that repeat another one exactly, each drawn at random from
        all others. They belong to its group.
    exact : bool, default=True
        Whether members have just this correlation in the table; otherwise in the
        distribution that it is drawn from.
    shuffle : bool, default=True
        Whether columns are put in random order. Otherwise groups follow each other,
        representatives first; then noise, then duplicates.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Returns
    -------
    Groups
        The table, and the group of each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from franet.datasets import make_groups
    >>> made = make_groups(50, 2, 3, n_noise=1, shuffle=False, random_state=0)
    >>> made.groups, made.representatives
    (array([ 0,  0,  0,  1,  1,  1, -1]), array([0, 3]))
    >>> np.corrcoef(made.X.T)[0, :3].round(6)
    array([1. , 0.9, 0.9])
    """
    from sklearn.utils import check_random_state

    sizes = _per_group("group_size", group_size, n_groups)
    shares = _per_group("redundancy", redundancy, n_groups)
    rng = check_random_state(random_state)
    blocks = [
        _group(rng, n_examples, size, share, exact)
        for size, share in zip(sizes, shares, strict=True)
    ]
    noise = _standard(rng.normal(size=(n_examples, n_noise)))
    X = np.hstack([*blocks, noise])
    groups = np.r_[np.repeat(np.arange(n_groups), sizes), np.full(n_noise, -1)]
    names = [
        f"g{g}.{k}" if k else f"g{g}" for g, n in enumerate(sizes) for k in range(n)
    ]
    names += [f"noise{k}" for k in range(n_noise)]
    names += [f"copy{k}" for k in range(duplicates)]
    source = rng.randint(X.shape[1], size=duplicates)
    copy_of = np.r_[np.full(X.shape[1], -1), source]
    made = Groups(
        np.hstack([X, X[:, source]]),
        np.r_[groups, groups[source]],
        np.r_[0, np.cumsum(sizes)[:-1]],
        copy_of,
        names,
    )
    return _reorder(made, rng.permutation(len(names))) if shuffle else made


def _group(
    rng: np.random.RandomState, m: int, size: int, share: float, exact: bool
) -> NDArray[np.float64]:
    """Return a representative and its members."""
    centre = _standard(rng.normal(size=(m, 1)))
    own = rng.normal(size=(m, size - 1))
    own -= own.mean(axis=0)
    if exact:
        own -= centre * (centre * own).mean(axis=0)
    members = share * centre + math.sqrt(1 - share**2) * _standard(own)
    return np.hstack([centre, _standard(members)])


def _standard(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = columns - columns.mean(axis=0)
    return centred / np.sqrt((centred**2).mean(axis=0))


def _reorder(made: Groups, order: NDArray[np.intp]) -> Groups:
    """Put column ``order[j]`` in place j, and carry along what points to columns."""
    place = np.argsort(order)
    copy_of = made.copy_of[order]
    return Groups(
        np.ascontiguousarray(made.X[:, order]),
        made.groups[order],
        place[made.representatives],
        np.where(copy_of < 0, -1, place[copy_of]),
        [made.names[j] for j in order],
    )


def _per_group(name: str, given: Any, n_groups: int) -> list[Any]:
    """Return a value for each group: the same for all, or as given."""
    values = [given] * n_groups if np.ndim(given) == 0 else list(given)
    if len(values) != n_groups:
        counts = Setting(name), len(values), n_groups
        remedy = "give one a group, or one for all"
        raise UsageError("{} has {} values for {} groups;", *counts, remedy=remedy)
    return values
