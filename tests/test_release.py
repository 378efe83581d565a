"""What a release is made of: versions, files, workflows, and the checks of them."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import franet

ROOT = Path(__file__).parents[1]
if not (ROOT / ".ci").is_dir():
    pytest.skip("only in a clone, not in an sdist", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WRITTEN = ["tests.yml", "release.yml"]


def load(name):
    """Return a script of .ci as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # release.py imports dist.py
    spec.loader.exec_module(module)
    return module


dist = load("dist")
release = load("release")
audit = load("audit")


def yaml(path):
    return pytest.importorskip("yaml", reason="comes with dask").safe_load(
        path.read_text(encoding="utf-8")
    )


def test_the_version_is_said_once():
    assert dist.version() == franet.__version__
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert release.problems(None) == []
    assert len(release.problems("v9.9.9")) >= 1
    assert "The tag is v9.9.9" in release.problems("v9.9.9")[0]


def test_a_version_that_was_forgotten(tmp_path):
    (tmp_path / "recipe").mkdir()
    (tmp_path / "CITATION.cff").write_text("version: 0.0.1\n")
    (tmp_path / "recipe/recipe.yaml").write_text('  version: "0.0.1"\n')
    (tmp_path / "CHANGELOG.md").write_text("## [0.0.1]\n")
    found = release.problems(f"v{franet.__version__}", tmp_path)
    assert [line.split()[0] for line in found] == [
        "CITATION.cff", "recipe/recipe.yaml", "CHANGELOG.md",
    ]  # fmt: skip


def wheel(path, names):
    with zipfile.ZipFile(path, "w") as file:
        for name in [*dist.NEEDED, *names]:
            file.writestr(name, "")
    return path


def sdist(path, names):
    with tarfile.open(path, "w:gz") as file:
        for name in [*(f"src/{needed}" for needed in dist.NEEDED), *names]:
            file.addfile(tarfile.TarInfo(f"franet-1/{name}"), io.BytesIO())
    return path


NAME = f"franet-{franet.__version__}"
JUNK = [
    "franet/engine/__pycache__/kernels.add-1.py311.nbi",
    "franet/datasets/ORL.mat",
    "tests/test_frane.py",
    "franet/.coverage",
]


@pytest.mark.parametrize("name", JUNK)
def test_junk_in_a_wheel(tmp_path, name):
    path = wheel(tmp_path / f"{NAME}-py3-none-any.whl", [name])
    with pytest.raises(SystemExit, match=f"should not: {re.escape(name)}$"):
        dist.check(path)


@pytest.mark.parametrize(
    "name", ["tests/.hypothesis/examples/a", "docs/benchmark/README.md", "dist/x.whl"]
)
def test_junk_in_an_sdist(tmp_path, name):
    path = sdist(tmp_path / f"{NAME}.tar.gz", ["pyproject.toml", name])
    with pytest.raises(SystemExit, match=f"should not: {re.escape(name)}$"):
        dist.check(path)


def test_contents_that_are_right(tmp_path, capsys):
    dist.check(wheel(tmp_path / f"{NAME}-py3-none-any.whl", ["franet/io/_mtx.py"]))
    dist.check(sdist(tmp_path / f"{NAME}.tar.gz", ["tests/io/test_mtx.py"]))
    assert "4 files" in capsys.readouterr().out


def test_what_is_missing_or_another_version(tmp_path):
    path = tmp_path / f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("franet/__init__.py", "")
    with pytest.raises(SystemExit, match=r"lacks franet/py\.typed"):
        dist.check(path)
    with pytest.raises(SystemExit, match="is not version"):
        dist.check(wheel(tmp_path / "franet-0.0.0-py3-none-any.whl", []))


def test_wheels_that_differ(tmp_path):
    one = wheel(tmp_path / "one.whl", [])
    other = wheel(tmp_path / "other.whl", ["franet/new.py"])
    assert dist.differences(one, one) == []
    assert dist.differences(one, other) == ["franet/new.py"]


