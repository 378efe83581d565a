"""Ranks, the test of Friedman and its post-hoc tests, the test on one data set."""

from __future__ import annotations

import csv
from itertools import pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest
from numpydoc.validate import validate
from scipy import stats

from data import shared_dir
from franet.evaluation import statistics
from franet.evaluation.statistics import (
    average_ranks,
    bonferroni_dunn,
    correlated_t_test,
    friedman,
    nemenyi,
    ranks,
    wins,
)
from franet.evaluation.statistics.ranks import from_ranks, within
from franet.exceptions import DataError, UsageError
from test_docstrings import CHECKS

# Demšar (2006), table 6: AUC of C4.5, with m, with cf, with both. On the last but one
# set he ranks two equal numbers 2 and 3: one of them was larger before rounding.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def paper():
    """Return the table of the paper on FRANe, and the names of its rankers."""
    folder = shared_dir()
    path = folder / "paper" / "results.csv" if folder else None
    if path is None or not path.exists():
        pytest.skip("the table of the paper is not here: set FRANET_DATA")
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return np.array([[float(x) for x in row[4:]] for row in rows]), header[4:]


# Ranks and wins


def test_the_ranks_of_the_paper():
    table, names = paper()
    assert names == ["FRANe", "Laplace", "NDFS", "AgnoS-S", "MCFS", "SPEC"]
    least = average_ranks(table, ties="min").round(2)
    assert least.tolist() == [1.88, 2.54, 2.88, 4.04, 3.19, 4.42]
    mean = average_ranks(table).round(2)
    assert mean.tolist() == [1.88, 3.10, 3.42, 4.06, 3.75, 4.79]
    assert wins(table).tolist() == [12, 4, 5, 4, 3, 1]


def test_the_ranks_of_demsar():
    mean = average_ranks(DEMSAR, lower_is_better=False)
    assert mean.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]


def test_ranks_by_counting():
    """A rank is one more than the better ones, and half of the others that tie."""
    table = np.random.default_rng(0).integers(0, 5, (30, 6)) / 4
    for lower, ties in product((True, False), ("average", "min")):
        sign = 1 if lower else -1
        expected = np.empty(table.shape)
        for (i, j), value in np.ndenumerate(table):
            better = (sign * table[i] < sign * value).sum()
            tied = (table[i] == value).sum() - 1
            expected[i, j] = 1 + better + (tied / 2 if ties == "average" else 0)
        found = ranks(table, ties=ties, lower_is_better=lower)
        np.testing.assert_array_equal(found, expected)


def test_wins_of_scores():
    table = np.array([[0.9, 0.9, 0.1], [0.2, 0.3, 0.1]])
    assert wins(table).tolist() == [0, 0, 2]
    assert wins(table, lower_is_better=False).tolist() == [1, 2, 0]


def test_a_data_frame_is_a_table():
    frame = pd.DataFrame(DEMSAR, columns=list("abcd"))
    np.testing.assert_array_equal(average_ranks(frame), average_ranks(DEMSAR))


# Friedman and after


def test_friedman_on_the_table_of_the_paper():
    table, _ = paper()
    found = friedman(table)
    assert f"{found.p_value:.0e}" == "2e-07"
    assert found.n_sets == 26
    np.testing.assert_allclose(found.ranks, average_ranks(table))


@pytest.mark.parametrize("table", [DEMSAR, np.random.default_rng(1).random((9, 5))])
def test_friedman_as_in_scipy(table):
    expected = stats.friedmanchisquare(*table.T)
    found = friedman(table)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)


def test_friedman_as_in_demsar():
    found = friedman(DEMSAR, lower_is_better=False, correct_ties=False)
    assert round(found.statistic, 2) == 9.28
    assert round(found.f_statistic, 2) == 3.69
    assert found.f_p_value == pytest.approx(stats.f.sf(found.f_statistic, 3, 39))


