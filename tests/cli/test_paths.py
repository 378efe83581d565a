"""No output of a command is one of its inputs."""

from __future__ import annotations

import os
from pathlib import Path

import click
import numpy as np
import pytest

from cli.commands import X, fails, run, save
from cli.test_bench import fill
from franet import FRANe
from franet.anndata._results import write_ranked_file
from franet.cli import main
from franet.cli._paths import Command, Reads, Writes
from franet.evaluation.store import FILES
from franet.exceptions import UsageError
from franet.io import read_table
from franet.rankers import get


def commands(group=main, before=()):
    """Yield every command with its name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


def test_every_path_says_whether_it_is_read_or_written():
    found = 0
    for name, command in commands():
        paths = [each for each in command.params if isinstance(each.type, click.Path)]
        assert all(isinstance(each.type, Reads | Writes) for each in paths), name
        assert not paths or isinstance(command, Command), name
        found += len(paths)
    assert found > 10


def equal(path, folder):
    return path


def relative(path, folder):
    return os.path.relpath(path)


def indirect(path, folder):
    (folder / "deep").mkdir()
    return folder / "deep" / ".." / path.name


def symlink(path, folder):
    link = folder / f"link{path.suffix}"
    link.symlink_to(path)
    return link


def linked_folder(path, folder):
    (folder / "elsewhere").symlink_to(path.parent)
    return folder / "elsewhere" / path.name


def hard_link(path, folder):
    link = folder / f"hard{path.suffix}"
    link.hardlink_to(path)
    return link


WAYS = [equal, relative, indirect, symlink, linked_folder, hard_link]


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """Return the files that commands read, by argument."""
    monkeypatch.chdir(tmp_path)
    files = {
        "FILE": save(tmp_path / "t.csv"),
        "--feature-names": tmp_path / "names.csv",
        "--cost": tmp_path / "cost.csv",
        "--groups": tmp_path / "groups.csv",
        "--weights": tmp_path / "weights.csv",
    }
    files["--feature-names"].write_text("".join(f"f{j}\n" for j in range(10)))
    files["--cost"].write_text("feature,cost\nf0,2\n")
    files["--groups"].write_text("feature,group\nf0,a\n")
    files["--weights"].write_text("feature,weight\nf0,2\n")
    return files


@pytest.fixture
def no_work(monkeypatch):
    monkeypatch.setattr("franet.io.read_table", None)
    monkeypatch.setattr("franet.evaluation.store.ResultsStore.read", None)


CASES = [
    ("rank", "--output", "FILE"),
    ("rank", "--output", "--feature-names"),
    ("rank", "--output", "--cost"),
    ("rank", "--output", "--groups"),
    ("rank", "--output", "--weights"),
    ("rank", "--checkpoint", "--weights"),
    ("rank", "--report", "FILE"),
    ("rank", "--report", "--groups"),
    ("rank", "--checkpoint", "FILE"),
    ("evaluate", "--output", "FILE"),
    ("evaluate", "--output", "--feature-names"),
    ("evaluate", "--plot", "FILE"),
]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("command", "output", "source"), CASES)
def test_an_output_is_no_input(inputs, tmp_path, command, output, source, way):
    before = {name: path.read_bytes() for name, path in inputs.items()}
    target = way(inputs[source], tmp_path)
    options = [] if source == "FILE" else [source, inputs[source]]
    arguments = [command, inputs["FILE"], *options, output, target, "--force"]
    line = fails(*arguments, code=2)
    assert f"{output} {target}: is the same file as {source} (" in line
    assert {name: path.read_bytes() for name, path in inputs.items()} == before


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("way", WAYS)
def test_a_table_of_a_benchmark_is_not_its_results(tmp_path, monkeypatch, name, way):
    monkeypatch.chdir(tmp_path)
    folder = fill(tmp_path / "results")
    (folder / name).touch()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    target = way(folder / name, folder)
    line = fails("bench", "table", folder, "--csv", target, "--force", code=2)
    assert f"--csv {target}: is the same file as FOLDER ({folder / name})" in line
    assert {path: path.read_bytes() for path in before} == before
    # Beside the results there is a place for it.
    assert run("bench", "table", folder, "--csv", folder / "t.csv").exit_code == 0


def test_pictures_of_a_benchmark_are_not_its_results(tmp_path):
    folder = fill(tmp_path / "results")
    before = (folder / FILES[0]).read_bytes()
    for name in ("curves-colon.svg", "critical-difference.svg"):
        link = folder / name
        for make in (link.symlink_to, link.hardlink_to):
            make(folder / FILES[0])
            arguments = ["bench", "plot", folder, "--out", folder, "--force"]
            assert f"is the same file as FOLDER ({folder}" in fails(*arguments, code=2)
            assert (folder / FILES[0]).read_bytes() == before
            link.unlink()
    line = fails("bench", "plot", folder, "--out", folder / FILES[0], code=2)
    assert "--out" in line
    assert run("bench", "plot", folder, "--out", folder).exit_code == 0
    assert (folder / FILES[0]).read_bytes() == before


def test_results_of_a_benchmark_are_not_a_data_set(tmp_path, monkeypatch):
    data, out = tmp_path / "colon.mat", tmp_path / "results"
    data.write_bytes(b"table")
    out.mkdir()
    (out / FILES[0]).symlink_to(data)
    monkeypatch.setattr("franet.datasets.find", lambda name: data)
    line = fails("bench", "run", "--datasets", "colon", "--out", out, code=2)
    assert f"is the same file as --datasets colon ({data})" in line
    assert data.read_bytes() == b"table"


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("command", "outputs"),
    [
        ("rank", ("--output", "--report")),
        ("evaluate", ("--output", "--plot")),
        ("rank", ("--output", "--checkpoint")),
    ],
)
@pytest.mark.parametrize("there", [False, True])
def test_two_outputs_are_two_files(inputs, tmp_path, command, outputs, there):
    target = tmp_path / "out.json"
    other = Path("out.json")
    if there:
        target.write_text("mine")
        other = tmp_path / "other.json"
        other.hardlink_to(target)
    arguments = [outputs[0], target, outputs[1], other, "--force"]
    line = fails(command, inputs["FILE"], *arguments, code=2)
    assert f"{outputs[0]} ({target})" in line or f"{outputs[0]} {target}" in line
    assert outputs[1] in line
    assert target.exists() == there


@pytest.mark.usefixtures("no_work")
def test_nothing_is_written_into_a_checkpoint(inputs, tmp_path):
    for folder in (tmp_path / "new", tmp_path):
        target = folder / "about.json"
        arguments = ["--checkpoint", folder, "--output", target, "--force"]
        line = fails("rank", inputs["FILE"], *arguments, code=2)
        assert f"--output {target}: lies inside --checkpoint ({folder})" in line


@pytest.mark.usefixtures("no_work")
def test_nothing_is_written_into_a_zarr_folder(tmp_path):
    folder = tmp_path / "x.zarr"
    (folder / "c").mkdir(parents=True)
    (folder / "zarr.json").write_text("{}")
    (folder / "c" / "0").write_bytes(b"chunk")
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "hard.csv").hardlink_to(folder / "c" / "0")
    (tmp_path / "far.csv").write_text("chunk")
    (folder / "c" / "1").symlink_to(tmp_path / "far.csv")
    inside = [folder / "r.csv", tmp_path / "link" / "c" / "r.csv"]
    for target in (*inside, tmp_path / "hard.csv", tmp_path / "far.csv"):
        for option in ("--output", "--report", "--checkpoint"):
            line = fails("rank", folder, option, target, "--force", code=2)
            assert f"{option} {target}: lies inside FILE ({folder})" in line
    assert (folder / "c" / "0").read_bytes() == b"chunk"
    assert (folder / "c" / "1").read_bytes() == b"chunk"


def test_a_rule_is_no_input(tmp_path, monkeypatch):
    """A folder called as the rule is, is not read."""
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "t.csv")
    (tmp_path / "variance").mkdir()
    output = Path("variance") / "r.csv"
    assert (
        run("rank", "t.csv", "--weights", "variance", "--output", output).exit_code == 0
    )
    assert output.exists()
    line = fails("rank", "t.csv", "--weights", "./variance", code=1)
    assert "variance: is a directory; give the file inside it" in line


def test_other_files_are_written(inputs, tmp_path):
    arguments = ["--cost", inputs["--cost"], "--feature-names"]
    arguments += [inputs["--feature-names"], "--output", tmp_path / "r.csv"]
    assert run("rank", inputs["FILE"], *arguments).exit_code == 0
    old = tmp_path / "r.csv"
    assert run("rank", inputs["FILE"], "--output", old, "--force").exit_code == 0


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_report_is_not_the_table(tmp_path, link):
    source, target = tmp_path / "x.npy", tmp_path / "report.json"
    np.save(source, X)
    before = source.read_bytes()
    getattr(target, link)(source)
    tables = [np.load(source, mmap_mode="r"), read_table(source, lazy=0).X]
    ranker = get("variance")().fit(X)
    for table in tables:
        with pytest.raises(UsageError, match="is the file of the table that was read"):
            ranker.report(target, table)
    assert source.read_bytes() == before
    other = tmp_path / "other.json"
    ranker.report(other, tables[0])
    assert other.exists()


def test_a_report_does_not_lie_in_the_zarr_folder_of_the_table(tmp_path):
    zarr = pytest.importorskip("zarr", reason="needs the extra zarr")
    folder = tmp_path / "x.zarr"
    zarr.create_array(folder, shape=X.shape, dtype=X.dtype)[:] = X
    before = (folder / "zarr.json").read_bytes()
    (tmp_path / "link.json").hardlink_to(folder / "zarr.json")
    (tmp_path / "to").symlink_to(folder)
    ranker = get("variance")().fit(X)
    for table in (zarr.open_array(folder, mode="r"), read_table(folder, lazy=0).X):
        for name in ("x.zarr/zarr.json", "x.zarr/new.json", "link.json", "to/a.json"):
            with pytest.raises(UsageError, match="of the table that was read"):
                ranker.report(tmp_path / name, table)
    assert (folder / "zarr.json").read_bytes() == before
    assert not (folder / "new.json").exists()


def test_a_copy_is_not_the_file_that_was_ranked(tmp_path):
    source, target = tmp_path / "x.h5ad", tmp_path / "copy.h5ad"
    source.write_bytes(b"cells")
    target.hardlink_to(source)
    for path in (source, target):
        with pytest.raises(UsageError, match="that was read"):
            write_ranked_file(source, path, None, more={}, notes={}, force=True)
    assert source.read_bytes() == b"cells"


def test_a_report_is_not_the_table_of_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    source, target = tmp_path / "x.h5", tmp_path / "report.json"
    with h5py.File(source, "w") as file:
        file["X"] = X
    target.symlink_to(source)
    before = source.read_bytes()
    with h5py.File(source) as file, pytest.raises(UsageError, match="that was read"):
        FRANe().fit(X).report(target, file["X"])
    assert source.read_bytes() == before
