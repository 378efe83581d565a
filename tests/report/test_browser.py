"""The report in a real browser: it works, stays by itself, and runs no name.

Screenshots lie in `test-artefacts/`, for people to look at.
"""

from __future__ import annotations

import json
import re

import pytest

from browsing import LAPTOP, PATIENCE, PHONE, names, opened, rows, settle
from franet.report import render, summarize, write
from franet.report._text import visible

# Where a node is on the screen: its place in the figure, plus that of the figure.
NODE = """(node) => {
  const figure = model("figure-map", "map");
  const { x, y } = model("figure-map", "nodes").data;
  const { x_range: h, y_range: v, inner_width: w, inner_height: t } = figure;
  const place = $("figure-map").getBoundingClientRect();
  const frame = Bokeh.index.find_one(figure).frame.bbox;
  return [place.x + frame.x + (x[node] - h.start) / (h.end - h.start) * w,
          place.y + frame.y + (v.end - y[node]) / (v.end - v.start) * t];
}"""


@pytest.fixture(scope="module")
def path(browser, summary, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "cancer.html"
    write(summary, path)
    return path


@pytest.fixture(scope="module")
def digits_path(browser, digits, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "digits.html"
    ranker, X = digits
    write(summarize(ranker, X, title="Digits"), path)
    return path


@pytest.fixture(scope="module")
def hostile_path(browser, hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    write(hostile, path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize(
    "which", ["path", "digits_path", "hostile_path", "collapsed_path", "greedy_path"]
)
def test_looks(browser, request, artefacts, which, size, scheme):
    path = request.getfixturevalue(which)
    with opened(browser, path, size, scheme) as page:
        settle(page)
        name = f"{path.stem}-{'phone' if size == PHONE else 'laptop'}-{scheme}.png"
        page.screenshot(path=artefacts / name, full_page=True)
        # Nothing is wider than the screen: the page itself never scrolls sideways.
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        background = page.evaluate(
            "getComputedStyle(document.documentElement).backgroundColor"
        )
        bright = sum(int(v) for v in re.findall(r"\d+", background)[:3]) > 380
        assert bright == (scheme == "light")


def test_search(browser, path):
    with opened(browser, path) as page:
        assert rows(page).count() == 30
        page.fill("#table-search", "CONCAV")
        assert set(names(page)) == {
            f"{kind} {what}" if kind != "error" else f"{what} error"
            for kind in ("mean", "worst", "error")
            for what in ("concavity", "concave points")
        }
        assert page.inner_text("#table-status").startswith("6 features of 30")
        page.fill("#table-search", "nothing of the kind")
        assert rows(page).count() == 0
        assert page.is_visible("#table-empty")


def test_filter(browser, path, summary):
    with opened(browser, path) as page:
        page.check("#table-selected")
        assert rows(page).count() == 8
        page.uncheck("#table-selected")
        page.select_option("#table-community", "1")
        wanted = [f["name"] for f in summary["features"] if f["community"] == 1]
        assert names(page) == wanted


def test_sort(browser, path, summary):
    with opened(browser, path) as page:
        ranked = names(page)
        page.get_by_role("button", name="feature").click()
        assert names(page) == sorted(ranked, key=str.lower)
        page.get_by_role("button", name="feature").click()
        assert names(page) == sorted(ranked, key=str.lower, reverse=True)
        assert (
            page.get_attribute("th:has([data-key=name])", "aria-sort") == "descending"
        )
        page.get_by_role("button", name="stands for").click()
        counts = sorted(f["members"]["count"] for f in summary["features"])
        first = page.inner_text("#table tbody tr:first-child .stands .count")
        assert int(first) == counts[-1]
        page.get_by_role("button", name="rank").click()
        assert names(page) == ranked


def test_copy(browser, path):
    with opened(browser, path) as page:
        page.fill("#table-search", "concavity")
        page.click("#table-copy")
        page.locator("#table-status", has_text="Copied 3").wait_for()
        text = page.evaluate("navigator.clipboard.readText()")
        lines = [line.split("\t") for line in text.strip().split("\n")]
        assert lines[0][:3] == ["rank", "feature", "index"]
        assert [len(line) for line in lines] == [9] * 4
        assert lines[1][1] == "mean concavity"


def test_click_on_a_node(browser, path, summary, artefacts):
    with opened(browser, path) as page:
        page.evaluate("$('network').scrollIntoView()")
        settle(page)
        page.mouse.click(*page.evaluate(NODE, 0))
        best = summary["features"][0]
        page.locator("#panel-title", has_text=best["name"]).wait_for()
        panel = page.inner_text("#panel")
        assert "1 of 30" in panel
        assert best["neighbors"][0]["name"] in panel
        assert (
            page.get_attribute("#table tbody tr:first-child", "aria-current") == "true"
        )
        alpha = page.evaluate("Array.from(model('figure-map', 'nodes').data.alpha)")
        bright = sum(value == 1 for value in alpha)
        assert len(best["neighbors"]) < bright <= best["n_neighbors"] + 1
        page.screenshot(path=artefacts / "cancer-node.png")
        # To a neighbour, by its button, and away again.
        page.locator("#panel-content li button").first.click()
        assert page.inner_text("#panel-title") == best["neighbors"][0]["name"]
        page.keyboard.press("Escape")
        assert page.inner_text("#panel-title") == "Feature"
        assert page.evaluate("model('figure-map', 'nodes').data.alpha[0]") == 0.95


def test_hover(browser, path, summary, artefacts):
    with opened(browser, path) as page:
        page.evaluate("$('network').scrollIntoView()")
        settle(page)
        page.mouse.move(*page.evaluate(NODE, 0), steps=3)
        page.get_by_text(summary["features"][0]["name"], exact=True).last.wait_for()
        settle(page)
        page.screenshot(path=artefacts / "cancer-hover.png")


def test_slider(browser, path, summary):
    def drawn():
        alpha = page.evaluate("Array.from(model('figure-map', 'edges').data.alpha)")
        return sum(value > 0 for value in alpha)

    steps = summary["map"]["steps"]
    with opened(browser, path) as page:
        assert drawn() == len(summary["map"]["a"])
        page.focus("#map-slider")
        for _ in range(20):
            page.keyboard.press("ArrowRight")
        wanted = [
            w for w in summary["map"]["weight"] if w >= steps[20]["weight"] - 1e-6
        ]
        assert drawn() == len(wanted)
        status = page.inner_text("#map-status")
        assert status.startswith(f"{len(wanted)} of ")
        assert f"{steps[20]['n_edges']} edges in the whole network" in status
        assert float(page.inner_text("#map-threshold")) == pytest.approx(
            steps[20]["weight"] - 1, rel=1e-2
        )
        page.click("#map-clear")
        assert drawn() == len(summary["map"]["a"])


def test_find_on_the_map(browser, path):
    with opened(browser, path) as page:
        page.fill("#map-search", "texture")
        found = page.locator("#map-found button").all_inner_texts()
        assert found[:2] == ["mean texture", "worst texture"]
        assert found[2] == "texture error (not drawn)"
        page.keyboard.press("Enter")
        assert page.inner_text("#panel-title") == "mean texture"
        page.fill("#map-search", "xyz")
        assert "No listed feature" in page.inner_text("#map-found")


def test_legend(browser, path, summary):
    with opened(browser, path) as page:
        button = page.locator("#map-legend button").nth(1)
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        alpha = page.evaluate("Array.from(model('figure-map', 'nodes').data.alpha)")
        size = summary["communities"]["largest"][1]["size"]
        assert sum(value == 1 for value in alpha) == size


def test_keyboard(browser, path, summary):
    with opened(browser, path) as page:
        page.focus("#table-copy")
        for _ in range(8):  # the box that scrolls, six headings, the first row
            page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.inner_text("#panel-title") == summary["features"][2]["name"]
        page.keyboard.press("End")
        page.keyboard.press(" ")
        assert page.inner_text("#panel-title") == summary["features"][-1]["name"]


def test_the_light_changes(browser, path):
    color = "model('figure-map', 'node-labels').glyph.text_color.value"
    with opened(browser, path) as page:
        before = page.evaluate(color)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"before => {color} !== before", arg=before)


def test_paper(browser, path, artefacts):
    with opened(browser, path, scheme="dark") as page:
        page.pdf(path=artefacts / "cancer.pdf", format="A4")
        assert page.locator("img.paper").count() == 0
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("img.paper").count() == 4
        settle(page)
        page.screenshot(path=artefacts / "cancer-print.png", full_page=True)
        page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_names_are_shown_and_not_run(browser, hostile, hostile_path, artefacts):
    with opened(browser, hostile_path) as page:
        shown = page.locator("#table tbody bdi").evaluate_all(
            "all => all.map(b => b.title)"
        )
        wanted = {visible(feature["name"]) for feature in hostile["features"]}
        assert wanted <= set(shown)
        assert page.locator("#table img, #panel img, #map-found img").count() == 0
        for row in range(len(hostile["features"])):
            page.locator("#table tbody tr").nth(row).click()
            name = visible(hostile["features"][row]["name"])
            assert page.locator("#panel-title bdi").text_content() == name
        page.evaluate("$('network').scrollIntoView()")
        for node in range(len(hostile["map"]["row"])):
            page.mouse.move(*page.evaluate(NODE, node), steps=2)
            settle(page)
        page.fill("#map-search", "<img")
        assert page.locator("#map-found button").count() == 1
        page.screenshot(path=artefacts / "hostile-map.png")
        assert page.title() == f"{hostile['title']} · franet"


def test_a_script_in_the_page_would_not_run(browser, summary, tmp_path):
    """The policy is the second lock; the first is opened here on purpose."""
    page_text = render(summary).replace(
        "<main>", "<main><script>window.run = 1</script><p id=x onclick='run = 2'>x</p>"
    )
    path = tmp_path / "broken.html"
    path.write_text(page_text, "utf-8")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=all]")
    page.click("#x")
    assert page.evaluate("window.run === undefined")
    page.close()


def test_without_scripts_the_tables_are_there(browser, path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(path.as_uri())
    assert page.locator("#table tbody tr").count() == 30
    context.close()


def test_odd_reports_open(browser, summary, tmp_path):
    """No network, no data: the page opens all the same."""
    bare = json.loads(json.dumps(summary))
    bare["map"] |= {"row": [], "x": [], "y": [], "a": [], "b": [], "weight": []}
    bare["map"]["steps"] = []
    bare["heat"] |= {"row": [], "weight": []}
    bare["thresholds"] = {key: [] for key in bare["thresholds"]} | {"winner": None}
    for feature in bare["features"]:
        feature["distribution"] = None
    path = tmp_path / "bare.html"
    write(bare, path)
    with opened(browser, path) as page:
        page.locator("#table tbody tr").first.click()
        assert page.inner_text("#panel-title") == "mean compactness"
