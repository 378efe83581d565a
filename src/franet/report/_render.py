"""The dict as one HTML page that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from franet._common.optional import require
from franet.exceptions import UsageError
from franet.report._palette import community_color
from franet.report._text import json_for_html, percent, short, significant, visible

__all__ = ["check_installed", "render"]

_LEGEND = 12
_SCRIPTS = ("base.js", "table.js", "figures.js", "map.js", "panel.js", "start.js")


def check_installed() -> None:
    """Raise where the libraries that make the page are not installed.

    Raises
    ------
    MissingExtraError
        With the line that installs them.
    """
    for module in ("bokeh", "jinja2"):
        require(module, "The report", "report")


def render(summary: dict[str, Any]) -> str:
    """Return the page of a summary.

    Parameters
    ----------
    summary : dict
        What `summarize` returned, or the same read from JSON.

    Returns
    -------
    page : str
        One HTML document with all that it needs inside. The same summary makes the
        same page.
    """
    if summary.get("format") != "franet-report" or summary.get("version") != 1:
        raise UsageError(
            "summary is not a report of version 1; make it by franet.report.summarize"
        )
    check_installed()
    from bokeh.resources import Resources

    from franet.report._figures import documents

    bokeh = Resources(mode="inline", components=["bokeh"]).js_raw[0]
    script = "\n".join(_template(name) for name in _SCRIPTS)
    return (
        _environment()
        .get_template("report.html")
        .render(
            s=summary,
            css=_template("report.css"),
            scripts=[bokeh, script],
            policy=_policy([bokeh, script]),
            data=json_for_html(_for_script(summary)),
            figures=json_for_html(documents(summary)),
            legend=_legend(summary),
            share=_shares(summary),
        )
    )


def _template(name: str) -> str:
    return (files("franet.report") / "templates" / name).read_text("utf-8")


def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(
        visible=visible, short=short, sig=significant, percent=percent, bars=_bars
    )
    environment.globals.update(color=community_color)
    return environment


def _policy(scripts: list[str]) -> str:
    """Return a policy under which only our own scripts run and nothing is loaded."""
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; connect-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    )


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _for_script(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what the page needs to answer clicks."""
    keep = (
        "rank",
        "index",
        "score",
        "selected",
        "community",
        "n_neighbors",
        "representative",
        "members",
        "neighbors",
        "gain",
    )
    return {
        "measure": summary["measure"],
        "cover": summary.get("cover") is not None,
        "features": [
            {
                "name": visible(feature["name"]),
                **{key: feature.get(key) for key in keep},
            }
            for feature in summary["features"]
        ],
        "communities": [
            {**entry, "color": community_color(entry["label"])}
            for entry in (summary["communities"] or {"largest": []})["largest"]
        ],
        "map": {
            key: summary["map"][key] if summary["map"] else []
            for key in ("row", "a", "b", "weight", "steps")
        },
        "n_features": summary["n_features"],
    }


def _legend(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the largest communities that have a node on the map."""
    if summary["map"] is None:
        return []
    drawn = {summary["features"][row]["community"] for row in summary["map"]["row"]}
    largest = summary["communities"]["largest"]
    return [entry for entry in largest if entry["label"] in drawn][:_LEGEND]


def _shares(summary: dict[str, Any]) -> list[float]:
    """Return the length of each score's bar: from 0, or the least if that is less.

    Picks show what they added, and nothing if the table was told less with them.
    """
    gains = [feature.get("gain") for feature in summary["features"]]
    scores = [
        (feature["score"] or 0.0) if gain is None else max(gain, 0.0)
        for feature, gain in zip(summary["features"], gains, strict=True)
    ]
    low, high = min([0.0, *scores]), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def _bars(distribution: dict[str, Any]) -> str:
    """Return the outline of a histogram, 96 × 24, for an SVG path."""
    counts = distribution["counts"]
    if not counts:
        return ""
    width, tallest = 96 / len(counts), max(counts)
    path = ["M0 24"]
    for at, count in enumerate(counts):
        # A single value must be seen too.
        height = 1 + 23 * count / tallest if count else 0
        path.append(f"V{24 - height:.1f}H{(at + 1) * width:.1f}")
    return "".join(path) + "V24Z"
