"""How many of the picks are needed: what they keep of examples not looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from franet.cover._arrays import Array, at_once, kernels_of, namespace
from franet.pairs.tiles import TileRunner

# Examples are cut so often into so many folds, each of at least _SMALLEST examples.
_TIMES, _FOLDS, _SMALLEST = 3, 10, 3
# A pick is worth its place if it keeps so much of other features.
_WORTH = 0.5
# A pair counts if chance shows it with this probability at most, and if it gives a
# pick so many features.
_CHANCE, _BY_CHANCE = 0.01, 3.0
# What is kept has to exceed what the picks are worth by so many standard errors.
_ERRORS = 1.0
# Draws of the folds of each cut, and the share of them that the band holds.
_DRAWS, _BAND = 100, 0.9
# So many picks after the last one worth its place show that no more will come.
_BEYOND, _AT_LEAST = 0.25, 16
# A feature this close to a pick is a copy of it.
_COPY = 1e-9
# The least squared length, of 1, that is left to a feature in some of the folds.
_LEFT = 1e-9
# Entries of one block of correlations: 4 MB.
_ENTRIES = 2**19
# Where less of the table can be kept, the sentence says so.
_LITTLE = 0.1
_NONE = (
    "No small subset stands for the table: the picks resemble other features no more "
    "than chance would"
)
_NONE_YET = "The picks made stand for no other feature beyond chance; later ones may"


@dataclass(frozen=True, eq=False, kw_only=True)
class Suggestion:
    """How many of the picks are needed.

    Attributes
    ----------
    count : int or None
        The smallest number of picks that keeps the share asked for. None if nothing
        can be kept, or if there are too few picks to tell.
    low, high : int or None
        The band that holds 90 % of the counts when the folds are drawn again. With
        too few picks `low` is a lower bound of the count and `high` is None; both are
        None if nothing can be kept.
    more : bool
        Whether further picks may change the answer.
    share : float
        The share asked for.
    reached : float
        The share that `count` picks keep, or all picks if there is no count; 0 if
        nothing can be kept.
    kept : ndarray of shape (n_picks,)
        The share of what can be kept that the first 1, 2, … picks keep, from 0 to 1.
        With too few picks it is the share of what these picks keep.
    keepable : float
        What can be kept, as a share of the table: the mean over all features of the
        share of their variance for which a pick other than themselves stands.
    text : str
        All this in a sentence.
    """

    count: int | None = None
    low: int | None = None
    high: int | None = None
    more: bool = False
    share: float
    reached: float = 0.0
    kept: NDArray[np.float64] = field(repr=False)
    keepable: float = 0.0
    text: str

    def __str__(self) -> str:
        return self.text


def suggest(
    Z: Array,
    order: NDArray[np.intp],
    *,
    share: float = 0.95,
    final: bool = False,
) -> Suggestion:
    """Suggest how many features to take of a ranking that picks them one by one.

    Parameters
    ----------
    Z : ndarray or tensor of shape (n_features, n_examples)
        A feature in each row, centred and of length 1; no constant features.
    order : ndarray of int of shape (n_picks,)
        The rows picked, first to last. Any criterion may have picked them.
    share : float, default=0.95
        The share of what can be kept, above 0 and below 1.
    final : bool, default=False
        Whether nothing is left that could be picked; what there is settles it then.

    Returns
    -------
    Suggestion
        The count, its band, the curve and a sentence. While `more` holds, picking on
        may change them: double the number of picks and ask again.

    Notes
    -----
    A feature is represented by the pick that it resembles most. How much of it is
    kept is measured on examples that had no say in this. The m examples are cut at
    random into F = 10 folds (fewer below 30 examples). For each fold, the *other*
    folds say which of the first k picks represents feature j, and their correlation r.
    In the fold, r times the representative then predicts the feature:

        ``q_j(k) = (m − 1)/(m − F) · Σ_f Σ_{i ∈ f} z_ij² − (z_ij − r·z_is)²``

    with columns centred in the fold is the share of its variance that is kept: about
    ρ² if the two have correlation ρ, and less than 0 if they are alike by chance. So
    there is no null distribution to subtract, and a pick that is merely as good as an
    earlier one adds nothing. Three rules make ``kept(k) = Σ_j q_j(k)`` count what a
    pick does for *others*:

    - A pair counts if |r| is above what independent normal columns exceed with
      probability min(1/100, 3/n): chance gives a pick about three features at most.
    - A pick, and its copies with it, stays at what earlier picks kept of it. So a
      feature that resembles none adds nothing.
    - A pick is worth its place if it keeps half a feature besides itself. *What can be
      kept* is kept(k) at the k with the largest ``kept(k) − k/2``. So the answer
      depends on the number of picks only while there are too few of them.

    The count is the smallest k with ``kept(k) ≥ share ·`` what can be kept. All this
    is the mean of three cuts into folds. The band repeats the count on 100 draws, with
    replacement, of the folds of each cut. Nothing can be kept, and no small subset
    stands for the table, if the largest ``kept(k) − k/2`` is less than the standard
    error of kept(k), by the spread of the folds. There are enough picks if they are
    16 and a quarter more than that k, or if all are picked; otherwise the count so far
    is a lower bound.

    Folds and draws have a fixed seed: equal tables have equal results. Another order
    of the examples makes other folds, and may move the count within its band. It takes
    O(n·m·k) for products and O(30·n·k) besides; there is no n × n array.

    **Guarantees.** If columns are independent of the picks, what chance adds to
    kept(k) is below 0 in expectation, for any distribution and any number of picks.
    kept(k) does not depend on later picks. With g equal groups, one pick of each first,
    the count lies between ``share·g`` and g, but for chance.

    **Where it fails.** The picks were chosen on all examples, so that they keep a
    little of the noise they were chosen for; the threshold and the half feature hold
    this down. Heavy tails and 50 examples or fewer: a few examples make the
    correlations, groups may go unnoticed, or noise is picked before them; a log or
    ranks help. Correlations below the threshold (0.55 with 30 examples and 1,000
    features, 0.31 with 100 examples) count only where chance lifts them over it: more
    picks then lift more features, and the count is too high, up to twice. Groups of
    two with ρ² below one half are not worth a pick, and small groups in many thousand
    columns of noise may not outweigh what chance costs. With very unequal groups the
    small ones are in the 5 % that is not kept. The band tells how examples vary; that
    the picks were chosen on them it does not see, so that it is somewhat too low.

    Examples
    --------
    >>> import numpy as np
    >>> from franet.datasets import make_groups
    >>> from franet.rankers import FacilityLocation
    >>> X = make_groups(100, 12, 8, n_noise=100, random_state=0).X
    >>> order = FacilityLocation(n_ranked=40).fit(X).order_
    >>> found = suggest(X.T / np.sqrt(len(X)), order)
    >>> print(found)
    12 features keep 95 % of what can be kept
    """
    n, m = Z.shape
    text = ""
    if not len(order):
        text = "No feature was picked"
    elif m < 2 * _SMALLEST:
        text = f"{m} examples are too few to tell how many features are needed"
    if text:
        return Suggestion(share=share, kept=np.zeros(len(order)), text=text)
    # Products of few picks are too small for the threads of BLAS.
    with TileRunner.one_blas_thread():
        folds, is_open = _kept(Z, order)
    return _judge(folds, n, share, is_open and not final)


def _judge(
    folds: NDArray[np.float64], n: int, share: float, is_open: bool
) -> Suggestion:
    """Turn what is kept, by cut, fold and pick, into a suggestion."""
    kept = folds.sum(axis=1).mean(axis=0)
    n_picks = len(kept)
    count, top = map(int, _first(kept, share))
    total = float(kept[top - 1])
    error = np.sqrt(folds.shape[1] * folds[..., top - 1].var(axis=1, ddof=1).mean())
    found = count > 0 and total - _WORTH * top >= _ERRORS * error
    more = is_open and n_picks < (1 + _BEYOND) * top * found + _AT_LEAST
    if not found:
        text = _NONE_YET if more else _NONE
        return Suggestion(more=more, share=share, kept=np.zeros(n_picks), text=text)
    curve = np.clip(kept / total, 0.0, 1.0)
    known: dict[str, Any] = {"share": share, "kept": curve, "keepable": total / n}
    if more:
        verb = "feature is" if count == 1 else "features are"
        text = (
            f"At least {count} {verb} needed to keep {100 * share:g} % of what can be "
            f"kept: {n_picks} picks are too few to tell"
        )
        reached = float(curve[-1])
        return Suggestion(low=count, more=True, reached=reached, text=text, **known)
    low, high = _band(folds, share, count)
    verb = "feature keeps" if count == 1 else "features keep"
    text = f"{count} {verb} {100 * share:g} % of what can be kept"
    if low < high:
        text += f" ({low}–{high})"
    if total / n < _LITTLE:
        text += f"; that is {100 * total / n:.2g} % of the table, where most features "
        text += "resemble no other"
    reached = float(curve[count - 1])
    return Suggestion(
        count=count, low=low, high=high, reached=reached, text=text, **known
    )


def _first(kept: NDArray[np.float64], share: float) -> NDArray[np.intp]:
    """Return the counts (0: nothing) and the last picks worth their place.

    Curves lie along the last axis.
    """
    surplus = kept - _WORTH * np.arange(1, kept.shape[-1] + 1)
    top = surplus.argmax(axis=-1)
    total = np.take_along_axis(kept, top[..., None], axis=-1)
    count = (kept >= share * total).argmax(axis=-1) + 1
    return np.array([np.where(surplus.max(axis=-1) > 0.0, count, 0), top + 1])


def _band(folds: NDArray[np.float64], share: float, count: int) -> tuple[int, int]:
    """Return the band of the count over draws of the folds of each cut."""
    times, size, _ = folds.shape
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=(times, _DRAWS))
    counts = np.sort(_first(drawn @ folds, share)[0], axis=None)
    out = round(len(counts) * (1 - _BAND) / 2)
    low, high = int(counts[out]), int(counts[-1 - out])
    return max(min(low, count), 1), max(high, count)


def _kept(Z: Array, order: NDArray[np.intp]) -> tuple[NDArray[np.float64], bool]:
    """Return what is kept, by cut, fold and pick; and whether some are not picked."""
    n, m = Z.shape
    size = min(_FOLDS, m // _SMALLEST)
    rng = np.random.default_rng(0)
    cuts = [np.array_split(rng.permutation(m), size) for _ in range(_TIMES)]
    chance = min(_CHANCE, _BY_CHANCE / n)
    kernels = kernels_of(Z)
    P = Z[order]
    gains = np.zeros((_TIMES, size, len(order)))
    is_open = False
    width = max(_ENTRIES * at_once(Z) // len(order), 256)
    for at in range(0, n, width):
        C = Z[at : at + width]
        R = P @ C.T
        is_copy = kernels.running_max(abs(R)) >= 1.0 - _COPY
        # Not a number is above no threshold: nothing happens to features picked.
        R[is_copy] = np.nan
        is_open |= not is_copy[-1].all()
        for place in np.ndindex(_TIMES, size):
            gains[place] += _fold_gains(P, C, R, cuts[place[0]][place[1]], chance)
    return gains.cumsum(axis=-1) * (m - 1) / (m - size), is_open


def _fold_gains(
    P: Array, C: Array, R: Array, part: NDArray[np.intp], chance: float
) -> NDArray[np.float64]:
    """Return what each pick of P adds in one fold, for the features of C.

    Rows of P and C sum to 0, so those of the other folds sum to minus the sum here:
    ``R − V`` is the covariance in the other folds, centred there.
    """
    b = len(part)
    a = C.shape[1] - b
    p, c = (_with_sums(rows[:, part], a) for rows in (P, C))
    V = p @ c.T
    A = (R - V) / _lengths_outside(p)[:, None]
    lengths = _lengths_outside(c)
    # Infinite for a feature that is constant in the other folds.
    best = _exceeded(chance, a) * lengths
    # With it, sums of products are centred in this fold and not in the others.
    centre = (a + b) / b * p[:, -1]
    spread = (p * p).sum(axis=1) - centre * p[:, -1]
    arrays = A, V, best, lengths, c[:, -1], centre, spread
    return np.asarray(kernels_of(C).gains_of_picks(*arrays))


@lru_cache
def _exceeded(chance: float, a: int) -> float:
    """Return what |r| of `a` independent normal examples exceeds with `chance`."""
    return float(np.sqrt(beta.isf(chance, 0.5, (a - 2) / 2)))


def _with_sums(rows: Array, a: int) -> Array:
    """Append the sums of rows, scaled so that products are centred outside."""
    return namespace(rows).column_stack([rows, rows.sum(axis=1) / np.sqrt(a)])


def _lengths_outside(rows: Array) -> Array:
    """Return the lengths that are left to features outside a fold; none: infinite."""
    xp = namespace(rows)
    left = 1.0 - (rows * rows).sum(axis=1)
    return xp.sqrt(xp.where(left > _LEFT, left, np.inf))
