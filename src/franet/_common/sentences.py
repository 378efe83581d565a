"""Every sentence that the program says about a table.

Plain functions of plain numbers: the terminal, the report, a notebook and the warnings
all say the same. A sentence ends with a full stop, and states only what the numbers
that it is given show.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

# A pick is stable if this share of other half-samples would pick it, and a selection
# if this share of its picks is.
STABLE = 0.8
MOST = 0.9
# From which |r| on a feature can take the place of a pick.
ALIKE = 0.9
# Below this share a first pick is a matter of chance.
DOUBTFUL = 0.5
# Neither better nor worse than random columns, as far as the folds show.
UNDECIDED = "undecided"
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
    >>> percent(0.785), percent(0.9999), percent(0.001), percent(1.0), percent(-0.001)
    ('78 %', 'more than 99 %', 'less than 1 %', '100 %', '0 %')
    """
    if share >= 1.0 - 1e-9:
        return "100 %"
    if share >= 0.995:
        return "more than 99 %"
    if 0.0 < share < 0.005:
        return "less than 1 %"
    return f"{100.0 * share:z.0f} %".replace("-", "−")


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
        is_one = suggested == n_features - 1
        themselves = "further columns explain little but themselves"
        text += f"; {'the other explains little but itself' if is_one else themselves}"
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
    picks, verb = counted(k, "pick"), "is" if n_left == 1 else "are"
    if not isfinite(floor):
        return (
            f"{n_left:,} of {counted(n_features, 'column')} {verb} not represented by "
            "a pick: in two samples every |r| is 1."
        )
    rule = f"|r| ≥ {floor:.2f}, significant at {level:g}/{k} for {picks}"
    if not n_left:
        return f"Every column is represented by a pick ({rule})."
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


