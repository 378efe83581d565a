"""Rankers inside other estimators; copies, routes, arrays of other libraries."""

from __future__ import annotations

import copy
import json
import pickle
from importlib.util import find_spec

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

from franet import Cover, FRANe
from franet.rankers import NAMES, RandomRanking, Variance, get
from quick_rankers import quick
from tables import TABLES

X = TABLES["random"]
GENES = [f"gene {j}" for j in range(X.shape[1])]
FITTED = FRANe(n_features_to_select=4).fit(X)
BEST = [GENES[j] for j in np.flatnonzero(FITTED.support_)]
FRAMES = {
    "pandas": pd.DataFrame(X, columns=GENES),
    "polars": pl.DataFrame(X, schema=GENES),
}


def with_text(library):
    frame = FRAMES[library]
    ward = ["north" if x > 0 else "south" for x in X[:, 0]]
    if library == "pandas":
        return frame.assign(ward=ward)
    return frame.with_columns(pl.Series("ward", ward))


@pytest.mark.parametrize("library", FRAMES)
def test_column_transformer(library):
    frame = with_text(library)
    parts = ColumnTransformer(
        [
            ("genes", FRANe(n_features_to_select=4), GENES),
            ("ward", OneHotEncoder(sparse_output=False), ["ward"]),
        ],
        verbose_feature_names_out=False,
    ).set_output(transform=library)
    out = parts.fit_transform(frame)
    assert type(out) is type(frame)
    names = [*BEST, "ward_north", "ward_south"]
    assert list(out.columns) == list(parts.get_feature_names_out()) == names
    np.testing.assert_array_equal(out[BEST].to_numpy(), frame[BEST].to_numpy())
    ranker = parts.named_transformers_["genes"]
    np.testing.assert_array_equal(ranker.scores_, FITTED.scores_)
    # Columns of the frame may come in another order afterwards.
    turned = frame[[*GENES[::-1], "ward"]]
    assert list(parts.transform(turned).columns) == names


def test_columns_by_kind_and_by_position():
    frame = with_text("pandas")
    numbers = make_column_selector(dtype_include=np.number)
    found = []
    for columns in (numbers, GENES, slice(0, len(GENES)), list(range(len(GENES)))):
        parts = ColumnTransformer([("rank", FRANe(4), columns)]).fit(frame)
        found.append(list(parts.get_feature_names_out()))
    assert found == 4 * [[f"rank__{name}" for name in BEST]]


def test_feature_union():
    union = FeatureUnion([("frane", FRANe(2)), ("variance", Variance(3))], n_jobs=2)
    with joblib.parallel_config("threading"):
        out = union.fit(FRAMES["pandas"]).transform(FRAMES["pandas"])
    names = [name.split("__") for name in union.get_feature_names_out()]
    assert [ranker for ranker, _ in names] == 2 * ["frane"] + 3 * ["variance"]
    columns = [GENES.index(name) for _, name in names]
    np.testing.assert_array_equal(out, X[:, columns])


@pytest.mark.parametrize(
    "getter", ["auto", "scores_", lambda ranker: 1 / ranker.ranking_]
)
def test_select_from_model(getter):
    def select(ranker, **how):
        how = {"max_features": 4, "threshold": -np.inf, **how}
        return SelectFromModel(ranker, importance_getter=getter, **how)

    frame = FRAMES["pandas"]
    fresh = select(FRANe()).fit(frame)
    assert list(fresh.get_feature_names_out()) == BEST
    np.testing.assert_array_equal(fresh.estimator_.scores_, FITTED.scores_)
    ready = select(FRANe().fit(frame), prefit=True).fit(frame)
    np.testing.assert_array_equal(ready.transform(frame), X[:, FITTED.support_])
    piped = make_pipeline(StandardScaler(), select(FRANe()))
    assert list(piped.fit(frame).get_feature_names_out()) == BEST


def test_other_selectors_take_rankers():
    wrapped = RFE(Variance(), n_features_to_select=4, step=5).fit(X, X[:, 0])
    np.testing.assert_array_equal(wrapped.support_, Variance(4).fit(X).support_)


@pytest.mark.parametrize("name", NAMES)
def test_clone_of_a_fitted_ranker_is_a_fresh_one(name):
    ranker = quick(name).set_output(transform="pandas")
    ranker.fit(X)
    fresh = clone(ranker)
    assert fresh.get_params() == ranker.get_params()
    assert not hasattr(fresh, "scores_")
    assert isinstance(fresh.fit_transform(FRAMES["pandas"]), pd.DataFrame)


@pytest.mark.parametrize("name", NAMES)
def test_files_of_fitted_rankers(name, tmp_path):
    ranker = quick(name).fit(FRAMES["pandas"])
    joblib.dump(ranker, tmp_path / "ranker.joblib")
    for back in (
        joblib.load(tmp_path / "ranker.joblib"),
        pickle.loads(pickle.dumps(ranker)),
        copy.deepcopy(ranker),
    ):
        np.testing.assert_array_equal(back.ranking_, ranker.ranking_)
        out = back.transform(FRAMES["pandas"])
        np.testing.assert_array_equal(out, X[:, ranker.support_])
        assert list(back.feature_names_in_) == GENES


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="needs franet[dask]")
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_clones_share_a_client(client):
    ranker = FRANe(4, backend=client)
    fresh = clone(ranker)
    assert fresh.backend is ranker.backend is client
    assert fresh.get_params() == ranker.get_params()
    assert clone(make_pipeline(ranker))[0].backend is client
    np.testing.assert_allclose(fresh.fit(X).scores_, FITTED.scores_, rtol=1e-9)
    assert ranker.backend is client
    ranker.backend = client.scheduler.address
    assert clone(ranker).backend == client.scheduler.address


