"""Whole tables from their picks: the regression by refits, units, names and types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

from franet import Cover
from franet.cover._explained import PENALTIES
from franet.cover._rebuild import fit_rebuild
from franet.datasets import make_groups
from franet.evaluation import RidgeReconstruction
from franet.exceptions import DataError
from naive_cover import left_out_errors, standardized

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


def table(m=50):
    made = make_groups(m, 4, 5, redundancy=0.8, n_noise=3, random_state=0)
    return made.X * np.geomspace(1e-3, 1e4, 23) + np.linspace(-9.0, 9.0, 23)


def by_ridge(X, chosen, new, penalty):
    """Return the prediction of scikit-learn, in units of the columns."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    Z, there = (X - mean) / scale, (new - mean) / scale
    model = Ridge(penalty * len(X)).fit(Z[:, chosen], Z)
    wanted = model.predict(there[:, chosen]) * scale + mean
    wanted[:, chosen] = new[:, chosen]
    return wanted


@pytest.mark.parametrize("options", [{}, {"scale": None}, {"weights": "variance"}])
def test_reconstruct_is_a_ridge_regression(options):
    X, new = table(), table(70)[50:]
    ranker = Cover(4, **options).fit(X)
    penalty = ranker._rebuild.penalty
    assert penalty in PENALTIES
    chosen = np.flatnonzero(ranker.support_)
    wanted = by_ridge(X, chosen, new, penalty)
    found = ranker.reconstruct(ranker.transform(new))
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
    np.testing.assert_array_equal(found[:, chosen], new[:, chosen])
    back = ranker.inverse_transform(ranker.transform(new))
    np.testing.assert_array_equal(back, found)


def test_the_error_is_that_of_samples_left_out():
    X = table(20)
    ranker = Cover(4).fit(X)
    chosen = np.flatnonzero(ranker.support_)
    errors = left_out_errors(standardized(X), list(chosen), ranker._rebuild.penalty)
    np.testing.assert_allclose(
        ranker.reconstruction_error_, np.sqrt(errors / 20), rtol=1e-7, atol=1e-12
    )
    assert (ranker.reconstruction_error_[chosen] == 0.0).all()


def test_by_ranks_values_are_rebuilt():
    X = table()
    ranker = Cover(4, similarity="spearman").fit(X)
    chosen = np.flatnonzero(ranker.support_)
    wanted = by_ridge(X, chosen, X, ranker._rebuild.penalty)
    np.testing.assert_allclose(ranker.reconstruct(X[:, chosen]), wanted, rtol=1e-7)


def test_constant_columns_keep_their_value():
    X = np.column_stack([np.full(50, 0.1), table(), np.full(50, -7.0)])
    ranker = Cover(4).fit(X)
    back = ranker.reconstruct(ranker.transform(X))
    np.testing.assert_array_equal(back[:, [0, -1]], X[:, [0, -1]])
    assert (ranker.reconstruction_error_[[0, -1]] == 0.0).all()
    inner = Cover(4).fit(X[:, 1:-1])
    np.testing.assert_array_equal(
        inner.reconstruct(inner.transform(X[:, 1:-1])), back[:, 1:-1]
    )


def test_all_features_are_given_back():
    X = np.column_stack([table(12), np.ones(12)])
    X[:, 5] = -2.0 * X[:, 3]
    ranker = Cover(X.shape[1]).fit(X)
    np.testing.assert_array_equal(ranker.reconstruct(X), X)


def test_a_selected_copy_of_a_pick_is_known():
    X = np.repeat(table(30)[:, :5], 2, axis=1)
    ranker = Cover(8).fit(X)
    assert ranker.n_ranked_ == 5
    assert (ranker.reconstruction_error_[ranker.support_] == 0.0).all()


def test_more_picks_than_samples():
    X, new = table(9), table(40)[30:]
    ranker = Cover(15).fit(X)
    assert len(ranker._rebuild.factors) == 2
    chosen = np.flatnonzero(ranker.support_)
    wanted = by_ridge(X, chosen, new, ranker._rebuild.penalty)
    found = ranker.reconstruct(new[:, chosen])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_values_far_from_one():
    X = table()
    scale = np.geomspace(1e-290, 1e290, 23)
    plain, far = Cover(4).fit(X), Cover(4).fit(X * scale)
    found = far.reconstruct(far.transform(X * scale)) / scale
    np.testing.assert_allclose(found, plain.reconstruct(plain.transform(X)), rtol=1e-6)