def test_friedman_by_permutation():
    """χ² is an approximation; all orders of a small table say how good it is."""
    table = np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 2, 3]])
    found = friedman(table).statistic
    orders = list(permutations((1, 2, 3)))
    sums = (np.sum(rows, axis=0) for rows in product(orders, repeat=5))
    larger = [((s - 10.0) ** 2).sum() / 5 >= found - 1e-9 for s in sums]
    assert friedman(table).p_value == pytest.approx(np.mean(larger), abs=0.03)


def test_friedman_at_the_ends():
    same = friedman(np.ones((5, 3)))
    assert (same.statistic, same.p_value, same.f_p_value) == (0.0, 1.0, 1.0)
    sure = friedman([[1, 2, 3]] * 5)
    assert sure.statistic == pytest.approx(10.0)
    assert (sure.f_statistic, sure.f_p_value) == (np.inf, 0.0)


def test_the_critical_differences_of_demsar():
    at = {alpha: nemenyi(DEMSAR, alpha=alpha) for alpha in (0.05, 0.1)}
    assert round(at[0.05].critical_difference, 2) == 1.25
    assert round(at[0.1].critical_difference, 2) == 1.12
    with_control = bonferroni_dunn(DEMSAR, 0, lower_is_better=False)
    # 2.394 · √(4·5/(6·14)), which Demšar gives as 1.16
    assert with_control.critical_difference == pytest.approx(1.168, abs=5e-4)
    tenth = bonferroni_dunn(DEMSAR, 0, alpha=0.1)
    assert tenth.critical_difference == pytest.approx(
        2.128 * np.sqrt(20 / 84), abs=5e-4
    )


def test_the_findings_of_demsar():
    """At 0.10, C4.5 is worse than C4.5+m and C4.5+m+cf, not than C4.5+cf."""
    found = bonferroni_dunn(DEMSAR, 0, alpha=0.1, lower_is_better=False)
    assert found.groups() == [[2, 0]]
    assert (found.p_values[0, [1, 3]] < 0.1).all()
    assert found.p_values[0, 2] > 0.1
    assert np.isnan(found.p_values[1, 3])


# Demšar's table 5: critical values for 2 to 10 rankers.
Q05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
D05 = [1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.724, 2.773]


@pytest.mark.parametrize("k", range(2, 11))
def test_critical_values(k):
    error = np.sqrt(k * (k + 1) / 60)
    mean = np.arange(1.0, k + 1)
    all_pairs = from_ranks(mean, 10).critical_difference / error
    assert all_pairs == pytest.approx(Q05[k - 2], abs=1.1e-3)
    one = from_ranks(mean, 10, control=0).critical_difference / error
    # His value for nine rankers, 2.724, is a slip: the normal quantile is 2.734.
    expected = 2.734 if k == 9 else D05[k - 2]
    assert one == pytest.approx(expected, abs=1.1e-3)


def test_p_values_fit_the_critical_difference():
    table, _ = paper()
    found = nemenyi(table)
    gap = np.abs(found.ranks[:, None] - found.ranks)
    significant = gap > found.critical_difference
    np.testing.assert_array_equal(found.p_values < 0.05, significant)
    np.testing.assert_array_equal(found.p_values, found.p_values.T)
    assert (np.diag(found.p_values) == 1).all()
    one = bonferroni_dunn(table, 0)
    beyond = gap[0] > one.critical_difference
    np.testing.assert_array_equal(one.p_values[0] < 0.05, beyond)


def test_groups_by_brute_force():
    rng = np.random.default_rng(5)
    for _ in range(50):
        mean = rng.integers(2, 14, 7) / 2.0
        found = {frozenset(group) for group in within(mean, 1.5)}
        close = [
            frozenset(np.flatnonzero((mean >= low) & (mean <= low + 1.5)).tolist())
            for low in mean
        ]
        largest = {g for g in close if len(g) > 1 and not any(g < h for h in close)}
        assert found == largest
        for group in within(mean, 1.5):
            assert all(mean[a] <= mean[b] for a, b in pairwise(group))


