"""Time and memory of what one does with a network: communities, exports, pictures.

Each operation runs in a process of its own, so that its peak memory is its own:

    python benchmarks/network.py
    python benchmarks/network.py --features 9712 --edges 75762
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse


def make(n: int, m: int, seed: int = 0):
    """Return a network of groups of very different sizes, most edges inside them."""
    from franet import AttributeNetwork
    from franet.search.ranking import rank_scores

    rng = np.random.default_rng(seed)
    share = rng.pareto(1.0, max(2, n // 100)) + 0.1
    group = np.sort(rng.choice(len(share), n, p=share / share.sum()))
    start = np.searchsorted(group, np.arange(len(share) + 1))
    pairs = np.empty(0, np.int64)
    while len(pairs) < m:
        j = rng.integers(0, n, 2 * m)
        first, last = start[group[j]], start[group[j] + 1]
        near = first + (rng.random(2 * m) * (last - first)).astype(np.int64)
        k = np.where(rng.random(2 * m) < 0.2, rng.integers(0, n, 2 * m), near)
        low, high = np.minimum(j, k), np.maximum(j, k)
        found = (low * n + high)[low < high]
        pairs = np.unique(np.concatenate([pairs, found]))
    pairs = rng.choice(pairs, m, replace=False)
    j, k = pairs // n, pairs % n
    w = rng.uniform(1.5, 2.0, m)
    both = (np.r_[w, w], (np.r_[j, k], np.r_[k, j]))
    scores = rng.random(n)
    adjacency = sparse.csr_array(both, (n, n))
    adjacency.sort_indices()
    return AttributeNetwork(
        adjacency=adjacency,
        names=np.array([f"feature number {i}" for i in range(n)], dtype=object),
        scores=scores / scores.sum(),
        ranking=rank_scores(scores),
        threshold=1.5,
        n_edges=m,
    )


def _write(ending):
    def run(net):
        with tempfile.TemporaryDirectory() as folder:
            net.write(Path(folder) / f"net.{ending}")

    return run


def _layout(net):
    from franet.network import layout

    layout(net.subgraph(top=1000))


OPERATIONS = {
    "communities": lambda net: net.communities(),
    "communities, louvain": lambda net: net.communities("louvain"),
    "components": lambda net: net.communities("components"),
    "explain all": lambda net: [net.explain(j) for j in range(len(net))],
    "subgraph, top 200": lambda net: net.subgraph(top=200),
    "at, sparser": lambda net: net.at(1.9),
    "layout of the top 1000": _layout,
    "_repr_html_": lambda net: net._repr_html_(),
    "to_scipy": lambda net: net.to_scipy(),
    "to_pandas_edges": lambda net: net.to_pandas_edges(),
    "to_networkx": lambda net: net.to_networkx(),
    "to_igraph": lambda net: net.to_igraph(),
    **{f"write .{e}": _write(e) for e in ("graphml", "gexf", "csv", "json")},
}


def measure(operation: str, n: int, m: int) -> None:
    net = make(n, m)
    started = time.perf_counter()
    OPERATIONS[operation](net)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "MB": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--only", choices=OPERATIONS, help="one operation, here")
    given = parser.parse_args()
    size = given.features, given.edges
    if given.only:
        measure(given.only, *size)
        return
    print(f"{size[0]:,} features, {size[1]:,} edges, {os.cpu_count()} cores")
    print(f"{'operation':<24} {'seconds':>9} {'peak MB':>9}")
    for name in OPERATIONS:
        command = [sys.executable, __file__, "--only", name]
        command += ["--features", str(size[0]), "--edges", str(size[1])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        print(f"{name:<24} {found['seconds']:9.2f} {found['MB']:9.0f}", flush=True)


if __name__ == "__main__":
    main()
