"""What may be picked: features that must be in, may not be in, cost, or exclude."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.features import FeatureIndex
from franet.exceptions import DataError, Setting, UsageError

__all__ = ["PARAMETERS", "Constraints", "by_position", "read_constraints"]

# Parameters that speak of features.
PARAMETERS = ("include", "exclude", "cost", "groups")


@dataclass(frozen=True, eq=False)
class Constraints:
    """What may be picked, by position.

    Attributes
    ----------
    include : list of int
        Features that are picked first, in this order.
    closed : ndarray of bool
        Features that are never picked.
    cost : ndarray of float
        What each feature costs.
    groups : ndarray of int
        The group of each feature, of which one may be picked; -1: none.
    """

    include: list[int]
    closed: NDArray[np.bool_]
    cost: NDArray[np.float64]
    groups: NDArray[np.intp]

    def n_open(self) -> int:
        """Return how many features can be picked at the most."""
        open_ = ~self.closed
        grouped = open_ & (self.groups >= 0)
        return int(np.sum(open_ & ~grouped)) + len(np.unique(self.groups[grouped]))


def read_constraints(
    names: NDArray[Any],
    constant: NDArray[np.bool_],
    *,
    include: Any = None,
    exclude: Any = None,
    cost: Any = None,
    groups: Any = None,
) -> Constraints:
    """Return what a user allows, checked.

    Parameters
    ----------
    names : ndarray of str
        The names of all features.
    constant : ndarray of bool
        Columns that tell nothing; they are never picked.
    include, exclude : sequence of str or int, optional
        Features by name or position.
    cost : mapping or array-like of shape (n,), optional
        Positive costs; a mapping names some features, others cost 1.
    groups : mapping or array-like of shape (n,), optional
        A label for each feature; None and NaN: no group.
    """
    n = len(names)
    index = FeatureIndex(names)
    inside = _features(index, include, "include")
    outside = _features(index, exclude, "exclude")
    for j in inside:
        if j in outside:
            raise UsageError(
                "{!r} is in {} and in {}.",
                str(names[j]),
                Setting("include"),
                Setting("exclude"),
                remedy="Leave it out of one of them.",
            )
        if constant[j]:
            raise UsageError(
                "{}: {!r} is constant, and constant columns cannot be picked.",
                Setting("include"),
                str(names[j]),
                remedy="Leave it out.",
            )
    closed = constant.copy()
    closed[outside] = True
    labels = _labels(index, groups, n)
    taken: dict[int, int] = {}
    for j in inside:
        if labels[j] >= 0 and labels[j] in taken:
            first = str(names[taken[int(labels[j])]])
            raise UsageError(
                "{}: {!r} and {!r} are in one group, and of each of {} one feature "
                "may be picked.",
                Setting("include"),
                first,
                str(names[j]),
                Setting("groups"),
                remedy="Leave out one of them.",
            )
        taken[int(labels[j])] = j
    return Constraints(inside, closed, _costs(index, cost, n), labels)


def by_position(parameters: Mapping[str, Any], names: NDArray[Any]) -> dict[str, Any]:
    """Return the parameters that name features, with positions instead of names.

    Values that are given for all features, one each, are left out.

    Parameters
    ----------
    parameters : mapping
        Parameters of a ranker.
    names : ndarray of str
        The names of all features.
    """
    index = FeatureIndex(names)
    found: dict[str, Any] = {}
    for name in PARAMETERS:
        given = parameters.get(name)
        # A single feature has an error of its own, which the ranker raises.
        if given is None or isinstance(given, str | int | np.integer):
            continue
        if name in ("include", "exclude"):
            found[name] = _features(index, given, name)
        elif _names_features(given):
            found[name] = dict(_pairs(index, given, name))
    return found


def _features(index: FeatureIndex, given: Any, parameter: str) -> list[int]:
    if given is None:
        return []
    if isinstance(given, str | int | np.integer):
        raise UsageError(
            "{}:",
            Setting(parameter),
            given,
            remedy="give a list of features, such as [{1!r}].",
        )
    found: list[int] = []
    for feature in given:
        try:
            j = index.find(feature)
        except DataError as err:
            raise UsageError("{}: {}", Setting(parameter), err) from None
        if j not in found:
            found.append(j)
    return found


def _names_features(given: Any) -> bool:
    """Return whether values are given by feature: a mapping, or a pandas Series."""
    return isinstance(given, Mapping) or hasattr(given, "items")


def _pairs(index: FeatureIndex, given: Any, parameter: str) -> list[tuple[int, Any]]:
    return [
        (_features(index, [name], parameter)[0], value) for name, value in given.items()
    ]


def _costs(index: FeatureIndex, given: Any, n: int) -> NDArray[np.float64]:
    if given is None:
        return np.ones(n)
    if _names_features(given):
        cost = np.ones(n)
        for j, value in _pairs(index, given, "cost"):
            cost[j] = _number_of(index, j, value)
    else:
        cost = _one_each(given, n, "cost", np.float64)
    bad = np.flatnonzero(~(np.isfinite(cost) & (cost > 0.0)))
    if len(bad):
        j = int(bad[0])
        raise UsageError(
            "{}: {!r} costs {:g}; costs are positive numbers.",
            Setting("cost"),
            index.names[j],
            cost[j],
        )
    return cost


def _number_of(index: FeatureIndex, j: int, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(
            "{}: {!r} costs {!r}; costs are positive numbers.",
            Setting("cost"),
            index.names[j],
            value,
        ) from None


def _labels(index: FeatureIndex, given: Any, n: int) -> NDArray[np.intp]:
    if given is None:
        return np.full(n, -1, np.intp)
    if _names_features(given):
        values: list[Any] = [None] * n
        for j, label in _pairs(index, given, "groups"):
            values[j] = label
    else:
        values = list(_one_each(given, n, "groups", object))
    numbers: dict[Any, int] = {}
    return np.array(
        [
            -1 if label is None or label != label else _number(numbers, label)
            for label in values
        ],
        np.intp,
    )


def _number(numbers: dict[Any, int], label: Any) -> int:
    try:
        return numbers.setdefault(label, len(numbers))
    except TypeError:
        raise UsageError(
            "{}: {!r} is not a label;",
            Setting("groups"),
            label,
            remedy="use text or numbers.",
        ) from None


def _one_each(given: Any, n: int, parameter: str, dtype: Any) -> NDArray[Any]:
    try:
        values = np.asarray(given, dtype)
    except (TypeError, ValueError) as err:
        raise UsageError("{}: {}.", Setting(parameter), err) from None
    if values.shape != (n,):
        raise UsageError(
            "{}: its shape is {}, but there are {} features.",
            Setting(parameter),
            values.shape,
            n,
            remedy="Give one value for each, or a dict of some.",
        )
    return values
