"""``franet rank``: what it prints and what it writes, in the paper's form."""

import json
import re
import shlex
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

from cli.commands import NAMES, X, fails, rank, run, save
from franet import FRANe, __version__
from franet.cli import main
from franet.exceptions import DegenerateRankingWarning


def fitted(**parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateRankingWarning)
        return FRANe(**parameters).fit(X)


def test_table_on_screen(data):
    result = rank(data, "--top", 3)
    assert result.exit_code == 0, result.output
    ranker = fitted()
    best = np.argsort(ranker.ranking_)[:3]
    first, _, *lines = result.stdout.splitlines()
    assert first.startswith("FRANe, the paper's ranking. ")
    assert first.endswith("franet rank --ranker cover")
    assert lines[0].split() == ["rank", "feature", "score", "redundant", "with"]
    for line, i, j in zip(lines[2:5], (1, 2, 3), best, strict=True):
        assert line.split()[:3] == [str(i), NAMES[j], f"{ranker.scores_[j]:.4g}"]
    assert "10 features × 60 examples" in result.stdout
    assert f"Winning threshold {ranker.threshold_:.4g} (RQH " in result.stdout
    assert f"{ranker.network_.n_edges} edges" in result.stdout
    assert "\x1b" not in result.stdout


def test_redundant_features_are_named(data):
    result = rank(data, "--json", "--top", 10)
    summary = json.loads(result.stdout)
    ranks = {row["name"]: row["rank"] for row in summary["features"]}
    groups = {name: int(name[1:]) // 3 for name in NAMES}
    redundant = [row for row in summary["features"] if row["redundant_with"]]
    assert redundant
    for row in redundant:
        assert ranks[row["redundant_with"]] < row["rank"]
        assert groups[row["redundant_with"]] == groups[row["name"]]
        assert row["similarity"] > 1.5
    assert summary["features"][0]["redundant_with"] is None
    assert summary["features"][0]["similarity"] is None
    shown = rank(data).stdout
    row = redundant[0]
    assert f"{row['redundant_with']} (r = {row['similarity'] - 1:.2f})" in shown
    assert "—" in shown


def test_json_is_the_only_thing_on_stdout(data, tmp_path):
    result = rank(data, "--json", "--top", 4, "--output", tmp_path / "r.csv")
    summary = json.loads(result.stdout)
    ranker = fitted()
    order = np.argsort(ranker.ranking_)
    assert set(summary) == {
        "format", "version", "ranker", "features", "n_features", "n_examples",
        "threshold", "quality", "n_edges", "n_isolated", "n_constant", "warnings",
        "matches", "parameters", "seconds", "scale",
    }  # fmt: skip
    assert (summary["format"], summary["version"]) == ("franet-ranking", 1)
    assert [row["index"] for row in summary["features"]] == order[:4].tolist()
    assert [row["score"] for row in summary["features"]] == pytest.approx(
        ranker.scores_[order[:4]], rel=1e-12
    )
    assert summary["n_features"] == 10
    assert summary["n_examples"] == 60
    assert summary["threshold"] == ranker.threshold_
    assert summary["quality"] == pytest.approx(ranker.quality_[ranker.winner_])
    assert summary["n_edges"] == ranker.network_.n_edges
    assert summary["parameters"]["similarity"] == "correlation"
    assert summary["parameters"]["n_features_to_select"] == 4
    assert summary["seconds"] > 0
    assert (tmp_path / "r.csv").exists()


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_output_holds_the_full_ranking(data, tmp_path, ending):
    output = tmp_path / f"ranking.{ending}"
    result = rank(data, "--top", 3, "--output", output)
    assert result.exit_code == 0, result.output
    assert f"All 10 features: {output}" in result.stdout
    pd = pytest.importorskip("pandas")
    if ending == "json":
        frame = pd.DataFrame(json.loads(output.read_text())["features"])
    elif ending == "parquet":
        frame = pytest.importorskip("polars").read_parquet(output).to_pandas()
    else:
        mark = "," if ending == "csv" else "\t"
        frame = pd.read_csv(output, sep=mark, float_precision="round_trip")
    ranker = fitted()
    order = np.argsort(ranker.ranking_)
    assert list(frame) == [
        "rank", "feature", "index", "score", "selected", "n_neighbors",
    ]  # fmt: skip
    assert frame["rank"].tolist() == list(range(1, 11))
    assert frame["feature"].tolist() == [NAMES[j] for j in order]
    assert frame["index"].tolist() == order.tolist()
    np.testing.assert_allclose(frame["score"], ranker.scores_[order], rtol=1e-12)
    assert frame["selected"].tolist() == [True] * 3 + [False] * 7


def test_options_reach_the_estimator(data):
    options = (
        "--similarity minkowski --set p=3 --thresholds linear --n-thresholds 20 "
        "--set min_mean_degree=0.5 --damping 0.7 --set weighted=false --quality gini "
        "--variant reference --missing error --tie-break denser --seed 5 --n-jobs 1 "
        "--top 2"
    ).split()
    result = rank(data, "--json", *options)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["parameters"] == {
        "n_features_to_select": 2, "similarity": "minkowski", "p": 3,
        "thresholds": "linear", "n_thresholds": 20, "min_mean_degree": 0.5,
        "damping": 0.7, "weighted": False, "centrality": "pagerank",
        "quality": "gini", "variant": "reference", "missing": "error",
        "tie_break": "denser", "random_state": 5, "n_jobs": 1, "max_memory": None,
        "max_edges": 5_000_000, "store_candidates": False, "search": "exact",
        "backend": "auto", "checkpoint": None,
    }  # fmt: skip


def test_options_are_those_of_the_parameters():
    from franet.estimators._parameters import FRANE, Choices, Range

    options = {option.opts[0]: option for option in main.commands["rank"].params}
    for name, parameter in FRANE.items():
        option = options.get(f"--{name.replace('_', '-')}")
        assert (option is not None) == bool(parameter.help)
        for kind in parameter.allowed if option else ():
            if isinstance(kind, Choices):
                assert set(kind) <= set(option.type.choices)
                assert f"[default: {parameter.default}" in option.help
            elif isinstance(kind, Range) and str not in parameter.allowed:
                assert (option.type.min, option.type.max) == (kind.low, kind.high)
                assert f"[default: {parameter.default}]" in option.help


@pytest.mark.parametrize(
    ("options", "mark"),
    [
        (["--similarity", "spearman"], "ρ = "),
        (["--similarity", "abs-correlation"], "|r| = "),
        (["--similarity", "euclidean"], "similarity "),
    ],
)
def test_similarity_on_screen(data, options, mark):
    result = rank(data, *options)
    assert f" ({mark}" in result.stdout


def test_unweighted_edges_have_no_number(data):
    result = rank(data, "--set", "weighted=false")
    assert result.exit_code == 0
    assert "(r = " not in result.stdout


def test_default_top_fits_small_and_large_tables(data, tmp_path):
    assert len(json.loads(rank(data, "--json").stdout)["features"]) == 10
    wide = tmp_path / "wide.npy"
    np.save(wide, np.random.default_rng(1).normal(size=(20, 30)))
    rows = json.loads(rank(wide, "--json", "--quiet").stdout)["features"]
    assert len(rows) == 16
    assert all(row["name"] == f"x{row['index']}" for row in rows)


def test_reading_options(tmp_path):
    path = tmp_path / "genes.data"
    lines = ["gene\tabout\t" + "\t".join(f"s{i}" for i in range(60))]
    lines += [
        f"{name}\twords\t" + "\t".join(map(repr, column))
        for name, column in zip(NAMES, X.T.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines))
    args = ["rank", path, "--format", "tsv", "--transpose"]
    assert "not numeric: 'about'" in fails(*args, code=1)
    result = run(*args, "--drop-non-numeric", "--header", "--index", "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["n_features"] == 10
    assert {row["name"] for row in summary["features"]} == set(NAMES)
    assert "Left out 1 column without numbers: 'about'." in summary["warnings"]
    assert "warning: Left out 1 column" in result.stderr


def test_no_header_and_names_from_a_file(tmp_path):
    path = tmp_path / "x.csv"
    np.savetxt(path, X, delimiter=",")
    names = tmp_path / "names.txt"
    names.write_text("\n".join(NAMES))
    args = ["--no-header", "--no-index", "--feature-names", names, "--json"]
    summary = json.loads(run("rank", path, *args).stdout)
    assert {row["name"] for row in summary["features"]} == set(NAMES)


def test_variable_and_sparse(tmp_path):
    np.savez(tmp_path / "x.npz", a=X, b=X[:, :5])
    summary = json.loads(
        run("rank", tmp_path / "x.npz", "--variable", "b", "--json").stdout
    )
    assert summary["n_features"] == 5
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(X * (X > 0)))
    assert run("rank", tmp_path / "s.npz").exit_code == 0


def test_precomputed_similarities(tmp_path):
    np.save(tmp_path / "s.npy", 1 + np.corrcoef(X.T))
    args = ["rank", tmp_path / "s.npy", "--similarity", "precomputed"]
    args += ["--ranker", "frane"]
    summary = json.loads(run(*args, "--json").stdout)
    assert summary["n_examples"] is None
    assert "\n10 features, " in run(*args).stdout


def test_constant_features_are_counted(tmp_path):
    path = save(tmp_path / "d.csv", np.column_stack([X[:, :9], np.ones(60)]))
    result = rank(path)
    assert "(1 features constant, ranked last)" in result.stdout
    assert json.loads(rank(path, "--json").stdout)["n_constant"] == 1


def test_warnings_of_the_estimator_are_shown(tmp_path):
    path = tmp_path / "noise.npy"
    noise = np.random.default_rng(2).normal(size=(500, 100))
    noise[:, :20] = noise[:, :1] + 1e-3 * noise[:, :20]
    np.save(path, noise)
    args = ["rank", path, "--ranker", "frane"]
    with pytest.warns(DegenerateRankingWarning, match="80 of 100 features"):
        FRANe().fit(noise)
    result = run(*args)
    assert result.exit_code == 0
    assert "warning: " in result.stderr
    assert "--tie-break denser" in result.stderr
    assert json.loads(run(*args, "--json").stdout)["warnings"]
    assert run(*args, "--quiet").stderr == ""


def test_no_winner(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(30, 4)))
    args = [tmp_path / "x.npy", "--set", "min_mean_degree=99"]
    result = rank(*args)
    assert result.exit_code == 0, result.output
    assert "No threshold won: all features score the same." in result.stdout
    summary = json.loads(rank(*args, "--json").stdout)
    assert summary["threshold"] is None
    assert summary["quality"] is None


