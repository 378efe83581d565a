"""The estimator among the tools of scikit-learn, joblib and the data frames."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from franet import Cover, DegenerateRankingWarning, DropCorrelated, FRANe
from tables import TABLES, random

X = TABLES["random"]
NAMES = [f"gene {j}" for j in range(X.shape[1])]


class Overlap:
    """A similarity of one's own, whose name in reports is always the same."""

    def __call__(self, A, B):
        return np.minimum(np.abs(A)[:, :, None], np.abs(B)[:, None, :]).mean(axis=0)

    def __repr__(self):
        return "Overlap()"


def faults(estimator):
    """Return checks that fail by a fault of scikit-learn, and which it is."""
    older = parse_version(sklearn.__version__) < parse_version("1.8")
    if older and estimator.similarity == "mixed":
        return {"check_positive_only_tag_during_fit": "it centres integers in place"}
    return {}


# The checks fit tables of two or three columns and of pure noise, where all
# similarities are equal or most features isolated: the warning is right there.
@pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning")
@parametrize_with_checks(
    [
        FRANe(),
        FRANe(missing="pairwise"),
        FRANe(similarity="abs-correlation", n_features_to_select=1),
        FRANe(similarity="spearman", thresholds="quantile"),
        FRANe(similarity="euclidean"),
        FRANe(similarity="canberra", thresholds="linear-median"),
        FRANe(similarity="precomputed"),
        FRANe(similarity="mixed"),
        FRANe(similarity=Overlap()),
        FRANe(variant="reference", store_candidates=True),
        FRANe(centrality="degree", quality="gini", weighted=False),
        FRANe(centrality="harmonic", tie_break="denser"),
        FRANe(quality="random", random_state=0),
        Cover(),
        Cover(similarity="spearman", n_features_to_select="auto"),
        DropCorrelated(),
        DropCorrelated(0.5, similarity="spearman", exact=True),
        DropCorrelated(similarity="mixed", missing="error", keep_constant=True),
    ],
    expected_failed_checks=faults,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def same(a, b):
    """Assert that two fitted rankers are the same to the last bit."""
    np.testing.assert_array_equal(a.scores_, b.scores_)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)
    np.testing.assert_array_equal(a.quality_, b.quality_)
    assert a.threshold_ == b.threshold_
    difference = a.network_.adjacency - b.network_.adjacency
    assert abs(difference).max() == 0.0


FITTED = FRANe().fit(X)


def test_parameters():
    ranker = FRANe(n_features_to_select=3, similarity="spearman", damping=0.5)
    copy = clone(ranker)
    assert copy is not ranker
    assert copy.get_params() == ranker.get_params()
    assert copy.get_params()["damping"] == 0.5
    assert copy.set_params(damping=0.7, quality="gini") is copy
    assert (copy.damping, copy.quality, ranker.damping) == (0.7, "gini", 0.5)
    with pytest.raises(ValueError, match="Invalid parameter 'dumping'"):
        copy.set_params(dumping=0.7)
    assert repr(FRANe(damping=0.5)) == "FRANe(damping=0.5)"


def test_pipeline():
    steps = make_pipeline(StandardScaler(), FRANe(n_features_to_select=4))
    out = steps.fit_transform(pd.DataFrame(X, columns=NAMES))
    assert out.shape == (len(X), 4)
    # Correlation does not see the scaler.
    np.testing.assert_array_equal(steps[-1].ranking_, FITTED.ranking_)
    chosen = np.array(NAMES)[FITTED.ranking_ <= 4]
    assert list(steps.get_feature_names_out()) == list(chosen)


def test_pickle_of_a_fitted_ranker():
    ranker = FRANe(store_candidates=True).fit(X)
    back = pickle.loads(pickle.dumps(ranker))
    same(ranker, back)
    np.testing.assert_array_equal(ranker.all_scores_, back.all_scores_)
    np.testing.assert_array_equal(ranker.transform(X), back.transform(X))
    assert back.network_.n_edges == ranker.network_.n_edges


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [(None, 12), (1, 1), (5, 5), (24, 24), (np.int64(7), 7), (0.25, 6), (1e-9, 1)],
)
def test_number_of_features(wanted, kept):
    ranker = FRANe(n_features_to_select=wanted).fit(X)
    assert ranker.n_features_ == kept
    np.testing.assert_array_equal(ranker.support_, FITTED.ranking_ <= kept)
    np.testing.assert_array_equal(ranker.get_support(), ranker.support_)
    assert ranker.transform(X).shape == (len(X), kept)


def test_half_of_an_odd_number_is_rounded_down():
    assert FRANe().fit(X[:, :7]).n_features_ == 3


