"""What the rankers share that pick features one by one, as far as a user allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover._constraints import CONSTRAINTS, Constraints, read_constraints
from franet.estimators._base import FeatureRanker
from franet.estimators._validation import how_many, names_of, number_to_select
from franet.exceptions import Setting, UsageError


class ConstrainedRanker(FeatureRanker):
    """A base for rankers that pick what a user allows.

    Parameters
    ----------
    include : sequence of str or int, default=None
        Features that are picked first, in this order: names, positions, or patterns
        such as ``"MT-*"`` (``*``, ``?`` and ``[…]``, as in file names), which mean all
        features that they match. A feature with such a name comes before the pattern.
    exclude : sequence of str or int, default=None
        Features, likewise, that are never picked. They are still represented.
    cost : mapping or array-like of shape (n_features,), default=None
        What each feature costs: picks are those that add most for their cost. A
        mapping or a pandas Series names some features, others cost 1.
    groups : mapping or array-like of shape (n_features,), default=None
        Labels: at most one feature of each group is picked. A list of labels puts a
        feature into several groups; `franet.groups_by_distance` makes them from places.
        None and NaN belong to no group.
    """

    include: Any
    exclude: Any
    cost: Any
    groups: Any
    n_ranked: int | str | None

    def _allowed(self, constant: NDArray[np.bool_]) -> Constraints:
        """Return what may be picked, checked."""
        given = {name: getattr(self, name) for name in CONSTRAINTS}
        return read_constraints(names_of(self), constant, **given)

    def _n_select(self, constraints: Constraints) -> int | str | None:
        """Return how many are selected, checked against how many can be."""
        wanted, n_open = self.n_features_to_select, constraints.n_open()
        if n_open == 0 and self.exclude is not None:
            given = Setting("exclude")
            raise UsageError("{} leaves no feature that could be picked.", given)
        if wanted is None or wanted == "auto":
            return wanted
        count = number_to_select(wanted, self.n_features_in_)
        # Constant columns may be selected, behind all others; excluded ones may not.
        limited = self.exclude is not None or self.groups is not None
        if limited and count > n_open:
            features = "feature" if n_open == 1 else "features"
            raise UsageError(
                f"{{}}, but only {n_open} {features} can be picked: others are "
                "constant, in {}, or share one of {} with another feature.",
                Setting("n_features_to_select", wanted),
                Setting("exclude"),
                Setting("groups"),
                remedy=f"Ask for at most {n_open}.",
            )
        if count < len(constraints.include):
            raise UsageError(
                f"{{}}, but {{}} names {len(constraints.include)} features.",
                Setting("n_features_to_select", wanted),
                Setting("include"),
                remedy="Ask for at least that many.",
            )
        return count

    def _n_picks(self, constraints: Constraints, n_select: int | str | None) -> int:
        """Return how many are picked, at least."""
        selected = n_select if isinstance(n_select, int) else None
        for what, count in (
            (Setting("n_features_to_select", selected), selected or 0),
            (Setting("include"), len(constraints.include)),
        ):
            asked = self.n_ranked
            if not isinstance(asked, str | None) and asked < count:
                raise UsageError(
                    f"{{}}, but {{}} asks for {count} picks.",
                    Setting("n_ranked", asked),
                    what,
                    Setting("n_ranked"),
                    remedy="Leave out {2}, or raise it.",
                )
        least = how_many(self.n_ranked, selected, self.n_features_in_)
        return min(max(least, len(constraints.include)), constraints.n_open())
