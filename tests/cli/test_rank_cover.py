"""``franet rank`` by default: picks that do not repeat each other."""

import json
import tracemalloc

import numpy as np
import pytest

from cli.commands import NAMES, X, fails, read, run, save
from franet import Cover
from franet.rankers import ColumnSubset, FacilityLocation

GROUP = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]


def fitted(n=4, **parameters):
    return fitted_to(X, n, **parameters)


def fitted_to(table, n=4, **parameters):
    return Cover(n, **parameters).fit(table)


def test_table_on_screen(data):
    result = run("rank", data, "--top", 4)
    assert result.exit_code == 0, result.output
    ranker = fitted()
    first, blank, head, _, *lines = result.stdout.splitlines()
    assert first.startswith("Cover: each pick for what earlier picks miss. ")
    assert first.endswith(" franet rank --ranker frane")
    assert blank == ""
    assert head.split() == ["rank", "feature", "explained", "increase", "represents"]
    for i, j in enumerate(ranker.order_[:4]):
        others = ranker.members_[j]
        r = np.abs(ranker.representative_corr_[others])
        words = f"{len(others)} (mean |r| {r.mean():.2f})" if len(others) else "—"
        shown = np.round(100 * np.r_[0.0, ranker.explained_], 1)
        assert lines[i].rstrip().split(maxsplit=6) == [
            str(i + 1),
            NAMES[j],
            f"{shown[i + 1]:.1f}",
            "%",
            f"{shown[i + 1] - shown[i]:.1f}",
            "%",
            words,
        ]
    assert sorted(GROUP[j] for j in ranker.order_[:4]) == [0, 1, 2, 3]
    assert "10 features × 60 examples" in result.stdout
    wanted = fitted(n_ranked=10).sentences()
    assert [line.strip() for line in lines[-len(wanted) :]] == wanted
    assert "\x1b" not in result.stdout


def test_json(data):
    summary = read(data, "--top", 4)
    ranker = fitted()
    assert set(summary) == {
        "format", "version", "ranker", "features", "n_features", "n_examples",
        "n_selected", "explained", "n_suggested", "n_not_represented", "sentences",
        "n_constant", "warnings", "matches", "parameters", "seconds", "scale",
    }  # fmt: skip
    assert summary["ranker"] == "cover"
    assert summary["scale"] == "standard"
    assert [row["index"] for row in summary["features"]] == ranker.order_[:4].tolist()
    for row in summary["features"]:
        assert set(row) == {
            "rank", "name", "index", "explained", "increase", "n_members",
            "mean_abs_r",
        }  # fmt: skip
    every = fitted(n_ranked=10)
    np.testing.assert_allclose(summary["explained"], every.explained_, rtol=1e-12)
    assert summary["n_suggested"] == every.n_features_suggested_
    assert summary["sentences"] == every.sentences()
    found = sum(row["increase"] for row in summary["features"])
    assert found == pytest.approx(summary["features"][-1]["explained"])
    assert summary["n_selected"] == 4
    assert summary["parameters"] == {
        "n_features_to_select": 4, "similarity": "correlation", "scale": "standard",
        "weights": "robust", "objective": "balanced", "include": None,
        "exclude": None, "cost": None, "groups": None, "n_ranked": "auto",
        "backend": "auto", "max_memory": None, "n_jobs": None,
    }  # fmt: skip