def test_transform_keeps_the_order_of_columns():
    ranker = FRANe(n_features_to_select=6).fit(X)
    columns = np.flatnonzero(ranker.ranking_ <= 6)
    by_rank = np.argsort(ranker.ranking_)[:6]
    assert list(columns) != list(by_rank)  # or the test would show nothing
    np.testing.assert_array_equal(ranker.transform(X), X[:, columns])
    np.testing.assert_array_equal(ranker.get_support(indices=True), columns)
    assert list(ranker.get_feature_names_out()) == [f"x{j}" for j in columns]
    np.testing.assert_array_equal(FRANe(6).fit_transform(X), X[:, columns])


def test_transform_of_a_sparse_table_is_sparse():
    S = sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    out = FRANe(n_features_to_select=3).fit(X).transform(S)
    assert sparse.issparse(out)
    np.testing.assert_array_equal(
        out.toarray(), S.toarray()[:, np.flatnonzero(FITTED.ranking_ <= 3)]
    )


def test_inverse_transform():
    ranker = FRANe(n_features_to_select=6).fit(X)
    back = ranker.inverse_transform(ranker.transform(X))
    np.testing.assert_array_equal(back, np.where(ranker.support_, X, 0.0))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(library):
    frame = pd.DataFrame(X, columns=NAMES) if library == "pandas" else None
    frame = pl.DataFrame(X, schema=NAMES) if frame is None else frame
    ranker = FRANe(n_features_to_select=5).set_output(transform=library)
    out = ranker.fit_transform(frame)
    chosen = list(np.array(NAMES)[FITTED.ranking_ <= 5])
    assert type(out) is type(frame)
    assert list(out.columns) == chosen
    np.testing.assert_array_equal(out.to_numpy(), frame[chosen].to_numpy())
    if library == "pandas":
        assert out.index.equals(frame.index)


def test_not_fitted():
    ranker = FRANe()
    for use in (
        lambda: ranker.feature_importances_,
        lambda: ranker.transform(X),
        lambda: ranker.get_support(),
        lambda: ranker.get_feature_names_out(),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            use()
    assert not hasattr(ranker, "scores_")


def test_select_from_model():
    selector = SelectFromModel(FRANe(), max_features=4, threshold=-np.inf).fit(X)
    np.testing.assert_array_equal(FITTED.feature_importances_, FITTED.scores_)
    np.testing.assert_array_equal(selector.get_support(), FITTED.ranking_ <= 4)
    prefit = SelectFromModel(FITTED, prefit=True, threshold="mean")
    wanted = FITTED.scores_ >= FITTED.scores_.mean()
    np.testing.assert_array_equal(prefit.transform(X), X[:, wanted])


def test_refit_leaves_nothing_behind():
    ranker = FRANe(store_candidates=True).fit(pd.DataFrame(X, columns=NAMES))
    assert ranker.all_scores_.shape == (100, 24)
    ranker.set_params(store_candidates=False).fit(X[:, :10])
    assert not hasattr(ranker, "all_scores_")
    assert not hasattr(ranker, "feature_names_in_")
    same(ranker, FRANe().fit(X[:, :10]))


def read_only(table):
    table = table.copy()
    table.flags.writeable = False
    return table


WIDE = random(30, 60, seed=0)
ARRAYS = {
    "C": np.ascontiguousarray(X),
    "F": np.asfortranarray(X),
    "rows of a view": np.repeat(X, 2, axis=0)[::2],
    "columns of a view": np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": X[::-1, ::-1][::-1, ::-1],
    "transposed": X.T.copy().T,
    "read-only": read_only(X),
    "read-only F": read_only(np.asfortranarray(X)),
}


@pytest.mark.parametrize("similarity", ["correlation", "spearman", "euclidean"])
@pytest.mark.parametrize("layout", ARRAYS)
def test_memory_layout(layout, similarity):
    table = ARRAYS[layout]
    before = table.copy()
    same(FRANe(similarity=similarity).fit(table), FRANe(similarity=similarity).fit(X))
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, bool])
def test_fit_leaves_the_table_alone(dtype, missing):
    table = np.clip(100 * X, 0, 255).astype(dtype)
    before = table.copy()
    ranker = FRANe(missing=missing).fit(table)
    ranker.transform(table)
    assert table.dtype == before.dtype
    np.testing.assert_array_equal(table, before)


def test_a_similarity_function_cannot_write_to_the_table():
    table = X.copy()

    def greedy(A, B):
        A[:] = B[:] = 1.0
        return np.add.outer(np.arange(A.shape[1]), np.arange(B.shape[1]))

    FRANe(similarity=greedy, n_thresholds=5).fit(table)
    np.testing.assert_array_equal(table, X)