def test_truncated_networks_are_told(data, monkeypatch):
    from franet.estimators import _frane

    class Small(_frane.FRANe):
        def fit(self, X, y=None):
            self.max_edges = 1
            return super().fit(X, y)

    monkeypatch.setattr("franet.estimators._frane.FRANe", Small)
    result = rank(data)
    assert "edges; only the strongest of each feature" in result.stderr


def test_guessed_labels_are_told(tmp_path, data):
    path = tmp_path / "labelled.csv"
    lines = data.read_text().splitlines()
    path.write_text("\n".join(f"s{i},{line}" for i, line in enumerate(lines)))
    hint = "Row labels: 's0' (--no-index if it is a feature)"
    assert hint in run("rank", path).stdout
    assert hint not in run("rank", path, "--index").stdout
    assert "Row labels" not in run("rank", data).stdout


def test_quiet(data, tmp_path):
    result = run("rank", data, "--quiet", "--output", tmp_path / "r.csv")
    assert result.output == ""
    assert (tmp_path / "r.csv").exists()


def test_names_cannot_command_the_terminal(tmp_path):
    names = ["\x1b[31mred", "[bold]x[/bold]", "tab\there", *NAMES[3:]]
    result = run("rank", save(tmp_path / "d.csv", names=names), "--top", 10)
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert r"\x1b[31mred" in result.stdout
    assert "[bold]x[/bold]" in result.stdout


