"""The qualities of a vector of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive
from franet.quality import QUALITIES, rqh

scores = hnp.arrays(
    np.float64, st.integers(1, 40), elements=st.floats(0, 1e3, allow_subnormal=False)
)


@settings(derandomize=True, deadline=None, database=None, max_examples=200)
@given(scores)
def test_equal_the_plain_definitions(values):
    assert set(QUALITIES) == set(naive.QUALITIES)
    for name, quality in QUALITIES.items():
        expected = naive.QUALITIES[name](values)
        assert isinstance(quality(values), float)
        np.testing.assert_allclose(
            quality(values), expected, rtol=1e-9, atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("name", QUALITIES)
def test_scale_and_order_do_not_matter(name):
    rng = np.random.default_rng(0)
    values = rng.gamma(1.0, size=50)
    quality = QUALITIES[name]
    assert quality(7.0 * values) == pytest.approx(quality(values), rel=1e-12)
    assert quality(rng.permutation(values)) == pytest.approx(quality(values), rel=1e-12)


@pytest.mark.parametrize("name", ["gini", "cv", "entropy"])
def test_no_spread_is_zero_and_more_spread_is_more(name):
    quality = QUALITIES[name]
    assert quality(np.full(9, 0.3)) == pytest.approx(0.0, abs=1e-12)
    assert quality(np.zeros(5)) == 0.0
    assert quality(np.array([1.0, 1, 1, 9])) > quality(np.array([1.0, 1, 1, 3])) > 0


def test_rqh_leaves_one_score_out_at_each_end():
    assert rqh(np.array([1e9, 6, 3, 2, 1e-9])) == 6 / 2
    assert rqh(np.array([4.0, 1.0])) == 4.0
    assert rqh(np.array([4.0])) == 1.0
    assert rqh(np.zeros(4)) == 1.0


def test_scores_are_left_as_they_are():
    values = np.array([3.0, -1.0, 0.0, 2.0])
    for quality in QUALITIES.values():
        quality(values)
    np.testing.assert_array_equal(values, [3, -1, 0, 2])
