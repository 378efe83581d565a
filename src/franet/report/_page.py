"""The dict as one HTML page that loads nothing, and as a file: whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from base64 import b64encode
from importlib.resources import files
from pathlib import Path
from typing import Any

from franet._common import sentences
from franet._common.checked import FLAG, PATH, checked
from franet._common.files import AnyPath, atomic_write, check_target, guard
from franet._common.optional import require
from franet.exceptions import UsageError
from franet.report import _groups, _panel
from franet.report._summary import FORMAT, VERSION
from franet.report._text import (
    community_color,
    json_for_html,
    percent,
    short,
    significant,
    type_color,
    visible,
)

_LEGEND = 12
_SCRIPTS = ("base.js", "table.js", "figures.js", "map.js", "panel.js", "start.js")
_ENDINGS = (".html", ".htm", ".json")


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
        What `summarize`, `summarize_groups` or `summarize_panel` returned, or the
        same read from JSON.

    Returns
    -------
    page : str
        One HTML document with all that it needs inside. The same summary makes the
        same page.
    """
    kind = summary.get("format"), summary.get("version")
    if kind == (_groups.FORMAT, _groups.VERSION):
        return _render_groups(summary)
    if kind == (_panel.FORMAT, _panel.VERSION):
        return _render_panel(summary)
    if kind != (FORMAT, VERSION):
        raise UsageError(
            f"summary is not a report of version {VERSION}.",
            remedy="Make it by franet.report.summarize or summarize_groups.",
        )
    check_installed()
    from bokeh.resources import Resources

    bokeh = Resources(mode="inline", components=["bokeh"]).js_raw[0]
    script = "\n".join(_template(name) for name in _SCRIPTS)
    page = _environment().get_template("report.html")
    return page.render(
        s=summary,
        css=_template("report.css"),
        scripts=[bokeh, script],
        policy=_policy([bokeh, script]),
        data=json_for_html(_for_script(summary)),
        figures=json_for_html(_documents(summary)),
        legend=_legend(summary),
        share=_shares(summary),
    )


def _render_groups(summary: dict[str, Any]) -> str:
    """Return the page of the groups of correlated columns, which needs no script."""
    check_installed()
    page = _environment().get_template("groups.html")
    return page.render(s=summary, css=_template("report.css"), policy=_policy([]))


def _render_panel(summary: dict[str, Any]) -> str:
    """Return the page of a panel of genes, whose one script draws cells."""
    check_installed()
    script, types = _template("cells.js"), summary["types"] or []
    page = _environment().get_template("genes.html")
    return page.render(
        s=summary,
        css=_template("report.css"),
        script=script,
        policy=_policy([script]),
        csv=_csv_link(_panel.panel_columns(summary)),
        data=json_for_html(
            {
                "cells": summary["cells"],
                "genes": [visible(gene["name"]) for gene in summary["genes"]],
                "types": [
                    {"name": visible(kind["name"]), "color": type_color(t, len(types))}
                    for t, kind in enumerate(types)
                ],
            }
        ),
    )


def _csv_link(columns: dict[str, list[Any]]) -> str:
    """Return a table as an address that holds all of it, for a link that saves it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        rows.writerow([guard("" if cell is None else str(cell)) for cell in row])
    return f"data:text/csv;base64,{b64encode(text.getvalue().encode()).decode()}"


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
        visible=visible,
        short=short,
        sig=significant,
        percent=percent,
        bars=_bars,
        whole=sentences.percent,
    )
    environment.globals.update(color=community_color)
    return environment


def _policy(scripts: list[str]) -> str:
    """Return a policy under which only our own scripts run and nothing is loaded."""
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    hashes = " ".join(f"'sha256-{b64encode(one).decode()}'" for one in digests)
    hashes = hashes or "'none'"
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; connect-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    )


def _for_script(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what the page needs to answer clicks."""
    communities = summary["communities"] or {"largest": []}
    drawn = summary["map"] or {}
    return {
        "measure": summary["measure"],
        "cover": summary["cover"] is not None,
        "features": [
            {key: value for key, value in feature.items() if key != "distribution"}
            | {"name": visible(feature["name"])}
            for feature in summary["features"]
        ],
        "communities": [
            entry | {"color": community_color(entry["label"])}
            for entry in communities["largest"]
        ],
        "map": {
            key: drawn.get(key, []) for key in ("row", "a", "b", "weight", "steps")
        },
        "n_features": summary["n_features"],
    }


def _documents(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of every figure, by the id of the element it goes into."""
    from franet.report import _figures as draw

    makers = {
        "figure-map": ("map", draw.map_figure),
        "figure-explained": ("cover", draw.explained_figure),
        "figure-quality": ("thresholds", draw.quality_figure),
        "figure-edges": ("thresholds", draw.edge_figure),
        "figure-heat": ("heat", draw.heat_figure),
    }
    return {
        place: _document(fig)
        for place, (part, make) in makers.items()
        if summary[part] is not None and (fig := make(summary)) is not None
    }


def _document(model: Any) -> dict[str, Any]:
    from bokeh.document import Document

    document = Document()
    document.add_root(model)
    ids: dict[str, str] = {}

    # Bokeh counts its models over the life of the process; ours start from one.
    def renumber(old: re.Match[str]) -> str:
        return ids.setdefault(old[0], f'"id": "m{len(ids) + 1}"')

    text = json.dumps(document.to_json(deferred=False))
    content = json.loads(re.sub('"id": "[^"]*"', renumber, text))
    return {"doc": content, "root": content["roots"][0]["id"]}


def _legend(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the largest communities that have a node on the map."""
    if summary["map"] is None:
        return []
    drawn = {summary["features"][row]["community"] for row in summary["map"]["row"]}
    largest = summary["communities"]["largest"]
    return [entry for entry in largest if entry["label"] in drawn][:_LEGEND]


def _shares(summary: dict[str, Any]) -> list[float]:
    """Return the length of each score's bar: from 0, or the least if that is less.

    Of picks it is what they explain with those before them.
    """
    if summary["cover"] is not None:
        return [max(row["explained"] or 0.0, 0.0) for row in summary["features"]]
    scores = [row["score"] or 0.0 for row in summary["features"]]
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


@checked(path=PATH, force=FLAG)
def check_report(path: AnyPath, *, force: bool = False) -> None:
    """Raise before any work where a report could not be written after it.

    Parameters
    ----------
    path : path-like
        The file to write.
    force : bool, default=False
        Whether a file that is there may be replaced.

    Raises
    ------
    DataError
        Where the file exists and `force` is False, or cannot be written.
    UsageError
        Where its name ends neither in .html nor in .json.
    MissingExtraError
        Where bokeh or jinja2 is not installed and the file is a page.
    """
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(
            f"{path}: a report is a page or its data; end the name in .html or .json"
        )
    if ending != ".json":
        check_installed()
    check_target(path, force=force)


def write(summary: dict[str, Any], path: AnyPath, *, force: bool = False) -> None:
    """Write a report to one file.

    Parameters
    ----------
    summary : dict
        What `summarize`, `summarize_groups` or `summarize_panel` returned.
    path : path-like
        The file: a page that needs nothing else if its name ends in .html, the dict
        itself if it ends in .json.
    force : bool, default=False
        Whether a file that is there may be replaced.
    """
    check_report(path, force=force)
    if Path(path).suffix.lower() == ".json":
        text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    else:
        text = render(summary)
    with atomic_write(path, force=force) as file:
        file.write(text + "\n")
