"""The reports of rankers without a network, in a real browser."""

from __future__ import annotations

from browsing import LAPTOP, names, opened, rows
from franet.rankers import ColumnSubset


def test_a_collapsed_ranking_warns(browser, collapsed, collapsed_path):
    with opened(browser, collapsed_path) as page:
        note = page.locator(".notes li").first
        assert note.is_visible()
        assert note.inner_text() == collapsed["warnings"][0]
        assert note.inner_text().startswith("The affinity collapsed: ")
        # Seen without scrolling.
        box = note.bounding_box()
        assert box["y"] + box["height"] < LAPTOP[1]
        assert rows(page).count() == 24
        assert names(page) == [f["name"] for f in collapsed["features"]]


def test_a_ranker_without_a_network(browser, greedy, greedy_path):
    with opened(browser, greedy_path) as page:
        links = page.locator("nav a").all_inner_texts()
        assert links == ["Ranking", "Similarities", "Data and method"]
        for link in page.locator("nav a").evaluate_all("all => all.map(a => a.hash)"):
            assert page.locator(link).is_visible()
        # Every place of a figure holds one.
        assert page.locator(".plot").count() == 1
        assert page.locator("#figure-heat").evaluate("box => box.clientHeight") > 300
        assert page.inner_text("#heat-low") == "−1"
        assert names(page) == [f["name"] for f in greedy["features"]]
        page.fill("#table-search", "radius")
        assert set(names(page)) == {"mean radius", "worst radius", "radius error"}
        page.fill("#table-search", "")
        page.check("#table-selected")
        assert names(page) == [f["name"] for f in greedy["features"][:8]]
        page.uncheck("#table-selected")
        page.get_by_role("button", name="most like").click()
        strength = {
            f["name"]: abs(f["representative"]["weight"]) if f["representative"] else -1
            for f in greedy["features"]
        }
        assert strength[names(page)[0]] == max(strength.values())


def test_panel_without_a_network(browser, greedy, greedy_path, artefacts):
    row, feature = next(
        (row, f) for row, f in enumerate(greedy["features"]) if f["representative"]
    )
    with opened(browser, greedy_path) as page:
        page.locator("#table tbody tr").nth(row).click()
        panel = page.inner_text("#panel")
        assert f"{feature['rank']} of 30" in panel
        assert "community" not in panel
        assert feature["neighbors"][9]["name"] in panel
        page.screenshot(path=artefacts / "greedy-row.png")
        page.locator("#panel-content li button").first.click()
        assert page.inner_text("#panel-title") == feature["representative"]["name"]
        page.locator("#table tbody tr").first.click()
        assert "No better listed feature has |r| ≥ 0.8" in page.inner_text("#panel")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("img.paper").count() == 1
        page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_copy_without_a_network(browser, greedy, greedy_path):
    with opened(browser, greedy_path) as page:
        page.click("#table-copy")
        page.locator("#table-status", has_text="Copied 30").wait_for()
        text = page.evaluate("navigator.clipboard.readText()")
        head, *lines = [line.split("\t") for line in text.rstrip("\n").split("\n")]
        assert head == [
            "rank", "feature", "index", "score", "selected", "stands for", "most like",
            "r",
        ]  # fmt: skip
        for line, f in zip(lines, greedy["features"], strict=True):
            like = f["representative"]
            assert line[1] == f["name"]
            assert line[6] == (like["name"] if like else "")


def test_without_a_network_and_without_the_table(browser, cancer, tmp_path):
    path = tmp_path / "bare.html"
    ColumnSubset(8).fit(cancer[1]).report(path)
    with opened(browser, path) as page:
        page.locator("#table tbody tr").first.click()
        assert "1 of 30" in page.inner_text("#panel")
        assert page.locator(".plot").count() == 0
        page.click("#table-copy")
        page.locator("#table-status", has_text="Copied 30").wait_for()
        assert page.evaluate("navigator.clipboard.readText()").startswith(
            "rank\tfeature\tindex\tscore\tselected\n"
        )
