"""Panels of genes: batches, where they start, which genes may be picked, counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from franet import Cover, DataError, FRANe
from franet.anndata import rank_features
from franet.exceptions import UsageError
from franet.pairs.columns._centered import CenteredColumns
from franet.rankers import ColumnSubset, Variance
from single_cells import GROUPS, planted

M = len(GROUPS.X)
BATCH = np.where(np.arange(M) % 3 == 0, "b", "a")


def shifted(amount=30.0, kind=np.asarray):
    """Return planted groups; those of the last one are higher in batch b."""
    X = GROUPS.X - GROUPS.X.min()
    last = [j for j, name in enumerate(GROUPS.names) if name.startswith("g3")]
    X[np.ix_(BATCH == "b", last)] += amount
    adata = planted(kind(X))
    adata.obs["sample"] = pd.Categorical(BATCH)
    return adata


def within(adata):
    """Return the table, centered by hand."""
    X = adata.X.toarray() if sparse.issparse(adata.X) else adata.X.copy()
    for batch in ("a", "b"):
        X[BATCH == batch] -= X[BATCH == batch].mean(axis=0)
    return X


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("ranker", [None, FRANe(), Variance(), ColumnSubset(4)])
def test_genes_explain_within_batches(kind, ranker):
    adata = shifted(kind=kind)
    found = rank_features(adata, batch_key="sample", ranker=ranker, inplace=False)
    wanted = rank_features(planted(within(adata)), ranker=ranker, inplace=False)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-6)


def test_without_batches_their_difference_is_what_is_picked():
    adata = shifted()
    best = rank_features(adata, inplace=False)["franet_rank"].idxmin()
    assert best.startswith("g3")
    rank_features(adata, batch_key="sample")
    assert not adata.var["franet_rank"].idxmin().startswith("g3")
    assert adata.uns["franet"]["batch_key"] == "sample"


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_drawn_rows_keep_their_batch(kind, monkeypatch):
    """Of many cells some are drawn: the moments are those within batches of all."""
    monkeypatch.setattr("franet.cover._rows._ENTRIES", 40 * GROUPS.X.shape[1])
    monkeypatch.setattr("franet.cover._rows.LEAST", 40)
    adata = shifted(kind=kind)
    table = CenteredColumns(adata.X, pd.factorize(BATCH)[0], adata.var_names)
    ranker = Cover(4).fit(table)
    assert ranker.n_drawn_ == 40 < M
    again = Cover(4).fit(CenteredColumns(within(adata), np.zeros(M, int)))
    assert ranker.order_.tolist() == again.order_.tolist()
    np.testing.assert_allclose(ranker.explained_, again.explained_, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_pieces_of_a_centered_table(kind):
    adata = shifted(kind=kind)
    wanted = within(adata)
    table = CenteredColumns(adata.X, pd.factorize(BATCH)[0])
    np.testing.assert_allclose(table.read(3, 7), wanted[:, 3:7], atol=1e-12)
    np.testing.assert_allclose(table.read_rows(5, 20), wanted[5:20], atol=1e-12)
    np.testing.assert_allclose(table.load(), wanted, atol=1e-12)


def test_a_gene_that_is_constant_in_each_batch_is_constant():
    adata = shifted()
    adata.X[:, 2] = np.where(BATCH == "b", 0.1 + 0.2, 1.0 / 3.0)
    frame = rank_features(adata, batch_key="sample", inplace=False)
    assert frame["franet_rank"].iloc[2] == adata.n_vars


@pytest.mark.parametrize(
    ("change", "key", "said"),
    [
        (lambda batch: batch, "smple", r"batch_key='smple': adata.obs has no such col"),
        (lambda batch: [*batch[:-1], None], "sample", "'cell29' has no batch|no batch"),
        (
            lambda batch: [*batch[:-1], "c"],
            "sample",
            r"batch_key='sample': the batch 'c' has 1 cell, and at least 10 are needed",
        ),
        (lambda batch: [*batch[:-9], *"ccccccccc"], "sample", "'c' has 9 cells"),
    ],
)
def test_batches_that_do_not_fit(change, key, said):
    adata = shifted()
    adata.obs["sample"] = change(list(BATCH))
    with pytest.raises((DataError, UsageError), match=said) as caught:
        rank_features(adata, batch_key=key)
    assert "\n" not in str(caught.value)
    assert list(adata.var) == []


def picks(adata, n=4, **options):
    frame = rank_features(adata, n_top=n, inplace=False, **options)
    return list(frame.sort_values("franet_rank").index[:n])


def test_start_comes_first(tmp_path):
    adata = planted()
    path = tmp_path / "panel.txt"
    path.write_text("g3.1\n# a remark\ng2.1\n")
    (tmp_path / "panel.csv").write_text("rank,feature\n1,g3.1\n2,g2.1\n")
    by_list = picks(adata, start=["g3.1", "g2.1"])
    assert by_list[:2] == ["g3.1", "g2.1"]
    for given in (path, str(path), tmp_path / "panel.csv", ["g3.1", "g2.1", "g3.1"]):
        assert picks(adata, start=given) == by_list
    own = picks(adata, start=path, ranker=Cover(weights="variance", include=["g0"]))
    assert own[:3] == ["g3.1", "g2.1", "g0"]
    assert all(name.startswith("g0") for name in picks(adata, 6, start=["g0*"]))
    rank_features(adata, start=path)
    assert list(adata.uns["franet"]["start"]) == ["g3.1", "g2.1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("g22.1\n", "start: There is no feature 'g22.1'. Did you mean 'g2.1'"),
        ("MT-*\n", r"start: No feature matches 'MT-\*'"),
        ("# none\n", "names no gene; write one a line"),
        ("", "panel.txt: .* empty"),
    ],
)
def test_start_from_a_file_that_does_not_fit(tmp_path, text, said):
    (tmp_path / "panel.txt").write_text(text)
    with pytest.raises((DataError, UsageError), match=said) as caught:
        picks(planted(), start=tmp_path / "panel.txt")
    assert "\n" not in str(caught.value)


def test_start_from_a_table_without_genes(tmp_path):
    (tmp_path / "panel.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="has no column 'feature' or 'gene'"):
        picks(planted(), start=tmp_path / "panel.csv")


LEVEL = 1.2


def detected():
    """Return values of which genes are found in 10 %, 20 %, … of the cells."""
    X = np.abs(GROUPS.X) + 0.1
    share = (1 + np.arange(X.shape[1])) / X.shape[1]
    X[np.arange(M)[:, None] >= np.round(share * M)] = 0.0
    adata = planted(X)
    adata.var["mean_counts"] = X.mean(axis=0)[::-1]
    adata.var["wanted"] = share > 0.5
    return adata, share


@pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning")
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"min_cells": 0.5}, lambda adata, X, share: share >= 0.5),
        ({"max_cells": 0.5}, lambda adata, X, share: share <= 0.5),
        ({"mask_var": "wanted"}, lambda adata, X, share: adata.var["wanted"]),
        ({"min_level": LEVEL}, lambda adata, X, share: X.mean(axis=0) >= LEVEL),
        ({"max_level": LEVEL}, lambda adata, X, share: X.mean(axis=0) <= LEVEL),
        (
            {"max_level": LEVEL, "level": "mean_counts"},
            lambda adata, X, share: X.mean(axis=0)[::-1] <= LEVEL,
        ),
    ],
)
def test_limits(kind, options, allowed):
    adata, share = detected()
    fits = np.asarray(allowed(adata, adata.X, share))
    assert 3 <= fits.sum() <= adata.n_vars - 3
    adata.X = kind(adata.X)
    if "mask_var" in options:
        by_array = picks(adata, 3, mask_var=adata.var["wanted"].to_numpy())
        assert by_array == picks(adata, 3, **options)
    for ranker in (None, ColumnSubset()):
        chosen = picks(adata, 3, ranker=ranker, **options)
        assert fits[adata.var_names.get_indexer(chosen)].all()
    start = list(adata.var_names[~fits][:3])
    assert picks(adata, 3, start=start, **options) == start
    free = rank_features(adata, inplace=False)["franet_representative"]
    frame = rank_features(adata, inplace=False, **options)["franet_representative"]
    assert (frame.notna() | free.isna())[~fits].any()  # they are represented


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_cells": 2.0}, "min_cells=2.0: give a share from 0 to 1"),
        ({"max_cells": "all"}, "max_cells='all': give a share"),
        ({"max_level": "low"}, "max_level='low': give a number"),
        (
            {"level": "mean_counts"},
            "level='mean_counts' is for min_level, max_level and",
        ),
        ({"level": "means", "max_level": 1}, "level='means': adata.var has no such"),
        ({"mask_var": "highly"}, "mask_var='highly': adata.var has no such column"),
        ({"mask_var": "mean_counts"}, "mask_var='mean_counts': expected True or False"),
        ({"mask_var": [True]}, "mask_var: expected True or False for each of"),
        ({"max_level": -1.0}, "leave no gene that could be picked"),
        ({"start": ["g0"], "ranker": Variance()}, "Variance picks no genes one by one"),
        ({"use_raw": True}, "use_raw=True, but adata has no raw"),
        ({"use_raw": True, "layer": "a"}, "use_raw=True and layer='a' name two tables"),
        ({"normalize": "log2"}, "normalize='log2': give 'log1p' or 'none'"),
        ({"normalize": "log1p"}, "normalize='log1p' is for raw counts, and the values"),
    ],
)
def test_arguments_that_do_not_fit(options, said):
    adata, _ = detected()
    with pytest.raises((DataError, UsageError)) as caught:
        rank_features(adata, **options)
    assert said in str(caught.value).replace(" is not right", "")
    assert "\n" not in str(caught.value)
    assert "franet" not in adata.uns


COUNTS = np.random.default_rng(0).poisson(np.exp(GROUPS.X)) + 1


@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_matrix, lambda X: sparse.csc_array(X * 1.0)]
)
def test_raw_counts(kind):
    adata = planted(kind(COUNTS))
    with pytest.raises(DataError, match="The values are raw counts") as caught:
        rank_features(adata)
    assert "normalize='log1p'" in str(caught.value)
    totals = COUNTS.sum(axis=1, keepdims=True)
    logs = np.log1p(COUNTS / totals * np.median(totals))
    wanted = rank_features(planted(logs), inplace=False)
    found = rank_features(adata, normalize="log1p", inplace=False)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-6)
    plain = rank_features(adata, normalize="none", inplace=False)
    assert list(plain["franet_score"]) != list(found["franet_score"])


@pytest.mark.parametrize("X", [COUNTS.clip(max=2), COUNTS + 0.5, -COUNTS])
def test_what_is_no_count(X):
    rank_features(planted(np.asarray(X, float)), n_top=3)


def test_raw_values():
    adata = planted()
    adata.raw = planted(GROUPS.X**3)
    part = adata[:, ::-1].copy()
    found = rank_features(part, use_raw=True, inplace=False)
    wanted = rank_features(planted(GROUPS.X**3)[:, ::-1].copy(), inplace=False)
    pd.testing.assert_frame_equal(found, wanted)
    rank_features(part, use_raw=True)
    assert part.uns["franet"]["layer"] == "raw"
    part.var_names = ["other", *part.var_names[1:]]
    with pytest.raises(DataError, match="use_raw=True: 'other' is not in"):
        rank_features(part, use_raw=True)


def selected(adata, **options):
    frame = rank_features(adata, inplace=False, **options).sort_values("franet_rank")
    return [name for name in frame.index if frame["franet_selected"][name]]


@pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning")
@pytest.mark.parametrize("ranker", [None, ColumnSubset()])
def test_a_budget_of_levels(ranker):
    adata = planted()
    rng = np.random.default_rng(3)
    adata.var["price"] = rng.uniform(1.0, 9.0, adata.n_vars)
    price = adata.var["price"]
    options = {"ranker": ranker, "level": "price", "n_top": 8}
    free = selected(adata, ranker=ranker, n_top=8)
    total = 0.6 * price[free].sum()
    found = selected(adata, max_total=total, **options)
    assert 3 <= len(found) <= 8
    assert price[found].sum() <= total
    # Up to the first that is too much, the picks are the same.
    fits = int(np.searchsorted(price[free].cumsum(), total, side="right"))
    assert 0 < fits < 8
    assert found[:fits] == free[:fits]
    # Each pick is one that a ranking with the picks before it would make.
    for k in range(fits, len(found)):
        left = total - price[found[:k]].sum()
        dear = [n for n in adata.var_names if price[n] > left and n not in found[:k]]
        kind = {} if ranker is None else {"ranker": ranker}
        more = {"start": found[:k], "n_top": k + 1, **kind}
        mask = ~adata.var_names.isin(dear)
        assert selected(adata, mask_var=mask, **more)[k] == found[k]
    if len(found) < 8:
        others = price.drop(found)
        assert others.min() > total - price[found].sum()
    assert selected(adata, max_total=1e9, **options) == free


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_total": 0.0}, "max_total=0.0: give a positive number"),
        ({"max_total": 0.1, "level": "price"}, "is less than the genes have that are"),
        (
            {"max_total": 3.0, "level": "price", "start": ["g0", "g1"]},
            "max_total=3.0 is",
        ),
        ({"max_total": 3.0}, "has a level below 0. Choose values"),
        ({"max_total": 3.0, "ranker": Variance()}, "Variance picks no genes one by"),
    ],
)
def test_budgets_that_do_not_fit(options, said):
    adata = planted()
    adata.var["price"] = 2.0
    with pytest.raises((DataError, UsageError)) as caught:
        rank_features(adata, **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
