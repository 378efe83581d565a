"""The code of every page runs, in order, and prints what the page shows.

Comments of a page, which readers do not see, say what a test has to know:

- ``<!-- not run: why -->`` before a block that cannot run here;
- ``<!-- run first: code -->`` for what a block takes as given, such as a reader's file;
- ``<!-- varies: why -->`` before output that depends on the machine.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import tracemalloc
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from franet.cli import main

ROOT = Path(__file__).parents[1]
if not (ROOT / "docs").is_dir():
    pytest.skip("the pages are not here", allow_module_level=True)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# Programs of consoles that are not franet: the first two change the installation, the
# others measure for minutes or hours.
OTHERS = (
    "pip", "make", ".venv/bin/python", ".venv-bench/bin/python",
    ".venv-published/bin/python", "python",
)  # fmt: skip
PART = re.compile(
    r"^<!-- (?P<word>not run|run first|varies):\s+(?P<note>.*?)-->$"
    r"|^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass
class Block:
    """A block of code, and what its page says about it."""

    line: int
    language: str
    code: str
    note: str = ""  # why it is not run, or why its output varies
    skipped: bool = False
    output: str | None = None


def blocks(page):
    """Return the blocks of a page; output belongs to the block before it."""
    text = page.read_text("utf-8")
    found, notes, end = [], {}, 0
    for part in PART.finditer(text):
        line = text.count("\n", 0, part.start()) + 2
        adjacent = not text[end : part.start()].strip()
        end = part.end()
        if part["word"] == "run first":
            found.append(Block(line, "python", part["note"]))
        elif part["word"]:
            notes[part["word"]] = part["note"].strip()
        elif part["language"] == "text":
            if (
                found
                and adjacent
                and found[-1].output is None
                and "varies" not in notes
            ):
                found[-1].output = part["code"]
            notes = {}
        elif part["language"] in ("python", "console", "sh"):
            reason = notes.get("not run", "")
            block = Block(line, part["language"], part["code"], reason, bool(reason))
            found.append(block)
            notes = {}
    return found


def same(shown, printed):
    """Check output, but for spaces at the ends of lines and seconds."""
    shown, printed = (
        [
            re.sub(r"[\d.]+ s$", "# s", line.rstrip())
            for line in text.strip().split("\n")
        ]
        for text in (shown, printed)
    )
    assert printed == shown


def run_python(block, page, namespace):
    """Run a block, and return what it prints; warnings are printed as well."""
    printed = io.StringIO()

    def show(message, category, *args, **kwargs):
        printed.write(f"{category.__name__}: {message}\n")

    code = "\n" * (block.line - 1) + block.code
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("default")
        warnings.showwarning = show
        exec(compile(code, page.name, "exec"), namespace)
    return printed.getvalue()


def run_session(block, page, namespace):
    """Run a block that shows an interactive session, with what it answers."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    parser = doctest.DocTestParser()
    session = parser.get_doctest(
        block.code, namespace, page.name, str(page), block.line
    )
    failures = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(session, out=failures.write, clear_globs=False)
    namespace.update(session.globs)
    assert failures.getvalue() == ""


def commands(block):
    """Yield the words of each command of a console, and what it prints there."""
    prompt = "$ " if block.language == "console" else ""
    lines = block.code.replace("\\\n", " ").splitlines()
    words, shown = None, []
    for line in lines:
        if line.startswith(prompt):
            if words:
                yield words, "\n".join(shown)
            words, shown = shlex.split(line.removeprefix(prompt), comments=True), []
        else:
            shown.append(line)
    if words:
        yield words, "\n".join(shown)


def run_console(block):
    """Run the commands of franet, and return what the last one prints."""
    printed = ""
    for words, shown in commands(block):
        if words[0] in OTHERS:
            continue
        assert words[0] == "franet", f"{words[0]} is unknown: mark the block as not run"
        result = CliRunner().invoke(main, words[1:])
        assert result.exit_code == 0, (words, result.output)
        printed = result.stdout
        if shown:
            same(shown, printed)
    return printed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder in which pages run; what they draw is not shown."""
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="pages draw")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    pyplot.switch_backend("agg")
    monkeypatch.setattr("webbrowser.open", lambda *args, **kwargs: True)
    yield tmp_path
    pyplot.close("all")
    tracemalloc.stop()  # a page measures memory


def runnable(page):
    return any(not block.skipped for block in blocks(page))


NAMES = [str(page.relative_to(ROOT)) for page in PAGES if runnable(page)]


@pytest.mark.parametrize("name", NAMES)
def test_code_of_page(name, folder):
    page = ROOT / name
    namespace = {"__name__": "page"}
    for block in blocks(page):
        if block.skipped:
            continue
        if block.language != "python":
            printed = run_console(block)
        elif block.code.startswith(">>>"):
            run_session(block, page, namespace)
            continue
        else:
            printed = run_python(block, page, namespace)
        if block.output is not None:
            same(block.output, printed)


def test_what_is_not_run_has_a_reason():
    for page in PAGES:
        for block in blocks(page):
            assert not block.skipped or len(block.note) > 10, (page, block.line)


def test_links_lead_to_files():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in link:
                assert (page.parent / link).is_file(), f"{page.name}: {link}"


def test_blocks_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- run first:\nx = 1\n-->\n```python\nprint(x)\n```\n\n```text\n1\n```\n"
        "<!-- not run: it needs a cluster -->\n\n"
        "```console\n$ franet rank a \\\n    b\n```\n"
    )
    setup, code, console = blocks(page)
    assert (setup.code, code.output, code.line) == ("x = 1\n", "1\n", 5)
    assert console.skipped
    assert list(commands(console)) == [(["franet", "rank", "a", "b"], "")]


def cells(text):
    """Return the cells of all tables, without marks."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return {cell.strip("* `") for line in lines for cell in line.split("|")}


@pytest.mark.parametrize(
    ("page", "results"),
    [("sensors.md", "sensors.md"), ("before-a-model.md", "front_end.md")],
)
def test_figures_of_tables_are_those_that_were_measured(page, results):
    shown = cells((ROOT / "docs" / page).read_text("utf-8"))
    figures = {cell for cell in shown if re.fullmatch(r"\d\.\d{3}( ± .*)?", cell)}
    assert len(figures) > 20
    measured = ROOT / "benchmarks" / "results" / results
    if not measured.exists():
        pytest.skip("the results are not here")
    assert figures <= cells(measured.read_text("utf-8"))


def listed():
    """Return the names that the API reference lists, by module."""
    text = (ROOT / "docs" / "api" / "index.rst").read_text("utf-8")
    found = {}
    for part in text.split(".. currentmodule:: ")[1:]:
        module, _, rest = part.partition("\n")
        found[module] = re.findall(r"^   (\w+)$", rest, re.MULTILINE)
    return found


@pytest.mark.parametrize("module", sorted(listed()))
def test_the_reference_has_all_that_is_public(module):
    home = import_module(module)
    public = {name for name in home.__all__ if not name.startswith("__")}
    things = {name for name in public if callable(getattr(home, name))}
    assert things <= set(listed()[module]) <= public
