"""What `Cover` and other rankers do on special tables.

Text, few rows, few columns, noise, hubs and madelon. Columns are chosen and judged as
in ``field.py``, on three of its five splits; printed are R² of linear regression and
the error of neighbors in standardized columns, at 4 and 16 columns, and how many
features `Cover` suggests for the whole table.

``python benchmarks/corners.py`` prints a table in Markdown, a part as soon as it is
there. The data sets of the paper are looked up as by ``franet.datasets.load``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import field
import numpy as np

FOLDS = 3
SIZES = (4, 16)
RANKERS = {
    "cover": "`Cover`",
    "column-subset": "column subset",
    "facility-location": "facility location",
    "random": "random",
}


def hubs() -> np.ndarray:
    """Return one factor behind 200 columns, and ten groups of ten columns."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(200, 11))
    of = np.concatenate([np.zeros(200, int), np.repeat(np.arange(1, 11), 10)])
    X = 0.8 * factors[:, of] + 0.6 * rng.normal(size=(200, 300))
    return X[:, rng.permutation(300)]


def tables(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each table with its title."""
    from sklearn.datasets import load_diabetes

    from franet.datasets import load, make_groups

    yield "50 rows", make_groups(50, 20, 10, n_noise=100, random_state=0).X
    yield "10 columns", load_diabetes().data
    yield "noise", np.random.default_rng(0).normal(size=(200, 300))
    yield "hubs", hubs()
    yield "madelon", np.asarray(load("madelon").X, np.float64)
    with np.load(folder / "text_congress.npz") as held:
        yield "text, congress", held["X"].astype(np.float64)
    for name in ("PCMAC", "BASEHOCK"):
        yield f"text, {name}", np.asarray(load(name).X, np.float64)


def results(X: np.ndarray, name: str) -> list[str]:
    """Return the measures of a ranker, R² and error at each size, as text."""
    found: dict[int, list[field.Row]] = {k: [] for k in SIZES}
    for i in range(FOLDS):
        fold = field.Fold(X, None, i)
        for row in field.judged(fold, name, [k for k in SIZES if k <= X.shape[1] / 2]):
            found[row["k"]].append(row)
    return [
        f"{np.mean([row[by] for row in found[k]]):.3f}" if found[k] else ""
        for by in ("r2", "rmae_std")
        for k in SIZES
    ]


def show(title: str, X: np.ndarray) -> str:
    """Print the rows of a table; return what `Cover` suggests for it."""
    from franet import Cover

    shape = " × ".join(f"{n:,}" for n in X.shape)
    ranker = Cover(n_jobs=1).fit(X)
    suggested = ranker.n_features_suggested_ or "none"
    line = f"{title}: {ranker.summary()}"
    for name, shown in RANKERS.items():
        cells = [title, shape, shown, *results(X, name), suggested]
        print("|", *(f"{cell} |" for cell in cells), flush=True)
        title = shape = suggested = ""
    return line


def main() -> None:
    from threadpoolctl import threadpool_limits

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=field.folder())
    given = parser.parse_args()
    print("| table | rows × columns | ranker | R², 4 | R², 16 |", end="")
    print(" error, 4 | error, 16 | suggested |\n|" + "---|" * 8)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [show(*table) for table in tables(given.folder)]
    print("", *lines, sep="\n")


if __name__ == "__main__":
    main()
