"""Ranking AnnData: layers, sparse matrices, views, backed files, .h5ad and back."""

from __future__ import annotations

import json
import warnings
from functools import partial

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from franet import Cover, DataError, FRANe
from franet.anndata import rank_features as rank_genes
from franet.evaluation import evaluate
from franet.exceptions import UsageError
from franet.rankers import RandomRanking
from single_cells import GROUPS, counts, planted, same, tokens

# Some of the tables are of counts, which it would refuse.
rank_features = partial(rank_genes, normalize="none")


def function(smallest, largest, n):
    return np.linspace(largest, smallest, n)


HARD = {
    "cover": None,
    "names": Cover(
        include=["g1.1"],
        exclude=np.array([2]),
        cost={"g0": 2.0},
        groups=pd.Series(["a", "a", None] + ["b"] * 15, dtype=object),
    ),
    "function": FRANe(thresholds=function),
    "no winner": FRANe(min_mean_degree=1e9),
    "other": RandomRanking(random_state=np.random.RandomState(0)),
}


@pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning")
@pytest.mark.parametrize("ranker", HARD.values(), ids=HARD)
def test_round_trip(ranker, tmp_path):
    adata = planted()
    rank_features(adata, ranker=ranker)
    adata.write_h5ad(tmp_path / "a.h5ad")
    back = ad.read_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_frame_equal(back.var, adata.var)
    same(adata.uns["franet"], back.uns["franet"])
    assert (
        ("franet" in adata.varp) == ("franet" in back.varp) == (ranker != HARD["other"])
    )
    if "franet" in adata.varp:
        assert (adata.varp["franet"] != back.varp["franet"]).nnz == 0


def test_notes_keep_parameters_as_they_were_given():
    adata = planted()
    rank_features(adata, ranker=HARD["names"])
    params = adata.uns["franet"]["params"]
    assert list(params["include"]) == ["g1.1"]
    assert list(params["exclude"]) == [2]
    assert params["cost"] == '{"g0": 2.0}'
    rank_features(adata, ranker=HARD["function"])
    assert adata.uns["franet"]["params"]["thresholds"] == "function"


@pytest.mark.parametrize(
    "make", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array]
)
@pytest.mark.parametrize("ranker", [None, FRANe()], ids=["cover", "paper"])
def test_sparse_and_dense_integer_counts(make, ranker):
    table = counts()
    wanted = rank_features(
        ad.AnnData(table.astype(float)), inplace=False, ranker=ranker
    )
    for X in (make(table), make(table.astype(np.float32)), table):
        found = rank_features(ad.AnnData(X), inplace=False, ranker=ranker)
        pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)


def test_layer():
    adata = planted(np.random.default_rng(1).normal(scale=3.0, size=GROUPS.X.shape))
    adata.layers["log"] = sparse.csr_matrix(GROUPS.X)
    found = rank_features(adata, layer="log", inplace=False)
    wanted = rank_features(planted(), inplace=False)
    pd.testing.assert_frame_equal(found, wanted)
    other = rank_features(adata, n_top=4, inplace=False)
    assert list(other["franet_rank"]) != list(wanted["franet_rank"])


def test_a_layer_will_do_without_x():
    adata = ad.AnnData(layers={"log": GROUPS.X}, shape=GROUPS.X.shape)
    assert adata.X is None
    rank_features(adata, layer="log")
    assert adata.var["franet_selected"].sum() == 4
    with pytest.raises(DataError, match=r"adata has no X. Choose a layer: log\."):
        rank_features(adata)


def test_the_data_stay_as_they_are():
    X = sparse.csr_matrix(counts())
    adata = ad.AnnData(X.copy(), layers={"counts": X.copy()})
    rank_features(adata)
    assert (adata.X != X).nnz == 0
    assert adata.X.dtype == X.dtype
    assert adata.obs.empty


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_a_view_becomes_a_copy(make):
    whole = planted(make(GROUPS.X))
    view = whole[:50, ::-1]
    before = tokens(whole)
    with pytest.warns(ad.ImplicitModificationWarning, match="adata is a view") as seen:
        rank_features(view)
    assert [str(found.filename) for found in seen] == [__file__]
    assert not view.is_view
    assert view.shape == (50, 18)
    assert tokens(whole) == before
    wanted = rank_features(whole[:50, ::-1].copy(), inplace=False)
    pd.testing.assert_frame_equal(view.var, wanted)
    with pytest.warns(ad.ImplicitModificationWarning, match="adata is a view"):
        rank_features(cut := whole[:50], subset=True)
    assert cut.shape == (50, cut.var["franet_selected"].sum())
    assert tokens(whole) == before


def test_a_view_is_not_copied_for_a_frame():
    whole = planted()
    view = whole[:50]
    frame = rank_features(view, inplace=False)
    assert view.is_view
    assert list(view.var) == []
    pd.testing.assert_frame_equal(frame, rank_features(view.copy(), inplace=False))


def test_a_refused_warning_leaves_the_view_alone():
    view = planted()[:50]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ad.ImplicitModificationWarning):
            rank_features(view)
    assert view.is_view


@pytest.fixture(params=["dense", "csr", "csc"])
def file(request, tmp_path):
    X = sparse.csc_matrix(counts())
    adata = ad.AnnData(
        X.toarray() if request.param == "dense" else X.asformat(request.param)
    )
    adata.X = adata.X.astype(np.float32)
    adata.layers["other"] = adata.X[:, ::-1]
    adata.write_h5ad(tmp_path / "a.h5ad")
    return tmp_path / "a.h5ad"


