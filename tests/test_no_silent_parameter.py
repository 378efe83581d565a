"""No parameter of an estimator is ignored: it changes the result, or is refused.

Every parameter is set away from its default. Those about where and how fast a fit runs
are listed in `COMPUTE`, and must leave the result as it is.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from franet.exceptions import UsageError
from franet.network import AttributeNetwork
from franet.rankers import NAMES, get
from tables import random

pytestmark = [
    pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning"),
    pytest.mark.filterwarnings("ignore::franet.exceptions.ApproximationWarning"),
    pytest.mark.filterwarnings(
        f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning"
    ),
]

BASE = random(40, 4, seed=5)
X = np.exp(0.3 * np.repeat(BASE, 4, axis=1)) + 0.2 * random(40, 16, seed=6)
X *= np.linspace(0.5, 2.0, 16)
X[:, 11] = 2.0
# Without columns of which one row holds most of the variance.
EVEN = np.arctan(X)
GAPS = X.copy()
GAPS[3, 5] = np.nan
TIES = np.repeat(np.eye(6), 3, axis=1) + 0.3 * random(6, 18, seed=1)

# How a fit is computed: no result depends on it.
COMPUTE = {
    "backend": ["numpy", "torch:cpu"],
    "checkpoint": ["passes"],
    "max_memory": ["100 MB"],
    "n_jobs": [1, 2],
}
# Up to this, because sums are taken in another order there.
ROUNDING = {"torch:cpu": 1e-9}
# What makes slow rankers quick, for every case of one.
QUICK = {
    "AgnoS": {"n_hidden": 3, "max_iter": 250, "backend": "numpy"},
    "Genie3": {"n_estimators": 20},
}
GRAPH = {
    "n_neighbors": {"n_neighbors": 2},
    "affinity": {"affinity": "binary"},
    "width": {"width": 0.5},
}
EMBEDDED = {
    **GRAPH,
    "n_clusters": {"n_clusters": 2},
    "standardize": {"standardize": False},
}
CONSTRAINTS = {
    "include": {"include": [9]},
    "exclude": {"exclude": [0, 4, 8, 12]},
    "cost": {"cost": np.linspace(0.2, 5.0, 16)},
    "groups": {"groups": np.arange(16) // 8},
}
# For each parameter a value other than the default. A pair: what else it needs to apply
# (parameters, or another table X), and the value.
CASES = {
    "AgnoS": {
        "variant": {"variant": "weights"},
        "n_hidden": {"n_hidden": 1},
        "penalty": {"penalty": 3.0},
        "learning_rate": {"learning_rate": 0.03},
        "max_iter": {"max_iter": 20},
        "tol": {"tol": 0.5},
        "patience": {"patience": 5},
    },
    "ColumnSubset": {
        **CONSTRAINTS,
        "standardize": {"standardize": False},
        "noise": {"noise": 0.5},
        "exchanges": ({"n_ranked": 4}, {"exchanges": 5}),
        "n_ranked": {"n_ranked": 2},
    },
    "Cover": {
        # 3 are suggested.
        "n_features_to_select": {"n_features_to_select": 5},
        "similarity": {"similarity": "spearman"},
        "scale": {"scale": None},
        "weights": {"weights": "variance"},
        "objective": {"objective": "linear"},
        **CONSTRAINTS,
        "n_ranked": ({"n_features_to_select": 3}, {"n_ranked": 4}),
    },
    "FRANe": {
        "similarity": {"similarity": "spearman"},
        "thresholds": {"thresholds": "linear"},
        "n_thresholds": {"n_thresholds": 7},
        "min_mean_degree": {"min_mean_degree": 6.0},
        "damping": {"damping": 0.5},
        "weighted": {"weighted": False},
        "centrality": {"centrality": "degree"},
        "quality": {"quality": "gini"},
        "variant": {"variant": "reference"},
        "p": ({"similarity": "minkowski"}, {"p": 3.0}),
        "missing": ({"X": GAPS}, {"missing": "pairwise"}),
        "tie_break": (
            {"X": TIES, "centrality": "degree", "weighted": False, "n_thresholds": 9},
            {"tie_break": "denser"},
        ),
        "store_candidates": {"store_candidates": True},
        "search": {"search": "approximate"},
        "max_edges": {"max_edges": 5},
        "random_state": ({"quality": "random"}, {"random_state": 1}),
    },
    "FacilityLocation": {
        **CONSTRAINTS,
        "power": {"power": 4.0},
        "n_ranked": {"n_ranked": 2},
    },
    "Genie3": {
        "n_estimators": {"n_estimators": 10},
        "max_features": {"max_features": 1.0},
        "min_samples_leaf": {"min_samples_leaf": 5},
        "bootstrap": {"bootstrap": False},
        "n_components": {"n_components": 1},
    },
    "LaplacianScore": {**GRAPH, "standardize": {"standardize": True}},
    "MCFS": {**EMBEDDED, "n_nonzero": {"n_nonzero": 1}},
    "NDFS": {
        **EMBEDDED,
        "alpha": {"alpha": 30.0},
        "beta": {"beta": 30.0},
        "gamma": {"gamma": 1.0},
        "max_iter": {"max_iter": 1},
        "tol": {"tol": 0.5},
    },
    "RandomRanking": {},
    "SPEC": {
        **GRAPH,
        "style": {"style": 1},
        "n_clusters": {"n_clusters": 2},
        "standardize": {"standardize": True},
    },
    "UDFS": {
        **EMBEDDED,
        "gamma": {"gamma": 30.0},
        "ridge": {"ridge": 30.0},
        "max_iter": {"max_iter": 1},
        "tol": {"tol": 0.5},
    },
    "URelief": {
        "n_neighbors": {"n_neighbors": 2},
        "n_references": {"n_references": 10},
        "random_state": ({"n_references": 10}, {"random_state": 1}),
    },
    "Variance": {},
}
for graphless in ("affinity", "width"):
    del CASES["UDFS"][graphless]
KINDS = {get(name).__name__: get(name) for name in NAMES}
OWN = [
    (kind, name)
    for kind in KINDS
    for name in KINDS[kind]().get_params(deep=False)
    if name not in COMPUTE
]
COMPUTED = [
    (kind, name, value)
    for kind in KINDS
    for name in KINDS[kind]().get_params(deep=False)
    if name in COMPUTE
    for value in COMPUTE[name]
]


def plain(value):
    """Return what is found as something that can be compared."""
    if isinstance(value, AttributeNetwork):
        found = value.adjacency
        parts = found.data, found.indices, found.indptr, value.threshold
        return [plain(part) for part in parts]
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {
            name: plain(getattr(value, name)) for name in value.__dataclass_fields__
        }
    return repr(value)


def found(kind, given):
    """Return all attributes of a fit, or the error that it ends in."""
    parameters = {**QUICK.get(kind, {}), **given}
    table = parameters.pop("X", X)
    if "random_state" in KINDS[kind]().get_params(deep=False):
        parameters = {"random_state": 0, **parameters}
    try:
        fitted = KINDS[kind](**parameters).fit(table)
    except ValueError as err:
        return str(err)
    return {name: plain(v) for name, v in vars(fitted).items() if name.endswith("_")}


def test_every_estimator_has_cases():
    assert set(CASES) == set(KINDS)
    for kind, cases in CASES.items():
        assert set(cases) <= set(KINDS[kind]().get_params(deep=False)), kind
        assert not set(cases) & set(COMPUTE)


@pytest.mark.parametrize(("kind", "name"), OWN)
def test_a_parameter_changes_the_result(kind, name):
    general = {
        "n_features_to_select": {"n_features_to_select": 3},
        "random_state": {"random_state": 1},
    }
    cases = {**general, **CASES[kind]}
    assert name in cases, f"{kind}.{name} has no case"
    case = cases[name]
    needed, given = case if isinstance(case, tuple) else ({}, case)
    assert set(given) == {name}
    default = KINDS[kind]().get_params(deep=False)[name]
    assert repr(given[name]) != repr(default)
    before, after = found(kind, needed), found(kind, {**needed, **given})
    assert isinstance(after, dict), after
    assert before != after


@pytest.mark.parametrize(("kind", "name", "value"), COMPUTED)
def test_how_it_is_computed_leaves_the_result_as_it_is(kind, name, value, tmp_path):
    if str(value).startswith("torch"):
        pytest.importorskip("torch", reason="torch is not installed")
    given = tmp_path / value if name == "checkpoint" else value
    base = {
        "n_features_to_select": 5,
        **({"backend": "numpy"} if name == "backend" else {}),
    }
    before, after = found(kind, base), found(kind, {**base, name: given})
    assert isinstance(before, dict)
    assert isinstance(after, dict), after
    if value not in ROUNDING:
        assert before == after
        return
    assert before["support_"] == after["support_"]
    scores = [np.frombuffer(each["scores_"][2]) for each in (before, after)]
    if kind == "AgnoS":  # steps of training add up
        np.testing.assert_allclose(*scores, rtol=1e-5, atol=1e-7)
        return
    assert before["order_"] == after["order_"]
    if kind == "Cover":  # those of features that are not picked are in float32
        np.testing.assert_allclose(*scores, rtol=0.0, atol=1e-6)
        scores = [np.sort(each)[-5:] for each in scores]
    np.testing.assert_allclose(*scores, rtol=ROUNDING[value])


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_is_always_accepted(kind):
    if "random_state" not in KINDS[kind]().get_params(deep=False):
        pytest.skip("nothing is drawn")
    for seed in (None, 3, np.random.RandomState(0)):
        assert isinstance(found(kind, {"random_state": seed}), dict)


def order(**given):
    return get("cover")(4, **given).fit(EVEN).order_.tolist()


def test_every_form_of_weights_is_heeded():
    """Two groups of four copies with noise: what counts is represented first."""
    for group in (range(4), range(4, 8)):
        numbers = np.isin(np.arange(16), group).astype(float)
        for given in (numbers, numbers.tolist(), dict(enumerate(numbers))):
            assert order(weights=given)[0] in group
        assert order(weights=numbers) == order(weights=100.0 * numbers)
    assert order(weights=np.ones(16)) == order(weights={}) == order(weights={3: 1})


@pytest.mark.parametrize("objective", ["linear", "neighbors"])
def test_every_objective_is_heeded(objective):
    fits = [get("cover")(4, objective=x).fit(X) for x in ("balanced", objective)]
    assert not np.allclose(*(fit.gains_ for fit in fits), rtol=0.01)


def test_weights_of_constant_columns_do_not_matter():
    assert order(weights={11: 50.0}) == order(weights={11: 0}) == order(weights={})


BAD_WEIGHTS = [
    ([1.0, 2.0], r"its shape is \(2,\), but there are 16 features. Give one value"),
    (np.ones((16, 1)), r"its shape is \(16, 1\), but there are 16 features"),
    (np.linspace(-1, 1, 16), r"'x0' has (np.float64\()?-1.0\)?; give a finite number"),
    ({2: np.nan}, "'x2' has nan; give a finite number that is not negative"),
    ({2: np.inf}, "'x2' has inf; give a finite number"),
    ({2: None}, "'x2' has None; give a finite number"),
    (["much"] * 16, "'x0' has 'much'; give a finite number that is not negative"),
    ({"x2": "much"}, "'x2' has 'much'; give a finite number"),
    (np.zeros(16), "all columns that vary have 0. Give one of them a positive number"),
    (np.eye(16)[11], "all columns that vary have 0. Give one of them a positive"),
    (dict.fromkeys(range(16), 0), "all columns that vary have 0"),
    ({"g99": 2.0}, "There is no feature 'g99'. The 16 features are 'x0', 'x1'"),
    ({16: 2.0}, "There is no feature 16: positions go from 0 to 15"),
    ("much", "'weights' parameter of Cover must be .* Got 'much' instead"),
    (None, "'weights' parameter of Cover must be .* Got None instead"),
    (2.0, "'weights' parameter of Cover must be .* Got 2.0 instead"),
]


@pytest.mark.parametrize(("given", "message"), BAD_WEIGHTS, ids=str)
def test_weights_that_are_wrong(given, message):
    with pytest.raises(UsageError, match=message) as caught:
        order(weights=given)
    assert "weights" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.parameter == "weights"


def short(value):
    """Return the name of a case: values of parameters may print an address."""
    return value if isinstance(value, str) else "-".join(value)


def similarities(A, B):
    return np.abs(A.T @ B)


REFUSED = [
    ("FRANe", {"p": 3.0, "similarity": "euclidean"}),
    ("FRANe", {"p": 3.0, "similarity": similarities}),
    ("FRANe", {"damping": 0.5, "centrality": "degree"}),
    ("FRANe", {"damping": 0.5, "centrality": lambda A: A.sum(axis=0)}),
    ("FRANe", {"search": "approximate", "similarity": "euclidean"}),
    ("FRANe", {"search": "approximate", "similarity": similarities}),
    ("FRANe", {"search": "approximate", "thresholds": "quantile"}),
    ("FRANe", {"search": "approximate", "centrality": "degree"}),
    ("FRANe", {"search": "approximate", "quality": "gini"}),
    ("FRANe", {"search": "approximate", "tie_break": "denser"}),
    ("FRANe", {"search": "approximate", "store_candidates": True}),
    ("FRANe", {"search": "approximate", "missing": "pairwise"}),
    ("FRANe", {"search": "approximate", "backend": "torch"}),
    ("FRANe", {"search": "approximate", "backend": "dask"}),
    ("FRANe", {"search": "approximate", "checkpoint": "passes"}),
    ("FRANe", {"search": "approximate", "max_memory": "1 GB"}),
    ("FRANe", {"variant": "reference", "similarity": "mixed"}),
    ("FRANe", {"variant": "reference", "similarity": "seuclidean"}),
    ("FRANe", {"variant": "reference", "similarity": similarities}),
    ("FRANe", {"variant": "reference", "thresholds": "quantile"}),
    ("FRANe", {"missing": "pairwise", "similarity": "spearman"}),
    ("FRANe", {"missing": "pairwise", "similarity": "mixed"}),
    ("FRANe", {"missing": "pairwise", "backend": "torch"}),
    ("FRANe", {"backend": "torch", "similarity": "canberra"}),
    ("FRANe", {"backend": "torch", "similarity": similarities}),
    ("Cover", {"n_ranked": 3, "n_features_to_select": 5}),
    ("Cover", {"n_ranked": 2, "include": [1, 2, 3]}),
    ("Cover", {"n_features_to_select": 2, "include": [1, 2, 3]}),
    ("Cover", {"include": [1], "exclude": [1]}),
    ("Cover", {"include": [1, 2], "groups": {1: "a", 2: "a"}}),
    ("Cover", {"n_features_to_select": 12, "exclude": list(range(8))}),
    ("Cover", {"n_features_to_select": 12, "groups": np.zeros(16)}),
    ("LaplacianScore", {"width": 2.0, "affinity": "binary"}),
    ("MCFS", {"width": 2.0, "affinity": "cosine"}),
    ("NDFS", {"width": 2.0, "affinity": "binary"}),
    ("SPEC", {"width": 2.0, "affinity": "binary"}),
    ("SPEC", {"n_clusters": 2, "style": 1}),
]


def names_of(given):
    """Return the names of parameters, those of a ranker inside included."""
    inner = given.get("ranker")
    if inner is None:
        return list(given)
    defaults = type(inner)().get_params(deep=False)
    params = inner.get_params(deep=False)
    return ["ranker", *(name for name in params if params[name] != defaults[name])]


@pytest.mark.parametrize(("kind", "given"), REFUSED, ids=short)
def test_what_cannot_apply_is_an_error_that_names_both(kind, given):
    if given.get("backend") == "torch":
        pytest.importorskip("torch", reason="torch is not installed")
    message = found(kind, given)
    assert isinstance(message, str), "it was ignored"
    assert "\n" not in message
    for name in names_of(given):
        assert name in message, message
