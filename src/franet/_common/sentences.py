"""Every sentence that the program says about a table.

Plain functions of plain numbers: the terminal, the report, a notebook and the warnings
all say the same. A sentence ends with a full stop, and states only what the numbers
that it is given show.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

# Shares of the table for which it is said how many columns they need.
_MARKS = (0.9, 0.95)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the singular or in the plural.

    Examples
    --------
    >>> counted(1, "column"), counted(2000, "column")
    ('1 column', '2,000 columns')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def percent(share: float) -> str:
    """Return a share as whole percent, which say 0 and 100 only where that is so.

    Examples
    --------
    >>> percent(0.785), percent(0.9999), percent(0.001), percent(1.0)
    ('78 %', 'more than 99 %', 'less than 1 %', '100 %')
    """
    if share >= 1.0 - 1e-9:
        return "100 %"
    if share >= 0.995:
        return "more than 99 %"
    if 0.0 < share < 0.005:
        return "less than 1 %"
    return f"{100.0 * share:.0f} %"


def tenths(share: float) -> str:
    """Return a share as percent with one decimal; 100 only where that is so.

    Examples
    --------
    >>> tenths(0.4803), tenths(0.99999), tenths(1.0), tenths(-0.002)
    ('48.0 %', '99.9 %', '100.0 %', '−0.2 %')
    """
    most = 100.0 if share >= 1.0 - 1e-9 else 99.9
    return f"{min(100.0 * share, most):z.1f} %".replace("-", "−")


def increases(explained: Sequence[float]) -> list[float]:
    """Return by how much each share exceeds the last, so that they sum as shown.

    Examples
    --------
    >>> increases([0.12345, 0.2]), increases([])
    ([0.123, 0.077], [])
    """
    shown = [0.0, *(round(float(share), 3) for share in explained)]
    return [round(after - before, 3) for before, after in pairwise(shown)]


def how_many(
    explained: Sequence[float],
    n_features: int,
    suggested: int | None,
    *,
    is_subset: bool,
) -> str:
    """Return how many columns are enough, and how much of a table they explain.

    Parameters
    ----------
    explained : sequence of float
        The share of the table that the first column, the first two, … explain.
    n_features : int
        How many columns there are, constant ones aside.
    suggested : int or None
        How many are suggested.
    is_subset : bool
        Whether columns explain more of each other than chance would let them.
    """
    if not is_subset:
        return (
            "No small subset represents this table: its columns explain no more of "
            "each other than independent columns would."
        )
    of = f"of {counted(n_features, 'column')}"
    if suggested is None:
        picked = len(explained)
        verb = "explains" if picked == 1 else "explain"
        return (
            f"{picked:,} {of} {verb} {percent(explained[-1])} of the table; further "
            "picks may explain more of the others."
        )
    share = explained[suggested - 1]
    verb = "explains" if suggested == 1 else "explain"
    text = f"{suggested:,} {of} {verb} {percent(share)} of the table"
    if suggested < n_features and share < 1.0 - 1e-9:
        text += "; further columns explain little but themselves"
    needs: list[str] = []
    for mark in _MARKS:
        # As tables show it, in tenths of a percent.
        enough = (k for k, x in enumerate(explained, 1) if round(float(x), 3) >= mark)
        k = next(enough, 0)
        if k > suggested:
            noun = "" if needs else " columns"
            needs.append(f"{percent(mark)} needs {k:,}{noun}")
    return f"{text}. {', '.join(needs)}." if needs else f"{text}."


def represented(
    n_features: int, n_left: int, k: int, floor: float, level: float
) -> str:
    """Return how many columns no pick represents, and from which |r| one would.

    Parameters
    ----------
    n_features : int
        How many columns there are, constant ones aside; if all were picked, there is
        nothing to say.
    n_left : int
        How many of them no pick represents.
    k : int
        How many picks there are.
    floor : float
        The |r| that is significant.
    level : float
        At which level it is, for all picks together.
    """
    if k >= n_features:
        return ""
    picks = counted(k, "pick")
    if not isfinite(floor):
        return (
            f"{n_left:,} of {counted(n_features, 'column')} are not represented: two "
            "samples show no correlation."
        )
    rule = f"|r| ≥ {floor:.2f}, significant at {level:g}/{k} for {picks}"
    if not n_left:
        return f"Every column is represented by a pick ({rule})."
    verb = "is" if n_left == 1 else "are"
    return (
        f"{n_left:,} of {counted(n_features, 'column')} {verb} not represented by a "
        f"pick ({rule})."
    )


def sampled(n_drawn: int, n_samples: int) -> str:
    """Return by which samples it is measured what is explained; empty: by all."""
    if n_drawn >= n_samples:
        return ""
    return f"Measured on {n_drawn:,} of {n_samples:,} samples, drawn at random."


def nothing_suggested(n_selected: int, is_subset: bool) -> str:
    """Return what is selected where no number of columns is suggested."""
    what = f"all {counted(n_selected, 'column')} that were picked are selected"
    if n_selected == 1:
        what = "the 1 column that was picked is selected"
    if is_subset:
        return f"More picks are needed to say how many columns are enough: {what}."
    return f"No small subset represents this table: {what}."