def test_every_file_of_the_package_may_be_in_the_wheel():
    source = ROOT / "src"
    names = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert len(names) > 100
    assert dist.strange(names, dist.IN_WHEEL) == []


@pytest.mark.parametrize(
    "path", [*(f".github/workflows/{name}" for name in WRITTEN), "recipe/recipe.yaml"]
)
def test_what_was_not_run_says_so(path):
    first = (ROOT / path).read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# Written, not run here")
    assert isinstance(yaml(ROOT / path), dict)


def test_scripts_of_workflows_are_there():
    for name in WRITTEN:
        text = (ROOT / ".github/workflows" / name).read_text(encoding="utf-8")
        for script in re.findall(r"python (\.ci/\w+\.py)", text):
            assert (ROOT / script).is_file()


def test_the_matrix_is_what_the_package_promises():
    matrix = yaml(ROOT / ".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]
    promised = re.findall(
        r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"])
    )
    assert matrix["matrix"]["python"] == promised
    assert promised[0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    systems = {name.partition("-")[0] for name in matrix["matrix"]["os"]}
    assert systems == {"ubuntu", "macos", "windows"}


def test_the_index_is_told_no_password():
    publish = yaml(ROOT / ".github/workflows/release.yml")["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()


def test_the_recipe_asks_for_what_the_package_asks_for():
    recipe = yaml(ROOT / "recipe/recipe.yaml")
    run = [each for each in recipe["requirements"]["run"] if "python_min" not in each]
    wanted = [each.replace(">=", " >=") for each in PROJECT["project"]["dependencies"]]
    assert run == wanted


def test_figures_beside_other_libraries():
    """The table of the README holds what the benchmark measured, best first."""
    found: dict[str, dict[str, float]] = {}
    with (ROOT / "benchmarks/results/rankers.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["part"] == "error":
                found.setdefault(row["ranker"], {})[row["table"]] = float(row["value"])
    names = {
        "`Cover()`": "cover",
        "`FRANe()`, the paper's method": "frane",
        "`FastCan`, for the principal components as targets": "fastcan on components",
        "`CUR`": "skmatter CUR",
        "`FPS`": "skmatter FPS",
        "`mcfs`": "scikit-feature MCFS",
        "`lap_score`": "scikit-feature lap_score",
        "random columns, mean of ten draws": "random",
    }
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    part = text.partition("## Beside other libraries")[2].partition("\n## ")[0]
    lines = [
        line.strip("| ").split("|") for line in part.split("\n") if line[:1] == "|"
    ]
    (_, _, *tables, _), _, *rows = ([cell.strip() for cell in line] for line in lines)
    means = []
    for *_, method, a, b, c, d, mean in rows:
        measured = found[names.pop(method)]
        values = [measured[table] for table in tables]
        assert [a, b, c, d] == [f"{value:.3f}" for value in values]
        assert mean == f"{sum(values) / 4:.3f}"
        means.append(mean)
    assert names == {}
    assert means == sorted(means)


def test_flaws_are_told():
    found = {
        "dependencies": [
            {"name": "safe", "version": "1", "vulns": []},
            {"name": "private", "skip_reason": "not found"},
            {
                "name": "bad",
                "version": "2",
                "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}],
            },
        ]
    }
    assert audit.flaws(found) == ["bad 2: PYSEC-1, mended in 2.1"]


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        ("no network", 0, "could not ask, so nothing is known: no network"),
        ({"dependencies": [{"name": "a", "version": "1", "vulns": []}]}, 0, "0 known"),
        (
            {
                "dependencies": [
                    {
                        "name": "a",
                        "version": "1",
                        "vulns": [{"id": "X", "fix_versions": []}],
                    }
                ]
            },
            1,
            "a 1: X, mended in no version yet",
        ),
    ],
)
def test_only_a_known_flaw_stops_the_check(monkeypatch, capsys, answer, code, told):
    monkeypatch.setattr(audit, "audit", lambda: answer)
    assert audit.main() == code
    assert told in capsys.readouterr().out
