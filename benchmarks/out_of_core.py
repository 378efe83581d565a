"""Tables larger than memory: what a fit takes, beside the same table in memory.

    python benchmarks/out_of_core.py [--small] [--folder FOLDER]

Each fit runs in a process of its own, after one of a small table that compiles the
kernels. Memory is by how much that process grows at its peak: all of it (``peak``),
and without pages of temporary files, which the system takes back when it needs them
(``own``, looked at every 5 ms). The table lies in a .npy file; in memory it is read
first, and its size is not counted.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "out_of_core.csv"

# Rows, columns, type, memory in MB.
TABLES = [
    (10_000, 3_000, "float64", 120),
    (2_000, 12_000, "float32", 180),
    (200_000, 1_000, "float64", 200),
    (1_000_000, 500, "float32", 200),
]
SMALL = [(6_000, 2_000, "float64", 80), (50_000, 400, "float64", 100)]
FIELDS = (
    "rows", "columns", "dtype", "table_MB", "max_memory_MB", "own_MB", "peak_MB",
    "peak_in_memory_MB", "seconds", "seconds_in_memory", "ratio", "same_bits",
)  # fmt: skip


def write(path: Path, m: int, n: int, dtype: str) -> None:
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(m, n))
    loads = rng.normal(size=(10, n)).astype(np.float32)
    for at in range(0, m, 1000):
        part = X[at : at + 1000]
        common = rng.standard_normal((len(part), 10), np.float32)
        part[:] = common @ loads + 2 * rng.standard_normal(part.shape, np.float32)


def status(what: str) -> int:
    """Return what the system says of this process's memory, in bytes."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition(f"{what}:")[2].split()[0])


def watch(found: list[int]) -> None:
    """Keep the largest own memory that is seen."""
    while True:
        found[0] = max(found[0], status("RssAnon"))
        time.sleep(0.005)


def child(path: str, memory: str) -> None:
    """Fit one table and print what it took."""
    import zlib

    from franet import FRANe

    warnings.simplefilter("ignore")
    in_memory = memory == "all"
    X = np.load(path, mmap_mode=None if in_memory else "r")
    rng = np.random.default_rng(0)
    FRANe().fit(rng.normal(size=(300, 900)).astype(X.dtype))
    ranker = FRANe(max_memory=None if in_memory else f"{memory} MB")
    before, own = status("VmHWM"), status("RssAnon")
    most = [own]
    threading.Thread(target=watch, args=(most,), daemon=True).start()
    start = time.perf_counter()
    ranker.fit(X)
    seconds = time.perf_counter() - start
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak": status("VmHWM") - before,
                "own": most[0] - own,
                "scores": zlib.crc32(ranker.scores_.tobytes()),
                "winner": ranker.winner_,
            }
        )
    )


def fit(path: Path, memory: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--child", str(path), memory],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def measure(folder: Path, m: int, n: int, dtype: str, memory: int) -> list[object]:
    path = folder / "table.npy"
    write(path, m, n, dtype)
    stored, kept = fit(path, str(memory)), fit(path, "all")
    path.unlink()
    same = all(stored[name] == kept[name] for name in ("scores", "winner"))
    return [
        m, n, dtype, round(m * n * np.dtype(dtype).itemsize / 1e6), memory,
        *(round(size / 1e6) for size in (stored["own"], stored["peak"], kept["peak"])),
        round(stored["seconds"], 1), round(kept["seconds"], 1),
        round(stored["seconds"] / kept["seconds"], 2), same,
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="two small tables")
    parser.add_argument("--folder", help="where tables lie meanwhile")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(*given.child)
        return
    print(*FIELDS, sep="\t")
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for table in SMALL if given.small else TABLES:
            rows.append(measure(Path(folder), *table))
            print(*rows[-1], sep="\t", flush=True)
    if not given.small:
        with RESULTS.open("w", newline="") as file:
            csv.writer(file).writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()