# One data set


def test_the_correlated_test_by_hand():
    a = np.array([0.30, 0.25, 0.28, 0.27, 0.31])
    b = np.array([0.33, 0.25, 0.30, 0.32, 0.30])
    gap = b - a
    scale = np.sqrt((1 / 5 + 0.2 / 0.8) * gap.var(ddof=1))
    posterior = stats.t(4, gap.mean(), scale)
    found = correlated_t_test(a, b, rope=0.01)
    assert found.first == pytest.approx(posterior.sf(0.01), rel=1e-10)
    assert found.second == pytest.approx(posterior.cdf(-0.01), rel=1e-10)
    assert sum(found) == pytest.approx(1.0)
    turned = correlated_t_test(a, b, rope=0.01, lower_is_better=False)
    assert turned == pytest.approx(found[::-1])


def test_without_correlation_it_is_the_t_test():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 10))
    found = correlated_t_test(a, b, rope=0.0, rho=0.0)
    p = stats.ttest_rel(b, a, alternative="greater").pvalue
    assert found.second == pytest.approx(p, rel=1e-9)
    assert found.equal == pytest.approx(0.0, abs=1e-15)


def test_differences_without_spread():
    a = np.array([0.25, 0.5, 0.75])
    assert correlated_t_test(a, a) == (0, 1, 0)
    assert correlated_t_test(a, a + 0.5) == (1, 0, 0)
    assert correlated_t_test(a, a - 0.5) == (0, 0, 1)


# What is refused


def test_a_missing_score_is_named():
    table = DEMSAR.copy()
    table[2, 1] = np.nan
    for test in (average_ranks, wins, friedman, nemenyi):
        with pytest.raises(DataError, match="data set 2, ranker 1 is nan: leave out"):
            test(table)
    table[3, 3] = np.inf
    frame = pd.DataFrame(table, columns=["C4.5", "m", "cf", "both"])
    frame.index = [f"set {i}" for i in range(14)]
    with pytest.raises(DataError, match=r"data set 'set 2', ranker 'm' .*\(2 such"):
        average_ranks(frame)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: average_ranks([1, 2]), DataError, r"shape is \(2,\)"),
        (lambda: average_ranks([["a", "b"]]), DataError, "not a table of numbers"),
        (lambda: average_ranks(np.ones((0, 3))), DataError, "empty"),
        (lambda: average_ranks(DEMSAR, ties="max"), UsageError, "ties='max'"),
        (lambda: friedman(DEMSAR[:, :1]), DataError, "1 ranker"),
        (lambda: nemenyi(DEMSAR[:, :1]), DataError, "1 ranker"),
        (lambda: nemenyi(DEMSAR, alpha=0.0), UsageError, "alpha=0.0"),
        (lambda: bonferroni_dunn(DEMSAR, 4), UsageError, "from 0 to 3"),
        (lambda: bonferroni_dunn(DEMSAR, 0, alpha=2), UsageError, "alpha=2"),
        (lambda: correlated_t_test([1], [2]), DataError, "one fold"),
        (lambda: correlated_t_test([1, 2], [2]), DataError, "shapes"),
        (lambda: correlated_t_test([1, 2], [2, np.nan]), DataError, "b: .*fold 1"),
        (lambda: correlated_t_test([1, 2], [2, 3], rope=-1), UsageError, "rope=-1"),
        (lambda: correlated_t_test([1, 2], [2, 3], rho=1.0), UsageError, "rho=1.0"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", statistics.__all__)
def test_docstrings(name):
    # The fields of the results are attributes; a named tuple says all in one line.
    left_out = {"PR01"} if name[0].isupper() else set()
    errors = validate(f"franet.evaluation.statistics.{name}")["errors"]
    assert [e for e in errors if e[0] in CHECKS - left_out] == []
