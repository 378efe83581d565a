"""How sure a ranking is: planted groups, copies, noise, and slow definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.exceptions import NotFittedError

from franet import Cover, DegenerateRankingWarning, FRANe
from franet.datasets import make_groups
from franet.estimators._draws import Draws
from franet.estimators._stability import _of_new_halves
from franet.evaluation.stability import jaccard, kuncheva
from franet.exceptions import DataError, UsageError
from franet.rankers import (
    RANKERS,
    ColumnSubset,
    FacilityLocation,
    RandomRanking,
    Variance,
    get,
)
from tables import duplicated, random

FIELDS = ["median_rank", "rank_low", "rank_high", "selected", "kuncheva", "jaccard"]
FIELDS += ["interchangeable", "n_degenerate", "ranking", "picked_again", "held"]
FIELDS += ["agreement", "permuted", "sentence"]


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        if isinstance(getattr(one, name), np.ndarray)
        else getattr(one, name) == getattr(other, name)
        for name in FIELDS
    )


def naive_stand_in(r, pick, ranks, top):
    """Return what a draw selects in place of a pick: the selected most like it."""
    selected = [j for j in range(len(ranks)) if ranks[j] <= top]
    if pick in selected:
        return pick
    close = [(-r[pick, j], j) for j in selected if r[pick, j] >= 0.9]
    return min(close)[1] if close else None


def naive_agreement(X, draws, top):
    """Return how much of one half the other selects, by name and with stand-ins."""
    r = np.abs(np.corrcoef(X.T)).round(9)
    by_name, alike = [], []
    for one, other in zip(draws[::2], draws[1::2], strict=False):
        for here, there in ((one, other), (other, one)):
            for pick in np.flatnonzero(here <= top):
                found = naive_stand_in(r, pick, there, top)
                by_name.append(found == pick)
                alike.append(found is not None)
    return np.mean(by_name), np.mean(alike)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("n_halves", [2, 7, 40])
def test_every_number_by_its_definition(n_halves, level):
    X = np.hstack(
        [random(40, 12, seed=1), random(40, 12, seed=1) + 0.1 * random(40, 12)]
    )
    ranker = Variance(7).fit(X)
    found = ranker.stability(X, n_halves, level=level, random_state=3)
    draws = Draws(ranker, X, n_halves, 3)
    draws.run(1)
    for j, ranks in enumerate(np.sort(draws.ranks.T, axis=1).tolist()):
        low, high = found.rank_low[j], found.rank_high[j]
        below, above = sum(k < low for k in ranks), sum(k > high for k in ranks)
        most = (1 - level) / 2 * n_halves + 1e-9
        assert max(below, above) <= most
        # Not wider than needed: one rank less on a side is too little.
        assert sum(k <= low for k in ranks) > most
        assert sum(k >= high for k in ranks) > most
        assert found.median_rank[j] == np.median(ranks)
        assert found.selected[j] == np.mean([k <= 7 for k in ranks])
    tops = [np.flatnonzero(ranks <= 7).tolist() for ranks in draws.ranks]
    assert found.kuncheva == pytest.approx(kuncheva(tops, 24))
    assert found.jaccard == pytest.approx(jaccard(tops))
    picks = np.flatnonzero(ranker.support_)
    assert np.flatnonzero(np.isfinite(found.held)).tolist() == picks.tolist()
    assert np.isfinite(found.picked_again).tolist() == np.isfinite(found.held).tolist()
    r = np.abs(np.corrcoef(X.T)).round(9)
    for pick in picks.tolist():
        by = [naive_stand_in(r, pick, ranks, 7) for ranks in draws.ranks]
        shares = {j: by.count(j) / n_halves for j in {*by} - {None, pick}}
        stand_ins = found.interchangeable.get(pick, {})
        assert stand_ins == pytest.approx(shares)
        assert list(stand_ins.values()) == sorted(stand_ins.values(), reverse=True)
    alone, held = naive_agreement(X, draws.ranks, 7)
    assert found.agreement == pytest.approx(held)
    # What new halves would do is as much, on the average, as the other halves do.
    n_seen = 14 * (n_halves // 2)
    for shares, mean in ((found.picked_again, alone), (found.held, held)):
        bound = 0.5 / (7 * n_halves)
        assert n_seen > 0
        assert np.nanmean(shares) == pytest.approx(np.clip(mean, bound, 1 - bound))
    order = np.argsort(found.selected[picks], kind="stable")
    assert (np.diff(found.picked_again[picks][order]) >= -1e-12).all()
    assert (found.held[picks] >= found.picked_again[picks]).all()


def test_shares_of_new_halves_by_slow_bisection():
    rng = np.random.default_rng(0)
    found = rng.random((20, 9)) < rng.random(9)
    shares = _of_new_halves(found, 0.3)
    z = norm.ppf((found.sum(axis=0) + 0.5) / 21) / np.sqrt(3)
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        if norm.cdf(z + middle).mean() > 0.3:
            high = middle
        else:
            low = middle
    np.testing.assert_allclose(shares, norm.cdf(z + low), atol=1e-9)


@pytest.mark.parametrize("mean", [0.0, 1.0])
@pytest.mark.parametrize("n_draws", [2, 20])
def test_no_share_is_certain(mean, n_draws):
    for found in (np.zeros((n_draws, 3), bool), np.ones((n_draws, 3), bool)):
        shares = _of_new_halves(found, mean)
        assert ((shares > 0) & (shares < 1)).all()
        np.testing.assert_allclose(shares, mean, atol=0.5 / n_draws)


@pytest.mark.parametrize("ranker", [FacilityLocation(5), ColumnSubset(5), Cover(5)])
def test_strong_groups_are_sure(ranker):
    made = make_groups(200, 5, 8, redundancy=0.85, n_noise=5, random_state=0)
    found = ranker.fit(made.X).stability(made.X)
    picks = np.flatnonzero(ranker.support_)
    assert set(picks) == set(made.representatives)
    assert (found.selected[picks] == 1.0).all()
    assert found.rank_high[picks].max() <= 5
    assert found.kuncheva == found.jaccard == 1.0
    assert found.interchangeable == {}
    others = np.flatnonzero(~ranker.support_)
    assert found.rank_low[others].min() > 5
    wanted = "These 5 are stable: other samples would pick the same features."
    assert found.sentence == wanted
    assert found.permuted.max() < 0.7
    assert found.picked_again[picks].min() > 0.95


@pytest.mark.parametrize("ranker", [FacilityLocation(4), ColumnSubset(4)])
@pytest.mark.parametrize("redundancy", [0.99, 1.0])
def test_members_of_a_group_are_interchangeable(ranker, redundancy):
    made = make_groups(100, 4, 5, redundancy=redundancy, n_noise=20, random_state=1)
    found = ranker.fit(made.X).stability(made.X, 80)
    picks = np.flatnonzero(ranker.support_)
    assert sorted(made.groups[picks]) == [0, 1, 2, 3]
    # One of each group in every draw, so that something always takes the place.
    assert found.agreement == 1.0
    assert found.held[picks].min() > 0.95
    assert found.sentence.startswith("Other samples would pick other members")
    for pick in picks:
        group = set(np.flatnonzero(made.groups == made.groups[pick])) - {pick}
        stand_ins = set(found.interchangeable.get(int(pick), {}))
        assert stand_ins <= group
        if redundancy == 1.0:
            assert stand_ins == group
            assert 0.05 < found.selected[pick] < 0.4  # one of five


def test_exact_copies_share_the_draws():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) * [8.0, 4.0, 2.0, 0.9, 1.0, 1.1]
    X = np.column_stack([X, X[:, 0], -X[:, 1] + 3.0])
    ranker = ColumnSubset(3, standardize=False).fit(X)
    assert np.flatnonzero(ranker.support_).tolist() == [0, 1, 2]
    found = ranker.stability(X, 100)
    assert set(found.interchangeable) == {0, 1}
    for pick, copy in [(0, 6), (1, 7)]:
        assert 0.3 < found.selected[pick] < 0.7
        assert list(found.interchangeable[pick]) == [copy]
        assert found.agreement == 1.0
    assert found.stand_ins("x1") == found.stand_ins(1)
    assert list(found.stand_ins(1)) == ["x7"]
    assert found.stand_ins(2) == {}
    assert found.selected[2] == 1.0


def test_noise_is_not_sure():
    X = np.random.default_rng(0).normal(size=(100, 50))
    found = Variance(10).fit(X).stability(X, 60)
    assert (found.rank_high - found.rank_low).mean() > 20
    # A seed that is set does not make chance look sure.
    found = RandomRanking(10, random_state=0).fit(X).stability(X, 60)
    assert abs(found.kuncheva) < 0.03
    assert (found.rank_high - found.rank_low).min() > 35
    assert found.interchangeable == {}


def test_ties_are_not_sure():
    X = np.repeat(random(40, 1), 10, axis=1)
    with pytest.warns(DegenerateRankingWarning):
        ranker = Variance(3).fit(X)
    assert ranker.ranking_.tolist() == list(range(1, 11))
    found = ranker.stability(X, 100)
    assert found.n_degenerate == 100
    assert (found.rank_low <= 2).all()
    assert (found.rank_high >= 9).all()
    assert abs(found.kuncheva) < 0.05
    assert "100 rankings were degenerate." in str(found)


def test_everything_selected():
    X = random(30, 6)
    found = Variance().fit(X).stability(X, 10, top=6)
    assert found.kuncheva == found.jaccard == 1.0
    assert (found.selected == 1.0).all()


@pytest.mark.parametrize("name", sorted(RANKERS))
def test_every_ranker(name):
    X = random(24, 10)
    found = get(name)(3).fit(X).stability(X, 2, n_jobs=1)
    assert found.selected.sum() == pytest.approx(3.0)
    assert (found.rank_low <= found.median_rank).all()
    assert (found.median_rank <= found.rank_high).all()


def test_names():
    X = duplicated()
    names = [f"gene {j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    plain = Variance(4).fit(X).stability(X)
    for table in (frame, pl.DataFrame(frame.to_dict("list"))):
        found = Variance(4).fit(table).stability(table)
        assert same(found, plain)
        assert found.names.tolist() == names
    rows = found.table().to_pandas()
    assert len(rows) == len(names)
    assert rows["rank"].tolist() == list(range(1, len(names) + 1))
    assert rows["feature"][0] == names[int(np.argmin(found.ranking))]
    assert rows["or alike"].notna().tolist() == [True] * 4 + [False] * (len(names) - 4)
    with pytest.raises(DataError, match="There is no feature 'gene 99'"):
        found.stand_ins("gene 99")


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("ranker", [Variance(4), FRANe(4, n_thresholds=10)])
def test_sparse_tables(form, ranker):
    X = np.where(np.abs(random(30, 12)) > 0.5, random(30, 12), 0.0)
    X = np.hstack([X, X])
    dense = ranker.fit(X).stability(X, 30, top=1)
    assert same(ranker.fit(form(X)).stability(form(X), 30, top=1), dense)
    # Of two copies one has to stay out.
    assert dense.interchangeable


def test_missing_values():
    X = np.column_stack([random(60, 5), random(60, 5)])
    X[::7, 3] = X[3::9, 9] = np.nan
    ranker = FRANe(1, missing="pairwise").fit(X)
    found = ranker.stability(X, 40)
    pick = int(np.argmin(found.ranking))
    assert pick < 5
    assert 0.2 < found.selected[pick] < 0.8
    assert next(iter(found.interchangeable[pick])) == pick + 5
    with pytest.raises(DataError, match="Column 3 holds NaN in row 0"):
        Variance().fit(random(60, 10)).stability(X)


def test_it_prints_itself():
    X = random(30, 20)
    found = Variance(5).fit(X).stability(X, 20, level=0.9)
    lines = str(found).splitlines()
    head = "feature rank median low high picked again or alike stand-ins"
    assert " ".join(lines[0].split()) == head
    assert lines[12:-1] == found.sentences
    assert found.sentences[0] == found.sentence
    assert found.sentences[-1].startswith("Measured by 20 half-samples")
    assert lines[-1].startswith(
        f"90 % intervals; first 5 of 20 features: Kuncheva {found.kuncheva:.2f}"
    )
    assert repr(found).startswith("<Stability: 20 half-samples, first 5 of 20 features")
    assert "<table>" in found._repr_html_()
    assert found.table(3).column("rank") == [1, 2, 3]
    with pytest.raises(UsageError, match="first=0"):
        found.table(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_halves": 1}, "n_halves=1: give a whole number of at least 2"),
        ({"n_halves": 2.0}, "n_halves must be a whole number, not 2.0"),
        ({"n_halves": True}, "n_halves must be a whole number, not True"),
        ({"top": 0}, "top=0: give a number of features from 1 to 8"),
        ({"top": 9}, "top=9"),
        ({"top": 0.5}, "top must be a whole number or None, not 0.5"),
        ({"level": 1}, "level=1: give a share between 0 and 1"),
        ({"level": "high"}, "level must be a number, not 'high'"),
        ({"random_state": -1}, "random_state=-1: give a whole number from 0 on"),
        ({"random_state": "x"}, "random_state must be a whole number or None"),
        ({"n_jobs": 0}, "n_jobs=0: give a number of threads"),
        ({"n_jobs": "all"}, "n_jobs must be a whole number or None, not 'all'"),
    ],
)
def test_bad_options(options, message):
    X = random(20, 8)
    with pytest.raises(UsageError) as caught:
        Variance().fit(X).stability(X, **options)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_bad_tables():
    frame = pd.DataFrame(random(20, 8)).add_prefix("gene ")
    ranker = Variance(3).fit(frame)
    with pytest.raises(NotFittedError):
        Variance().stability(frame)
    with pytest.raises(DataError, match="X has 7 features, the table of the fit had 8"):
        ranker.stability(frame.iloc[:, :7])
    swapped = frame[["gene 0", "gene 2", "gene 1", *frame.columns[3:]]]
    with pytest.raises(DataError, match="Column 1 of X is 'gene 2', that of the fit"):
        ranker.stability(swapped)
    with pytest.raises(DataError, match="need at least 4 samples, X has 3"):
        ranker.stability(frame[:3])
    with pytest.raises(UsageError, match="'precomputed' has no samples to draw"):
        W = np.abs(np.corrcoef(frame.T))
        FRANe(similarity="precomputed").fit(W).stability(W)


RANKINGS = [Cover(4), FRANe(4, n_thresholds=10), ColumnSubset(4), Variance(4)]


@pytest.mark.parametrize("ranker", RANKINGS, ids=lambda r: type(r).__name__)
def test_the_order_of_rows_does_not_matter(ranker):
    X = duplicated(40, 30, seed=2)
    X = np.vstack([X, X[:3]])
    expected = ranker.fit(X).stability(X, 6)
    for form in (np.asarray, sparse.csr_array):
        rows = np.random.default_rng(1).permutation(len(X))
        found = ranker.fit(form(X[rows])).stability(form(X[rows]), 6)
        np.testing.assert_array_equal(found.median_rank, expected.median_rank)
        np.testing.assert_array_equal(found.permuted, expected.permuted)
        assert found.agreement == expected.agreement


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_no_more_stable_than_permuted_columns(seed):
    X = np.random.default_rng(seed).normal(size=(60, 40))
    found = RandomRanking(10, random_state=0).fit(X).stability(X, random_state=seed)
    assert len(found.permuted) == 5
    assert found.sentence.startswith("No more stable than for permuted columns: one")
    assert found.sentences[1].startswith("The first pick, x")


def test_columns_that_are_looked_at_alone_are_not_permuted():
    X = random(40, 10)
    assert len(Variance(3).fit(X).stability(X, 4).permuted) == 0
    assert len(ColumnSubset(3).fit(X).stability(X, 4).permuted) == 5


def test_everything_is_picked():
    X = random(30, 6)
    ones = np.column_stack([X, np.ones(30)])
    choices = ((Cover(6), X), (Cover(6), ones), (Cover(2, include=[3, 1]), X))
    for ranker, table in choices:
        found = ranker.fit(table).stability(table, 4)
        assert not found.has_choice
        assert found.sentence.startswith("No other features could be picked")
        assert len(found.permuted) == 0
    assert Cover(5).fit(ones).stability(ones, 4).has_choice


def test_a_feature_that_has_to_be_picked_is_picked():
    X = random(40, 10)
    ranker = Cover(3, include=[7]).fit(X)
    found = ranker.stability(X, 6)
    assert found.picked_again[7] == found.held[7] == 1.0
    assert np.nanmin(found.picked_again) < 1.0


def test_many_picks():
    X = random(30, 600)
    found = Variance(300).fit(X).stability(X, 4)
    assert np.isfinite(found.held).sum() == 256
    assert found.selected.sum() == pytest.approx(300)


def test_halves_are_not_compared_with_chance(monkeypatch):
    """What a half suggests is not asked, and to find out takes most of its time."""
    X = random(40, 12)
    ranker = Cover(4).fit(X)
    wanted = ranker.stability(X, 4)

    def stop(*_):
        raise AssertionError("a half was compared with permuted columns")

    monkeypatch.setattr("franet.cover._fit.beats_chance", stop)
    again = ranker.stability(X, 4)
    np.testing.assert_array_equal(again.rank_high, wanted.rank_high)
    assert again.permuted.tolist() == wanted.permuted.tolist()
