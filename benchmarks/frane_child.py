"""The authors' code in its own environment; prints one line of JSON.

Runs under Python 3.10 with NumPy 1.22, SciPy 1.8 and frane 0.1.0: imports nothing of
this project.
"""

import json
import logging
import sys
import time

import frane
import numpy as np

logging.disable(logging.CRITICAL)


def peak_mb():
    with open("/proc/self/status") as file:
        return next(int(x.split()[1]) / 1e3 for x in file if x.startswith("VmHWM:"))


X = np.load(sys.argv[1]).astype(np.float64)
before = peak_mb()
start = time.perf_counter()
scores = frane.FRANe().fit(X).feature_importances_
took = time.perf_counter() - start
print(
    json.dumps(
        {
            "fit": took,
            "memory_mb": peak_mb() - before,
            "scores": np.asarray(scores).tolist(),
        }
    )
)
