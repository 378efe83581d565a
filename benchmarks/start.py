"""Time until franet is imported, and until its help is shown.

Each is the median of several new processes; imports of NumPy and SciPy do not count:

    python benchmarks/start.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

BASE = "import numpy, scipy.sparse"


def seconds(*arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    seconds("-c", f"{BASE}, franet")  # files into the cache
    pairs = [(seconds("-c", f"{BASE}, franet"), seconds("-c", BASE)) for _ in range(9)]
    added = statistics.median(ours - theirs for ours, theirs in pairs)
    shown = statistics.median(seconds("-m", "franet", "--help") for _ in range(9))
    print(f"import franet, beyond NumPy and SciPy  {added:.2f} s")
    print(f"franet --help                          {shown:.2f} s")


if __name__ == "__main__":
    main()