def test_more_features_than_picks(tmp_path):
    """Where all that is left are copies, picking ends before the number asked for."""
    np.save(tmp_path / "x.npy", np.repeat(X[:, [0, 3, 9]], 3, axis=1))
    rows = read(tmp_path / "x.npy", "--top", 5)["features"]
    assert {row["index"] // 3 for row in rows[:3]} == {0, 1, 2}
    assert [row["n_members"] for row in rows] == [2, 2, 2, 0, 0]
    assert rows[2]["explained"] == pytest.approx(1.0)
    assert [row["explained"] for row in rows[3:]] == [None, None]


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_every_feature_names_its_representative(tmp_path, ending):
    table = np.column_stack([X[:, :9], np.ones(60)])
    output = tmp_path / f"ranking.{ending}"
    path = save(tmp_path / "d.csv", table)
    result = run("rank", path, "--top", 3, "--output", output)
    assert result.exit_code == 0, result.output
    pd = pytest.importorskip("pandas")
    if ending == "json":
        frame = pd.DataFrame(json.loads(output.read_text())["features"])
    elif ending == "parquet":
        frame = pytest.importorskip("polars").read_parquet(output).to_pandas()
    else:
        mark = "," if ending == "csv" else "\t"
        frame = pd.read_csv(output, sep=mark, float_precision="round_trip")
    assert list(frame) == [
        "rank", "feature", "index", "selected", "explained", "increase",
        "representative", "correlation", "n_members",
    ]  # fmt: skip
    ranker = Cover(3).fit(table)
    assert frame["selected"].tolist() == [True] * 3 + [False] * 7
    assert frame["feature"].iloc[-1] == "g9"
    assert frame[["representative", "correlation"]].iloc[-1].isna().all()
    for row in frame[:-1].itertuples():
        by = int(ranker.representative_[row.index])
        assert row.representative == NAMES[by]
        assert GROUP[by] == GROUP[row.index]
        assert row.correlation == pytest.approx(
            np.corrcoef(X[:, row.index], X[:, by])[0, 1], rel=1e-9
        )
        assert not row.selected or row.representative == row.feature


def test_cells_of_constant_columns_are_empty(tmp_path):
    output = tmp_path / "ranking.csv"
    path = save(tmp_path / "d.csv", np.column_stack([X[:, :9], np.ones(60)]))
    assert run("rank", path, "--output", output).exit_code == 0
    assert output.read_text().splitlines()[-1] == "10,g9,9,False,,,,,0"


@pytest.mark.parametrize(
    "option",
    [
        ["--thresholds", "linear"],
        ["--n-thresholds", "20"],
        ["--damping", "0.5"],
        ["--centrality", "degree"],
        ["--quality", "gini"],
        ["--variant", "paper"],  # the default, but given
        ["--tie-break", "column"],
        ["--missing", "pairwise"],
        ["--search", "exact"],
        ["--checkpoint", "passes"],
        ["--similarity", "euclidean"],
        ["--similarity", "abs-correlation"],
    ],
    ids=lambda option: option[0],
)
def test_options_of_frane(data, option):
    for form in ([], ["--ranker", "cover"]):
        line = fails("rank", data, *form, *option, code=2)
        assert line.startswith(f"error: {option[0]}")
        assert "is not an option of --ranker cover; use " in line
        assert "--ranker frane" in line


@pytest.mark.parametrize(
    ("options", "ranker"),
    [
        ([], "cover"),
        (["--ranker", "cover"], "cover"),
        (["--ranker", "frane"], "frane"),
        (["--ranker", "cover", "--ranker", "frane"], "frane"),
        (["--similarity", "spearman"], "cover"),
        (["--seed", "3", "--n-jobs", "1"], "cover"),
    ],
)
def test_the_option_ranker_decides(data, options, ranker):
    assert read(data, *options)["ranker"] == ranker


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--ranker", "frane", "--include", "g1"], ["--include", "--ranker cover"]),
        (["--ranker", "frane", "--top", "auto"], ["--top auto", "--ranker cover"]),
        (["--ranker", "frane", "--exclude", "g1"], ["--exclude", "--ranker cover"]),
        (["--damping", "0.5", "--cost", "c.csv"], ["--damping", "--ranker frane"]),
        (
            ["--ranker", "frane", "--weights", "robust"],
            ["--weights", "use --ranker cov"],
        ),
        (
            ["--ranker", "mcfs", "--objective", "linear"],
            ["--objective", "--ranker cov"],
        ),
        (["--set", "scale=null"], ["scale is set by --scale; set it once"]),
        (["--scale", "robust"], ["--scale", "'standard', 'none'"]),
        (["--set", "damping=1"], ["cover has no parameter 'damping'; it has: backend"]),
        (["--set", "n_ranked"], ["'n_ranked' is not of the form parameter=value"]),
        (["--set", "n_features_to_select=3"], ["is set by --top"]),
        (["--set", "n_ranked=3", "--set", "n_ranked=4"], ["set it once"]),
        (["--set", "n_ranked=0"], ["'--set n_ranked' parameter of Cover must be"]),
        (["--top", "some"], ["'some' is not a positive integer or 'auto'"]),
        (["--stability", "1"], ["'1' is neither a whole number from 2 on nor 'none'"]),
    ],
)
def test_contradictions(data, options, parts):
    line = fails("rank", data, *options, code=2)
    assert all(part in line for part in parts)


def test_spearman_reaches_the_estimator(tmp_path):
    table = np.exp(X)
    path = save(tmp_path / "d.csv", table)
    ranker = Cover(4, similarity="spearman").fit(table)
    summary = read(path, "--top", 4, "--similarity", "spearman")
    explained = summary["explained"][:4]
    np.testing.assert_allclose(explained, ranker.explained_, rtol=1e-9)
    other = read(path, "--top", 4)["explained"][:4]
    assert not np.allclose(explained, other, rtol=1e-3)


def test_auto(data):
    summary = read(data, "--top", "auto")
    ranker = fitted("auto")
    assert summary["parameters"]["n_features_to_select"] == "auto"
    assert len(summary["features"]) == summary["n_suggested"]
    assert summary["n_selected"] == ranker.n_features_ == ranker.n_features_suggested_


def test_auto_where_no_number_is_suggested(tmp_path):
    noise = np.random.default_rng(3).normal(size=(40, 30))
    np.save(tmp_path / "noise.npy", noise)
    summary = read(tmp_path / "noise.npy", "--top", "auto")
    assert summary["n_suggested"] is None
    assert "all 30 columns that were picked" in summary["warnings"][0]
    assert len(summary["features"]) == 16
    assert summary["n_selected"] == 30
    shown = run("rank", tmp_path / "noise.npy", "--top", "auto").stdout
    assert summary["sentences"][0] in shown


