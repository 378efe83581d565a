"""The page as text, and the files it is written to."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

from franet.cli import main
from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.report import render, write
from franet.report._text import json_for_html, short, significant, visible


class Tags(HTMLParser):
    """What a page is made of."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(summary):
    return render(summary)


def test_the_page_asks_for_nothing(page):
    tags = Tags(page).tags
    for tag, attributes in tags:
        for name in ("src", "href", "action", "data"):
            link = attributes.get(name) or "#"
            assert link.startswith(("#", "data:")), (tag, link)
    assert not {"iframe", "object", "embed", "base", "form", "img"} & {
        t for t, _ in tags
    }
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_only_our_scripts(page):
    found = [
        a["content"]
        for _, a in Tags(page).tags
        if "content-security" in (a.get("http-equiv") or "").lower()
    ]
    assert len(found) == 1
    scripts = re.search(r"script-src ([^;]*);", found[0])[1]
    assert re.fullmatch(r"'sha256-[^']+' 'sha256-[^']+'", scripts)
    assert "default-src 'none'" in found[0]
    assert "connect-src 'none'" in found[0]


def test_controls_have_labels_and_figures_have_text(page):
    tags = Tags(page).tags
    images = [a for _, a in tags if a.get("role") == "img"]
    assert len(images) >= 4
    assert all(a.get("aria-label") for a in images)
    assert page.count("<label") >= page.count("<input") + page.count("<select")
    assert ("html", {"lang": "en"}) in tags
    headings = [tag for tag, _ in tags if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1


def test_names_are_escaped(hostile):
    page = render(hostile)
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert "49" not in re.search(r"<bdi[^>]*>[^<]*7 \* 7[^<]*", page)[0]
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert page.count("</script>") == 4
    data = re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1]
    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data)["features"]


def test_text():
    assert json_for_html(["<&>\u2028'"]) == '["\\u003c\\u0026\\u003e\\u2028\\u0027"]'
    assert visible("a\x00b\x85") == "a␀b�"
    assert visible("\u202ex") == "�x"
    assert visible("plain ü 🧬") == "plain ü 🧬"
    assert short("x" * 50, 10) == "x" * 9 + "…"
    assert significant(-0.5) == "−0.5"


def test_write_html_and_json(summary, tmp_path):
    write(summary, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == render(summary) + "\n"
    write(summary, tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text("utf-8")) == summary
    with pytest.raises(DataError, match="exists already"):
        write(summary, tmp_path / "report.html")
    write(summary, tmp_path / "report.html", force=True)
    with pytest.raises(UsageError, match="end the name in"):
        write(summary, tmp_path / "report.pdf")


def test_method_of_the_estimator(cancer, tmp_path):
    ranker, X = cancer
    ranker.report(tmp_path / "r.html", X, top=5)
    assert "the other 25 are not listed" in (tmp_path / "r.html").read_text("utf-8")
    ranker.report(tmp_path / "r.html", X)
    assert "are not listed" not in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize("module", ["bokeh", "jinja2"])
def test_missing_libraries(summary, tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'franet\[report\]'"):
        write(summary, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
    write(summary, tmp_path / "report.json")


def test_importing_the_report_loads_no_bokeh():
    code = "import sys, franet.report; sys.exit('bokeh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 3)), 3, axis=1) + rng.normal(size=(40, 9))
    path = tmp_path / "genes <b>.csv"
    head = ",".join(f"gene {j}" for j in range(9))
    np.savetxt(path, X, delimiter=",", header=head, comments="")
    return path


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def test_command_line(data, tmp_path):
    report = tmp_path / "report.html"
    result = run("rank", data, "--report", report, "--top", 3)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == f"Report: {report}"
    page = report.read_text("utf-8")
    assert '<h1 dir="auto">genes &lt;b&gt;.csv</h1>' in page
    assert "gene 8" in page
    again = run("rank", data, "--report", report)
    assert again.exit_code == 1
    assert "exists already" in again.stderr
    assert run("rank", data, "--report", report, "--force").exit_code == 0


def test_command_line_writes_json(data, tmp_path):
    result = run("rank", data, "--report", tmp_path / "r.json", "--json")
    assert json.loads(result.stdout)["format"] == "franet-ranking"
    made = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert made["format"] == "franet-report"
    assert made["seconds"] is not None


@pytest.mark.parametrize("same", ["genes <b>.csv", "out.json"])
def test_command_line_needs_a_file_of_its_own(data, tmp_path, same):
    result = run(
        "rank",
        data,
        "--output",
        tmp_path / "out.json",
        "--report",
        tmp_path / same,
        "--force",
    )
    assert result.exit_code == 2
    assert f"--report {tmp_path / same}: is the same file as" in result.stderr


def test_command_line_without_bokeh_fails_before_the_work(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    monkeypatch.setattr("franet.io.read_table", None)
    result = run("rank", data, "--report", tmp_path / "report.html")
    assert result.exit_code == 1
    assert result.stderr.strip().endswith("pip install 'franet[report]'")
