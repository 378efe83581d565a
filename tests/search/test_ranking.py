"""From scores to ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from franet.search.ranking import rank_scores, tie_groups

# Few different values, some of them equal only up to 1e-9.
close = st.sampled_from([0.0, 1.0, 1.0 + 4e-10, 1.0 - 4e-10, 1.0 + 2e-9, 2.0, 1e-12])


@settings(derandomize=True, deadline=None, database=None, max_examples=300)
@given(st.lists(st.tuples(close, st.booleans()), min_size=1, max_size=12))
def test_equals_the_plain_definition(pairs):
    scores = np.array([score for score, _ in pairs])
    last = np.array([flag for _, flag in pairs])
    scores[last] = 0.0
    ranking = rank_scores(scores, last)
    np.testing.assert_array_equal(ranking, naive.rank(scores, last))
    assert sorted(ranking) == list(range(1, len(scores) + 1))


def test_groups():
    scores = np.array([0.5, 1.0, 1.0 + 5e-10, 0.0, 0.5 - 1e-8])
    np.testing.assert_array_equal(tie_groups(scores), [1, 0, 0, 3, 2])
    np.testing.assert_array_equal(tie_groups(np.zeros(3)), [0, 0, 0])


def test_negative_scores():
    scores = np.array([-1.0, -3.0, -1.0 - 5e-10, 0.0, -1.0 - 5e-9])
    np.testing.assert_array_equal(rank_scores(scores), [2, 5, 3, 1, 4])


def test_second_key_orders_ties_only():
    scores = np.array([1.0, 2.0, 1.0, 1.0, 2.0, 3.0])
    second = np.array([0.1, 0.5, 0.3, 0.3 + 1e-12, 0.9, 0.0])
    # Without it by column; with it by the second key, then by column.
    np.testing.assert_array_equal(rank_scores(scores), [4, 2, 5, 6, 3, 1])
    np.testing.assert_array_equal(
        rank_scores(scores, second=second), [6, 3, 4, 5, 2, 1]
    )


@pytest.mark.parametrize("score", [0.0, 5.0])
def test_last_ranks_last_whatever_it_scores(score):
    scores = np.array([score, 1.0, score, 0.0])
    last = np.array([True, False, True, False])
    np.testing.assert_array_equal(rank_scores(scores, last), [3, 1, 4, 2])
