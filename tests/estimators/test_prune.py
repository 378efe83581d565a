"""drop_correlated and DropCorrelated: guarantees, ties, preferences, bad input."""

from __future__ import annotations

import pickle
import sys
import warnings

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import clone

import franet
from franet import DataError, DropCorrelated, drop_correlated
from franet.exceptions import CollapsedBlockWarning, UsageError
from naive_prune import check, correlations, table
from tables import TABLES

NAMES = list("abcdefgh")
DRAW = np.random.default_rng(3)
BASE = DRAW.standard_normal((50, 3))
# a, d, g alike; b, e, h alike; c, f alike.
X = BASE[:, np.arange(8) % 3] + 0.25 * DRAW.standard_normal((50, 8))
FRAME = pd.DataFrame(X, columns=NAMES)
CUTOFFS = (0.5, 0.8, 0.9, 0.95, 1.0)


@pytest.mark.filterwarnings("ignore::franet.exceptions.CollapsedBlockWarning")
@pytest.mark.parametrize("seed", range(60))
def test_guarantees(seed):
    T = table(seed)
    for cutoff in CUTOFFS:
        try:
            found = drop_correlated(T, cutoff)
        except DataError as err:
            assert "All columns are constant" in str(err)
            continue
        check(T, found, cutoff)
        if seed % 3:
            check(T, drop_correlated(T, cutoff, exact=True), cutoff)


@pytest.mark.filterwarnings("ignore::franet.exceptions.CollapsedBlockWarning")
@pytest.mark.parametrize("name", TABLES)
def test_small_tables(name):
    T = np.asarray(TABLES[name], float)
    check(T, drop_correlated(T, 0.9), 0.9)


def copies(R):
    """Return for each column the first one that it is a copy of."""
    return np.argmax((np.abs(R) > 1 - 1e-9) | np.eye(len(R), dtype=bool), axis=1)


@pytest.mark.filterwarnings("ignore::franet.exceptions.CollapsedBlockWarning")
@pytest.mark.parametrize("seed", range(2, 62))
def test_order_names_units_and_signs_do_not_matter(seed):
    T = table(seed)
    m, n = T.shape
    draw = np.random.default_rng(seed)
    columns, rows = draw.permutation(n), draw.permutation(m)
    units = draw.choice([-2.0, -0.3, 1.0, 17.0], n)
    other = pd.DataFrame((T * units)[rows][:, columns], columns=draw.permutation(n))
    other.columns = [f"c{name}" for name in other.columns]
    first = copies(correlations(T))
    for cutoff in (0.7, 0.9):
        one = drop_correlated(T, cutoff).kept
        two = columns[drop_correlated(other, cutoff).kept]
        assert set(first[one]) == set(first[two])


def test_two_alike_columns_tie_by_content():
    T = np.exp(np.column_stack([BASE[:, 0], BASE[:, 0] + 0.05 * BASE[:, 1]]))
    kept = drop_correlated(T, 0.8).kept
    assert 1 - kept == drop_correlated(T[:, ::-1], 0.8).kept


def test_of_copies_the_first_is_kept():
    T = np.column_stack([BASE[:, 0], BASE[:, 1], -3 * BASE[:, 0] + 7, BASE[:, 0]])
    found = drop_correlated(T, 1.0)
    assert list(found.kept) == [0, 1]
    np.testing.assert_allclose(found.r, [1, 1, -1, 1])
    assert found.groups[0].tolist() == [2, 3]


def test_similarity_spearman():
    T = np.exp(3 * X)
    T[:, 4] *= -1
    ranks = rankdata(T, axis=0)
    for cutoff in (0.6, 0.9):
        found = drop_correlated(T, cutoff, similarity="spearman")
        check(ranks, found, cutoff)
    assert found.symbol == "|ρ|"


def test_mixed_columns():
    letters = pd.Series(list("abcabdac") * 6)
    frame = FRAME.iloc[:48].assign(
        letter=letters, same=letters.str.upper(), name=[f"row {i}" for i in range(48)]
    )
    found = drop_correlated(frame, similarity="mixed")
    columns = found.columns()
    dropped = dict(zip(columns["column"], columns["representative"], strict=True))
    assert dropped["same"] == "letter"
    # No two of its texts are equal: nothing can represent it.
    assert "name" in found.kept_names
    out = found.transform(frame)
    assert list(out.columns) == found.kept_names
    plain = drop_correlated(FRAME, similarity="mixed")
    np.testing.assert_array_equal(plain.r, drop_correlated(FRAME).r)


