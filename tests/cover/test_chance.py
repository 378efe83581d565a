"""Whether a subset is suggested: planted groups, noise, and what decides."""

from __future__ import annotations

import numpy as np
import pytest

from franet import Cover
from franet.cover import _chance
from franet.cover._chance import beats_chance
from franet.cover._explained import Curve
from franet.cover._rows import draw_rows
from franet.cover._shares import make_table
from franet.datasets import make_groups
from franet.exceptions import DegenerateRankingWarning
from franet.pairs.tiles import TileRunner

NOTHING = r"^No small subset represents this table: "


def suggested(X, **parameters):
    return Cover(None, n_ranked=64, **parameters).fit(X).n_features_suggested_


GROUPS = {
    "no noise": (50, 10, 10, 0.8, 0),
    "loose": (100, 30, 10, 0.7, 300),
    "much noise": (100, 10, 10, 0.8, 400),
    "unequal": (150, 20, range(5, 45, 2), 0.8, 300),
    "many samples": (300, 12, 6, 0.7, 100),
}


@pytest.mark.parametrize("name", GROUPS)
def test_planted_groups(name):
    m, g, size, redundancy, n_noise = GROUPS[name]
    made = make_groups(
        m,
        g,
        size if isinstance(size, int) else list(size),
        redundancy=redundancy,
        n_noise=n_noise,
        random_state=0,
    )
    signs = np.random.default_rng(0).choice([-1.0, 1.0], made.X.shape[1])
    assert 0.8 * g <= Cover().fit(made.X * signs).n_features_suggested_ <= 1.2 * g


NOISE = {
    "normal": lambda x: x,
    "lognormal": np.exp,
    "binary": lambda x: (x > 1.0).astype(float),
}


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize(("m", "n"), [(12, 30), (20, 10), (30, 60)])
def test_noise(m, n, kind):
    found = []
    for seed in range(4):
        X = NOISE[kind](np.random.default_rng(seed).normal(size=(m, n)))
        X = X[:, np.ptp(X, axis=0) > 0]
        ranker = Cover(None, n_ranked=64).fit(X)
        found.append(ranker.n_features_suggested_)
        if found[-1] is None:
            assert ranker.summary().startswith("No small subset represents this table")
    # In one of a hundred tables chance goes that far: one of these 36 is such.
    assert found.count(None) >= 3


def test_auto_on_noise_selects_all_picks():
    X = np.random.default_rng(0).normal(size=(60, 100))
    with pytest.warns(DegenerateRankingWarning, match=NOTHING):
        ranker = Cover().fit(X)
    assert ranker.n_features_suggested_ is None
    assert ranker.n_features_ == ranker.n_ranked_ == 64


def test_small_groups_in_wide_noise():
    made = make_groups(100, 10, 5, n_noise=1000, random_state=0)
    assert 8 <= Cover().fit(made.X).n_features_suggested_ <= 12


def test_copies_of_noise_represent_each_other():
    X = np.random.default_rng(0).normal(size=(50, 12))
    # Not by chance: a copy is explained by its pick.
    assert suggested(np.column_stack([X, -X, 3.0 * X + 1.0])) == 12


def test_auto_goes_on_until_the_maximum_is_not_at_the_end():
    made = make_groups(100, 80, 4, redundancy=0.95, random_state=0)
    few = Cover(64).fit(made.X)
    assert few.n_features_suggested_ is None
    assert "further picks may explain more" in few.summary()
    ranker = Cover().fit(made.X)
    assert 64 <= ranker.n_features_suggested_ <= 96
    assert ranker.n_ranked_ == 128


def test_auto_gives_up_where_the_maximum_stays_at_the_end(monkeypatch):
    monkeypatch.setattr("franet.cover._fit._MOST", 64)
    made = make_groups(100, 80, 4, redundancy=0.95, random_state=0)
    with pytest.warns(DegenerateRankingWarning, match="More picks are needed"):
        ranker = Cover().fit(made.X)
    assert ranker.n_features_ == 64
    assert ranker.n_features_suggested_ is None


def table_of(X):
    return make_table(draw_rows(X), np.arange(X.shape[1]), TileRunner(1))


def curve(most):
    return Curve(np.zeros(3), np.array([0.0, most, 0.0]), np.ones(3), 200)


def test_the_share_of_permuted_tables_that_do_as_well_decides():
    table = table_of(np.random.default_rng(0).normal(size=(200, 20)))
    asked = []

    def judge(permuted, k):
        asked.append(permuted.Z)
        return curve(0.01 + 0.001 * np.sin(len(asked)))

    assert not beats_chance(table, curve(0.0105), judge)
    # Refuted by the first that does as well.
    assert len(asked) == 1
    asked.clear()
    assert beats_chance(table, curve(0.0111), judge)
    assert len(asked) == 99
    asked.clear()
    assert beats_chance(table, curve(0.03), judge)
    assert len(asked) == 8
    for Z in asked:
        np.testing.assert_allclose(
            np.sort(Z),
            np.sort(table.Z[np.argsort((table.Z**4).sum(axis=1), kind="stable")]),
        )
    asked.clear()
    assert beats_chance(table, curve(0.06), judge)
    assert not beats_chance(table, curve(0.0), judge)
    assert not asked


def test_large_tables_are_judged_by_a_part(monkeypatch):
    monkeypatch.setattr(_chance, "_SAMPLES", 50)
    monkeypatch.setattr(_chance, "_ENTRIES", 1000)
    table = table_of(np.random.default_rng(0).normal(size=(300, 90)))
    part = _chance._part(table)
    assert part.Z.shape == (20, 50)
    np.testing.assert_allclose((part.Z**2).sum(axis=1), 1.0)
    assert part.weights.sum() == pytest.approx(1.0)
    assert suggested(np.random.default_rng(0).normal(size=(300, 90))) is None
    made = make_groups(300, 5, 4, n_noise=70, random_state=0)
    assert suggested(made.X) == 5


@pytest.mark.parametrize("shape", [(2, 3), (2, 30), (3, 3), (4, 2)])
def test_few_samples(shape):
    X = np.random.default_rng(0).normal(size=shape)
    with pytest.warns(DegenerateRankingWarning, match=NOTHING):
        assert Cover().fit(X).n_features_suggested_ is None


def test_two_features():
    x, noise = np.random.default_rng(0).normal(size=(2, 100))
    assert suggested(np.column_stack([x, x + 0.3 * noise])) == 1
    assert suggested(np.column_stack([x, noise])) is None
