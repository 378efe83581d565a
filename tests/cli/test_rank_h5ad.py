"""``franet rank cells.h5ad --output ranked.h5ad``: a copy with the ranking in it."""

import json
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

anndata = pytest.importorskip("anndata", reason="needs the extra 'anndata'")
h5py = pytest.importorskip("h5py", reason="comes with anndata")

from cli.commands import fails, run, save  # noqa: E402
from franet.anndata import rank_features  # noqa: E402
from single_cells import planted  # noqa: E402


@pytest.fixture
def cells(tmp_path):
    """Return a file with all that AnnData may hold."""
    adata = planted()
    adata.X = sparse.csr_matrix(adata.X)
    adata.layers["twice"] = 2.0 * adata.X
    adata.var["chromosome"] = [f"chr{j % 3}" for j in range(adata.n_vars)]
    adata.obs["batch"] = np.arange(adata.n_obs) % 2
    adata.obsm["X_pca"] = np.ones((adata.n_obs, 2))
    adata.uns["colours"] = np.array(["red", "blue"], object)
    adata.raw = adata
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path, compression="gzip")
    return path


def ranked(cells, *options):
    output = cells.with_name("ranked.h5ad")
    result = run("rank", cells, "--output", output, "--force", *options)
    assert result.exit_code == 0, result.output
    return anndata.read_h5ad(output)


def test_the_same_as_in_python(cells):
    found = ranked(cells, "--top", "auto")
    expected = anndata.read_h5ad(cells)
    rank_features(expected)
    assert list(found.var) == list(expected.var)
    for name in expected.var:
        assert found.var[name].equals(expected.var[name]), name
    assert found.varp["franet"].dtype == expected.varp["franet"].dtype
    assert abs(found.varp["franet"] - expected.varp["franet"]).max() == 0.0
    notes, others = found.uns["franet"], expected.uns["franet"]
    assert notes.pop("scale") == notes["params"]["scale"] == "standard"
    assert notes["params"]["weights"] == "variance"
    assert sorted(notes) == sorted(others)
    assert notes["summary"] == others["summary"]
    # More are picked, to say on the screen how many are enough.
    assert notes["params"].pop("n_ranked") == "auto"
    assert notes["params"] == others["params"]


def test_all_else_is_as_it_was(cells):
    before, after = anndata.read_h5ad(cells), ranked(cells)
    assert list(before.var) == ["chromosome"]
    np.testing.assert_array_equal(after.X.toarray(), before.X.toarray())
    np.testing.assert_array_equal(after.obsm["X_pca"], before.obsm["X_pca"])
    assert after.obs.equals(before.obs)
    assert list(after.uns["colours"]) == ["red", "blue"]
    assert after.raw.shape == before.raw.shape
    with h5py.File(cells.with_name("ranked.h5ad")) as file:
        assert file["X/data"].compression == "gzip"


def test_a_layer_and_stability(cells):
    adata = ranked(cells, "--variable", "twice", "--stability", 3, "--scale", "none")
    assert adata.uns["franet"]["layer"] == "twice"
    assert adata.uns["franet"]["scale"] == "none"
    assert "scale" not in adata.uns["franet"]["params"]  # it is None
    low, rank, high = (adata.var[f"franet_rank{end}"] for end in ("_low", "", "_high"))
    assert (low <= high).all()
    best = rank == 1
    assert low[best].item() == 1
    # What an earlier ranking left is gone.
    adata.write_h5ad(cells)
    again = ranked(cells, "--ranker", "variance", "--top", 3)
    names = [name for name in again.var if name.startswith("franet")]
    assert names == ["franet_score", "franet_rank", "franet_selected"]
    assert "franet" not in again.varp
    assert again.uns["franet"]["ranker"] == "Variance"


def test_weights(cells, tmp_path):
    genes = list(planted().var_names)
    (tmp_path / "weights.csv").write_text(f"{genes[4]},2.5\n")
    for options, wanted in (
        ((), "variance"),
        (("--weights", "variance"), "variance"),
        (("--weights", "robust"), "robust"),
        (("--weights", tmp_path / "weights.csv"), {genes[4]: 2.5}),
    ):
        summary = json.loads(run("rank", cells, "--json", *options).stdout)
        assert summary["parameters"]["weights"] == wanted
        assert summary["warnings"] == []
        found = ranked(cells, *options).uns["franet"]["params"]["weights"]
        assert found == wanted or json.loads(found) == wanted
    # Other files and other rankers have no such default.
    csv = save(tmp_path / "data.csv")
    summary = json.loads(run("rank", csv, "--json").stdout)
    assert summary["parameters"]["weights"] == "robust"
    found = run("rank", cells, "--ranker", "frane", "--json")
    assert "weights" not in json.loads(found.stdout)["parameters"]