def test_gaps_are_compared_pairwise():
    T = X.copy()
    T[np.random.default_rng(0).random(T.shape) < 0.3] = np.nan
    check(T, drop_correlated(T, 0.7), 0.7)
    with pytest.raises(DataError, match=r"Column 0 holds NaN in row \d+\..*pairwise"):
        drop_correlated(T, missing="error")
    with pytest.raises(DataError, match="holds NaN"):
        drop_correlated(T, similarity="spearman")
    with pytest.raises(DataError, match="holds NaN"):
        drop_correlated(sparse.csr_array(T))


def test_keep():
    plain = drop_correlated(FRAME, 0.8)
    wanted = [name for name in NAMES if name not in plain.kept_names][:1]
    for keep in (wanted, [NAMES.index(wanted[0])], np.array(wanted)):
        found = drop_correlated(FRAME, 0.8, keep=keep)
        assert wanted[0] in found.kept_names
        check(X, found, 0.8)


@pytest.mark.parametrize(
    "cost", [{"g": 0.1, "e": 0.1, "f": 0.1}, pd.Series({"g": 0.1, "e": 0.1, "f": 0.1})]
)
def test_cost(cost):
    found = drop_correlated(FRAME, 0.8, cost=cost)
    assert found.kept_names == ["e", "f", "g"]
    assert found.cost == pytest.approx(0.3)
    exact = drop_correlated(FRAME, 0.8, cost=cost, exact=True)
    assert exact.least == pytest.approx(0.3)


def test_cost_of_gaps():
    T = pd.DataFrame(
        np.column_stack([BASE[:, 0], BASE[:, 0]]), columns=["gaps", "full"]
    )
    T.iloc[:5, 0] = np.nan
    assert drop_correlated(T, cost=1 + T.isna().mean()).kept_names == ["full"]


def test_constant_columns():
    T = FRAME.assign(same=1.0, none=np.nan)
    found = drop_correlated(T, 0.8)
    assert list(found.constant) == [8, 9]
    rows = found.dropped[found.dropped["reason"] == "constant"]
    assert list(rows["column"]) == ["same", "none"]
    assert rows["representative"].isna().all()
    assert rows["r"].isna().all()
    kept = drop_correlated(T, 0.8, keep_constant=True).kept_names
    assert kept == [*found.kept_names, "same", "none"]
    assert drop_correlated(T, 0.8, keep=["same"]).kept_names[-1] == "same"
    ones = np.ones((5, 3))
    with pytest.raises(
        DataError, match=r"All columns are constant.*keep_constant=True"
    ):
        drop_correlated(ones)
    assert list(drop_correlated(ones, keep_constant=True).kept) == [0, 1, 2]
    one = np.column_stack([ones, np.arange(5)])
    assert list(drop_correlated(one).kept) == [3]


def test_exact_shows_what_was_proven():
    found = drop_correlated(FRAME, 0.8, exact=True)
    assert found.least == len(found.kept) == 3
    assert "proven: fewer or cheaper columns cannot" in repr(found)
    assert drop_correlated(FRAME, 0.8).least is None
    with_constant = drop_correlated(
        FRAME.assign(one=1), 0.8, exact=True, keep_constant=True
    )
    assert with_constant.least == len(with_constant.kept) == 4


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_to_frame(library):
    found = drop_correlated(FRAME, 0.8)
    frame = found.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == ["column", "representative", "r", "reason"]
    assert list(frame["column"]) == [n for n in NAMES if n not in found.kept_names]
    with pytest.raises(UsageError, match="choose 'pandas' or 'polars'"):
        found.to_frame("arrow")