def test_float32_and_sparse():
    X = table().astype(np.float32)
    ranker = Cover(4).fit(X)
    picked = ranker.transform(X)
    found = ranker.reconstruct(picked)
    assert found.shape == X.shape
    np.testing.assert_array_equal(ranker.reconstruct(sparse.csr_array(picked)), found)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_go_in_and_come_out(library):
    X = table()
    names = [f"gene {j}" for j in range(23)]
    frame = pd.DataFrame(X, columns=names, index=np.arange(50) * 2)
    ranker = Cover(4).fit(frame)
    frame = pl.from_pandas(frame) if library is pl else frame
    chosen = np.flatnonzero(ranker.support_)
    part = frame[[names[j] for j in chosen]]
    found = ranker.reconstruct(part)
    assert isinstance(found, library.DataFrame)
    assert list(found.columns) == names
    np.testing.assert_array_equal(found.to_numpy(), ranker.reconstruct(part.to_numpy()))
    if library is pd:
        assert found.index.equals(frame.index)
    with pytest.raises(ValueError, match=r"Column 0 of X is .*that of the fit was"):
        ranker.reconstruct(part[list(part.columns)[::-1]])


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (np.ones((3, 5)), "X has 5 columns, 4 are expected"),
        (np.array([[1.0, 2.0, np.nan, 3.0]]), "NaN|missing"),
        (np.ones(4), "2D"),
    ],
)
def test_bad_parts(part, message):
    with pytest.raises(ValueError, match=message):
        Cover(4).fit(table()).reconstruct(part)


def test_threads_and_blocks_change_nothing():
    X = table()
    picks = np.array([3, 9, 1])
    one, again = fit_rebuild(X, picks), fit_rebuild(X[::-1], picks)
    np.testing.assert_array_equal(again.errors, one.errors)
    assert again.penalty == one.penalty


def test_columns_chosen_by_others():
    X, new = table(), table(70)[50:]
    mine = [11, 2, 17]
    model = RidgeReconstruction(mine).fit(X)
    wanted = by_ridge(X, mine, new, model.penalty_)
    np.testing.assert_allclose(model.predict(new[:, mine]), wanted, rtol=1e-7)
    Z = standardized(X)
    errors = [left_out_errors(Z, mine, penalty).sum() for penalty in PENALTIES]
    assert model.penalty_ == PENALTIES[np.argmin(errors)]
    nothing = left_out_errors(Z, [], 1.0).sum()
    assert model.explained_ == pytest.approx(1.0 - min(errors) / nothing)
    np.testing.assert_array_equal(model.columns_, mine)


def test_the_same_as_cover():
    X = table()
    w = np.linspace(1.0, 2.0, 23)
    ranker = Cover(5, weights=w).fit(X)
    chosen = np.flatnonzero(ranker.support_)
    model = RidgeReconstruction(chosen, weights=w).fit(X)
    assert model.explained_ == pytest.approx(ranker.explained_[4])
    np.testing.assert_allclose(model.error_, ranker.reconstruction_error_, rtol=1e-7)
    np.testing.assert_allclose(
        model.predict(X[:, chosen]), ranker.reconstruct(X[:, chosen]), rtol=1e-9
    )


def test_named_columns():
    frame = pd.DataFrame(table(), columns=[f"g{j}" for j in range(23)])
    frame["still"] = 3.0
    model = clone(RidgeReconstruction(["g3", "still"])).fit(frame)
    found = model.predict(frame[["g3", "still"]])
    assert list(found.columns) == list(frame.columns)
    assert (found["still"] == 3.0).all()
    for part in (frame[["still", "g3"]], frame[["g3"]]):
        with pytest.raises(DataError, match="Pass the columns that `columns` names"):
            model.predict(part)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"columns": "g3"}, "columns='g3' names no columns"),
        ({"columns": []}, "names no columns"),
        ({"columns": [1, 1]}, "names a column twice"),
        ({"columns": ["g99"]}, "There is no feature 'g99'"),
        ({"columns": [0], "weights": "variance"}, "weights='variance' must be numbers"),
        ({"columns": [0], "weights": [1.0]}, "weights"),
    ],
)
def test_bad_columns(parameters, message):
    with pytest.raises(ValueError, match=message):
        RidgeReconstruction(**parameters).fit(table())
    with pytest.raises(ValueError, match="All columns are constant"):
        RidgeReconstruction([0]).fit(np.ones((4, 3)))
