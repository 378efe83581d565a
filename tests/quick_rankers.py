"""Every ranker by name, with a seed and little to train."""

from __future__ import annotations

import inspect

from franet.rankers import get

LITTLE = {"random_state": 0, "n_estimators": 10, "patience": 10, "tol": 0.1}


def quick(name, **parameters):
    """Return a ranker that keeps three features and is soon fitted."""
    make = get(name)
    known = inspect.signature(make).parameters
    given = {key: value for key, value in LITTLE.items() if key in known}
    return make(n_features_to_select=3, **given, **parameters)
