"""What every ranker has: FRANe, Cover and those of `franet.rankers`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from franet import Cover, FRANe
from franet.exceptions import MissingExtraError, UsageError
from franet.rankers import NAMES
from quick_rankers import quick
from tables import random

pytestmark = [
    pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning"),
]

BASE = random(40, 4, seed=5)
X = np.repeat(BASE, 4, axis=1) + 0.4 * random(40, 16, seed=6)
CONSTANT = [3, 11]
X[:, CONSTANT] = 2.0
GENES = [f"gene {j}" for j in range(16)]
TABLE = pd.DataFrame(X, columns=GENES)
COLUMNS = ["rank", "feature", "score", "selected"]
MORE = {
    # Its score is not what a pick explains.
    "cover": [
        "rank",
        "feature",
        "selected",
        "explained",
        "increase",
        "representative",
        "correlation",
        "n_members",
    ],
    "frane": [*COLUMNS, "n_neighbors"],
}
FITTED = {}


def fitted(name):
    """Return a ranker of the table that keeps three features; leave it unchanged."""
    if name not in FITTED:
        FITTED[name] = quick(name).fit(TABLE)
    return FITTED[name]


@pytest.mark.parametrize("name", NAMES)
def test_attributes(name):
    ranker = fitted(name)
    assert sorted(ranker.order_) == list(range(16))
    assert sorted(ranker.order_[-2:]) == CONSTANT
    np.testing.assert_array_equal(ranker.ranking_[ranker.order_], np.arange(1, 17))
    falls = np.diff(ranker.scores_[ranker.order_])
    assert ranker.scores_.dtype == np.float64
    assert (falls <= 1e-9 * np.abs(ranker.scores_).max()).all()
    assert ranker.support_.dtype == bool
    assert ranker.n_features_ == ranker.support_.sum() == 3
    assert set(np.flatnonzero(ranker.support_)) == set(ranker.order_[:3])
    kept = [GENES[j] for j in sorted(ranker.order_[:3])]
    assert list(ranker.get_feature_names_out()) == kept
    np.testing.assert_array_equal(ranker.transform(TABLE), X[:, ranker.support_])


@pytest.mark.parametrize("name", NAMES)
def test_frames(name):
    ranker = fitted(name)
    frame = ranker.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == MORE.get(name, COLUMNS)
    assert frame["rank"].tolist() == list(range(1, 17))
    assert frame["feature"].tolist() == [GENES[j] for j in ranker.order_]
    if name != "cover":
        np.testing.assert_array_equal(frame["score"], ranker.scores_[ranker.order_])
    assert frame["selected"].tolist() == [True] * 3 + [False] * 13
    other = ranker.to_frame(library="polars")
    assert isinstance(other, pl.DataFrame)
    assert other.columns == list(frame)
    assert other.height == 16
    numbers = ("correlation", "explained", "increase")
    for column in other.columns:
        ours = frame[column].where(frame[column].notna(), None).tolist()
        theirs = other[column].fill_nan(None) if column in numbers else other[column]
        assert [None if each != each else each for each in ours] == theirs.to_list()


def test_frame_of_cover():
    ranker = fitted("cover")
    frame = ranker.to_frame()
    R = np.corrcoef(np.delete(X, CONSTANT, axis=1), rowvar=False)
    columns = np.delete(np.arange(16), CONSTANT).tolist()
    picks = frame["feature"][:3].tolist()
    for j, row in zip(ranker.order_, frame.itertuples(), strict=True):
        if j in CONSTANT:
            assert (
                row.representative is None or row.representative != row.representative
            )
            assert np.isnan(row.correlation)
            assert row.n_members == 0
            continue
        assert row.representative in picks
        k = GENES.index(row.representative)
        r = R[columns.index(j), columns.index(k)]
        assert row.correlation == pytest.approx(r)
        among = [abs(R[columns.index(j), columns.index(p)]) for p in ranker.order_[:3]]
        assert abs(r) == pytest.approx(max(among))
        represented = (frame["representative"] == row.feature).sum()
        assert row.n_members == (represented - 1 if row.selected else 0)
    assert frame["n_members"].sum() == 16 - 3 - len(CONSTANT)


def test_frame_of_frane():
    ranker = fitted("frane")
    degrees = np.diff(ranker.network_.adjacency.indptr)
    found = ranker.to_frame().set_index("feature")["n_neighbors"]
    assert found[GENES].tolist() == degrees.tolist()
    assert found.sum() == 2 * ranker.network_.n_edges


def test_frames_without_names_and_other_libraries(monkeypatch):
    ranker = quick("variance").fit(X)
    assert ranker.to_frame()["feature"].tolist() == [f"x{j}" for j in ranker.order_]
    with pytest.raises(
        UsageError, match="library='dplyr': choose 'pandas' or 'polars'"
    ):
        ranker.to_frame("dplyr")

    def no_module(name):
        raise ImportError(name)

    monkeypatch.setattr("franet._common.optional.import_module", no_module)
    with pytest.raises(MissingExtraError, match=r"to_frame .*franet\[polars\]"):
        ranker.to_frame("polars")


@pytest.mark.parametrize("name", NAMES)
def test_not_fitted(name, tmp_path):
    ranker = quick(name)
    for call in (
        ranker.to_frame,
        ranker.get_feature_names_out,
        lambda: ranker.report(tmp_path / "page.json"),
        lambda: ranker.stability(TABLE),
        lambda: ranker.feature_importances_,
    ):
        with pytest.raises(NotFittedError):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_reports_replace_a_file(name, tmp_path):
    path = tmp_path / "page.json"
    path.write_text("an older one")
    fitted(name).report(path, TABLE)
    page = json.loads(path.read_text("utf-8"))
    assert page["ranker"] == type(fitted(name)).__name__
    listed = [feature["name"] for feature in page["features"]]
    assert listed == fitted(name).to_frame()["feature"].tolist()
    fitted(name).report(path, TABLE, top=4)
    assert len(json.loads(path.read_text("utf-8"))["features"]) == 4
    page = tmp_path / "page.html"
    page.write_text("an older one")
    fitted(name).report(page)
    assert "<html" in page.read_text("utf-8")
    with pytest.raises(TypeError, match="force"):
        fitted(name).report(path, force=True)


def mapped(path):
    np.save(path.with_suffix(".npy"), X)
    path.with_suffix(".npy").rename(path)
    return np.load(path, mmap_mode="r")


def stored(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["x"] = X
    return h5py.File(path)["x"]


@pytest.mark.parametrize("make", [mapped, stored])
def test_a_report_never_replaces_its_input(make, tmp_path):
    path = tmp_path / "page.json"
    table, before = make(path), path.read_bytes()
    ranker = quick("variance").fit(X)
    (tmp_path / "link.json").symlink_to(path)
    for name in ("page.json", "link.json"):
        message = rf"{name}: is the file of the table that was read .*another file$"
        with pytest.raises(UsageError, match=message):
            ranker.report(tmp_path / name, table)
    assert path.read_bytes() == before
    ranker.report(tmp_path / "other.json", table)


@pytest.mark.parametrize("name", NAMES)
def test_stability(name):
    found = fitted(name).stability(TABLE, n_halves=4)
    assert "4 half-samples, first 3 of 16 features" in repr(found)


@pytest.mark.parametrize(
    ("given", "n_picked"),
    [
        ({}, 3),
        ({"n_ranked": "auto"}, 14),
        ({"n_ranked": 5}, 5),
        ({"n_ranked": 5, "exclude": [0]}, 5),
        ({"n_ranked": 16}, 14),
        ({"n_ranked": "auto", "exclude": ["gene 0", 1]}, 12),
        ({"n_features_to_select": "auto", "n_ranked": 14}, 14),
    ],
)
def test_cover_knows_how_many_it_picked(given, n_picked):
    ranker = Cover(**{"n_features_to_select": 3, **given}).fit(TABLE)
    assert ranker.n_ranked_ == n_picked
    assert len(ranker.gains_) == len(ranker.explained_) == n_picked
    full = Cover(**{"n_features_to_select": 3, **given, "n_ranked": 16}).fit(TABLE)
    k = n_picked
    np.testing.assert_array_equal(ranker.order_[:k], full.order_[:k])
    # The others are ordered by what each would add after the last pick.
    rest = ranker.scores_[ranker.order_[k:]]
    assert (np.diff(rest) <= 0).all()
    assert (rest < ranker.scores_[ranker.order_[k - 1]]).all()


def test_number_of_parameters():
    assert len(FRANe().get_params()) <= 22
    assert len(Cover().get_params()) <= 13
