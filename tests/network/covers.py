"""A small table of groups, with signs, a constant and a copy, ranked by cover."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from franet import Cover
from tables import random

BASE = random(60, 4, seed=2)
GROUPS = np.repeat(np.arange(4), [8, 6, 4, 1])
SIGN = np.where(np.arange(19) % 3 == 2, -1.0, 1.0)
X = SIGN * BASE[:, GROUPS] + 0.3 * random(60, 19, seed=3)
X[:, 18] = BASE[:, 3]
X /= X.std(axis=0)
# A copy that moves against the first feature, and a constant.
X = np.column_stack([X, -2.0 * X[:, 0] + 1.0, np.full(60, 3.0)])
COPY, CONSTANT = 19, 20
NAMES = [f"gene {j}" for j in range(21)]
TABLE = pd.DataFrame(X, columns=NAMES)


def cover(table=TABLE, n_features_to_select=4, **parameters):
    return Cover(n_features_to_select, **parameters).fit(table)


def correlations(table=X):
    """Return Pearson's r of the columns, NaN for the constant one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.corrcoef(table, rowvar=False)


def represented(ranker, r):
    """Return for each feature the pick it is most like; -1 where none is alike."""
    picks = np.array(list(ranker.members_))
    strength = np.nan_to_num(np.abs(r[:, picks])).round(12)
    by = picks[np.argmax(strength, axis=1)]
    # Of 60 independent samples Student's t, with a level of 0.05 for all picks.
    t = stats.t.isf(0.05 / len(picks) / 2, 58)
    by[strength.max(axis=1) < t / np.sqrt(58 + t * t)] = -1
    by[picks] = picks
    by[np.isnan(np.diag(r))] = -1
    return by
