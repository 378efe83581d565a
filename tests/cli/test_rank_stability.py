"""``franet rank --stability``: how sure the ranks are."""

import csv
import json

import numpy as np
import pytest

from cli.commands import NAMES, X, fails, read, run, save
from franet import Cover
from franet.cli import _job


def fitted():
    return Cover(4, n_ranked="auto").fit(X)


def test_stability(data, tmp_path):
    output = tmp_path / "ranking.csv"
    args = ["--top", 4, "--stability", 10]
    summary = read(data, *args, "--output", output)
    found = fitted().stability(X, 10)
    assert summary["stability"] == {
        "n_halves": 10, "level": 0.95, "top": 4, "agreement": found.agreement,
        "kuncheva": found.kuncheva, "jaccard": found.jaccard, "n_degenerate": 0,
        "permuted": found.permuted.tolist(),
        "sentences": summary["stability"]["sentences"],
    }  # fmt: skip
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert len(rows) == 10
    for row in rows:
        j = int(row["index"])
        assert int(row["rank_low"]) == found.rank_low[j]
        assert int(row["rank_high"]) == found.rank_high[j]
        assert float(row["selected_share"]) == found.selected[j]
        for name in ("picked_again", "held"):
            share = getattr(found, name)[j]
            assert row[name] == ("" if np.isnan(share) else repr(float(share)))
    for shown, row in zip(summary["features"], rows, strict=False):
        assert str(shown["rank_low"]) == row["rank_low"]
        assert str(shown["selected_share"]) == row["selected_share"]
    text = run("rank", data, *args).stdout
    head, _, first = text.splitlines()[2:5]
    assert head.endswith("95 % of ranks   picked again   or alike")
    best = summary["features"][0]
    assert f" {best['rank_low']}–{best['rank_high']} " in first
    assert first.endswith(f"{100 * best['held']:.0f} %")
    for said in summary["stability"]["sentences"]:
        assert said in text
    assert found.sentence in summary["stability"]["sentences"]


def test_stability_of_features_that_are_given(data):
    args = ["--top", 3, "--stability", 8, "--include", "g2", "--exclude", "g4,g7"]
    summary = read(data, *args)
    first = summary["features"][0]
    assert (first["name"], first["rank_low"], first["rank_high"]) == ("g2", 1, 1)
    assert first["selected_share"] == first["picked_again"] == first["held"] == 1.0


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
    assert summary["stability"]["n_halves"] == 3
    assert all(0 <= row["selected_share"] <= 1 for row in summary["features"])
    shown = run("rank", data, "--ranker", ranker, "--stability", 3).stdout
    assert "redundant with" in shown
    assert "Measured by 3 half-samples" in shown


def test_stability_needs_examples(tmp_path):
    np.save(tmp_path / "s.npy", 1 + np.corrcoef(X.T))
    args = ["--similarity", "precomputed", "--stability", 5, "--ranker", "frane"]
    line = fails("rank", tmp_path / "s.npy", *args, code=2)
    assert "--stability draws examples" in line


def page_of(data, tmp_path, *options):
    path = tmp_path / "page.json"
    result = run("rank", data, "--report", path, "--force", "--top", 4, *options)
    assert result.exit_code == 0, result.output
    return json.loads(path.read_text()), result.stdout


def test_a_report_has_it(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_job, "_PATIENCE", np.inf)
    output = tmp_path / "out.csv"
    page, shown = page_of(data, tmp_path, "--output", output)
    found = fitted().stability(X)
    assert found.n_halves == page["stability"]["n_halves"] == 20
    assert page["stability"]["text"] == found.sentence
    assert page["stability"]["permuted"] == found.permuted.round(5).tolist()
    for row in page["features"]:
        j = row["index"]
        share = found.held[j]
        wanted = None if np.isnan(share) else float(f"{share:.5g}")
        assert row["stability"]["held"] == wanted
        assert row["stability"]["rank_high"] == found.rank_high[j]
        others = [NAMES[k] for k in list(found.interchangeable.get(j, ()))[:3]]
        assert row["stability"]["stand_ins"] == others
    # What else is shown or written does not depend on time.
    assert "half-samples" not in shown
    assert "held" not in output.read_text().splitlines()[0]


def test_a_report_has_what_is_asked_for(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_job, "_PATIENCE", -np.inf)
    monkeypatch.setattr(_job, "_TIMES", -np.inf)
    page, shown = page_of(data, tmp_path, "--stability", 6)
    assert page["stability"]["n_halves"] == 6
    page, shown = page_of(data, tmp_path)
    assert page["stability"]["n_halves"] is None
    assert "half-samples take longer than" in page["stability"]["text"]
    assert "franet rank --stability 20" in page["stability"]["text"]
    assert all(row["stability"] is None for row in page["features"])
    assert "picked again" not in shown


def test_a_slow_first_fit_does_not_hide_it(data, monkeypatch):
    """What a process loads once is no part of the time of a half-sample."""
    monkeypatch.setattr(_job, "_PATIENCE", 1e9)
    ranking = _job.rank_table(X, NAMES, {}, top=4)
    slow = ranking._replace(work=1e9)
    assert _job.stability_unasked(slow, None, 1).n_halves == 20
    slow = ranking._replace(work=2e9)
    assert "ranking took" in _job.stability_unasked(slow, None, 1)


def test_no_stability(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_job, "_PATIENCE", np.inf)
    page, shown = page_of(data, tmp_path, "--stability", "none")
    assert page["stability"]["n_halves"] is None
    assert "it was not asked for" in page["stability"]["text"]
    assert "picked again" not in shown
    line = fails("rank", data, "--stability", "none", code=2)
    assert "--stability none is for --report" in line


def test_reports_of_tables_without_halves(tmp_path, monkeypatch):
    monkeypatch.setattr(_job, "_PATIENCE", np.inf)
    page, _ = page_of(save(tmp_path / "few.csv", X[:3]), tmp_path)
    assert "it needs at least 4 samples" in page["stability"]["text"]
    np.save(tmp_path / "s.npy", 1 + np.corrcoef(X.T))
    options = ["--similarity", "precomputed", "--ranker", "frane"]
    page, _ = page_of(tmp_path / "s.npy", tmp_path, *options)
    assert "similarities have no samples" in page["stability"]["text"]
    rare = np.zeros((8, 10))
    rare[0, :5] = rare[1, 5:] = 1.0
    page, _ = page_of(save(tmp_path / "rare.csv", rare), tmp_path)
    assert "cannot be ranked, although the table can" in page["stability"]["text"]


def test_a_doubtful_first_pick_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(_job, "_PATIENCE", np.inf)
    noise = np.random.default_rng(0).normal(size=(30, 60))
    data = save(tmp_path / "noise.csv", noise, [f"g{j}" for j in range(60)])
    page, _ = page_of(data, tmp_path)
    first = page["features"][0]
    assert first["stability"]["held"] < 0.5
    said = page["stability"]["notes"][0]
    assert said.startswith(f"The first pick, {first['name']}, would be picked by")
    html = tmp_path / "page.html"
    assert run("rank", data, "--report", html, "--top", 4).exit_code == 0
    assert said in html.read_text()
    assert 'class="again num right doubt"' in html.read_text()