def test_files_hold_the_address_of_a_client(client):
    ranker = FRANe(4, backend=client).fit(X)
    for back in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker)):
        assert back.backend == client.scheduler.address
        np.testing.assert_array_equal(back.scores_, ranker.scores_)
    assert ranker.backend is client
    np.testing.assert_array_equal(back.fit(X).scores_, ranker.scores_)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_metadata_goes_to_other_steps():
    weights = np.random.default_rng(0).random(len(X))
    steps = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True),
        FRANe(4),
        LinearRegression().set_fit_request(sample_weight=True),
    )
    steps.fit(X, X[:, 0], sample_weight=weights)
    np.testing.assert_array_equal(steps[1].ranking_, FITTED.ranking_)
    by_hand = StandardScaler().fit(X, sample_weight=weights)
    np.testing.assert_array_equal(steps[0].mean_, by_hand.mean_)
    selector = SelectFromModel(FRANe(), max_features=4, threshold=-np.inf)
    assert selector.fit(X).get_support().sum() == 4


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("name", ["frane", "variance", "ndfs"])
def test_rankers_refuse_metadata(name):
    ranker = get(name)(n_features_to_select=4)
    weights = np.ones(len(X))
    for fit in (ranker.fit, ranker.fit_transform, make_pipeline(ranker).fit):
        with pytest.raises(TypeError, match=r"unexpected.*argument.*sample_weight"):
            fit(X, sample_weight=weights)
    assert not hasattr(ranker, "set_fit_request")
    assert not hasattr(ranker, "set_score_request")


def arrays():
    """Return functions that make arrays of other libraries, as far as installed."""
    makers = []
    for module, make in (("torch", "tensor"), ("array_api_strict", "asarray")):
        reason = f"{module} is not installed"
        makers.append(
            pytest.param(
                lambda table, module=module, make=make, reason=reason: getattr(
                    pytest.importorskip(module, reason=reason), make
                )(table),
                id=module,
            )
        )
    return makers


@pytest.fixture(params=[False, True], ids=["plain", "dispatch"])
def either_way(request, monkeypatch):
    """Let scikit-learn compute with arrays of any library, or not."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    try:
        with sklearn.config_context(array_api_dispatch=request.param):
            yield
    except ImportError as err:
        pytest.skip(f"array_api_dispatch: {err}")


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("make", arrays())
@pytest.mark.parametrize("ranker", [FRANe(4, similarity="mixed"), Cover(4)])
def test_array_api(ranker, make):
    table = make(X)
    expected = clone(ranker).fit(X)
    ranker = clone(ranker).fit(table)
    out = ranker.transform(table)
    back = ranker.inverse_transform(make(out))
    score = ranker.score(table)
    frame = clone(ranker).set_output(transform="pandas").fit_transform(table)
    for name in ("scores_", "ranking_", "support_"):
        assert type(getattr(ranker, name)) is np.ndarray
        np.testing.assert_array_equal(getattr(ranker, name), getattr(expected, name))
    assert type(out) is type(back) is np.ndarray
    np.testing.assert_array_equal(out, X[:, expected.support_])
    wanted = expected.inverse_transform(X[:, expected.support_])
    np.testing.assert_array_equal(back, wanted)
    np.testing.assert_array_equal(back[:, expected.support_], out)
    np.testing.assert_array_equal(frame.to_numpy(), out)
    assert score == expected.score(X)


def test_tags():
    plain = get_tags(FRANe())
    assert plain.input_tags.sparse
    assert not plain.input_tags.allow_nan
    assert not plain.input_tags.pairwise
    assert not plain.input_tags.categorical
    assert not plain.target_tags.required
    assert not plain.array_api_support  # arrays are taken, results are NumPy's
    assert plain.transformer_tags is not None
    assert get_tags(FRANe(missing="pairwise")).input_tags.allow_nan
    assert get_tags(FRANe(similarity="mixed")).input_tags.categorical
    assert get_tags(FRANe(similarity="precomputed")).input_tags.pairwise
    assert not get_tags(RandomRanking()).non_deterministic


FIXED = {"similarity": "euclidean", "quality": "gini", "tie_break": "denser"}


class Narrow(FRANe):
    """A subclass with fewer parameters than FRANe."""

    def __init__(self, n_features_to_select=3):
        super().__init__(n_features_to_select, **FIXED)


@pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning")
def test_a_subclass_with_fewer_parameters(tmp_path):
    ranker = clone(Narrow()).fit(X)
    wide = FRANe(3, **FIXED).fit(X)
    np.testing.assert_array_equal(ranker.scores_, wide.scores_)
    again = pickle.loads(pickle.dumps(ranker))
    threshold = float(wide.thresholds_[-1])
    for net in (ranker.network_, again.network_):
        assert net.at(threshold, X).n_edges == wide.network_.at(threshold, X).n_edges
    assert "4 half-samples" in repr(ranker.stability(X, n_halves=4))
    assert ranker.plan(X)["n_features"] == X.shape[1]
    ranker.report(tmp_path / "data.json", X)
    found = json.loads((tmp_path / "data.json").read_text())["parameters"]
    assert found["quality"] == "gini"
    if find_spec("bokeh") and find_spec("jinja2"):
        ranker.report(tmp_path / "page.html", X)
