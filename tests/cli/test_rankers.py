"""``franet rank --ranker``: other rankers than FRANe."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from franet.cli import main
from franet.rankers import RANKERS, ColumnSubset, RandomRanking
from franet.rankers._agnos import Training

rng = np.random.default_rng(0)
BASE = rng.normal(size=(60, 4))
# Three groups of alike features, one of them upside down, and a feature of its own.
X = np.column_stack(
    [BASE[:, [0, 0, 0, 1, 1, 1, 2, 2, 2]] + 0.2 * rng.normal(size=(60, 9)), BASE[:, 3]]
)
X[:, 4] *= -3.0


def save(path, X=X):
    names = [f"g{j}" for j in range(X.shape[1])]
    lines = [",".join(names)] + [",".join(map(repr, row)) for row in X.tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def data(tmp_path):
    return save(tmp_path / "data.csv")


def run(*args):
    return CliRunner().invoke(main, ["rank", *map(str, args)])


def fails(*args, code=2):
    result = run(*args)
    assert result.exit_code == code, result.output
    (line,) = result.stderr.splitlines()
    return line


def test_json(data):
    result = run(data, "--ranker", "column-subset", "--json", "--top", 5)
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    ranker = ColumnSubset(5).fit(X)
    assert set(summary) == {
        "format", "version", "ranker", "features", "n_features", "n_examples",
        "n_constant", "warnings", "matches", "parameters", "seconds", "scale",
    }  # fmt: skip
    assert summary["ranker"] == "column-subset"
    assert summary["parameters"] == {
        "n_features_to_select": 5, "n_ranked": None, "standardize": True,
        "noise": 0.0, "exchanges": 0,
        "include": None, "exclude": None, "cost": None, "groups": None,
    }  # fmt: skip
    assert [row["index"] for row in summary["features"]] == ranker.order_[:5].tolist()
    assert [row["score"] for row in summary["features"]] == pytest.approx(
        ranker.scores_[ranker.order_[:5]]
    )
    assert (summary["n_features"], summary["n_examples"]) == (10, 60)
    assert summary["n_constant"] == 0


def test_table_names_redundant_features(data):
    result = run(data, "--ranker", "column-subset")
    assert result.exit_code == 0, result.output
    first, _, *lines = result.stdout.splitlines()
    assert first == "Ranked by column-subset."
    assert lines[0].split() == ["rank", "feature", "score", "redundant", "with"]
    rows = {line.split()[1]: line.rstrip() for line in lines[2:12]}
    assert len(rows) == 10
    ranker = ColumnSubset(10).fit(X)
    group = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    for at, j in enumerate(ranker.order_):
        before = [k for k in ranker.order_[:at] if group[k] == group[j]]
        if not before:
            assert rows[f"g{j}"].endswith("—")
            continue
        r = {k: np.corrcoef(X[:, j], X[:, k])[0, 1] for k in before}
        k = max(r, key=lambda k: abs(r[k]))
        assert rows[f"g{j}"].endswith(f"g{k} (r = {r[k]:.2f})")
    assert any("r = -0.9" in row for row in rows.values())
    assert "threshold" not in result.stdout


@pytest.mark.parametrize("name", ["variance", "facility-location", "urelief", "genie3"])
def test_rankers_by_name(data, name, tmp_path):
    out = tmp_path / "ranking.json"
    result = run(data, "--ranker", name, "--output", out)
    assert result.exit_code == 0, result.output
    assert out.read_text().count('"g') == 10


def test_seed(data):
    first = json.loads(run(data, "--ranker", "random", "--seed", 3, "--json").stdout)
    wanted = RandomRanking(random_state=3).fit(X).ranking_
    assert [wanted[row["index"]] for row in first["features"]] == list(range(1, 11))
    assert first["parameters"]["random_state"] == 3


def test_warnings_are_shown(tmp_path):
    table = X.copy()
    table[:, :6] = 1.0
    data = save(tmp_path / "constant.csv", table)
    result = run(data, "--ranker", "variance")
    assert "warning: 6 of 10 features have the same score" in result.stderr
    assert "(6 features constant, ranked last)" in result.stdout
    summary = json.loads(run(data, "--ranker", "variance", "--json").stdout)
    assert summary["n_constant"] == 6
    assert len(summary["warnings"]) == 1


@pytest.mark.parametrize(
    "option",
    [
        ["--damping", "0.5"],
        ["--similarity", "correlation"],  # the default, but given
        ["--missing", "pairwise"],
        ["--n-jobs", "1"],
        ["--dry-run"],
        ["--include", "g1"],
        ["--groups", "groups.csv"],
    ],
    ids=lambda option: option[0],
)
def test_options_of_other_rankers(data, option):
    line = fails(data, "--ranker", "variance", *option)
    assert f"{option[0]} is not an option of --ranker variance; use --ranker" in line


@pytest.mark.parametrize(
    ("ranker", "option", "other"),
    [
        ("cover", ["--similarity", "mixed"], "frane"),
        ("agnos", ["--variant", "reference"], "frane"),
        ("frane", ["--variant", "weights"], "agnos"),
    ],
)
def test_values_of_other_rankers(data, ranker, option, other):
    line = fails(data, "--ranker", ranker, *option)
    assert f"{' '.join(option)} is not an option of --ranker {ranker};" in line
    assert f"use --ranker {other}, or leave it out" in line


def test_the_variant_of_agnos(data):
    agnos = ("--ranker", "agnos", "--seed", 0, "--json", "--set", "max_iter=20")
    found = json.loads(run(data, *agnos, "--variant", "weights").stdout)
    assert found["parameters"]["variant"] == "weights"
    assert "--variant" in fails(data, *agnos[:-2], "--set", "variant=weights")


def test_any_parameter_by_set(data):
    ranker = ("--ranker", "ndfs", "--seed", 0, "--json")
    found = json.loads(run(data, *ranker, "--set", "n_clusters=3").stdout)
    assert found["parameters"]["n_clusters"] == 3
    line = fails(data, "--ranker", "ndfs", "--set", "n_groups=3")
    assert "ndfs has no parameter 'n_groups'; it has: affinity, alpha" in line
    line = fails(data, "--ranker", "spec", "--set", "style=1", "--set", "n_clusters=3")
    assert "--set n_clusters=3 applies with --set style=3 only" in line


def test_auto_belongs_to_cover(data):
    line = fails(data, "--ranker", "variance", "--top", "auto")
    assert (
        "--top auto is not an option of --ranker variance; use --ranker cover" in line
    )


@pytest.mark.parametrize("name", ["ndfs", "random", "column-subset"])
def test_report(data, tmp_path, name):
    page, summary = tmp_path / "page.html", tmp_path / "page.json"
    for path in (page, summary):
        result = run(data, "--ranker", name, "--report", path, "--top", 4)
        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines()[-1] == f"Report: {path}"
    assert '<h1 dir="auto">data.csv</h1>' in page.read_text("utf-8")
    made = json.loads(summary.read_text("utf-8"))
    assert made["ranker"] == RANKERS[name][1]
    assert made["n_selected"] == 4
    assert made["map"] is None
    assert sorted(row["name"] for row in made["features"]) == [
        f"g{j}" for j in range(10)
    ]


def test_the_report_tells_every_warning_once(tmp_path):
    """What the file, the training and the ranking warn of, quiet or not."""
    names = ["id", *(f"g{j}" for j in range(10))]
    table = np.tile(X[:, [9]], 10) * np.linspace(1, 2, 10)
    lines = [
        f"r{i}," + ",".join(map(repr, row)) for i, row in enumerate(table.tolist())
    ]
    data = tmp_path / "data.csv"
    data.write_text("\n".join([",".join(names), *lines]) + "\n")
    report = tmp_path / "report.json"
    result = run(
        data, "--ranker", "laplacian", "--no-index", "--drop-non-numeric", "--quiet",
        "--report", report,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    said = json.loads(report.read_text("utf-8"))["warnings"]
    assert said[0] == "10 of 10 features have the same score; they rank by column."
    assert said[1] == "Left out 1 column without numbers: 'id'."
    assert len(set(said)) == len(said)


def test_the_report_tells_that_training_was_too_short(data, tmp_path, monkeypatch):
    monkeypatch.setattr(Training, "dropping", lambda self: True)
    report = tmp_path / "report.json"
    result = run(data, "--ranker", "agnos", "--seed", 0, "--report", report)
    assert result.exit_code == 0, result.output
    said = json.loads(report.read_text("utf-8"))["warnings"]
    assert "Raise max_iter." in said[0]


def test_unknown_ranker(data):
    line = fails(data, "--ranker", "pca")
    assert all(f"'{name}'" in line for name in [*RANKERS, "cover"])


def test_missing_values(tmp_path):
    table = X.copy()
    table[2, 3] = np.nan
    line = fails(save(tmp_path / "holes.csv", table), "--ranker", "variance", code=1)
    assert "'g3' (3) holds NaN in row 2. Fill or drop it." in line
    assert "pairwise" not in line


def test_column_subset_by_set(data):
    words = "--ranker", "column-subset", "--json", "--top", 3, "--set"
    for name, value in (("noise", 0.3), ("exchanges", 5)):
        found = json.loads(run(data, *words, f"{name}={value}").stdout)
        ranker = ColumnSubset(3, **{name: value}).fit(X)
        assert found["parameters"][name] == value
        scores = [row["score"] for row in found["features"]]
        assert scores == pytest.approx(ranker.scores_[ranker.order_[:3]].tolist())
    assert "noise" in fails(data, *words, "noise=-1")
    assert "exchanges" in fails(data, *words, "exchanges=1.5")
