"""What holds for every ranker of the registry."""

from __future__ import annotations

import inspect
import pickle
import re
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from franet import Cover, FRANe, rankers
from franet.exceptions import UsageError
from tables import TABLES, random
from test_docstrings import CHECKS

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


def present(name):
    return find_spec(rankers.RANKERS[name][0]) is not None


NAMES = [name for name in rankers.RANKERS if name != "frane" and present(name)]
X = random(40, 24, seed=11)
GENES = [f"gene {j}" for j in range(24)]
# What makes the checks of scikit-learn, of which there are many, quick.
QUICK = {"n_estimators": 5, "max_epochs": 5, "n_ranked": 16}


def make(name, **parameters):
    """Return a ranker with a seed if it takes one, and few rounds of training."""
    cls = rankers.get(name)
    known = inspect.signature(cls).parameters
    given = {"random_state": 0, "n_estimators": 20, "max_epochs": 20, **parameters}
    return cls(**{key: value for key, value in given.items() if key in known})


@parametrize_with_checks([make(name, **QUICK) for name in NAMES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", NAMES)
def test_attributes(name):
    ranker = make(name, n_features_to_select=5).fit(X)
    assert ranker.scores_.dtype == np.float64
    assert ranker.scores_.shape == (24,)
    assert np.isfinite(ranker.scores_).all()
    assert sorted(ranker.ranking_) == list(range(1, 25))
    by_score = ranker.scores_[np.argsort(ranker.ranking_)]
    assert (np.diff(by_score) <= 1e-9 * np.abs(by_score[:-1])).all()
    np.testing.assert_array_equal(ranker.support_, ranker.ranking_ <= 5)
    np.testing.assert_array_equal(ranker.feature_importances_, ranker.scores_)
    assert ranker.n_features_ == 5
    np.testing.assert_array_equal(ranker.transform(X), X[:, ranker.support_])


@pytest.mark.parametrize("name", NAMES)
def test_deterministic_and_gentle(name):
    table = X.copy()
    ranker = make(name).fit(table)
    np.testing.assert_array_equal(table, X)
    again = clone(ranker).fit(np.asfortranarray(X))
    np.testing.assert_allclose(again.scores_, ranker.scores_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(clone(ranker).fit(X).scores_, ranker.scores_)
    loaded = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(loaded.scores_, ranker.scores_)
    np.testing.assert_array_equal(loaded.transform(X), ranker.transform(X))


@pytest.mark.parametrize("name", NAMES)
def test_constant_columns_come_last(name):
    table = TABLES["constant"]
    constant = table.max(axis=0) == table.min(axis=0)
    ranker = make(name).fit(table)
    assert ranker.ranking_[constant].min() > ranker.ranking_[~constant].max()
    assert ranker.scores_[constant].max() <= ranker.scores_[~constant].min()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_as_dense(name, form):
    table = np.where(np.abs(X) > 0.8, X, 0.0)
    a, b = make(name).fit(table), make(name).fit(form(table))
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-6, atol=1e-9)
    assert sparse.issparse(b.transform(form(table)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names(name, library):
    frame = (
        pd.DataFrame(X, columns=GENES)
        if library == "pandas"
        else pl.DataFrame(X, schema=GENES)
    )
    if not isinstance(frame, pd.DataFrame) and not hasattr(frame, "__dataframe__"):
        pytest.skip("this scikit-learn cannot read the names of this polars")
    ranker = make(name, n_features_to_select=4).set_output(transform=library)
    out = ranker.fit_transform(frame)
    assert type(out) is type(frame)
    chosen = [GENES[j] for j in np.flatnonzero(ranker.ranking_ <= 4)]
    assert list(out.columns) == chosen == list(ranker.get_feature_names_out())
    assert list(ranker.feature_names_in_) == GENES


@pytest.mark.parametrize("name", NAMES)
def test_bad_input(name):
    holes = X.copy()
    holes[3, 5] = np.nan
    with pytest.raises(ValueError, match="Column 5 holds NaN in row 3"):
        make(name).fit(holes)
    with pytest.raises(UsageError, match="n_features_to_select=25, but"):
        make(name, n_features_to_select=25).fit(X)
    with pytest.raises(ValueError, match="'n_features_to_select' parameter"):
        make(name, n_features_to_select=0).fit(X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("wanted", "kept"), [(None, 12), (7, 7), (0.25, 6), (24, 24)])
def test_number_of_features(name, wanted, kept):
    assert make(name, n_features_to_select=wanted).fit(X).n_features_ == kept


# A seed is spent on columns in their order.
@pytest.mark.parametrize("name", sorted({*NAMES} - {"agnos", "genie3", "random"}))
def test_order_of_columns(name):
    at = np.random.default_rng(1).permutation(24)
    a, b = make(name).fit(X), make(name).fit(X[:, at])
    np.testing.assert_allclose(b.scores_, a.scores_[at], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_float32(name):
    table = X.astype(np.float32)
    assert make(name).fit(table).scores_.dtype == np.float64


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_described(name):
    cls = rankers.get(name)
    known = set(inspect.signature(cls).parameters)
    assert known == set(cls._parameter_constraints)
    errors = validate(f"{cls.__module__}.{cls.__name__}")["errors"]
    # A symbol may start a description.
    assert [error for error in errors if error[0] in CHECKS - {"PR08"}] == []
    sections = ClassDoc(cls)
    assert sections["References"] or name in ("random", "variance")
    assert sections["Examples"]
    fitted = make(name).fit(pd.DataFrame(X, columns=GENES))
    there = {key for key in vars(fitted) if key.endswith("_")}
    listed = {entry.name for entry in sections["Attributes"]}
    assert listed == there | {"feature_importances_"}


def test_registry():
    assert rankers.NAMES == sorted(rankers.RANKERS)
    assert rankers.get("frane") is FRANe
    assert rankers.get("cover") is Cover
    for name in NAMES:
        module, attribute = rankers.RANKERS[name]
        assert rankers.get(name) is getattr(import_module(module), attribute)
        if module.startswith("franet.rankers."):
            assert getattr(rankers, attribute) is rankers.get(name)
            assert attribute in dir(rankers)
    with pytest.raises(UsageError, match=r"no ranker 'pca'\. Choose one of: agnos, "):
        rankers.get("pca")
    with pytest.raises(AttributeError, match="no attribute 'PCA'"):
        _ = rankers.PCA


@pytest.mark.parametrize("name", NAMES)
def test_shared_entries_are_in_the_docstring(name):
    text = inspect.getdoc(rankers.get(name))
    assert re.search(r"^\s*\{\w+\}\s*$", text, re.MULTILINE) is None
    assert "\nfeature_importances_ : " in text
