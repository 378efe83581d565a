"""How sure a ranking is: planted groups, copies, noise, and slow definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from franet import DegenerateRankingWarning, FRANe
from franet.datasets import make_groups
from franet.estimators._draws import Draws
from franet.evaluation.stability import jaccard, kuncheva
from franet.exceptions import DataError, UsageError
from franet.pairs.alike import REDUNDANT
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
FIELDS += ["interchangeable", "n_degenerate", "ranking"]


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in FIELDS
    )


def naive_stand_ins(X, ranks, ranking, top):
    """Return stand-ins pair by pair: of all that is left, the most alike first."""
    r = np.abs(np.corrcoef(X.T)).round(9)
    found = {}
    for draw in ranks:
        lost = [j for j in np.argsort(ranking) if ranking[j] <= top < draw[j]]
        gained = [j for j in range(len(draw)) if draw[j] <= top < ranking[j]]
        while lost and gained:
            pairs = [(-r[a, b], lost.index(a), b) for a in lost for b in gained]
            strength, at, b = min(pairs)
            if -strength < REDUNDANT:
                break
            place = found.setdefault(int(lost.pop(at)), {})
            place[b] = place.get(b, 0) + 1 / len(ranks)
            gained.remove(b)
    return found


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("n_boot", [2, 7, 40])
def test_every_number_by_its_definition(n_boot, level):
    X = np.hstack(
        [random(40, 12, seed=1), random(40, 12, seed=1) + 0.1 * random(40, 12)]
    )
    ranker = Variance(7).fit(X)
    found = ranker.stability(X, n_boot, level=level, random_state=3)
    draws = Draws(ranker, X, n_boot, "bootstrap", 3)
    draws.run(1)
    for j, ranks in enumerate(np.sort(draws.ranks.T, axis=1).tolist()):
        low, high = found.rank_low[j], found.rank_high[j]
        below, above = sum(k < low for k in ranks), sum(k > high for k in ranks)
        most = (1 - level) / 2 * n_boot + 1e-9
        assert max(below, above) <= most
        # Not wider than needed: one rank less on a side is too little.
        assert sum(k <= low for k in ranks) > most
        assert sum(k >= high for k in ranks) > most
        assert found.median_rank[j] == np.median(ranks)
        assert found.selected[j] == np.mean([k <= 7 for k in ranks])
    tops = [np.flatnonzero(ranks <= 7).tolist() for ranks in draws.ranks]
    assert found.kuncheva == pytest.approx(kuncheva(tops, 24))
    assert found.jaccard == pytest.approx(jaccard(tops))
    wanted = naive_stand_ins(X, draws.ranks, ranker.ranking_, 7)
    assert found.interchangeable.keys() == wanted.keys()
    for pick, stand_ins in found.interchangeable.items():
        assert stand_ins == pytest.approx(wanted[pick])
        assert list(stand_ins.values()) == sorted(stand_ins.values(), reverse=True)
        covered = found.selected[pick] + sum(wanted[pick].values())
        assert found.covered[pick] == pytest.approx(covered)


@pytest.mark.parametrize("method", ["bootstrap", "half"])
@pytest.mark.parametrize("ranker", [FacilityLocation(5), ColumnSubset(5)])
def test_strong_groups_are_sure(ranker, method):
    made = make_groups(200, 5, 8, redundancy=0.9, n_noise=5, random_state=0)
    found = ranker.fit(made.X).stability(made.X, method=method)
    picks = np.flatnonzero(ranker.support_)
    assert set(picks) == set(made.representatives)
    assert (found.selected[picks] == 1.0).all()
    assert found.rank_high[picks].max() <= 5
    assert found.kuncheva == found.jaccard == 1.0
    assert found.interchangeable == {}
    others = np.flatnonzero(~ranker.support_)
    assert found.rank_low[others].min() > 5


@pytest.mark.parametrize("ranker", [FacilityLocation(4), ColumnSubset(4)])
@pytest.mark.parametrize("redundancy", [0.99, 1.0])
def test_members_of_a_group_are_interchangeable(ranker, redundancy):
    made = make_groups(100, 4, 5, redundancy=redundancy, n_noise=20, random_state=1)
    found = ranker.fit(made.X).stability(made.X, 80)
    picks = np.flatnonzero(ranker.support_)
    assert sorted(made.groups[picks]) == [0, 1, 2, 3]
    # One of each group in every draw, so that something always takes the place.
    np.testing.assert_allclose(found.covered[picks], 1.0)
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
        assert found.covered[pick] == pytest.approx(1.0)
    assert found.stand_ins("x1") == found.stand_ins(1)
    assert list(found.stand_ins(1)) == ["x7"]
    assert found.stand_ins(2) == {}
    assert found.selected[2] == 1.0


def test_picks_that_repeat_each_other_need_a_newcomer_each():
    # Two of three copies are selected: what the third replaces is one, not both.
    x = np.random.default_rng(0).normal(size=(50, 1))
    X = np.hstack([9 * x, 9 * x, 9 * x, np.random.default_rng(1).normal(size=(50, 3))])
    found = Variance(2).fit(X).stability(X, 60)
    np.testing.assert_allclose(found.covered[:2], 1.0)
    assert found.selected[:3].sum() == pytest.approx(2.0)
    taken = sum(found.interchangeable[pick][2] for pick in (0, 1))
    assert taken == pytest.approx(found.selected[2])


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
    assert "100 draws gave a degenerate ranking." in str(found)


def test_everything_selected():
    X = random(30, 6)
    found = Variance().fit(X).stability(X, 10, top=6)
    assert found.kuncheva == found.jaccard == 1.0
    assert (found.selected == 1.0).all()


@pytest.mark.parametrize("name", sorted(RANKERS))
@pytest.mark.parametrize("method", ["bootstrap", "half"])
def test_every_ranker(name, method):
    X = random(24, 10)
    found = get(name)(3).fit(X).stability(X, 2, method=method, n_jobs=1)
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
    assert rows["covered"].notna().tolist() == [True] * 4 + [False] * (len(names) - 4)
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
    found = Variance(5).fit(X).stability(X, 20, method="half", level=0.9)
    lines = str(found).splitlines()
    head = "feature rank median low high selected covered interchangeable with"
    assert " ".join(lines[0].split()) == head
    assert len(lines) == 2 + 10 + 2
    assert lines[12] == "20 draws (half), 90 % intervals."
    assert lines[13].startswith(
        f"First 5 of 20 features: Kuncheva {found.kuncheva:.2f}"
    )
    assert repr(found).startswith("<Stability: 20 draws (half), first 5 of 20 features")
    assert "<table>" in found._repr_html_()
    assert found.table(3).column("rank") == [1, 2, 3]
    with pytest.raises(UsageError, match="first=0"):
        found.table(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_boot": 1}, "n_boot=1: give a whole number of at least 2"),
        ({"n_boot": 2.0}, "n_boot must be a whole number, not 2.0"),
        ({"n_boot": True}, "n_boot must be a whole number, not True"),
        ({"top": 0}, "top=0: give a number of features from 1 to 8"),
        ({"top": 9}, "top=9"),
        ({"top": 0.5}, "top must be a whole number or None, not 0.5"),
        ({"level": 1}, "level=1: give a share between 0 and 1"),
        ({"level": "high"}, "level must be a number, not 'high'"),
        ({"method": "jackknife"}, "method='jackknife': choose one of bootstrap, half"),
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
    with pytest.raises(DataError, match="'half' needs at least 4 examples, X has 3"):
        ranker.stability(frame[:3], method="half")
    with pytest.raises(UsageError, match="'precomputed' has no examples to draw"):
        W = np.abs(np.corrcoef(frame.T))
        FRANe(similarity="precomputed").fit(W).stability(W)