def test_scaled_values_are_noted(tmp_path):
    adata = planted()
    adata.X = adata.X / adata.X.std(axis=0, ddof=1)
    adata.write_h5ad(tmp_path / "scaled.h5ad")
    path, report = tmp_path / "scaled.h5ad", tmp_path / "report.html"
    result = run("rank", path, "--report", report)
    assert result.exit_code == 0, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: --weights variance means little here: 100 % of ")
    assert line.endswith("such as a layer, or set --weights robust.")
    assert "means little here" in report.read_text("utf-8")
    summary = json.loads(run("rank", path, "--json", "--quiet").stdout)
    assert [f"warning: {note}" for note in summary["warnings"]] == [line]
    assert summary["parameters"]["weights"] == "variance"
    for options in (("--weights", "robust"), ("--ranker", "column-subset")):
        found = run("rank", path, "--json", *options)
        assert json.loads(found.stdout)["warnings"] == []


def test_features_that_the_user_names(cells):
    genes = list(planted().var_names)
    adata = ranked(cells, "--include", genes[4], "--exclude", genes[0], "--top", 4)
    assert adata.var["franet_rank"][genes[4]] == 1
    assert not adata.var["franet_selected"][genes[0]]
    assert list(adata.uns["franet"]["params"]["include"]) == [genes[4]]


def test_screen(cells):
    output = cells.with_name("ranked.h5ad")
    result = run("rank", cells, "--output", output, "--top", 4)
    assert result.stdout.splitlines()[-1] == f"All 18 features: {output} (var)"
    summary = json.loads(run("rank", cells, "--json", "--top", 4).stdout)
    adata = anndata.read_h5ad(output)
    for row in summary["features"]:
        assert adata.var["franet_rank"].iloc[row["index"]] == row["rank"]


def test_another_file_cannot_become_one(tmp_path):
    data = save(tmp_path / "data.csv")
    message = fails("rank", data, "--output", tmp_path / "ranked.h5ad", code=2)
    assert "is csv; end the name in .csv" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]


def test_what_is_refused_before_the_work(cells, monkeypatch):
    output = cells.with_name("ranked.h5ad")
    message = fails("rank", cells, "--transpose", "--output", output, code=2)
    assert "--transpose ranks observations" in message
    assert "name another file" in fails(
        "rank", cells, "--output", cells, "--force", code=2
    )
    output.write_bytes(b"mine")
    assert "use --force" in fails("rank", cells, "--output", output, code=1)
    assert output.read_bytes() == b"mine"
    monkeypatch.setitem(sys.modules, "anndata", None)
    message = fails("rank", cells, "--output", output, "--force", code=1)
    assert message.endswith("pip install 'franet[anndata]'")


def test_names_that_occur_twice(tmp_path):
    adata = planted()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata says so, too
        adata.var_names = [f"g{j // 2}" for j in range(adata.n_vars)]
        adata.write_h5ad(tmp_path / "cells.h5ad")
    message = fails("rank", tmp_path / "cells.h5ad", code=1)
    assert "call adata.var_names_make_unique() and write it again" in message


def test_a_file_older_than_groups(cells, monkeypatch):
    import franet.anndata._results as module

    def old(path, mode):
        file = File(path, mode)
        del file["var"]
        file["var"] = np.zeros(18)
        return file

    File = h5py.File
    monkeypatch.setattr(h5py, "File", old)
    with pytest.raises(module.DataError, match=r"before anndata 0\.7; read and write"):
        module.write_ranked_file(
            cells, cells.with_name("r.h5ad"), None, more={}, notes={}, force=False
        )
    assert [path.name for path in cells.parent.iterdir()] == ["cells.h5ad"]


def test_a_disk_that_fails(cells, monkeypatch):
    def full(*args):
        raise RuntimeError("Can't write data (No space left on device)")

    monkeypatch.setattr("anndata.io.write_elem", full)
    output = cells.with_name("ranked.h5ad")
    message = fails("rank", cells, "--output", output, "--quiet", code=1)
    assert f"{output}: cannot be written" in message
    assert [path.name for path in cells.parent.iterdir()] == ["cells.h5ad"]


@pytest.mark.parametrize("layer", ["X", "scaled"])
def test_a_file_that_is_only_opened(tmp_path, monkeypatch, layer):
    """What is read piece by piece is judged like a table in memory."""
    adata = planted()
    scaled = (adata.X - adata.X.mean(axis=0)) / adata.X.std(axis=0)
    adata.layers["scaled"] = scaled
    adata.write_h5ad(tmp_path / "cells.h5ad")
    command = ["rank", tmp_path / "cells.h5ad", "--top", 4]
    command += [] if layer == "X" else ["--variable", layer]
    whole = run(*command)
    monkeypatch.setattr("franet.cli._job.largest_to_load", lambda *given: 1)
    monkeypatch.setattr("franet.anndata._inputs._ROWS", 60)
    opened = run(*command)
    assert opened.exit_code == 0, opened.output
    picks = [
        [line.split()[1] for line in each.stdout.splitlines()[4:8]]
        for each in (whole, opened)
    ]
    assert picks[0] == picks[1]
    for each in (whole, opened):
        assert ("means little" in each.stderr) == (layer == "scaled")
