"""The report of `Cover`, in a real browser."""

from __future__ import annotations

import pytest

from browsing import LAPTOP, PHONE, names, opened, rows
from franet.report import summarize, write
from network.covers import CONSTANT, TABLE, cover


@pytest.fixture(scope="module")
def made():
    return summarize(cover(n_ranked=20), TABLE, title="Genes")


@pytest.fixture(scope="module")
def path(browser, made, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "cover.html"
    write(made, path)
    return path


def test_what_is_seen_first(browser, made, path, artefacts):
    with opened(browser, path) as page:
        verdict = page.locator(".verdict")
        assert verdict.inner_text() == made["cover"]["text"]
        assert verdict.bounding_box()["y"] < LAPTOP[1] / 3
        links = page.locator("nav a").all_inner_texts()
        assert links == [
            "Ranking", "Network", "Explained", "Similarities", "Data and method",
        ]  # fmt: skip
        for link in page.locator("nav a").evaluate_all("all => all.map(a => a.hash)"):
            assert page.locator(link).is_visible()
        for place in ("map", "explained", "heat"):
            box = page.locator(f"#figure-{place}")
            assert box.evaluate("box => box.clientHeight") > 200
        assert names(page) == [f["name"] for f in made["features"]]
        page.screenshot(path=artefacts / "cover.png", full_page=True)


def row_of(made, fits):
    return next(at for at, row in enumerate(made["features"]) if fits(row))


def test_panel(browser, made, path):
    negative = row_of(
        made, lambda f: f["representative"] and f["representative"]["weight"] < 0
    )
    constant = row_of(made, lambda f: f["index"] == CONSTANT)
    with opened(browser, path) as page:
        rows(page).nth(negative).click()
        like = made["features"][negative]["representative"]
        panel = page.inner_text("#panel")
        assert "Represented by" in panel
        assert like["name"] in panel
        assert f"r = {like['weight']:.2f}".replace("-", "−") in panel
        page.locator("#panel-content li button").first.click()
        assert page.inner_text("#panel-title") == like["name"]
        hub = made["features"][row_of(made, lambda f: f["name"] == like["name"])]
        panel = page.inner_text("#panel")
        assert f"Represents {hub['members']['count']} features" in panel
        assert f"mean |r| {hub['members']['mean']:.2f}" in panel
        assert "−0." in panel
        rows(page).nth(constant).click()
        assert "It is constant: it has nothing to represent." in page.inner_text(
            "#panel"
        )
        alone = [
            at for at, f in enumerate(made["features"])
            if not f["representative"] and not f["members"]["count"]
            and f["is_pick"]
        ]  # fmt: skip
        for at in alone:
            rows(page).nth(at).click()
            assert "It represents itself alone." in page.inner_text("#panel")


def test_sort_filter_and_copy(browser, made, path):
    with opened(browser, path) as page:
        page.click("[data-key=stands]")
        count = {f["name"]: f["members"]["count"] for f in made["features"]}
        assert count[names(page)[0]] == max(count.values())
        page.click("[data-key=weight]")
        like = {f["name"]: f["representative"] for f in made["features"]}
        strongest = max(abs(one["weight"]) for one in like.values() if one)
        assert abs(like[names(page)[0]]["weight"]) == strongest
        assert page.inner_text("[data-key=score]") == "explained"
        page.click("[data-key=score]")
        share = {f["name"]: f["explained"] or 0.0 for f in made["features"]}
        assert share[names(page)[0]] == max(share.values())
        page.select_option("#table-community", "0")
        assert len(names(page)) == made["communities"]["largest"][0]["size"]
        page.select_option("#table-community", "")
        page.click("#table-copy")
        page.locator("#table-status", has_text="Copied 21").wait_for()
        text = page.evaluate("navigator.clipboard.readText()")
        head, *lines = [line.split("\t") for line in text.rstrip("\n").split("\n")]
        assert head == [
            "rank", "feature", "index", "selected", "community",
            "explained", "increase", "mean |r|", "represents", "represented by", "r",
        ]  # fmt: skip
        for line in lines:
            found = dict(zip(head, line, strict=True))
            one = like[found["feature"]]
            assert found["represented by"] == (one["name"] if one else "")
            assert (float(found["r"]) if one else found["r"]) == (
                one["weight"] if one else ""
            )


def test_slider_keeps_strong_negative_edges(browser, made, path):
    """Strength counts, not the sign: highlighted edges are those that are drawn."""
    leaf = min(
        (f for f in made["features"] if f["representative"]),
        key=lambda f: f["representative"]["weight"],
    )
    hub = leaf["representative"]["name"]
    at = row_of(made, lambda f: f["name"] == hub)
    with opened(browser, path) as page:
        rows(page).nth(at).click()
        page.evaluate("$('map-slider').value = 2; moveSlider()")
        limit = page.evaluate("steps[2].weight")
        node = page.evaluate(f"nodeOfRow.get({at})")
        shown = page.evaluate(
            f"spokes({node}).map((n) => report.features[rowOfNode[n]].name)"
        )
        assert abs(leaf["representative"]["weight"]) > limit
        assert leaf["name"] in shown
        assert "|r| ≥" in page.inner_text("#network")


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "light"), (LAPTOP, "dark")])
def test_phone_and_dark(browser, made, path, artefacts, size, scheme):
    with opened(browser, path, size, scheme) as page:
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size[0]
        if size == PHONE:
            first = rows(page).first
            assert f"{made['features'][0]['members']['count']} features" in (
                first.inner_text()
            )
            leaf = row_of(made, lambda f: f["representative"])
            text = rows(page).nth(leaf).inner_text()
            assert made["features"][leaf]["representative"]["name"] in text
        page.screenshot(path=artefacts / f"cover-{scheme}-{size[0]}.png")


def test_paper(browser, path):
    with opened(browser, path) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("img.paper").count() == 3
        page.evaluate("dispatchEvent(new Event('afterprint'))")
