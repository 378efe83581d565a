"""How many features are suggested, against how many groups there are.

``python benchmarks/suggest.py [groups] [noise] [real] [time]`` prints, all by default,
in some minutes:

- ``groups``: planted groups against the suggestion, for tables of several kinds, by the
  number of samples and of groups. Sizes of groups, redundancy and noise are drawn anew
  for each table. A cell shows the median and the range of the suggestions (0: it said
  that no small subset represents the table), and how many of them lie within 20 % of
  the groups planted;
- ``noise``: how often a subset is suggested for columns that are independent;
- ``real``: the sentence about data sets, and the suggestion for half of their samples;
- ``time``: seconds for a fit of wide tables with 64 picks, on one thread, and the part
  of them that is spent to say how much the picks explain.

Features are picked by ``Cover()``. ``FRANET_DATA`` names the folder of the data sets.
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
from franet.cover._explained import explain
from franet.datasets import make_groups
from franet.pairs.tiles import TileRunner
from tables import factors

Table = NDArray[np.float64]
SAMPLES = (30, 50, 100, 200, 500)
GROUPS = (5, 10, 20, 40, 60)
KINDS = ("exact", "drawn", "signs", "copies", "hidden centres", "exp")
SIZES = (5, 10, 20, 50, "5 to 50")
WIDEST = 4000
DRAWS = 2


def suggested(X: Table) -> int:
    """Return how many features are suggested; 0 if none are."""
    return Cover(n_jobs=1).fit(X).n_features_suggested_ or 0


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
        print("  samples  " + "".join(f"{f'{g} groups':>18}" for g in GROUPS))
        for m in SAMPLES:
            cells = []
            for g in GROUPS:
                counts = [suggested(draw(rng, kind, m, g)) for _ in range(DRAWS)]
                good = sum(abs(count - g) <= 0.2 * g for count in counts)
                inside += good
                none += counts.count(0)
                middle = int(np.median(counts))
                cells.append(f"{middle} ({min(counts)}–{max(counts)}) {good}")
            print(f"  {m:8} " + "".join(f"{cell:>18}" for cell in cells), flush=True)
        total = len(SAMPLES) * len(GROUPS) * DRAWS
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
                    X = make(rng, (m, n))
                    if not (np.ptp(X, axis=0) > 0).any():
                        continue
                    wrong += suggested(X) > 0
                    total += 1
        print(f"  {kind:14} {wrong} of {total}", flush=True)


def real() -> None:
    print("data sets: samples × features; and suggestions for halves of the samples")
    for name in ("ORL", "Yale", "colon", "lung_small", "madelon", "PCMAC"):
        X = load(name)[0]
        cover = Cover(n_jobs=1).fit(X)
        rng = np.random.default_rng(0)
        halves = [rng.permutation(len(X))[: len(X) // 2] for _ in range(3)]
        again = [suggested(X[half]) for half in halves]
        m, n = X.shape
        print(f"  {name}, {m} × {n}: {cover.summary()} [{cover.n_ranked_} picks]")
        print(f"    halves: {again}", flush=True)


def times() -> None:
    print("seconds of a fit with 64 picks on one thread, and to say what they explain")
    for m, n in ((85, 22_283), (100, 100_000)):
        X = factors(n, m)
        start = time.process_time()
        cover = Cover(None, n_ranked=64, n_jobs=1).fit(X)
        all_of_it = time.process_time() - start
        order = cover.order_[:64]
        Z = X - X.mean(axis=0)
        Z = np.ascontiguousarray((Z / np.linalg.norm(Z, axis=0)).T)
        start = time.process_time()
        explain(Z, np.full(n, 1.0 / n), order, TileRunner(1))
        explained = time.process_time() - start
        print(f"  {m} × {n:,}: {all_of_it:.2f}, of which {explained:.2f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {"groups": groups, "noise": noise, "real": real, "time": times}
    for part in sys.argv[1:] or parts:
        parts[part]()
