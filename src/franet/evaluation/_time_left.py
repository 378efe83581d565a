"""How long a benchmark will still take, from what it took so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

__all__ = ["TimeLeft"]


class TimeLeft:
    """Estimates the time of units of work from those that are done.

    A unit takes as long as others of its ranker on its data set did. Where there are
    none, it takes as long per cell of the table as its ranker does elsewhere, and a
    ranker that has not run at all is as slow as the mean.

    Parameters
    ----------
    left : iterable of (dataset, ranker)
        The units that are to be done.
    cells : mapping of str to int
        Cells of the table of each data set.
    size : int
        How many units are worked on at a time.
    """

    def __init__(
        self, left: Iterable[tuple[str, str]], cells: Mapping[str, int], size: int
    ) -> None:
        self._cells = cells
        self._size = size
        self._left: dict[tuple[str, str], int] = defaultdict(int)
        for unit in left:
            self._left[unit] += 1
        self._units: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._rankers: dict[str, list[float]] = defaultdict(list)

    def done(self, dataset: str, ranker: str, seconds: float) -> None:
        """Note that a unit took so long."""
        self._left[dataset, ranker] -= 1
        self._units[dataset, ranker].append(seconds)
        self._rankers[ranker].append(seconds / self._cells[dataset])

    def seconds(self) -> float | None:
        """Return the seconds that are left; None before anything is known."""
        if not self._units:
            return None
        mean = {ranker: _mean(times) for ranker, times in self._rankers.items()}
        overall = _mean(mean.values())
        total = 0.0
        for unit, count in self._left.items():
            dataset, ranker = unit
            if unit in self._units:
                each = _mean(self._units[unit])
            else:
                each = mean.get(ranker, overall) * self._cells[dataset]
            total += count * each
        return total / self._size


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
