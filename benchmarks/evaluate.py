"""What judging adds to ranking: FRANe on lymphoma, all powers of two, ten folds.

``python benchmarks/evaluate.py [DATASET …]`` prints the seconds of the ten rankings,
those of the whole evaluation, and the share that judging adds.
"""

from __future__ import annotations

import sys
import time

from franet import FRANe
from franet.datasets import load
from franet.evaluation import evaluate

BAR = 0.5


def main() -> None:
    for name in sys.argv[1:] or ["lymphoma"]:
        X = load(name).X
        given = {"folds": "paper", "references": False, "name": name}
        evaluate(X, rankers=FRANe(), measures="rmae", **given)  # compiles
        for measures in ("rmae", None):
            start = time.perf_counter()
            results = evaluate(X, rankers=FRANe(), measures=measures, **given)
            whole = time.perf_counter() - start
            ranking = sum(record.seconds for record in results.records)
            what = measures or "all measures without classes"
            print(
                f"{name}, {what}: ranking {ranking:.2f} s, in all {whole:.2f} s, "
                f"judging adds {whole / ranking - 1:.0%} (bar {BAR:.0%} for rmae)"
            )


if __name__ == "__main__":
    main()
