"""Time and memory of ``franet panel`` on many cells: 38,000 × 32,000, 5 % filled.

``python benchmarks/large_panel.py`` makes a file of counts of 40 types of cells in six
batches in a temporary folder, chooses 150 genes within batches, judges them, and prints
the seconds, those of them on a core, and the largest memory of the process.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse


def write(path: Path, m: int, n: int) -> float:
    """Write a file of counts, and return which share of them is not 0."""
    import anndata

    rng = np.random.default_rng(0)
    kind = rng.integers(0, 40, m)
    level = rng.lognormal(-4.2, 1.3, n) * rng.lognormal(0.0, 1.2, (40, n))
    parts = [
        sparse.csr_matrix(rng.poisson(level[kind[at : at + 2000]]).astype(np.float32))
        for at in range(0, m, 2000)
    ]
    cells = anndata.AnnData(sparse.vstack(parts).tocsr())
    cells.var_names = [f"G{j}" for j in range(n)]
    cells.obs_names = [f"c{i}" for i in range(m)]
    cells.obs["sample"] = [f"s{i % 6}" for i in range(m)]
    cells.obs["cell_type"] = [f"t{k}" for k in kind]
    cells.write_h5ad(path)
    return cells.X.nnz / (m * n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=38_000)
    parser.add_argument("--genes", type=int, default=32_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, page = Path(folder) / "cells.h5ad", Path(folder) / "panel.html"
        filled = write(file, given.cells, given.genes)
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "franet", "panel", file, "--normalize", "log1p",
             "--genes", "150", "--batch", "sample", "--label", "cell_type",
             "--report", page, "--output", page.with_suffix(".csv")],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"{given.cells:,} x {given.genes:,}, {100 * filled:.1f} % filled: "
            f"{seconds:.0f} s, {used.ru_utime + used.ru_stime:.0f} s on a core, "
            f"{used.ru_maxrss / 1e6:.1f} GB"
        )


if __name__ == "__main__":
    main()
