"""How long the report of a wide table takes, how large it is, how soon it answers.

Run as ``python benchmarks/report.py`` (FRANET_DATA names the folder of the data sets);
``python benchmarks/report.py colon`` takes another one.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from franet import FRANe
from franet.report import summarize, write

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from data import load

CLICK = """() => {
  const start = performance.now();
  document.querySelector("#table tbody tr:nth-child(3)").click();
  document.getElementById("panel").getBoundingClientRect();
  return performance.now() - start;
}"""


def timed(label: str, work: Any, *args: Any, **kwargs: Any) -> Any:
    start = time.perf_counter()
    result = work(*args, **kwargs)
    print(f"{label:<34} {time.perf_counter() - start:6.2f} s")
    return result


def in_the_browser(path: Path) -> None:
    program = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        print("no chromium or no playwright: opening is not measured")
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        for attempt in range(3):
            page = browser.new_page()
            start = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            ready = time.perf_counter() - start
            page.locator("#table tbody tr").nth(1).click()
            page.locator("#panel.open").wait_for()
            answered = time.perf_counter() - start
            page.wait_for_selector("html[data-ready=all]")
            drawn = time.perf_counter() - start
            click = page.evaluate(CLICK)
            print(
                f"opening {attempt + 1}: ready {ready:.2f} s, first click answered "
                f"{answered:.2f} s, all drawn {drawn:.2f} s, next click {click:.0f} ms"
            )
            page.close()
        browser.close()


def main(name: str) -> None:
    X, _ = load(name)
    print(f"{name}: {X.shape[1]:,} features × {X.shape[0]:,} examples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = timed("fit", FRANe().fit, X)
    start = time.perf_counter()
    timed("communities", ranker.network_.communities)
    summary = timed("summary (layout and all)", summarize, ranker, X, title=name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        timed("page", write, summary, path)
        print(f"{'all after the fit':<34} {time.perf_counter() - start:6.2f} s")
        print(f"{'size of the file':<34} {path.stat().st_size / 1e6:6.2f} MB")
        in_the_browser(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "nci9")
