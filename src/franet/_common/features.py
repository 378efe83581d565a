"""Which feature is meant."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from fnmatch import fnmatch, fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu

from franet.exceptions import DataError

# Both ends and the weight of every edge.
Edges = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]


class FeatureIndex:
    """Finds the position of a feature by its name or by the position itself.

    Parameters
    ----------
    names : ndarray of str
        The names of the features.
    """

    def __init__(self, names: NDArray[Any]) -> None:
        self.names = [str(name) for name in names]

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def _repeated(self) -> set[str]:
        return {name for name, count in Counter(self.names).items() if count > 1}

    def find(self, feature: str | int) -> int:
        """Return the position of a feature.

        Raises
        ------
        DataError
            Where there is no such feature; the message names similar ones.
        """
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
            at, last = int(feature), len(self.names) - 1
            if 0 <= at <= last:
                return at
            raise DataError(f"There is no feature {at}: positions go from 0 to {last}.")
        name = str(feature)
        if name in self._repeated:
            raise DataError(f"Several features are called {name!r}. Give a position.")
        if name not in self._position:
            raise DataError(f"There is no feature {name!r}. {self._advice(name)}")
        return self._position[name]

    def is_pattern(self, feature: Any) -> bool:
        """Return whether a text is no name but one with wildcards: ``*``, ``?``, ``[``.

        Examples
        --------
        >>> index = FeatureIndex(np.array(["MT-CO1", "a*"]))
        >>> index.is_pattern("MT-*"), index.is_pattern("a*")
        (True, False)
        """
        is_text = isinstance(feature, str) and feature not in self._position
        return is_text and any(mark in feature for mark in "*?[")

    def match(self, feature: str | int) -> list[int]:
        """Return the positions of a feature, or of all that fit a pattern.

        Raises
        ------
        DataError
            Where there is none; the message names similar ones.
        """
        if not self.is_pattern(feature):
            return [self.find(feature)]
        pattern = str(feature)
        found = [j for j, name in enumerate(self.names) if fnmatchcase(name, pattern)]
        if not found:
            raise DataError(f"No feature matches {pattern!r}. {self._advice(pattern)}")
        return found

    def _advice(self, name: str) -> str:
        close = get_close_matches(name, self.names, n=3, cutoff=0.6)
        if self.is_pattern(name):
            lower = name.lower()
            close = [known for known in self.names if fnmatch(known.lower(), lower)][:3]
            # Without its wildcards it may be the start of a name.
            start = "".join(c for c in lower if c not in "*?[]")
            starts = {known[: len(start)].lower(): known for known in self.names[::-1]}
            near = get_close_matches(start, starts, n=3, cutoff=0.6)
            close = close or [starts[each] for each in near]
        if not close:
            lower = name.lower()
            close = [known for known in self.names if known.lower() == lower][:3]
        if close:
            return f"Did you mean {', '.join(map(repr, close))}?"
        shown = ", ".join(map(repr, self.names[:3]))
        more = " …" if len(self.names) > 3 else ""
        return f"The {len(self.names)} features are {shown}{more}"

    def check_unique(self, purpose: str) -> None:
        """Raise a DataError if two features have one name."""
        if self._repeated:
            raise DataError(
                f"{purpose} identifies features by name, and several are called "
                f"{min(self._repeated)!r}. Rename them."
            )


def edges_of(adjacency: Any) -> Edges:
    """Return both ends and the weight of every edge, each edge once."""
    once = triu(adjacency, k=1).tocoo()
    return *once.coords, once.data
