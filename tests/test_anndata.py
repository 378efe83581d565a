"""Ranking AnnData: what is found, and where it is written."""

from __future__ import annotations

import subprocess
import sys

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from numpydoc.validate import validate
from scipy import sparse

import franet
from franet import Cover, FRANe
from franet.anndata import rank_features
from franet.exceptions import UsageError
from franet.rankers import ColumnSubset, Variance
from single_cells import GROUPS, counted, counts, planted, same, tokens
from test_docstrings import CHECKS

COLUMNS = [
    "franet_score",
    "franet_rank",
    "franet_selected",
    "franet_community",
    "franet_representative",
]


def check_frame(frame, names):
    assert list(frame.index) == list(names)
    assert list(frame) == COLUMNS
    assert sorted(frame["franet_rank"]) == list(range(1, len(names) + 1))
    by_rank = frame.sort_values("franet_rank")
    assert (np.diff(by_rank["franet_score"]) <= 0).all()
    n = frame["franet_selected"].sum()
    assert by_rank["franet_selected"].iloc[:n].all()


def test_planted_groups():
    adata = planted()
    assert rank_features(adata) is None
    check_frame(adata.var, GROUPS.names)
    var = adata.var
    heads = np.array(GROUPS.names)[GROUPS.representatives]
    assert set(var.index[var["franet_selected"]]) == set(heads)
    assert list(var["franet_representative"]) == list(heads[GROUPS.groups])
    # Communities are the groups, the largest first.
    assert list(var["franet_community"]) == [str(g) for g in GROUPS.groups]
    # The best representative is the first category.
    best = var["franet_rank"].idxmin()
    assert var["franet_representative"].cat.categories[0] == best


def test_dtypes_are_those_of_scanpy():
    adata = planted()
    rank_features(adata)
    kinds = [str(kind) for kind in adata.var.dtypes]
    assert kinds == ["float64", "int64", "bool", "category", "category"]
    assert isinstance(adata.varp["franet"], sparse.csr_matrix)


def test_the_network_connects_genes_with_their_representatives():
    adata = planted()
    rank_features(adata)
    matrix = adata.varp["franet"].toarray()
    r = np.abs(np.corrcoef(GROUPS.X.T))
    head = GROUPS.representatives[GROUPS.groups]
    expected = np.zeros_like(r)
    members = np.flatnonzero(head != np.arange(len(head)))
    expected[members, head[members]] = r[members, head[members]]
    np.testing.assert_allclose(matrix, expected + expected.T, atol=1e-12)


def test_it_says_what_the_ranker_says():
    adata = planted()
    rank_features(adata)
    ranker = Cover("auto", weights="variance").fit(GROUPS.X)
    np.testing.assert_array_equal(adata.var["franet_score"], ranker.scores_)
    np.testing.assert_array_equal(adata.var["franet_rank"], ranker.ranking_)
    notes = adata.uns["franet"]
    assert notes["n_suggested"] == ranker.n_features_suggested_ == 4
    assert notes["summary"] == ranker.summary()
    np.testing.assert_array_equal(notes["explained"], ranker.explained_)


def test_notes():
    adata = planted()
    adata.layers["log"] = adata.X
    rank_features(adata, layer="log", n_top=5)
    notes = adata.uns["franet"]
    assert notes["version"] == franet.__version__
    assert (notes["ranker"], notes["layer"]) == ("Cover", "log")
    assert notes["n_selected"] == notes["params"]["n_features_to_select"] == 5
    assert notes["params"]["similarity"] == "correlation"
    assert notes["communities"] == "components"
    assert "random_state" not in notes["params"]  # it is None
    rank_features(adata)
    assert adata.uns["franet"]["layer"] == "X"
    assert adata.uns["franet"]["params"]["n_features_to_select"] == "auto"


@pytest.mark.parametrize(
    "ranker", [None, FRANe(), Variance()], ids=["cover", "paper", "variance"]
)
def test_genes_without_variance_rank_last(ranker):
    adata = ad.AnnData(counts().astype(float))
    rank_features(adata, ranker=ranker, n_top=3, normalize="none")
    silent = adata.var.iloc[-2:]
    assert list(silent["franet_rank"]) == [13, 14]
    assert not silent["franet_selected"].any()
    if not isinstance(ranker, Variance):
        assert silent["franet_representative"].isna().all()
        assert silent["franet_community"].isna().all()
        assert adata.var["franet_representative"].notna().sum() == 12


