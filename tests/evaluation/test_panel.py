"""Judging a panel: neighbors, labels, and what could be left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from franet.evaluation import judge_panel
from franet.exceptions import DataError, UsageError

K, EACH = 4, 30
TYPES = np.repeat(list("abcd"), EACH)


def made(seed=0):
    """Return four types, each with two markers that are alike, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(K * EACH, 20)) * 0.3
    for t in range(K):
        X[t * EACH : (t + 1) * EACH, [2 * t, 2 * t + 1]] += 3.0
    X[:, :8:2] = X[:, 1:8:2] + 0.05 * rng.normal(size=(K * EACH, 4))
    return X


X = made()


def test_markers_separate_their_types():
    found = judge_panel(X, [0, 2, 4, 6], TYPES)
    assert found.labels.names == list("abcd")
    assert found.labels.counts.tolist() == [EACH] * K
    for scores in (found.labels.f1_neighbors, found.labels.f1_logistic):
        assert scores.min() == 1.0
    assert found.labels.carriers == [["x0"], ["x2"], ["x4"], ["x6"]]
    np.testing.assert_array_equal(found.labels.confusion, np.eye(K))
    assert found.labels.mixed == []
    assert found.stand_in == ["x1", "x3", "x5", "x7"]
    assert found.stand_in_r.min() > 0.99


def test_types_without_a_marker_are_not_separated():
    found = judge_panel(X, [0, 2, 10], TYPES).labels
    assert found.f1_logistic[:2].min() == 1.0
    assert found.f1_logistic[2:].max() < 0.8
    mixed = {(a, b) for a, b, _ in found.mixed}
    assert mixed == {("c", "d"), ("d", "c")}
    shares = [share for *_, share in found.mixed]
    assert shares == sorted(shares, reverse=True)
    np.testing.assert_allclose(found.confusion.sum(axis=1), 1.0)


def test_what_can_be_left_out():
    """Three markers separate four types; noise and copies are not needed."""
    panel = [0, 1, 2, 4, 6, 12, 13, 14]
    found = judge_panel(X, panel, TYPES).labels
    assert {"x12", "x13", "x14"} <= set(found.expendable)
    kept = [j for j in panel if f"x{j}" not in found.expendable]
    assert 1 <= len(kept) <= 4
    assert judge_panel(X, kept, TYPES).labels.f1_logistic.mean() > 0.99
    assert judge_panel(X, [0, 2, 4], TYPES).labels.expendable == []


def test_neighbors():
    assert judge_panel(X, range(20)).overlap > 0.9
    low, high = (judge_panel(X, p).overlap for p in ([12, 13], [0, 2, 4, 6]))
    assert low < high < 0.9
    assert judge_panel(X, [0]).labels is None


@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_matrix, sparse.csc_array, pd.DataFrame]
)
def test_kinds_of_tables(kind):
    wanted = judge_panel(X, [0, 2, 12], TYPES)
    table = kind(X)
    if kind is pd.DataFrame:
        table.columns = [f"x{j}" for j in range(20)]
        assert judge_panel(table, ["x0", "x2", "x12"], TYPES).panel == wanted.panel
    found = judge_panel(table, [0, 2, 12], TYPES)
    assert found.overlap == pytest.approx(wanted.overlap)
    np.testing.assert_allclose(found.stand_in_r, wanted.stand_in_r)
    np.testing.assert_array_equal(found.labels.confusion, wanted.labels.confusion)


def test_samples_are_drawn_with_a_seed(monkeypatch):
    monkeypatch.setattr("franet.evaluation.panel.MOST", 60)
    one, same, other = (
        judge_panel(X, [0, 2], TYPES, random_state=s) for s in (0, 0, 1)
    )
    assert one.n_judged == len(one.rows) == 60
    assert one.rows.tolist() == same.rows.tolist() != other.rows.tolist()
    assert one.labels.counts.sum() == 60
    assert "By 60 of 120 samples, drawn with a seed, the panel" in one.sentences()[0]


def test_samples_without_a_label_and_rare_labels():
    labels = np.array(TYPES, object)
    labels[:4] = None
    labels[4:8] = np.nan
    labels[8:11] = "rare"
    found = judge_panel(X, [0, 2, 4, 6], labels)
    assert found.labels.counts.tolist() == [EACH - 11, EACH, EACH, EACH]
    assert found.labels.left_out == ["rare"]
    assert found.sentences()[-1] == "Not judged, with fewer than 5 samples: rare."


def test_two_labels():
    labels = TYPES > "b"
    found = judge_panel(X, [0, 2, 4, 6], labels).labels
    assert found.names == ["False", "True"]
    assert [set(each) for each in found.carriers] == [{"x0", "x2"}, {"x4", "x6"}]


@pytest.mark.parametrize(
    ("panel", "more", "said"),
    [
        (["x33"], {}, "panel: There is no feature 'x33'. Did you mean 'x3'"),
        (["y*"], {}, r"panel: No feature matches 'y*'"),
        ([], {}, "panel names no column"),
        ("x1", {}, "panel: give a list of features, such as ['x1']"),
        ([0], {"labels": ["a"] * 120}, "labels: two of them with at least 5 samples"),
        ([0], {"labels": [None] * 120}, "are needed, and none has"),
        ([0], {"labels": ["a"]}, "labels: 1 are given for 120 samples"),
        ([0], {"names": ["a"]}, "names: 1 are given for 20 columns"),
        ([0], {"names": ["a"] * 20}, "several are called 'a'"),
        ([0], {"random_state": -1}, "random_state=-1"),
    ],
)
def test_refused(panel, more, said):
    with pytest.raises((DataError, UsageError)) as caught:
        judge_panel(X, panel, **more)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_of_a_table_in_a_file_only_drawn_rows_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("franet.evaluation.panel.MOST", 60)
    np.save(tmp_path / "x.npy", X)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    found, wanted = (judge_panel(table, [0, 2], TYPES) for table in (stored, X))
    assert found.overlap == pytest.approx(wanted.overlap)
    np.testing.assert_array_equal(found.labels.confusion, wanted.labels.confusion)
    spoilt = X.copy()
    spoilt[found.rows[3], 5] = np.nan
    np.save(tmp_path / "x.npy", spoilt)
    with pytest.raises(DataError, match="holds NaN"):
        judge_panel(np.load(tmp_path / "x.npy", mmap_mode="r"), [0, 2], TYPES)
