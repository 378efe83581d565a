"""``franet rank --stability``: how sure the ranks are."""

import csv

import numpy as np
import pytest

from cli.commands import X, fails, read, run
from franet import Cover


def fitted():
    return Cover(4).fit(X)


def test_stability(data, tmp_path):
    output = tmp_path / "ranking.csv"
    args = ["--top", 4, "--stability", 10]
    summary = read(data, *args, "--output", output)
    found = fitted().stability(X, 10)
    assert summary["stability"] == {
        "n_boot": 10, "method": "bootstrap", "level": 0.95, "top": 4,
        "kuncheva": found.kuncheva, "jaccard": found.jaccard, "n_degenerate": 0,
    }  # fmt: skip
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert len(rows) == 10
    for row in rows:
        j = int(row["index"])
        assert int(row["rank_low"]) == found.rank_low[j]
        assert int(row["rank_high"]) == found.rank_high[j]
        assert float(row["selected_share"]) == found.selected[j]
    for shown, row in zip(summary["features"], rows, strict=False):
        assert str(shown["rank_low"]) == row["rank_low"]
        assert str(shown["selected_share"]) == row["selected_share"]
    text = run("rank", data, *args).stdout
    head, _, first = text.splitlines()[2:5]
    assert head.endswith("95 % of ranks   selected")
    best = summary["features"][0]
    assert f" {best['rank_low']}–{best['rank_high']} " in first
    assert first.endswith(f"{100 * best['selected_share']:.0f} %")
    assert f"features agree by {found.kuncheva:.2f} (Kuncheva" in text


def test_stability_of_features_that_are_given(data):
    args = ["--top", 3, "--stability", 8, "--include", "g2", "--exclude", "g4,g7"]
    summary = read(data, *args)
    first = summary["features"][0]
    assert (first["name"], first["rank_low"], first["rank_high"]) == ("g2", 1, 1)
    assert first["selected_share"] == 1.0


def test_stability_has_a_seed(data):
    def shares(*seed):
        rows = read(data, "--stability", 5, "--top", 4, *seed)["features"]
        return [row["selected_share"] for row in rows]

    assert shares() == shares("--seed", 0)
    found = fitted().stability(X, 5, random_state=7)
    assert shares("--seed", 7) == found.selected[fitted().order_[:4]].tolist()
    assert shares("--seed", 7) != shares("--seed", 0)


@pytest.mark.parametrize("ranker", ["frane", "variance"])
def test_stability_of_other_rankers(data, ranker):
    summary = read(data, "--ranker", ranker, "--stability", 3, "--top", 2)
    assert summary["stability"]["n_boot"] == 3
    assert all(0 <= row["selected_share"] <= 1 for row in summary["features"])
    shown = run("rank", data, "--ranker", ranker, "--stability", 3).stdout
    assert "redundant with" in shown
    assert "3 samples of the examples: their first 10 features" in shown


def test_stability_needs_examples(tmp_path):
    np.save(tmp_path / "s.npy", 1 + np.corrcoef(X.T))
    args = ["--similarity", "precomputed", "--stability", 5, "--ranker", "frane"]
    line = fails("rank", tmp_path / "s.npy", *args, code=2)
    assert "--stability draws examples" in line
