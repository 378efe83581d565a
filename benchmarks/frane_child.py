"""The authors' code in its own environment; prints one line of JSON.

Runs under Python 3.10 with NumPy 1.22, SciPy 1.8 and frane 0.1.0: imports nothing of
this project.
"""

import json
import logging
import resource
import sys
import time

import frane
import numpy as np

logging.disable(logging.CRITICAL)
X = np.load(sys.argv[1]).astype(np.float64)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
scores = frane.FRANe().fit(X).feature_importances_
took = time.perf_counter() - start
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(
    json.dumps(
        {
            "fit": took,
            "memory_mb": (after - before) / 1e3,
            "scores": np.asarray(scores).tolist(),
        }
    )
)
