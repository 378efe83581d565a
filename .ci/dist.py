"""Build the wheel and the sdist, look into them, and use the wheel as a user would.

``python .ci/dist.py`` leaves both files in ``dist/``. Everything else happens in
environments of its own in a temporary folder:

1. the sdist is built, the wheel from it, and a wheel from the tree: both must be equal;
2. both hold what they should, and nothing else;
3. the wheel is installed into an empty environment, ranks the data of ``franet demo``,
   and mypy in strict mode accepts what a user writes (``tests/typed_snippet.py``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"

# What the two may hold; a path of the sdist is seen from its top folder.
IN_WHEEL = re.compile(
    r"franet/([a-z_0-9]+/)*([A-Za-z_0-9]+\.py|py\.typed)"
    r"|franet/datasets/registry\.csv"
    r"|franet/report/templates/[a-z]+\.(js|css|html)"
    r"|franet-[^/]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)
IN_SDIST = re.compile(
    r"src/franet/([a-z_0-9]+/)*([A-Za-z_0-9]+\.py|py\.typed)"
    r"|src/franet/datasets/registry\.csv"
    r"|src/franet/report/templates/[a-z]+\.(js|css|html)"
    r"|tests/([a-z_0-9]+/)*[a-z_0-9]+\.py|tests/sentences\.txt"
    r"|README\.md|CHANGELOG\.md|LICENSE|CITATION\.cff|PKG-INFO|pyproject\.toml"
    r"|\.gitignore"
)
# What must be there.
NEEDED = ("franet/__init__.py", "franet/py.typed", "franet/datasets/registry.csv")
LARGEST = 5_000_000  # bytes: no data


def version() -> str:
    """Return the version, from the one place that says it."""
    text = (ROOT / "src/franet/_common/version.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)[1]


def build_needs() -> list[str]:
    """Return what the build asks for."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["build-system"]["requires"]


def members_of(path: Path) -> dict[str, bytes]:
    """Return the files in a wheel or an sdist, those of an sdist without its folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as file:
            return {name: file.read(name) for name in file.namelist()}
    with tarfile.open(path) as file:
        return {
            member.name.partition("/")[2]: file.extractfile(member).read()
            for member in file
            if member.isfile()
        }


def strange(names: Iterable[str], allowed: re.Pattern[str]) -> list[str]:
    """Return the names that do not belong there."""
    return [name for name in names if not allowed.fullmatch(name)]


def check(path: Path) -> None:
    """Raise where a wheel or an sdist holds what it should not, or lacks something."""
    members = members_of(path)
    wheel = path.suffix == ".whl"
    found = strange(members, IN_WHEEL if wheel else IN_SDIST)
    if found:
        raise SystemExit(f"{path.name} holds what it should not: {', '.join(found)}")
    start = "" if wheel else "src/"
    lacks = [name for name in NEEDED if start + name not in members]
    if lacks:
        raise SystemExit(f"{path.name} lacks {', '.join(lacks)}")
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path.name} is larger than {LARGEST:,} bytes")
    if version() not in path.name:
        raise SystemExit(f"{path.name} is not version {version()}")
    print(f"{path.name}: {len(members)} files, {path.stat().st_size:,} bytes")


def differences(one: Path, other: Path) -> list[str]:
    """Return the files in which two wheels differ."""
    left, right = members_of(one), members_of(other)
    return sorted(n for n in {*left, *right} if left.get(n) != right.get(n))


def make_environment(folder: Path, *packages: str) -> Path:
    """Make an empty environment, install packages, and return its programs' folder."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", *packages)
    return programs


def run(*command: object, cwd: Path | None = None) -> None:
    """Run a command that must succeed."""
    # What is installed counts, not what lies in the tree or in the user's folders.
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}
    subprocess.run(
        [str(part) for part in command],
        check=True,
        cwd=cwd,
        env={**clean, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )


def build(folder: Path) -> Path:
    """Build both into ``dist/``, check them, and return the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    programs = make_environment(folder / "build", "build", *build_needs())
    # The environment is new: one of its own for each build would only cost time.
    command = [programs / "python", "-m", "build", "--no-isolation", ROOT, "--outdir"]
    run(*command, DIST)
    run(*command, folder / "direct", "--wheel")
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    (direct,) = (folder / "direct").glob("*.whl")
    for path in (wheel, sdist):
        check(path)
    if found := differences(wheel, direct):
        raise SystemExit(f"the sdist makes another wheel: {', '.join(found)}")
    return wheel


def use(wheel: Path, folder: Path) -> None:
    """Install the wheel where nothing else is, and do what a user does."""
    programs = make_environment(
        folder / "user", f"{wheel}[report,network]", "mypy>=1.13"
    )
    work = folder / "work"
    work.mkdir()
    run(programs / "franet", "demo", cwd=work)
    if not (work / "franet-demo-report.html").is_file():
        raise SystemExit("franet demo wrote no report")
    run(programs / "franet", "doctor", cwd=work)
    shutil.copy(ROOT / "tests/typed_snippet.py", work)
    # scikit-learn and SciPy ship no types.
    strict = ["--strict", "--ignore-missing-imports"]
    run(programs / "mypy", *strict, "typed_snippet.py", cwd=work)


def main() -> None:
    """Build, check and use the distribution."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        use(build(folder), folder)
    print(f"All well, in {time.monotonic() - begun:.0f} s.")


if __name__ == "__main__":
    main()