def test_not_in_place():
    adata = planted()
    before = tokens(adata)
    frame = rank_features(adata, inplace=False)
    check_frame(frame, GROUPS.names)
    assert tokens(adata) == before
    cut = rank_features(adata, inplace=False, subset=True)
    assert tokens(adata) == before
    pd.testing.assert_frame_equal(cut, frame[frame["franet_selected"]])


def test_subset():
    adata = planted(layers={"log": GROUPS.X})
    whole = rank_features(adata, inplace=False)
    assert rank_features(adata, subset=True) is None
    kept = whole.index[whole["franet_selected"]]
    assert list(adata.var_names) == list(kept)
    columns = whole["franet_selected"].to_numpy()
    np.testing.assert_array_equal(adata.X, GROUPS.X[:, columns])
    assert adata.layers["log"].shape == adata.shape == (100, 4)
    assert adata.varp["franet"].shape == (4, 4)
    assert list(adata.var["franet_rank"]) == list(whole["franet_rank"][columns])
    assert list(adata.var["franet_representative"]) == list(kept)


def test_n_top():
    for n_top, n in [(1, 1), (7, 7), (np.int64(2), 2), (0.5, 9), (18, 18)]:
        frame = rank_features(planted(), n_top=n_top, inplace=False)
        assert frame["franet_selected"].sum() == n
        assert set(frame["franet_rank"][frame["franet_selected"]]) == {*range(1, n + 1)}


def test_the_ranker_may_say_how_many():
    for ranker, n in [
        (Cover(3), 3),
        (Cover(), 4),
        (FRANe(), 9),
        (Variance(2), 2),
    ]:
        frame = rank_features(planted(counted()), ranker=ranker, inplace=False)
        assert frame["franet_selected"].sum() == n
        choice = {"ranker": ranker, "inplace": False, "n_top": 5}
        if n in (2, 3):
            with pytest.raises(
                UsageError, match=r"n_top=5, but ranker has n_features_to"
            ):
                rank_features(planted(counted()), **choice)
        else:
            frame = rank_features(planted(counted()), **choice)
            assert frame["franet_selected"].sum() == 5


def test_the_given_ranker_stays_as_it_is():
    ranker = Cover(include=["g1.1"])
    adata = planted()
    rank_features(adata, ranker=ranker, n_top=4)
    assert ranker.include == ["g1.1"]
    assert ranker.n_features_to_select == "auto"
    assert not hasattr(ranker, "scores_")


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_genes_are_named_in_parameters(make):
    ranker = Cover(include=["g1.1"], exclude=["g0"])
    adata = planted(make(GROUPS.X))
    rank_features(adata, ranker=ranker, n_top=4)
    assert adata.var["franet_rank"]["g1.1"] == 1
    assert not adata.var["franet_selected"]["g0"]
    assert adata.var["franet_representative"]["g0"].startswith("g0.")
    groups = dict.fromkeys(GROUPS.names[:9], "left")
    rank_features(adata, ranker=Cover(groups=groups), n_top=4)
    assert adata.var["franet_selected"][:9].sum() == 1


def test_papers_method():
    adata = planted()
    rank_features(adata, ranker=FRANe())
    check_frame(adata.var, GROUPS.names)
    fitted = FRANe().fit(GROUPS.X)
    by, _ = fitted.network_.redundant_with()
    names = np.array(GROUPS.names)
    own = np.where(by < 0, np.arange(18), by)
    assert list(adata.var["franet_representative"]) == list(names[own])
    labels = fitted.network_.communities().labels
    assert list(adata.var["franet_community"]) == [str(k) for k in labels]
    assert (adata.varp["franet"] != fitted.network_.adjacency).nnz == 0
    notes = adata.uns["franet"]
    assert notes["threshold"] == fitted.threshold_
    assert notes["communities"] == fitted.network_.communities().method
    assert "summary" not in notes


@pytest.mark.parametrize("ranker", [ColumnSubset(3), Variance(3)])
def test_other_rankers_leave_nothing_of_an_earlier_call(ranker):
    adata = planted(counted())
    rank_features(adata, key_added="kept")
    rank_features(adata)
    rank_features(adata, ranker=ranker)
    names = [name for name in adata.var if name.startswith("franet")]
    assert names == COLUMNS[:3]
    assert list(adata.varp) == ["kept"]
    assert "kept_representative" in adata.var
    notes = adata.uns["franet"]
    assert set(notes) == {"version", "ranker", "params", "layer", "n_selected"}
    assert notes["ranker"] == type(ranker).__name__
    fitted = ranker.fit(counted())
    np.testing.assert_array_equal(adata.var["franet_selected"], fitted.support_)


