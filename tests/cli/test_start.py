"""The first minutes: what ``franet`` says by itself, and reports in the browser."""

import shlex
import sys

import pytest

from cli.commands import fails, run, save

pytest.importorskip("jinja2", reason="reports need the extra 'report'")
pytest.importorskip("bokeh", reason="reports need the extra 'report'")


def examples(text):
    """Return the commands of a text: its lines that begin with two spaces."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("  franet ")]
    return [shlex.split(line)[1:] for line in lines]


def test_a_short_help_with_examples_that_work(tmp_path, monkeypatch):
    result = run()
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) < 20
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "data.csv")
    demo, *others = examples(result.stdout)
    assert demo == ["demo"]  # tests/cli/test_rank.py runs it
    assert others
    for command in others:
        done = run(*command)
        assert done.exit_code == 0, done.output
    assert (tmp_path / "ranking.csv").stat().st_size > 0


def test_commands_stand_in_the_order_in_which_they_are_needed():
    for options in ([], ["--help"]):
        text = run(*options).stdout
        places = [text.index(f"\n  {name} ") for name in ("demo", "rank", "bench")]
        assert places == sorted(places)


@pytest.fixture
def browser(tmp_path, monkeypatch):
    """Return the file into which a browser writes what it is to show."""
    seen = tmp_path / "seen.txt"
    script = tmp_path / "browser.py"
    script.write_text(
        f"import sys; open({str(seen)!r}, 'w').write(sys.argv[1])", encoding="utf-8"
    )
    # webbrowser looks at this variable when it is first used.
    monkeypatch.delitem(sys.modules, "webbrowser", raising=False)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    return seen


def test_report_in_the_browser(data, tmp_path, browser):
    report = tmp_path / "a report.html"
    result = run("rank", data, "--report", report, "--open")
    assert result.exit_code == 0, result.output
    assert browser.read_text() == report.as_uri()
    assert "%20" in report.as_uri()


def test_no_browser(data, tmp_path, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    report = tmp_path / "report.html"
    result = run("rank", data, "--report", report, "--open")
    assert result.exit_code == 0
    assert f"warning: no browser was found; open {report}" in result.stderr


def test_open_without_a_report(data):
    assert "--report report.html" in fails("rank", data, "--open", code=2)


def test_no_folder_for_kernels(data, monkeypatch):
    import numba

    def read_table(*args, **kwargs):
        # The source of a function without a file lies in no folder.
        numba.njit(cache=True)(eval("lambda: 0"))

    monkeypatch.setattr("franet.io.read_table", read_table)
    assert "set NUMBA_CACHE_DIR" in fails("rank", data, code=1)
