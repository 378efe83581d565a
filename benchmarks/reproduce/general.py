"""Tables that had no part in any choice: of scikit-learn, and made from a seed.

lung_small alone had one, see ``CHOOSING`` in parts.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

# At most so many features are asked for; of small tables fewer.
MOST = 16


def n_chosen(n_features: int) -> int:
    """Return how many features are asked for: a power of 2, up to 40 % of them."""
    k = MOST
    while k > 1 and k > 0.4 * n_features:
        k //= 2
    return k


def load(name: str) -> tuple[np.ndarray, None]:
    """Return a table by name; no classes."""
    return np.asarray(TABLES[name](), np.float64), None


def _bundled(name: str, scaled: bool = False) -> Callable[[], np.ndarray]:
    def make() -> np.ndarray:
        from sklearn import datasets

        X = getattr(datasets, f"load_{name}")().data
        return (X - X.mean(axis=0)) / X.std(axis=0) if scaled else X

    return make


def _groups(n_noise: int) -> np.ndarray:
    from franet.datasets import make_groups

    return make_groups(200, 20, 10, n_noise=n_noise, random_state=0).X


def _hub(n_noise: int) -> np.ndarray:
    from franet.datasets import make_groups

    sizes, redundancy = [40] + [10] * 9, [0.95] + [0.7] * 9
    made = make_groups(
        200, 10, sizes, redundancy=redundancy, n_noise=n_noise, random_state=0
    )
    return made.X


def _classification(n_noise: int) -> np.ndarray:
    from sklearn.datasets import make_classification

    return make_classification(
        500, 120 + n_noise, n_informative=20, n_redundant=100, random_state=0
    )[0]


def _low_rank() -> np.ndarray:
    from sklearn.datasets import make_low_rank_matrix

    return make_low_rank_matrix(300, 400, effective_rank=10, random_state=0)


def _factors() -> np.ndarray:
    import tables

    return tables.factors(1000, m=100)


def _lung_small() -> Any:
    from franet import datasets

    return datasets.load("lung_small").X


TABLES: dict[str, Callable[[], Any]] = {
    "digits": _bundled("digits"),
    "breast_cancer": _bundled("breast_cancer"),
    "breast_cancer, scaled": _bundled("breast_cancer", scaled=True),
    "wine": _bundled("wine"),
    "wine, scaled": _bundled("wine", scaled=True),
    "diabetes": _bundled("diabetes"),
    "groups": lambda: _groups(0),
    "groups and noise": lambda: _groups(200),
    "hub": lambda: _hub(0),
    "hub and noise": lambda: _hub(200),
    "classification": lambda: _classification(0),
    "classification and noise": lambda: _classification(100),
    "low rank": _low_rank,
    "factors": _factors,
    "lung_small": _lung_small,
}