def test_long_names_are_whole_in_pipes(tmp_path):
    names = [f"{'very-' * 20}{name}" for name in NAMES]
    result = run("rank", save(tmp_path / "d.csv", names=names))
    for name in names:
        assert f" {name} " in result.stdout


def test_version_and_help():
    assert run("--version").stdout == f"franet, version {__version__}\n"
    for args in ([], ["--help"], ["-h"]):
        result = run(*args)
        assert result.exit_code == 0
        assert "Commands:" in result.stdout
        assert "rank" in result.stdout
    assert "--drop-non-numeric" in run("rank", "--help").stdout


def test_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "30 features × 569 examples" in result.stdout
    assert result.stdout.splitlines()[1].startswith("Cover: ")
    assert "mean concave points" in result.stdout
    assert "of 30 columns explain" in result.stdout
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert lines[-3].startswith("franet rank ")
    assert lines[-1] == "Open in a browser: franet-demo-report.html"
    assert "Tumours" in (tmp_path / "franet-demo-report.html").read_text("utf-8")


def test_demo_without_the_libraries_of_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith("pip install 'franet[report]'")
    assert list(tmp_path.iterdir()) == []


def test_dry_run_tells_and_does_nothing(data, tmp_path):
    result = rank(data, "--dry-run", "--output", tmp_path / "ranking.csv")
    assert result.exit_code == 0
    assert "features  10 (45 pairs)" in result.stdout
    assert "tiles     1 of 16 × 16 features" in result.stdout
    assert "memory" in result.stdout
    assert re.search(r"^time      about (a second|\d+ (s|min))", result.stdout, re.M)
    assert not (tmp_path / "ranking.csv").exists()
    plan = json.loads(rank(data, "--dry-run", "--json").stdout)
    assert plan["n_pairs"] == 45
    assert plan["seconds"] > 0


def test_dry_run_of_a_wide_table(tmp_path):
    wide = np.random.default_rng(0).normal(size=(20, 4000)).astype(np.float32)
    np.save(tmp_path / "wide.npy", wide)
    result = rank(tmp_path / "wide.npy", "--dry-run", "--max-memory", "60 MB")
    assert "tiles     36 of 512 × 512 features" in result.stdout
    assert "of 60 MB, edges in temporary files" in result.stdout


@pytest.mark.parametrize("size", ["lots", "-3", "1 XB", ""])
def test_max_memory_that_is_no_size(data, size):
    result = rank(data, "--max-memory", size)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: --max-memory {shlex.quote(size)} is not")
    assert "text such as '2 GB'" in result.stderr


def test_max_memory_that_is_too_little(data):
    result = rank(data, "--max-memory", "1 kB")
    assert result.exit_code == 2
    assert "at least" in result.stderr