def untidy(table, form):
    """Return a sparse table with repeated, unsorted and explicitly zero entries."""
    coo = sparse.coo_array(table)
    at = np.random.default_rng(0).permutation(np.tile(np.arange(coo.nnz), 2))
    i, j = coo.coords[0][at], coo.coords[1][at]
    values = coo.data[at] / 2
    i, j = np.append(i, [0, 1]), np.append(j, [0, 1])
    values = np.append(values, [0.0, 0.0])
    down, across = (i, j) if form.startswith("csr") else (j, i)
    length = table.shape[0] if form.startswith("csr") else table.shape[1]
    order = np.argsort(down, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(down, minlength=length)))
    make = getattr(sparse, form)
    return make((values[order], across[order], ends), shape=table.shape)


@pytest.mark.parametrize("similarity", ["correlation", "spearman", "seuclidean"])
@pytest.mark.parametrize("filled", [0.05, 0.6])
@pytest.mark.parametrize("form", ["csr_array", "csc_array", "csr_matrix", "csc_matrix"])
def test_fit_leaves_a_sparse_table_alone(form, filled, similarity):
    keep = np.random.default_rng(1).random(WIDE.shape) < filled
    table = untidy(np.where(keep, WIDE, 0.0), form)
    before = [a.copy() for a in (table.data, table.indices, table.indptr)]
    FRANe(similarity=similarity, n_thresholds=10).fit(table)
    for a, b in zip((table.data, table.indices, table.indptr), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(X, columns=NAMES),
        pd.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1]),
        pl.DataFrame(X, schema=NAMES),
        pd.DataFrame(X, columns=NAMES).convert_dtypes(),
        pd.DataFrame(X, columns=NAMES).astype("Float64"),
    ],
    ids=["pandas", "pandas index", "polars", "converted", "nullable"],
)
def test_data_frames(frame):
    ranker = FRANe().fit(frame)
    same(ranker, FITTED)
    assert list(ranker.feature_names_in_) == NAMES
    assert list(ranker.network_.names) == NAMES
    assert list(FITTED.network_.names) == [f"x{j}" for j in range(24)]


def test_nullable_and_mixed_types():
    whole = np.round(10 * X)
    columns = [pd.Series(column) for column in whole.T]
    for j, kind in enumerate(["Int64", "Int8", "Float32", "int16", "float32"]):
        columns[j] = columns[j].clip(-100, 100).astype(kind)
    whole[:, :5] = np.clip(whole[:, :5], -100, 100)
    frame = pd.concat(columns, axis=1, keys=NAMES)
    same(FRANe().fit(frame), FRANe().fit(whole))
    whole[:, 5] = whole[:, 5] > 0
    frame[NAMES[5]] = pd.array(whole[:, 5] > 0, dtype="boolean")
    same(FRANe().fit(frame), FRANe().fit(whole))


def test_missing_values_of_a_frame():
    frame = pd.DataFrame(X, columns=NAMES).astype("Float64")
    frame.iloc[2, 3] = pd.NA
    with pytest.raises(ValueError, match=r"Column 'gene 3' \(3\) holds NaN in row 2"):
        FRANe().fit(frame)
    holes = X.copy()
    holes[2, 3] = np.nan
    expected = FRANe(missing="pairwise").fit(holes)
    same(FRANe(missing="pairwise").fit(frame), expected)
    rows = [[None if np.isnan(x) else x for x in row] for row in holes]
    polars = pl.DataFrame(rows, schema=NAMES, orient="row")
    same(FRANe(missing="pairwise").fit(polars), expected)


def test_memory_map(tmp_path):
    joblib.dump(X, tmp_path / "table.joblib")
    table = joblib.load(tmp_path / "table.joblib", mmap_mode="r")
    assert isinstance(table, np.memmap)
    same(FRANe().fit(table), FITTED)
    np.save(tmp_path / "table.npy", np.asfortranarray(X))
    same(FRANe().fit(np.load(tmp_path / "table.npy", mmap_mode="r")), FITTED)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_inside_joblib(backend):
    def ranker(**parameters):
        return FRANe(n_thresholds=20, min_mean_degree=8, **parameters)

    tables = [random(25, 300, seed) for seed in range(4)]
    expected = [ranker(n_jobs=1).fit(table) for table in tables]
    # The tables cross to the processes as read-only memory maps.
    work = joblib.Parallel(n_jobs=2, backend=backend, max_nbytes=1000)
    fits = work(joblib.delayed(ranker().fit)(table) for table in tables)
    for a, b in zip(fits, expected, strict=True):
        same(a, b)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        same(ranker().fit(tables[0]), expected[0])


def test_warning_points_at_the_caller():
    with pytest.warns(DegenerateRankingWarning) as caught:
        FRANe().fit(X[:, :2])
    assert caught[0].filename == __file__
