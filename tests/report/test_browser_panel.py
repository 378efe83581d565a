"""The page of a gene panel, in a real browser."""

from __future__ import annotations

import pytest

from browsing import LAPTOP, PHONE, opened
from franet.report import write
from report.test_panel import NAMES, PICKS, TYPES, made


@pytest.fixture(scope="module")
def path(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "panel.html"
    write(made(), path)
    return path


def colors(page, canvas):
    """Return how many colors a picture has."""
    return page.evaluate(
        """id => {
          const canvas = document.getElementById(id);
          const { data } = canvas.getContext("2d")
            .getImageData(0, 0, canvas.width, canvas.height);
          const found = new Set();
          for (let i = 0; i < data.length; i += 4) {
            if (data[i + 3] === 255) found.add(data.slice(i, i + 3).join());
          }
          return found.size;
        }""",
        canvas,
    )


def picture(page, canvas):
    """Return a picture as text."""
    return page.evaluate("id => document.getElementById(id).toDataURL()", canvas)


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cells_are_drawn(browser, path, size, scheme, artefacts):
    with opened(browser, path, size, scheme) as page:
        for canvas in ("by-gene", "by-type"):
            assert page.locator(f"#{canvas}").bounding_box()["width"] > 150
            assert colors(page, canvas) >= 3
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        page.screenshot(path=artefacts / f"panel-{scheme}.png", full_page=True)


def test_a_gene_colors_the_cells(browser, path):
    with opened(browser, path) as page:
        assert page.inner_text("#cells-status") == f"Cells by {NAMES[PICKS[0]]}"
        before = picture(page, "by-gene")
        page.locator("#table tbody tr").nth(1).click()
        assert page.inner_text("#cells-status") == f"Cells by {NAMES[PICKS[1]]}"
        assert picture(page, "by-gene") != before
        page.select_option("#gene", "0")
        assert picture(page, "by-gene") == before
        current = page.locator("#table tbody tr[aria-current=true] .name bdi")
        assert current.all_inner_texts() == [NAMES[PICKS[0]]]
        page.locator("#table tbody tr").nth(0).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.inner_text("#cells-status") == f"Cells by {NAMES[PICKS[1]]}"


def test_a_type_is_highlighted(browser, path):
    with opened(browser, path) as page:
        buttons = page.locator("#type-legend button")
        assert buttons.all_inner_texts() == sorted({*TYPES})
        before = picture(page, "by-type")
        buttons.nth(0).click()
        assert buttons.nth(0).get_attribute("aria-pressed") == "true"
        assert picture(page, "by-type") != before
        buttons.nth(0).click()
        assert picture(page, "by-type") == before


def test_the_table_is_downloaded(browser, path, tmp_path):
    with opened(browser, path) as page:
        with page.expect_download() as waiting:
            page.click("#download")
        assert waiting.value.suggested_filename == "panel.csv"
        waiting.value.save_as(tmp_path / "panel.csv")
    lines = (tmp_path / "panel.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == [
        "feature",
        *(NAMES[j] for j in PICKS),
    ]
