"""Networks in which each feature is connected with the one that stands for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet.network._explain import SHOWN, Explanation, explain
from franet.network._neighbors import Neighbors, table_of

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = ["CoverExplanation", "Representation", "explain_cover", "represent", "signed"]


@dataclass(frozen=True, eq=False)
class Representation:
    """Which feature stands for which, and with what correlation.

    Attributes
    ----------
    by : ndarray of int of shape (n,)
        The position of the feature that stands for each; its own for representatives,
        -1 where there is none, or where it is not in the network.
    r : ndarray of shape (n,)
        The correlation with it, with its sign; NaN where there is none.
    names : ndarray of str of shape (n,)
        Its name, also where it is not in the network; empty where there is none.
    """

    by: NDArray[np.intp]
    r: NDArray[np.float64]
    names: NDArray[Any]

    def __len__(self) -> int:
        return len(self.by)

    @property
    def representatives(self) -> NDArray[np.intp]:
        """The positions of the features that stand for themselves, ascending."""
        return np.flatnonzero(self.by == np.arange(len(self.by)))

    def stood_for(self, j: int) -> NDArray[np.intp]:
        """Return the features that `j` stands for, itself aside, the closest first."""
        found = np.flatnonzero(self.by == j)
        found = found[found != j]
        # Copies are as close as each other, up to rounding.
        return found[np.argsort(-np.abs(self.r[found]).round(12), kind="stable")]

    def between(
        self, j: NDArray[np.intp] | int, k: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the correlations at edges, of which one end stands for the other."""
        return np.where(self.by[k] == j, self.r[k], self.r[j])

    def of(self, chosen: NDArray[np.intp]) -> Representation:
        """Return the same of some features, by their positions among themselves."""
        # The last place is that of nobody, -1.
        place = np.full(len(self.by) + 1, -1, np.intp)
        place[chosen] = np.arange(len(chosen))
        return Representation(
            place[self.by[chosen]], self.r[chosen], self.names[chosen]
        )


def represent(
    by: NDArray[np.intp], r: NDArray[np.float64], names: NDArray[Any]
) -> Representation:
    """Return who stands for whom in a network of all features.

    Parameters
    ----------
    by : ndarray of int
        The feature that stands for each, by position; -1: none.
    r : ndarray
        The correlation with it.
    names : ndarray of str
        The names of all features.
    """
    known = np.array([str(names[j]) if j >= 0 else "" for j in by], object)
    return Representation(np.asarray(by, np.intp), np.asarray(r, float), known)


def signed(value: float) -> str:
    """Return a correlation as people write it.

    Examples
    --------
    >>> signed(-0.8349), signed(-0.001)
    ('−0.83', '0.00')
    """
    return f"{value:z.2f}".replace("-", "−")


@dataclass(frozen=True, eq=False)
class CoverExplanation(Explanation):
    """What a network of representatives says about a feature.

    It has the attributes of `Explanation`, and these.

    Attributes
    ----------
    representative : str or None
        The name of the feature that stands for it, its own if it is one of those;
        None for constant columns.
    correlation : float or None
        The correlation with that feature, with its sign.
    is_representative : bool
        Whether it stands for itself.
    mean_correlation : float or None
        The mean absolute correlation with the features that it stands for.
    is_apart : bool
        Whether the feature that stands for it is not in this part of the network.
    """

    representative: str | None = None
    correlation: float | None = None
    is_representative: bool = False
    mean_correlation: float | None = None
    is_apart: bool = False

    def __str__(self) -> str:
        return f"{self.name} ranks {self.rank} (score {self.score:.4g}). {self._role()}"

    def _role(self) -> str:
        if self.is_representative:
            return self._many() if self.members else "It stands for itself alone."
        if self.representative is None or self.correlation is None:
            return "It is constant: it tells nothing, and nothing stands for it."
        apart = ", which is not in this part of the network" if self.is_apart else ""
        return (
            f"It is represented by {self.representative} "
            f"(r = {signed(self.correlation)}){apart}."
        )

    def _many(self) -> str:
        items = self.members
        shown = ", ".join(f"{k.name} ({_r(k)})" for k in items[:SHOWN])
        some = "feature" if len(items) == 1 else "features"
        most = ", most of all" if len(items) > SHOWN else ""
        return (
            f"It stands for {len(items):,} {some}, mean |r| "
            f"{signed(self.mean_correlation or 0.0)}{most}: {shown}."
        )


def _r(neighbor: Any) -> str:
    return f"r = {signed(neighbor.correlation)}"


def explain_cover(
    net: AttributeNetwork, found: Representation, j: int
) -> CoverExplanation:
    """Return what a network of representatives says about feature `j`."""
    own = bool(found.by[j] == j)
    below = found.stood_for(j) if own else np.empty(0, np.intp)
    strength = np.abs(found.r[below])
    known = np.isfinite(found.r[j])
    # Not by edges: a correlation of 0 makes none.
    members = table_of(net, j, below, strength) if len(below) else Neighbors()
    return CoverExplanation(
        **{**vars(explain(net, j)), "members": members},
        representative=str(found.names[j]) if known else None,
        correlation=float(found.r[j]) if known else None,
        is_representative=own,
        mean_correlation=float(strength.mean()) if len(below) else None,
        is_apart=bool(known and found.by[j] < 0),
    )