def test_dropped_without_data_frames(monkeypatch):
    found = drop_correlated(FRAME, 0.8)
    assert isinstance(found.dropped, pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(found.dropped, pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert found.dropped.columns == ["column", "representative", "r", "reason"]
    assert len(found.dropped.rows) == 8 - len(found.kept)


def test_transform_leaves_a_table_what_it_is():
    found = drop_correlated(FRAME, 0.8)
    kept = found.kept
    np.testing.assert_array_equal(found.transform(X), X[:, kept])
    np.testing.assert_array_equal(found.transform(X.tolist()), X[:, kept])
    out = found.transform(FRAME)
    pd.testing.assert_frame_equal(out, FRAME[found.kept_names])
    polars = found.transform(pl.DataFrame(X, schema=NAMES))
    assert polars.columns == found.kept_names
    for form in ("csr", "csc", "coo"):
        S = sparse.coo_array(X).asformat(form)
        np.testing.assert_array_equal(found.transform(S).toarray(), X[:, kept])
    adata = anndata.AnnData(X)
    adata.var_names = NAMES
    assert list(found.transform(adata).var_names) == found.kept_names
    assert list(drop_correlated(adata, 0.8).kept) == list(kept)
    with pytest.raises(DataError, match=r"shape \(50, 3\), but 8 columns"):
        found.transform(X[:, :3])
    with pytest.raises(DataError, match="Column 0 of X is 'h', that of the table"):
        found.transform(FRAME[NAMES[::-1]])


def test_estimator_is_the_function():
    selector = DropCorrelated(0.8).fit(FRAME)
    found = drop_correlated(FRAME, 0.8)
    assert list(selector.kept_) == list(found.kept)
    np.testing.assert_array_equal(selector.representative_, found.representative)
    np.testing.assert_array_equal(selector.representative_corr_, found.r)
    assert selector.n_features_ == len(found.kept) == selector.support_.sum()
    assert list(selector.get_feature_names_out()) == found.kept_names
    np.testing.assert_array_equal(selector.transform(FRAME), X[:, found.kept])
    out = selector.set_output(transform="pandas").transform(FRAME)
    assert list(out.columns) == found.kept_names
    back = pickle.loads(pickle.dumps(selector))
    assert repr(back.result_) == repr(found)
    assert not hasattr(clone(selector), "kept_")
    gaps = FRAME.mask(FRAME > 2)
    assert DropCorrelated().fit_transform(gaps).shape[0] == 50


@pytest.mark.parametrize("kind", [np.float32, np.int32, bool])
def test_types(kind):
    T = (X * 10).astype(kind) if kind is not bool else X > 0
    before = T.copy()
    check(T.astype(float), drop_correlated(T, 0.6), 0.6)
    np.testing.assert_array_equal(T, before)


def test_sparse_tables():
    T = np.where(np.random.default_rng(1).random(X.shape) < 0.08, X, 0.0)
    T[:, 5] = -2 * T[:, 1]
    for S in (sparse.csr_array(T), sparse.csc_array(T), sparse.csr_array(X)):
        check(S.toarray(), drop_correlated(S, 0.8), 0.8)


def wide(n=2600):
    draw = np.random.default_rng(0)
    T = draw.standard_normal((30, 60))[:, draw.integers(0, 60, n)]
    return T + 0.4 * draw.standard_normal(T.shape)


@pytest.mark.filterwarnings("ignore::franet.exceptions.CollapsedBlockWarning")
def test_tables_in_files(tmp_path, monkeypatch):
    from franet.estimators import _prune
    from franet.pruning import _select

    T = wide()
    expected = drop_correlated(T, 0.85)
    R = np.corrcoef(T.T)
    np.fill_diagonal(R, 0)
    check(T, expected, 0.85, R)
    np.save(tmp_path / "table.npy", np.asfortranarray(T))
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    np.testing.assert_array_equal(drop_correlated(mapped, 0.85).kept, expected.kept)
    # As if it did not fit into memory.
    monkeypatch.setattr(_prune, "available_bytes", lambda: 1000)
    found = drop_correlated(mapped, 0.85)
    check(T, found, 0.85, R)
    keep = found.kept[:2].tolist()
    # Too many links to be stored.
    monkeypatch.setitem(_select.select.__kwdefaults__, "most_links", 100)
    found = drop_correlated(mapped, 0.85, keep=keep)
    check(T, found, 0.85, R)
    T[3, 7] = np.nan
    np.save(tmp_path / "gaps.npy", np.asfortranarray(T))
    mapped = np.load(tmp_path / "gaps.npy", mmap_mode="r")
    with pytest.raises(DataError, match="Column 7 holds NaN in row 3"):
        drop_correlated(mapped)


def test_number_of_threads():
    T = wide()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (drop_correlated(T, 0.85, n_jobs=k) for k in (1, 2))
    np.testing.assert_array_equal(one.representative, two.representative)
    np.testing.assert_array_equal(one.r, two.r)


def spectra(n=40):
    places = np.linspace(0, 1, n)
    draw = np.random.default_rng(0)
    heights = draw.random((30, 1)) + 0.2
    return heights * np.exp(
        -(((places - 0.5) / (0.4 + 0.1 * draw.random((30, 1)))) ** 2)
    )


def test_warning_of_a_block_that_collapses():
    T = pd.DataFrame(spectra(), columns=[f"nm{j}" for j in range(40)])
    with pytest.warns(CollapsedBlockWarning, match="Use Cover, which") as caught:
        found = drop_correlated(T, 0.6)
    assert caught[0].filename == __file__
    assert "A block of 40 connected columns is represented by Column 'nm" in str(
        caught[0].message
    )
    assert len(found.collapsed) == 1
    with pytest.warns(CollapsedBlockWarning) as caught:
        DropCorrelated(0.6).fit(T)
    assert caught[0].filename == __file__
    # Copies lose nothing.
    assert drop_correlated(BASE[:, [0] * 30 + [1]]).collapsed == []


BAD = [
    ({"cutoff": 0}, r"'cutoff' parameter .* in the range \(0\.0, 1\.0\]"),
    ({"cutoff": 1.5}, r"'cutoff' parameter .* in the range \(0\.0, 1\.0\]"),
    ({"cutoff": np.nan}, "'cutoff' parameter"),
    ({"cutoff": "0.9"}, "'cutoff' parameter"),
    ({"similarity": "euclidean"}, "'similarity' parameter"),
    ({"keep": ["age"]}, "keep: There is no feature 'age'"),
    ({"keep": ["A"]}, "keep: There is no feature 'A'. Did you mean 'a'?"),
    ({"keep": [8]}, "keep: There is no feature 8: positions go from 0 to 7"),
    ({"keep": "a"}, r"keep: give a list of features, such as \['a'\]"),
    (
        {"keep": ["a", "b", "g"], "cutoff": 0.8},
        r"^keep: Column 'a' \(0\) and Column 'g' \(6\) have \|r\| = 0\.9\d\d, at or "
        r"above cutoff=0\.8\. Leave out one of them, or raise the cutoff\.$",
    ),
    ({"cost": {"a": -1}}, "cost: 'a' has -1; give a finite number that is positive"),
    ({"cost": [1, 2]}, r"cost: its shape is \(2,\), but there are 8 features"),
    ({"missing": "drop"}, "'missing' parameter"),
    ({"keep_constant": "yes"}, "'keep_constant' parameter"),
    ({"exact": 2}, "'exact' parameter"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_input(given, message):
    for use in (drop_correlated, lambda T, **more: DropCorrelated(**more).fit(T)):
        with pytest.raises(ValueError, match=message) as caught:
            use(FRAME, **given)
        assert "\n" not in str(caught.value)


def test_every_parameter_has_an_effect():
    T = FRAME.assign(one=1.0)
    T.iloc[3, 2] = np.nan
    T["d"] = np.exp(4 * T["d"])
    cases = {
        "cutoff": {"cutoff": 0.5},
        "keep": {"keep": ["d"], "cutoff": 0.5},
        "cost": {"cost": {"d": 0.01}},
        "keep_constant": {"keep_constant": True},
        "exact": {"exact": True},
    }
    plain = drop_correlated(T, 0.8)
    for given in cases.values():
        other = drop_correlated(T, **{"cutoff": 0.8, **given})
        assert other.summary() != plain.summary()
    # Those that change the comparison, or refuse what is there.
    for refused in ({"missing": "error"}, {"similarity": "spearman"}):
        with pytest.raises(DataError):
            drop_correlated(T, 0.8, **refused)
    apart = {"missing", "similarity", "n_jobs"}
    assert cases.keys() | apart == DropCorrelated().get_params().keys()


def test_repr():
    found = drop_correlated(FRAME.assign(one=1.0), 0.8)
    assert repr(found).splitlines() == [
        "3 of 9 columns kept at |r| 0.8",
        "5 dropped, represented by 3 kept columns",
        "1 constant column dropped",
    ]
    html = found._repr_html_()
    assert html.count("<tr>") == 1 + 3
    assert "3 of 9 columns kept" in html
    apart = drop_correlated(BASE)
    assert repr(apart) == "3 of 3 columns kept at |r| 0.9"
    assert "<table" not in apart._repr_html_()
    assert franet.CorrelatedColumns is type(apart)