def test_key():
    adata = planted()
    rank_features(adata, key_added="cover")
    assert list(adata.var) == [name.replace("franet", "cover") for name in COLUMNS]
    assert (list(adata.varp), list(adata.uns)) == (["cover"], ["cover"])


def test_twice_is_the_same():
    first, second = planted(), planted()
    rank_features(first)
    rank_features(second, ranker=Cover(weights="variance", n_jobs=1))
    rank_features(second)
    pd.testing.assert_frame_equal(first.var, second.var)
    same(first.uns["franet"], second.uns["franet"])


def test_genes_count_by_variance():
    """Of two groups that are alike otherwise, that of the larger variance is first."""
    for first in (0, 1):
        adata = planted(GROUPS.X * np.where(GROUPS.groups == first, 3.0, 1.0))
        rank_features(adata)
        assert GROUPS.groups[adata.var["franet_rank"].argmin()] == first
        assert adata.uns["franet"]["params"]["weights"] == "variance"
        wanted = Cover(weights="variance").fit(adata.X)
        np.testing.assert_array_equal(adata.var["franet_rank"], wanted.ranking_)
        rank_features(adata, ranker=Cover())
        assert adata.uns["franet"]["params"]["weights"] == "robust"


def scaled(X, clip=10.0):
    """Return what `scanpy.pp.scale` makes of a table."""
    with np.errstate(invalid="ignore"):
        Z = np.nan_to_num((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
    return Z.clip(-clip, clip)


def expressed(n_cells=300, n_genes=200):
    """Return logarithms of counts, many of them of genes that few cells express."""
    rng = np.random.default_rng(0)
    activity = rng.gamma(0.5, 1.0, (n_cells, 4))
    mean = activity[:, rng.integers(4, size=n_genes)] * rng.lognormal(-3, 2, n_genes)
    return np.log1p(rng.poisson(mean)).astype(np.float32)


@pytest.mark.parametrize("clip", [4.0, 10.0, np.inf])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_scaled_values_are_noted(make, clip):
    X = expressed()
    found = rank_features(ad.AnnData(make(X)), inplace=False)
    assert found["franet_selected"].any()
    Z = scaled(X, clip)
    if np.isfinite(clip):  # columns that are clipped vary less
        deviation = Z.std(axis=0)[X.std(axis=0) > 0]
        assert np.mean(abs(deviation - 1) < 0.05) < 0.9
    adata = ad.AnnData(make(Z))
    with pytest.warns(UserWarning, match="weights='variance' means little") as seen:
        rank_features(adata)
    assert [str(each.filename) for each in seen] == [__file__]
    text = str(seen[0].message)
    assert "% of the columns have a standard deviation within 5 % of 1" in text
    assert text.endswith("such as a layer, or set weights='robust'.")
    assert adata.uns["franet"]["params"]["weights"] == "variance"
    rank_features(adata, ranker=Cover())  # without a warning
    rank_features(adata, ranker=Cover(weights=np.ones(adata.n_vars)))
    rank_features(adata, ranker=Variance(3))


def test_a_part_of_scaled_cells_is_noted():
    X = np.random.default_rng(0).exponential(size=(3000, 100))
    Z = scaled(X, np.inf)[:300]
    assert np.mean(abs(Z.std(axis=0) - 1) < 0.05) < 0.9
    rank_features(ad.AnnData(X[:300]), n_top=3, inplace=False)  # without a warning
    with pytest.warns(UserWarning, match=r"a mean within 0.2 of 0 and a standard dev"):
        rank_features(ad.AnnData(Z), n_top=3, inplace=False)


@pytest.mark.parametrize(
    "X",
    [
        counts(),
        (counts() > 3).astype(np.int8),
        np.where(np.arange(18) < 12, 1.0, 2.0) * GROUPS.X / 4.0,
        1e200 * GROUPS.X,
        1e-200 * GROUPS.X,
    ],
    ids=["counts", "binary", "two thirds", "huge", "tiny"],
)
def test_other_values_are_not_noted(X):
    rank_features(ad.AnnData(X), n_top=3, normalize="none")


def test_importing_it_loads_nothing_heavy():
    code = "import sys, franet.anndata; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "franet.anndata" in loaded
    assert not {"anndata", "pandas", "sklearn", "numba", "h5py"} & set(loaded)


def test_docstring():
    errors = validate("franet.anndata.rank_features")["errors"]
    assert [f"{code}: {text}" for code, text in errors if code in CHECKS] == []
