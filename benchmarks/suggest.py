"""How many features are suggested, against how many groups there are.

``python benchmarks/suggest.py [groups] [noise] [band] [real] [time]`` prints, all by
default, in some minutes:

- ``groups``: planted groups against the suggestion, for tables of several kinds, by the
  number of examples and of groups. Sizes of groups, redundancy and noise are drawn
  anew for each table. A cell shows the median and the range of the suggestions (0: it
  said that no small subset represents the table), and how many of them lie within
  20 % of the groups planted;
- ``noise``: how often a subset is suggested for columns that are independent;
- ``band``: picks and suggestion from some of the examples, and what the same picks
  need on the other examples; how often the band holds it;
- ``real``: suggestions for data sets, and for the same with examples in another order;
- ``time``: seconds for 64 picks of wide tables, on one thread.

Features are picked by ``Cover()``, 64 at first and twice as many while the suggestion
says that further picks may change it. ``FRANET_DATA`` names the folder of the data
sets.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from data import load
from franet import Cover
from franet.cover._suggest import Suggestion, suggest
from franet.datasets import make_groups
from tables import factors

Table = NDArray[np.float64]
EXAMPLES = (30, 50, 100, 200, 500)
GROUPS = (5, 10, 20, 40, 60)
KINDS = ("exact", "drawn", "signs", "copies", "hidden centres", "exp")
SIZES = (5, 10, 20, 50, "5 to 50")
WIDEST = 4000
DRAWS = 2


def rows(X: Table) -> Table:
    """Return columns as rows of unit length; without constant ones."""
    Z = X[:, np.ptp(X, axis=0) > 0].astype(np.float64)
    Z -= Z.mean(axis=0)
    return np.ascontiguousarray((Z / np.linalg.norm(Z, axis=0)).T)


def picks(Z: Table, k: int) -> NDArray[np.intp]:
    return Cover(None, n_ranked=min(k, len(Z))).fit(Z.T).order_[:k]


def settled(Z: Table, most: int = 1024) -> tuple[Suggestion, NDArray[np.intp]]:
    """Pick until the suggestion is settled."""
    k = 64
    while True:
        order = picks(Z, k)
        found = suggest(Z, order)
        if not found.more or k >= most:
            return found, order
        k *= 2


def hidden(rng: np.random.Generator, m: int, sizes: list[int], share: float) -> Table:
    """Return groups whose centre is not in the table."""
    centres = np.repeat(rng.normal(size=(m, len(sizes))), sizes, axis=1)
    own = rng.normal(size=centres.shape)
    return share * centres + np.sqrt(1 - share**2) * own


def draw(rng: np.random.Generator, kind: str, m: int, g: int) -> Table:
    """Return a table of g groups of a kind."""
    while True:
        size = SIZES[rng.integers(len(SIZES))]
        noise = rng.choice([0.0, 0.5, 1.0, 3.0])
        sizes = rng.integers(5, 51, g) if isinstance(size, str) else np.full(g, size)
        if sizes.sum() * (1 + noise) <= WIDEST:
            break
    share = rng.choice([0.7, 0.8, 0.9, 0.95])
    n_noise = int(noise * sizes.sum())
    if kind == "hidden centres":
        # Members have correlation ρ² with each other, and no centre to be picked.
        X = hidden(rng, m, list(sizes), share)
        return np.hstack([X, rng.normal(size=(m, n_noise))])
    made = make_groups(
        m,
        g,
        list(map(int, sizes)),
        redundancy=share,
        n_noise=n_noise,
        duplicates=int(sizes.sum()) // 4 if kind == "copies" else 0,
        exact=kind == "exact",
        random_state=int(rng.integers(2**31)),
    )
    if kind == "signs":
        return made.X * rng.choice([-1.0, 1.0], made.X.shape[1])
    return np.exp(made.X) if kind == "exp" else made.X


def groups() -> None:
    for kind in KINDS:
        rng = np.random.default_rng(0)
        inside = none = 0
        print(f"{kind}: median (range) of {DRAWS} suggestions, how many within 20 %")
        print("  examples " + "".join(f"{f'{g} groups':>18}" for g in GROUPS))
        for m in EXAMPLES:
            cells = []
            for g in GROUPS:
                found = [settled(rows(draw(rng, kind, m, g)))[0] for _ in range(DRAWS)]
                counts = [one.count or one.low or 0 for one in found]
                good = sum(abs(count - g) <= 0.2 * g for count in counts)
                inside += good
                none += counts.count(0)
                middle = int(np.median(counts))
                cells.append(f"{middle} ({min(counts)}–{max(counts)}) {good}")
            print(f"  {m:8} " + "".join(f"{cell:>18}" for cell in cells), flush=True)
        total = len(EXAMPLES) * len(GROUPS) * DRAWS
        print(f"  within 20 %: {inside} of {total}; nothing found: {none}", flush=True)


NOISE: dict[str, Callable[[np.random.Generator, tuple[int, int]], Table]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "Student, 3": lambda rng, shape: rng.standard_t(3, size=shape),
    "binary, 16 %": lambda rng, shape: (rng.normal(size=shape) > 1).astype(float),
}


def noise() -> None:
    print("independent columns: tables for which a subset is suggested")
    for kind, make in NOISE.items():
        rng = np.random.default_rng(0)
        wrong = total = 0
        for m in (12, 20, 30, 50, 100, 200):
            for n in (10, 30, 100, 300, 1000, 3000):
                for _ in range(8 if n < 1000 else 3):
                    found, _ = settled(rows(make(rng, (m, n))))
                    wrong += found.count is not None or found.low is not None
                    total += 1
        print(f"  {kind:14} {wrong} of {total}", flush=True)


def needed(Z: Table, other: Table, order: NDArray[np.intp]) -> int:
    """Return how many picks are needed if other examples judge what is kept."""
    from franet.cover import _suggest as inner

    r, there = Z[order] @ Z.T, other[order] @ other.T
    least = inner._exceeded(min(inner._CHANCE, inner._BY_CHANCE / len(Z)), Z.shape[1])
    best = np.full(len(Z), least)
    value, kept = np.zeros(len(Z)), np.empty(len(order))
    picked = np.logical_or.accumulate(np.abs(r) >= 1 - inner._COPY)
    for k in range(len(order)):
        new = (np.abs(r[k]) > best) & ~picked[k]
        best[new] = np.abs(r[k, new])
        value[new] = r[k, new] * (2 * there[k, new] - r[k, new])
        kept[k] = value.sum()
    return int(inner._first(kept, 0.95)[0])


def band() -> None:
    print("share of 12 bands that hold what the other examples need; the first four")
    for name, m in (
        ("ORL", 200),
        ("ORL", 100),
        ("Yale", 80),
        ("colon", 31),
        ("lung_small", 36),
        ("madelon", 300),
    ):
        X = load(name)[0]
        held, shown = 0, []
        for seed in range(12):
            at = np.random.default_rng(seed).permutation(len(X))
            use = np.ptp(X[at[:m]], axis=0) * np.ptp(X[at[m:]], axis=0) > 0
            Z, other = rows(X[at[:m]][:, use]), rows(X[at[m:]][:, use])
            found, order = settled(Z)
            wanted = needed(Z, other, order)
            if found.low is not None and found.high is not None:
                held += found.low <= wanted <= found.high
            shown.append(f"{found.count} ({found.low}–{found.high}) {wanted}")
        some = ", ".join(shown[:4])
        print(f"  {name:10} {m:4} of {len(X):4}: {held / 12:.2f}; {some}", flush=True)


def real() -> None:
    print("data sets: examples × features; and with examples in another order")
    for name in ("ORL", "Yale", "colon", "lung_small", "madelon", "PCMAC"):
        X = load(name)[0]
        Z = rows(X)
        found, order = settled(Z)
        longer = picks(Z, 2 * len(order))
        again = [
            suggest(Z[:, np.random.default_rng(seed).permutation(len(X))], longer).count
            for seed in range(5)
        ]
        print(f"  {name}, {len(X)} × {len(Z)}: {found} [{len(order)} picks]")
        print(f"    again: {again}", flush=True)


def times() -> None:
    print("seconds for 64 picks on one thread (bars: 1 s, 3 s)")
    for m, n in ((85, 22_283), (100, 100_000)):
        Z = rows(factors(n, m))
        order = np.random.default_rng(0).permutation(n)[:64]
        start = time.process_time()
        suggest(Z, order)
        print(f"  {m} × {n:,}: {time.process_time() - start:.2f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {"groups": groups, "noise": noise, "band": band, "real": real}
    parts["time"] = times
    for part in sys.argv[1:] or parts:
        parts[part]()