def test_backed(file, monkeypatch, tmp_path):
    wanted = rank_features(ad.read_h5ad(file), inplace=False)
    adata = ad.read_h5ad(file, backed="r")
    before = file.read_bytes()
    with h5py.File(file) as content:
        stored = content["X" if "X/data" not in content else "X/data"].size
    n_values = read_values(monkeypatch)
    rank_features(adata)
    assert n_values == {"read": stored}  # every value once
    assert adata.isbacked
    pd.testing.assert_frame_equal(adata.var, wanted)
    adata.write_h5ad(tmp_path / "b.h5ad")
    back = ad.read_h5ad(tmp_path / "b.h5ad")
    pd.testing.assert_frame_equal(back.var, wanted)
    assert "franet" in back.varp and "franet" in back.uns
    assert file.read_bytes() == before
    layer = rank_features(adata, layer="other", inplace=False)
    assert list(layer["franet_rank"]) != list(wanted["franet_rank"])
    adata.file.close()


def read_values(monkeypatch):
    """Return a count of the values of X that are read from files."""
    seen = {"read": 0}
    index, direct = h5py.Dataset.__getitem__, h5py.Dataset.read_direct

    def note(dataset, values):
        if dataset.name in ("/X", "/X/data"):
            seen["read"] += values.size

    def getitem(self, *args, **kwargs):
        values = index(self, *args, **kwargs)
        note(self, np.asarray(values))
        return values

    def read_direct(self, target, *args, **kwargs):
        direct(self, target, *args, **kwargs)
        note(self, target)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", getitem)
    monkeypatch.setattr(h5py.Dataset, "read_direct", read_direct)
    return seen


def test_backed_views_and_subsets(file):
    adata = ad.read_h5ad(file, backed="r")
    view = adata[:40, [3, 5, 7, 9, 1]]
    wanted = rank_features(view.to_memory(), inplace=False)
    pd.testing.assert_frame_equal(rank_features(view, inplace=False), wanted)
    with pytest.raises(
        UsageError, match=r"view of a backed file.*adata\.to_memory\(\)"
    ):
        rank_features(view)
    with pytest.raises(
        UsageError, match=r"adata\.var\['k_selected'\]\]\.to_memory\(\)"
    ):
        rank_features(adata, subset=True, key_added="k")
    assert list(adata.var) == []
    kept = rank_features(adata, subset=True, inplace=False)
    assert kept["franet_selected"].all()
    adata.file.close()


def test_masked_values_are_missing():
    holes = np.zeros(GROUPS.X.shape, bool)
    holes[7, 5] = True
    adata = planted(np.ma.masked_array(GROUPS.X, holes))
    ranker = FRANe(missing="pairwise")
    wanted = planted(np.where(holes, np.nan, GROUPS.X))
    pd.testing.assert_frame_equal(
        rank_features(adata, ranker=ranker, inplace=False),
        rank_features(wanted, ranker=ranker, inplace=False),
    )
    with pytest.raises(DataError, match=f"'{GROUPS.names[5]}' holds NaN in '7'"):
        rank_features(adata)
    with pytest.raises(DataError, match=GROUPS.names[5]):
        FRANe().fit(adata)


FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_matrix}


@pytest.fixture(params=[False, True], ids=["memory", "backed"])
def opened(request, tmp_path):
    """Return what hands AnnData over in memory, or in a file."""

    def hand_over(adata):
        if not request.param:
            return adata
        adata.write_h5ad(tmp_path / "a.h5ad")
        return ad.read_h5ad(tmp_path / "a.h5ad", backed="r")

    return hand_over


@pytest.mark.parametrize("form", FORMS)
def test_what_is_fitted_can_be_transformed_scored_and_reported(form, opened, tmp_path):
    adata = opened(planted(FORMS[form](GROUPS.X)))
    ranker = FRANe(n_features_to_select=4)
    kept = ranker.fit_transform(adata)
    assert sparse.issparse(kept) == (form != "dense")
    dense = kept.toarray() if sparse.issparse(kept) else kept
    np.testing.assert_array_equal(dense, GROUPS.X[:, ranker.support_])
    frame = pd.DataFrame(GROUPS.X, columns=GROUPS.names)
    assert ranker.score(adata) == pytest.approx(ranker.score(frame), rel=1e-9)
    ranker.report(tmp_path / "a.json", adata)
    ranker.report(tmp_path / "b.json", frame)
    found, wanted = (json.loads((tmp_path / f"{x}.json").read_text()) for x in "ab")
    assert found["n_examples"] == wanted["n_examples"] == 100
    assert [row["name"] for row in found["features"]] == [
        row["name"] for row in wanted["features"]
    ]
    adata.file.close()


def test_tables_of_pandas_from_anndata():
    ranker = FRANe(n_features_to_select=4).set_output(transform="pandas")
    kept = ranker.fit_transform(planted())
    assert list(kept) == list(ranker.get_feature_names_out())


def test_variables_must_be_those_of_the_fit():
    adata = planted()
    ranker = FRANe().fit(adata)
    with pytest.raises(DataError, match=r"adata\[:, ranker\.feature_names_in_\]"):
        ranker.transform(adata[:, ::-1])
    with pytest.raises(DataError, match="adata has no X"):
        ranker.transform(ad.AnnData(layers={"log": GROUPS.X}, var=adata.var))
    # Without names in the fit there are none to compare.
    kept = FRANe().fit(GROUPS.X).transform(adata)
    np.testing.assert_array_equal(kept, ranker.transform(adata))


def test_evaluate():
    choice = {"folds": 3, "measures": "rmae", "references": False}
    tables = (planted(), planted(sparse.csr_matrix(GROUPS.X)), GROUPS.X)
    rows = [evaluate(X, rankers="variance", **choice).table().rows[0] for X in tables]
    assert rows[0][:3] == rows[1][:3] == rows[2][:3]  # what follows depends on time