def how_stable(
    n_picks: int,
    n_again: int,
    n_held: int,
    agreement: float,
    permuted: Sequence[float],
    has_choice: bool = True,
    is_all: bool = True,
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
    has_choice : bool, default=True
        Whether anything else could be picked.
    is_all : bool, default=True
        Whether these are all picks, and not the first of them.

    Examples
    --------
    >>> how_stable(16, 16, 16, 0.9, [0.1])
    'These 16 are stable: other samples would pick the same features.'
    """
    if not has_choice:
        return "No other features could be picked: any samples would pick these."
    which = f"{'these' if is_all else 'the first'} {n_picks:,}"
    these = "This pick" if n_picks == 1 else which.capitalize()
    are = "is" if n_picks == 1 else "are"
    if permuted and agreement <= max(permuted):
        rates = _percentages(permuted)
        compared = (
            f"one half of the samples picks {percent(agreement)} of what the other "
            f"half picks, and {rates} where each column is permuted"
        )
        if n_held >= MOST * n_picks:
            sure = f"{these} {are} stable, but no more than for permuted columns"
            return f"{sure}: {compared}."
        return f"No more stable than for permuted columns: {compared}."
    counts = f"{_of(n_again, n_picks, which)} stable"
    if n_held > n_again:
        number = "but it is" if n_picks == 1 else f"{n_held:,}"
        counts += f", {number} if features with |r| ≥ {ALIKE} count as the same"
    if n_again == n_picks:
        same = "feature" if n_picks == 1 else "features"
        return f"{these} {are} stable: other samples would pick the same {same}."
    if n_again >= MOST * n_picks:
        return f"{counts}: other samples would pick nearly the same features."
    if n_held >= MOST * n_picks:
        of_them, names = "groups: trust groups", "names"
        if n_picks == 1:
            of_them, names = "group: trust the group", "the name"
        other = "another member" if n_picks == 1 else "other members"
        return (
            f"Other samples would pick {other} of the same {of_them}, not {names}. "
            f"{counts}."
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
        f"The first pick, {name}, would be picked by {percent(held)} of other "
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


def judged_at(title: str, at: int, suggested: tuple[str, int] | None) -> str:
    """Return what a table of judged rankers shows.

    Parameters
    ----------
    title : str
        The measure.
    at : int
        The number of features.
    suggested : (str, int) or None
        The ranker that suggests a number, and the number.

    Examples
    --------
    >>> judged_at("R²", 8, ("cover", 8))
    'R² at 8 features, as cover suggests: mean and 95 % interval over the folds.'
    """
    by = f", as {suggested[0]} suggests" if suggested and suggested[1] == at else ""
    return f"{title} at {_features(at)}{by}: mean and 95 % interval over the folds."


def where_best(title: str, found: Sequence[tuple[int, str, bool]]) -> str:
    """Return at which numbers of features each ranker is best.

    Parameters
    ----------
    title : str
        The measure.
    found : sequence of (int, str, bool)
        The number of features, the best ranker, and whether the 95 % interval of its
        lead over the second best is above 0.

    Examples
    --------
    >>> where_best("R²", [(1, "a", True), (2, "b", False), (4, "a", False)])
    'R²: a is best at 1 and 4 features (clearly at 1); b at 2 (not clearly).'
    """
    parts: list[str] = []
    for ranker in dict.fromkeys(best for _, best, _ in found):
        counts = [k for k, best, _ in found if best == ranker]
        sure = [k for k, best, clear in found if best == ranker and clear]
        if not sure:
            how = "not clearly"
        else:
            how = "clearly" if sure == counts else f"clearly at {_series(sure)}"
        many = "feature" if counts == [1] else "features"
        what = f"{_series(counts)} ({how})"
        if not parts:
            what = f"{_series(counts)} {many} ({how})"
        parts.append(f"{ranker}{'' if parts else ' is best'} at {what}")
    return f"{title}: {'; '.join(parts)}."


def nowhere_better(title: str) -> str:
    """Return that no ranker beats random columns, as far as folds show.

    Parameters
    ----------
    title : str
        The measure.

    Examples
    --------
    >>> nowhere_better("R²")
    'R²: no ranker is clearly better than random columns, at any number of features.'
    """
    return (
        f"{title}: no ranker is clearly better than random columns, at any number of "
        "features."
    )


def recommended(
    title: str,
    ranker: str,
    n_features: int,
    interval: tuple[int, int],
    value: float,
    value_interval: tuple[float, float] | None,
    best: float,
    verdict: str,
    suggested_by: str,
    *,
    is_all: bool = False,
) -> str:
    """Return which features to keep, by which measure.

    Parameters
    ----------
    title : str
        The measure.
    ranker : str
        The ranker.
    n_features : int
        How many of its features.
    interval : tuple of int
        Where that number lies in bootstrap samples of the folds.
    value : float
        The measure there.
    value_interval : tuple of float or None
        Its 95 % interval over the folds.
    best : float
        The best value at any number.
    verdict : str
        How it compares with random columns; "" if not known.
    suggested_by : str
        Which ranker suggests the number; "" if none does.
    is_all : bool, default=False
        Whether these are all features, for which it does not matter who ranks them.

    Examples
    --------
    >>> recommended("R²", "a", 8, (8, 8), 0.8, None, 0.9, "", "a")
    'By R², keep 8 features of a, as it suggests: 0.800.'
    """
    if is_all and not suggested_by:
        return (
            f"By {title}, keep all {_features(n_features)}: no smaller number that was "
            "judged is nearly as good."
        )
    folds = ""
    if value_interval is not None:
        low, high = value_interval
        folds = f" ({low:.3f} to {high:.3f} over the folds)"
    keep = f"By {title}, keep {_features(n_features)} of {ranker}"
    if suggested_by:
        by = (
            "as it suggests"
            if suggested_by == ranker
            else f"as {suggested_by} suggests"
        )
        text = f"{keep}, {by}: {value:.3f}{folds}."
    else:
        low_k, high_k = interval
        sure = f"{low_k} to {high_k}" if low_k < high_k else f"{low_k}"
        text = (
            f"{keep} ({sure} in 90 % of bootstrap samples): {value:.3f}{folds}; the "
            f"best of all is {best:.3f}."
        )
    if verdict == UNDECIDED:
        return f"{text} Whether it beats random columns there is undecided."
    return f"{text} At that number it is {verdict}." if verdict else text


def _features(count: int) -> str:
    return "1 feature" if count == 1 else f"{count:,} features"


def _series(counts: Sequence[int]) -> str:
    *first, last = [f"{k:,}" for k in counts]
    return f"{', '.join(first)} and {last}" if first else last


def _of(count: int, total: int, which: str) -> str:
    if total == 1:
        return "This pick is" if count else "This pick is not"
    if not count:
        return f"None of {which} picks is"
    return f"{count:,} of {which} picks {'is' if count == 1 else 'are'}"


def _percentages(shares: Sequence[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"
