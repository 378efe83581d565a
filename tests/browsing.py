"""A report opened in a browser, and what its table shows."""

from __future__ import annotations

from contextlib import contextmanager

LAPTOP, PHONE = (1366, 900), (390, 844)
# Only what never comes is waited for so long.
PATIENCE = 240_000  # milliseconds
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def settle(page):
    """Wait until what is under way is drawn."""
    page.evaluate(FRAMES)


@contextmanager
def opened(browser, path, size=LAPTOP, scheme="light"):
    """Open a report; no error, no dialogue and no request may come from it."""
    said, asked = [], []
    phone = size == PHONE
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        reduced_motion="reduce",
        has_touch=phone,
        is_mobile=phone,
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda m: m.type in ("error", "warning") and said.append(m.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=all]")
        yield page
        settle(page)
    finally:
        context.close()
    outside = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert outside == [path.as_uri()]
    assert said == [], said


def rows(page):
    return page.locator("#table tbody tr:visible")


def names(page):
    return rows(page).locator(".name bdi").all_inner_texts()