def test_missing_values_name_the_option(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b,c\n1,2,5\n3,,1\n5,6,2\n6,1,2\n")
    assert "--missing pairwise" in fails("rank", path, code=1)
    told = ("--ranker", "frane", "--missing", "pairwise")
    assert read(path, *told)["ranker"] == "frane"


def test_dry_run(data, tmp_path):
    result = run("rank", data, "--dry-run", "--output", tmp_path / "ranking.csv")
    assert result.exit_code == 0, result.output
    assert "features  10 × 60 samples, on" in result.stdout
    assert "for 10 picks" in result.stdout
    assert not (tmp_path / "ranking.csv").exists()
    plan = read(data, "--dry-run", "--n-jobs", "1", "--top", "4")
    assert plan.pop("seconds") > 0.0
    assert plan.pop("memory") > 8 * 600
    assert plan == {
        "ranker": "cover", "n_features": 10, "n_examples": 60, "n_drawn": 60,
        "n_picks": 10, "n_threads": 1,
    }  # fmt: skip


@pytest.mark.parametrize("shape", [(300, 6000), (1200, 1200), (12_000, 300)])
@pytest.mark.parametrize("parameters", [{}, {"weights": "variance", "scale": None}])
def test_memory_is_predicted_within_a_factor_of_two(shape, parameters):
    table = np.random.default_rng(0).normal(size=shape)
    predicted = Cover(4, **parameters).plan(table)["memory"]
    tracemalloc.start()
    try:
        Cover(4, n_ranked=4, **parameters).fit(table)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.5 * predicted < taken < 2.0 * predicted


def test_units_do_not_matter_by_default(tmp_path):
    units = 10.0 ** np.array([0, 3, -4, 6, 0, 1, -2, 5, 0, 2])
    path, other = save(tmp_path / "d.csv"), save(tmp_path / "e.csv", X * units)
    result = run("rank", other, "--top", 4)
    assert (result.exit_code, result.stderr) == (0, "")
    for options in ((), ("--scale", "standard")):
        found, wanted = (read(each, "--top", 4, *options) for each in (other, path))
        assert [row["name"] for row in found["features"]] == [
            row["name"] for row in wanted["features"]
        ]
        assert found["scale"] == found["parameters"]["scale"] == "standard"


def test_scale_none_takes_the_table_as_it_is(tmp_path):
    table = X * [1, 1, 1, 1, 1, 1, 1, 1, 1, 50.0]
    path = save(tmp_path / "d.csv", table)
    summary = read(path, "--top", 4, "--scale", "none")
    ranker = Cover(4, scale=None).fit(table)
    assert [row["index"] for row in summary["features"]] == ranker.order_[:4].tolist()
    assert summary["explained"][:4] == pytest.approx(ranker.explained_, rel=1e-9)
    assert summary["scale"] == "none"
    assert summary["parameters"]["scale"] is None


def test_other_rankers_standardize(tmp_path):
    table = X * np.arange(1.0, 11.0) + X**2
    path = save(tmp_path / "d.csv", table)
    for options, scale, given in (
        ((), "none", table),
        (("--scale", "none"), "none", table),
        (("--scale", "standard"), "standard", table / table.std(axis=0)),
    ):
        summary = read(path, "--ranker", "facility-location", "--top", 10, *options)
        ranker = FacilityLocation(10).fit(given)
        assert summary["scale"] == scale
        assert [row["index"] for row in summary["features"]] == ranker.order_.tolist()
        found = read(path, "--ranker", "column-subset", "--set", "standardize=false",
                     "--top", 10, *options)  # fmt: skip
        ranker = ColumnSubset(10, standardize=False).fit(given)
        assert [row["index"] for row in found["features"]] == ranker.order_.tolist()


def test_scale_leaves_errors_to_the_ranker(tmp_path):
    table = X.copy()
    table[5, 2] = np.inf
    np.save(tmp_path / "x.npy", table)
    for ranker in ("cover", "frane"):
        options = ("--ranker", ranker, "--scale", "standard")
        line = fails("rank", tmp_path / "x.npy", *options, code=1)
        assert "Column 2 holds infinity" in line


@pytest.mark.parametrize("objective", ["balanced", "linear", "neighbors"])
@pytest.mark.parametrize("weights", ["robust", "variance"])
def test_objective_and_weights_reach_the_estimator(tmp_path, objective, weights):
    table = X * np.arange(1.0, 11.0)
    path = save(tmp_path / "d.csv", table)
    options = ("--objective", objective, "--weights", weights)
    summary = read(path, "--top", 4, *options)
    ranker = fitted_to(table, objective=objective, weights=weights)
    assert [row["index"] for row in summary["features"]] == ranker.order_[:4].tolist()
    assert summary["explained"][:4] == pytest.approx(ranker.explained_, rel=1e-9)
    assert summary["parameters"]["objective"] == objective
    assert summary["parameters"]["weights"] == weights
