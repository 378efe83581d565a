"""What may be picked: features that must be in, may not be in, cost, or exclude."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.features import FeatureIndex
from franet.exceptions import DataError, Setting, UsageError

CONSTRAINTS = ("include", "exclude", "cost", "groups")
# Parameters that speak of features.
PARAMETERS = (*CONSTRAINTS, "weights")
_POSITIVE = "is positive"
# The least cost, as a share of the largest one.
_CHEAPEST = 1e-200


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
    groups : sparse array of bool of shape (n, n_groups)
        Which features are in which group, of which one may be picked.
    """

    include: list[int]
    closed: NDArray[np.bool_]
    cost: NDArray[np.float64]
    groups: Any

    @classmethod
    def none(cls, n: int) -> Constraints:
        """Return what constrains none of n features."""
        return cls([], np.zeros(n, bool), np.ones(n), _no_groups(n))

    def n_open(self) -> int:
        """Return how many features can be picked at the most.

        Fewer, where a feature is in several groups: that depends on the picks.
        """
        open_, start = ~self.closed, self.groups.indptr
        grouped = open_ & (np.diff(start) > 0)
        # A pick takes the first of its groups, and no other pick has it.
        first = self.groups.indices[start[:-1][grouped]]
        return int(np.sum(open_ & ~grouped)) + len(np.unique(first))

    def n_selected(self, wanted: int | None, last: NDArray[np.bool_]) -> int:
        """Return how many features are selected; half of them if `wanted` is None.

        Where all are constant, half of those.

        Parameters
        ----------
        wanted : int or None
            How many were asked for.
        last : ndarray of bool of shape (n,)
            Features that are constant, or cannot be picked beside the picks.
        """
        n, possible = len(last), int(np.sum(~last))
        if wanted is None:
            wanted = min(n // 2, possible or n)
        elif wanted > possible and self.groups.nnz:
            raise _error(
                "groups",
                "after {} picks each other feature shares a group with one of them, or "
                "cannot be picked.",
                possible,
                remedy="Ask for at most that many.",
            )
        return max(wanted, len(self.include))

    def among(self, columns: NDArray[np.intp]) -> Constraints:
        """Return the constraints of some columns, counted among them."""
        return Constraints(
            include=[int(np.flatnonzero(columns == j)[0]) for j in self.include],
            closed=self.closed[columns],
            cost=self.cost[columns],
            groups=self.groups[columns],
        )


class Choice:
    """What was picked, and what can still be.

    Parameters
    ----------
    constraints : Constraints
        What may be picked.

    Attributes
    ----------
    order : list of int
        The picks, first to last.
    open : ndarray of bool
        Features that can be picked.
    cost : ndarray of float
        What each feature costs.
    """

    def __init__(self, constraints: Constraints) -> None:
        self.order: list[int] = []
        self.cost = constraints.cost
        self.open = ~constraints.closed
        self.n_forced = len(constraints.include)
        self._closed, self._groups = constraints.closed, constraints.groups
        self._members = constraints.groups.tocsc()
        self._forced = iter(constraints.include)

    def forced(self) -> int | None:
        """Return the feature that is picked next in any case; None: there is none."""
        return next(self._forced, None)

    def pick(self, j: int) -> None:
        """Pick feature j, and no other one of its groups."""
        self.order.append(j)
        self.open[self._blocks(j)] = False

    def shared(self, picks: list[int]) -> NDArray[np.intp]:
        """Return how many picks each feature is, or shares a group with."""
        count = np.zeros(len(self.open), np.intp)
        for j in picks:
            count[self._blocks(j)] += 1
        return count

    def beside(
        self, picks: list[int], i: int, shared: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return the features that may take the place of a pick.

        Parameters
        ----------
        picks : list of int
            The picks.
        i : int
            Which of them is replaced.
        shared : ndarray of int
            What `shared` returned for them.
        """
        open_ = ~self._closed & (shared == 0)
        own = self._blocks(picks[i])
        open_[own] = ~self._closed[own] & (shared[own] == 1)
        open_[picks[i]] = False
        return open_

    def replace(self, order: list[int]) -> None:
        """Make others the picks."""
        self.order[:] = order
        self.open = ~self._closed & (self.shared(order) == 0)

    def restart(self) -> None:
        """Forget the picks, and leave them alone open."""
        self._forced = iter(self.order[: self.n_forced])
        self.open = np.zeros(len(self.open), bool)
        self.open[self.order] = True
        self.order.clear()

    def _blocks(self, j: int) -> NDArray[np.intp]:
        """Return feature j, and the features that share a group with it."""
        start, stop = self._groups.indptr[j : j + 2]
        if start == stop:
            return np.array([j])
        found = self._members[:, self._groups.indices[start:stop]]
        return np.unique(found.indices)

    def blocked(self, gains: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the features that come after all others: closed, or in a full group.

        Of groups without a pick all but those that would add most.

        Parameters
        ----------
        gains : ndarray of shape (n,)
            What each feature would add now.
        """
        blocked = ~self.open
        blocked[self.order] = False
        grouped = np.flatnonzero(self.open & (np.diff(self._groups.indptr) > 0))
        # The sort is stable: of equal ones the first.
        for j in grouped[np.argsort(-gains[grouped], kind="stable")]:
            if not blocked[j]:
                blocked[self._blocks(j)] = True
                blocked[j] = False
        return blocked


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
        Features by name, pattern or position.
    cost : mapping or array-like of shape (n,), optional
        Positive costs; a mapping names some features, others cost 1.
    groups : mapping or array-like of shape (n,), optional
        A label for each feature, or a list of labels; None and NaN: no group.
    """
    index = FeatureIndex(names)
    inside = _features(index, include, "include")
    outside = _features(index, exclude, "exclude")
    labels = _labels(index, groups)
    taken: dict[int, str] = {}
    for j in inside:
        name = index.names[j]
        own = labels.indices[labels.indptr[j] : labels.indptr[j + 1]].tolist()
        if j in outside:
            fields = name, Setting("include"), Setting("exclude")
            remedy = "Leave it out of one of them."
            raise UsageError("{!r} is in {} and in {}.", *fields, remedy=remedy)
        if constant[j]:
            raise _error(
                "include",
                "{!r} is constant, and constant columns cannot be picked.",
                name,
                remedy="Leave it out.",
            )
        if group := {*own} & {*taken}:
            raise _error(
                "include",
                "{!r} and {!r} are in one group, and of each of {} one feature may be "
                "picked.",
                taken[min(group)],
                name,
                Setting("groups"),
                remedy="Leave out one of them.",
            )
        taken.update(dict.fromkeys(own, name))
    closed = constant.copy()
    closed[outside] = True
    costs = _numbers(index, cost, "cost", _POSITIVE)
    # Only ratios count, and neither of them overflows.
    costs = np.maximum(costs / costs.max(), _CHEAPEST)
    return Constraints(inside, closed, costs, labels)


def find_features(names: NDArray[Any], given: Any, parameter: str) -> list[int]:
    """Return the positions of features that are named, in their order, each once."""
    return _features(FeatureIndex(names), given, parameter)


def read_weights(
    names: NDArray[Any], constant: NDArray[np.bool_], given: Any
) -> str | NDArray[np.float64]:
    """Return what features count where they are rebuilt, checked.

    Parameters
    ----------
    names : ndarray of str
        The names of all features.
    constant : ndarray of bool
        Columns that are constant, whose weights do not matter.
    given : str, mapping or array-like of shape (n,)
        The name of a rule, or numbers that are not negative; a mapping names some
        features, others count 1.
    """
    if isinstance(given, str):
        return given
    weights = _numbers(FeatureIndex(names), given, "weights", "is not negative")
    if not weights[~constant].any():
        remedy = "Give one of them a positive number."
        raise _error("weights", "all columns that vary have 0.", remedy=remedy)
    return weights


def read_preferences(
    names: NDArray[Any], keep: Any, cost: Any
) -> tuple[list[int], NDArray[np.float64]]:
    """Return which features a user wants to keep, and what each costs, checked.

    Parameters
    ----------
    names : ndarray of str
        The names of all features.
    keep : sequence of str or int, optional
        Features by name, pattern or position.
    cost : mapping or array-like of shape (n,), optional
        Positive costs; a mapping names some features, others cost 1.
    """
    index = FeatureIndex(names)
    costs = _numbers(index, cost, "cost", _POSITIVE)
    return _features(index, keep, "keep"), costs


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


def _error(parameter: str, problem: str, *fields: Any, remedy: str = "") -> UsageError:
    """Return what is wrong with a parameter."""
    return UsageError("{}: " + problem, Setting(parameter), *fields, remedy=remedy)


def _features(index: FeatureIndex, given: Any, parameter: str) -> list[int]:
    if given is None:
        return []
    if isinstance(given, str | int | np.integer):
        remedy = "give a list of features, such as [{1!r}]."
        raise UsageError("{}:", Setting(parameter), given, remedy=remedy)
    try:
        found = (index.match(feature) for feature in given)
        return list(dict.fromkeys(j for places in found for j in places))
    except DataError as err:
        raise _error(parameter, "{}", err) from None


def _names_features(given: Any) -> bool:
    """Return whether values are given by feature: a mapping, or a pandas Series."""
    return isinstance(given, Mapping) or hasattr(given, "items")


def _pairs(index: FeatureIndex, given: Any, parameter: str) -> list[tuple[int, Any]]:
    try:
        return [(index.find(name), value) for name, value in given.items()]
    except DataError as err:
        raise _error(parameter, "{}", err) from None


def _values(index: FeatureIndex, given: Any, parameter: str, default: Any) -> list[Any]:
    """Return a value for each feature, given by feature or in their order."""
    n = len(index.names)
    if _names_features(given):
        values = dict(_pairs(index, given, parameter))
        return [values.get(j, default) for j in range(n)]
    array = np.asarray(given, object)
    if array.shape != (n,):
        raise _error(
            parameter,
            "its shape is {}, but there are {} features.",
            array.shape,
            n,
            remedy="Give one value for each, or a dict of some.",
        )
    return list(array)


def _numbers(
    index: FeatureIndex, given: Any, parameter: str, bound: str
) -> NDArray[np.float64]:
    """Return a finite number for each feature; 1 where none is given."""
    numbers = np.ones(len(index.names))
    if given is None:
        return numbers
    for j, value in enumerate(_values(index, given, parameter, 1.0)):
        try:
            numbers[j] = value
        except (TypeError, ValueError):
            numbers[j] = np.nan
        is_fine = numbers[j] > 0.0 or (bound != _POSITIVE and numbers[j] == 0.0)
        if not (is_fine and numbers[j] < np.inf):
            raise _error(
                parameter,
                "{!r} has {!r};",
                index.names[j],
                value,
                remedy=f"give a finite number that {bound}.",
            )
    return numbers


def _is_missing(label: Any) -> bool:
    """Return whether it is None, NaN or NA of pandas; a TypeError if it is no label."""
    hash(label)
    # Of NA this is neither true nor false.
    return label is None or str(label != label) != "False"


def _no_groups(n: int) -> Any:
    return sparse.csr_array((n, 0), dtype=bool)


def _labels(index: FeatureIndex, given: Any) -> Any:
    """Return which features are in which group, as a sparse array."""
    n = len(index.names)
    if given is None:
        return _no_groups(n)
    numbers: dict[Any, int] = {}
    columns: list[int] = []
    ends = [0]
    for label in _values(index, given, "groups", None):
        several = label if isinstance(label, list | tuple) else [label]
        for one in several:
            try:
                if not _is_missing(one):
                    columns.append(numbers.setdefault(one, len(numbers)))
            except TypeError:
                remedy = "use text or numbers."
                raise _error(
                    "groups", "{!r} is not a label;", one, remedy=remedy
                ) from None
        ends.append(len(columns))
    known = np.ones(len(columns), bool), columns, ends
    labels = sparse.csr_array(known, shape=(n, len(numbers)))
    # A label that is given twice counts once, and labels of a feature are in order.
    labels.sum_duplicates()
    return labels
