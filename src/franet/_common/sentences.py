"""What franet says about a table, in sentences: each is made here, by stated rules."""

from __future__ import annotations

from collections.abc import Sequence

# A pick is stable if this share of other half-samples would pick it, and a selection
# if this share of its picks is.
STABLE = 0.8
MOST = 0.9
# From which |r| on a feature can take the place of a pick.
ALIKE = 0.9
# Below this share a first pick is a matter of chance.
DOUBTFUL = 0.5


def how_stable(
    n_picks: int,
    n_again: int,
    n_held: int,
    agreement: float,
    permuted: Sequence[float],
    everything: bool = False,
) -> str:
    """Return whether other samples would lead to the same selection.

    Parameters
    ----------
    n_picks : int
        How many features were picked.
    n_again : int
        How many of them other half-samples would pick again in `STABLE` of the cases.
    n_held : int
        The same, where features that are alike count as the pick.
    agreement : float
        The share of what one half picks that the other half picks, too.
    permuted : sequence of float
        The same for tables whose columns are permuted; empty if not known.
    everything : bool, default=False
        Whether there is nothing else to pick.

    Examples
    --------
    >>> how_stable(16, 16, 16, 0.9, [0.1])
    'These 16 are stable: other samples would pick the same features.'
    """
    if everything:
        return "Everything is picked: other samples could not pick anything else."
    these = "This pick" if n_picks == 1 else f"These {n_picks:,}"
    are = "is" if n_picks == 1 else "are"
    if permuted and agreement <= max(permuted):
        rates = _percentages(permuted)
        compared = (
            f"one half of the samples picks {_percent(agreement)} of what the other "
            f"half picks, and {rates} where each column is permuted"
        )
        if n_held >= MOST * n_picks:
            sure = f"{these} {are} stable, but no more than for permuted columns"
            return f"{sure}: {compared}."
        return f"No more stable than for permuted columns: {compared}."
    counts = f"{_of(n_again, n_picks)} stable"
    if n_held > n_again:
        number = "it is" if n_picks == 1 else f"{n_held:,}"
        counts += f", {number} if features with |r| ≥ {ALIKE} count as the same"
    if n_again >= MOST * n_picks:
        sure = f"{these} {are} stable" if n_again == n_picks else counts
        return f"{sure}: other samples would pick the same features."
    if n_held >= MOST * n_picks:
        return (
            "Other samples would pick other members of the same groups: trust groups, "
            f"not names. {counts}."
        )
    if not n_held:
        them = "it" if n_picks == 1 else "them"
        return f"{counts}: other samples would replace {them}."
    return f"{counts}; other samples would replace the others."


def of_first_pick(name: str, held: float, low: int, high: int) -> str:
    """Return a sentence about a first pick that most samples would not pick, or "".

    Parameters
    ----------
    name : str
        The pick.
    held : float
        The share of other half-samples that would pick it, or a feature that is alike.
    low, high : int
        From where to where it ranks in the draws.
    """
    if not held < DOUBTFUL:
        return ""
    return (
        f"The first pick, {name}, would be picked by {_percent(held)} of other "
        f"half-samples, stand-ins counted; in those drawn it ranks from {low:,} to "
        f"{high:,}."
    )


def how_drawn(n_halves: int, n_degenerate: int) -> str:
    """Return how it was measured how sure a ranking is.

    Examples
    --------
    >>> print(how_drawn(20, 0))
    Measured by 20 half-samples; percentages are those of new half-samples, estimated.
    """
    text = (
        f"Measured by {n_halves:,} half-samples; percentages are those of new "
        "half-samples, estimated."
    )
    if n_degenerate:
        were = "ranking was" if n_degenerate == 1 else "rankings were"
        text += f" {n_degenerate:,} {were} degenerate."
    return text


def not_measured(why: str = "") -> str:
    """Return how to measure how sure a ranking is, and why it was not done.

    Examples
    --------
    >>> print(not_measured("it was not asked for").split(" To ")[0])
    How sure the picks are was not measured: it was not asked for.
    """
    reason = f": {why}" if why else ""
    return (
        f"How sure the picks are was not measured{reason}. To measure it: franet rank "
        "--stability 20; in Python ranker.report(path, X, stability="
        "ranker.stability(X))."
    )


def _of(count: int, total: int) -> str:
    if total == 1:
        return "This pick is" if count else "This pick is not"
    if not count:
        return f"None of these {total:,} picks is"
    return f"{count:,} of these {total:,} picks {'is' if count == 1 else 'are'}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _percentages(shares: Sequence[float]) -> str:
    low, high = _percent(min(shares)), _percent(max(shares))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"
