"""What a person sees: tables, lines below them, warnings, errors and progress.

Colors only where they are wanted, and no text that a terminal takes for a command.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from franet._common import sentences

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from franet._common.table import TextTable

_PATIENCE = 1.0  # seconds without a sign of life
_COLORS = {"error": "red", "warning": "yellow"}
_METHODS = {
    "cover": (
        "Cover: each pick for what earlier picks miss. The paper's ranking: "
        "franet rank --ranker frane"
    ),
    "frane": (
        "FRANe, the paper's ranking. Picks that represent the rest: "
        "franet rank --ranker cover"
    ),
}
# How the weight of an edge is shown: its name, and the weight of no similarity.
_WEIGHTS = {
    "correlation": ("r", 1),
    "spearman": ("ρ", 1),
    "abs-correlation": ("|r|", 0),
}


def clean(text: str) -> str:
    r"""Replace what a terminal would take for a command or a new line.

    Examples
    --------
    >>> clean("a\nb")
    'a\\nb'
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def has_colors(stream: Any) -> bool:
    """Return whether a stream takes colors: NO_COLOR, FORCE_COLOR, then a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def tell(kind: str, message: str) -> None:
    """Write a line on stderr that begins with its kind, such as "error"."""
    colored = has_colors(sys.stderr)
    start = f"{kind}:"
    if colored:
        start = click.style(start, fg=_COLORS[kind], bold=True)
    # click indents what there is to choose from by tabs.
    line = clean(" ".join(part.strip() for part in message.splitlines()))
    click.echo(f"{start} {line}", err=True, color=colored)


def open_console(stderr: bool = False) -> Console:
    """Return a console for tables and bars, which takes no text for markup."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # stderr takes every character; it belongs to the program that shows a progress bar.
    if not stderr and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    # Without colors rich would still write in bold.
    return Console(
        stderr=stderr,
        color_system="auto" if has_colors(stream) else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_table(
    console: Console, rows: Sequence[dict[str, Any]], words: Sequence[str]
) -> None:
    """Print rows as a table; to a file or a pipe with all of its columns in full.

    Parameters
    ----------
    console : Console
        Where to print it.
    rows : sequence of dict
        Cells by column, the same columns in each.
    words : sequence of str
        The columns that hold words, of which the first is bold; others hold numbers.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in rows[0]:
        style = "bold" if name == words[0] else None
        if name in words:
            table.add_column(name, style=style, overflow="fold")
        else:
            table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(Text(clean(str(cell))) for cell in row.values()))
    if not sys.stdout.isatty():
        unbounded = console.options.update(width=1_000_000)
        needed = console.measure(table, options=unbounded).maximum
        console.width = max(80, needed)
    console.print(table)


class ProgressBar:
    """A bar on stderr, shown on a terminal once the work has lasted a second.

    Parameters
    ----------
    hidden : bool, default=False
        Show nothing.
    """

    def __init__(self, hidden: bool = False) -> None:
        self._hidden = hidden or not sys.stderr.isatty()
        self._start = time.monotonic()
        self._bar: Progress | None = None
        self._task: Any = None
        self._stage = ""

    def __enter__(self) -> Self:
        return self

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that `done` of `total` of a stage is finished."""
        if self._hidden or time.monotonic() - self._start < _PATIENCE:
            return
        if self._bar is None:
            from rich.progress import Progress

            self._bar = Progress(console=open_console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("")
        if stage != self._stage:
            self._stage = stage
            self._bar.reset(self._task, description=stage)
        self._bar.update(self._task, completed=done, total=total)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def save_picture(ax: Any, path: Path, force: bool) -> Path:
    """Write the figure of some axes to a file, close it, and return the path."""
    from matplotlib import pyplot

    from franet.io import atomic_write

    try:
        with atomic_write(path, force=force, mode="wb") as file:
            ax.figure.savefig(file, format=path.suffix.lstrip("."), dpi=150)
    finally:
        pyplot.close(ax.figure)
    return path


def warn(*messages: str) -> None:
    """Write each warning as a line on stderr."""
    for message in messages:
        tell("warning", message)


def left_out(names: list[str]) -> str:
    """Return a sentence about columns that were not read."""
    from franet.io._table import few

    count = "1 column" if len(names) == 1 else f"{len(names)} columns"
    return f"Left out {count} without numbers: {few(names)}."


def show_json(document: dict[str, Any]) -> None:
    """Write one JSON document, which has null where there is no finite number."""
    finite = json.loads(json.dumps(document), parse_constant=lambda name: None)
    click.echo(json.dumps(finite, indent=1))


def show_results(kind: str, table: TextTable, **more: Any) -> None:
    """Write a table of results, and more, as one JSON document."""
    head = {"format": kind, "version": 1, "columns": table.columns}
    show_json({**head, "rows": table.rows, "notes": table.notes, **more})


def show(summary: dict[str, Any]) -> None:
    """Write the best features as a table, and what is to know about the ranking.

    Parameters
    ----------
    summary : dict
        What `rank_table` returned.
    """
    console, ranker = open_console(), summary["ranker"]
    first = _METHODS.get(ranker, f"Ranked by {ranker}.")
    console.print(first, style="dim", soft_wrap=True, end="\n\n")
    features = summary["features"]
    if ranker == "cover":
        shares = [row["explained"] for row in features if row["explained"] is not None]
        # As they are shown, increases add up.
        steps = dict(enumerate(sentences.increases(shares)))
        features = [{**row, "increase": steps.get(i)} for i, row in enumerate(features)]
    rows = [_cells(row, summary) for row in features]
    print_table(console, rows, ("feature", "represents", "redundant with"))
    console.print()
    for line in _lines(summary):
        console.print(line, style="dim", soft_wrap=True)


def plan_lines(plan: dict[str, Any]) -> list[str]:
    """Return what the work will take, for a person to read."""
    features, threads = f"{plan['n_features']:,}", f"{plan['n_threads']} threads"
    if plan.get("ranker") == "cover":
        m, k, picks = plan["n_examples"], plan["n_drawn"], plan["n_picks"]
        drawn = f", picked from {k:,} of them" if k < m else ""
        return [
            f"features  {features} × {m:,} samples{drawn}, on {threads}",
            f"memory    about {size(plan['memory'])} besides the table",
            f"time      about {_duration(plan['seconds'])} for {picks:,} picks",
        ]
    side, expected, dense = plan["block"], plan["seconds"], plan["seconds_dense"]
    limit = f"of {size(plan['max_memory'])}"
    if plan["on_disk"]:
        limit += ", edges in temporary files"
    duration = f"about {_duration(expected)}"
    if dense > 1.5 * expected:
        duration += f"; up to {_duration(dense)} if the winning network is dense"
    return [
        f"features  {features} ({plan['n_pairs']:,} pairs)",
        f"tiles     {plan['n_tiles']:,} of {side} × {side} features, on {threads}",
        f"memory    {size(plan['memory'])} besides the table, {limit}",
        f"time      {duration}",
    ]


def size(n_bytes: float) -> str:
    """Return a number of bytes for a person to read."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def _duration(seconds: float) -> str:
    from franet.evaluation.runner import words_for

    return "a second" if seconds < 1 else words_for(seconds)


def _cells(row: dict[str, Any], summary: dict[str, Any]) -> dict[str, str]:
    """Return the cells of a feature by column."""
    cells = {"rank": row["rank"], "feature": row["name"]}
    if summary["ranker"] == "cover":
        count, r = row["n_members"], row["mean_abs_r"]
        for name in ("explained", "increase"):
            share = row[name]
            cells[name] = "—" if share is None else sentences.tenths(share)
        cells["represents"] = f"{count:,} (mean |r| {r:.2f})" if count else "—"
    else:
        cells["score"] = f"{row['score']:.4g}"
        cells["redundant with"] = _partner(row, summary)
    if "stability" in summary:
        level = f"{100 * summary['stability']['level']:.4g} % of ranks"
        cells[level] = f"{row['rank_low']:,}–{row['rank_high']:,}"
        for name in ("picked_again", "held"):
            share = row[name]
            head = {"picked_again": "picked again", "held": "or alike"}[name]
            cells[head] = "—" if share is None else sentences.percent(share)
    return cells


def _partner(row: dict[str, Any], summary: dict[str, Any]) -> str:
    """Return the feature that this one repeats, and how closely."""
    if row["redundant_with"] is None:
        return "—"
    name, weight = row["redundant_with"], row["similarity"]
    if summary["ranker"] != "frane":
        return f"{name} (r = {weight:.2f})"
    parameters = summary["parameters"]
    if not parameters["weighted"]:
        return str(name)
    if parameters["variant"] == "reference":  # d_max − d, whatever d is
        return f"{name} (weight {weight:.4g})"
    if parameters["similarity"] in _WEIGHTS:
        symbol, none = _WEIGHTS[parameters["similarity"]]
        return f"{name} ({symbol} = {weight - none:.2f})"
    return f"{name} (similarity {weight:.4g})"


def _lines(summary: dict[str, Any]) -> list[str]:
    """Return what stands below the table."""
    size = f"{summary['n_features']:,} features"
    if summary["n_examples"] is not None:
        size += f" × {summary['n_examples']:,} examples"
    if summary["n_constant"]:
        mixed = summary["parameters"].get("similarity") == "mixed"
        word = "constant or like identifiers" if mixed else "constant"
        size += f" ({summary['n_constant']:,} features {word}, ranked last)"
    lines = [f"{size}, {summary['seconds']:.2f} s", *summary.get("matches", ())]
    if summary["ranker"] == "cover":
        lines += summary["sentences"]
    elif summary["ranker"] == "frane":
        lines.append(_winner(summary))
    if "approximation" in summary:
        lines.append(summary["approximation"])
    if "stability" in summary:
        lines += summary["stability"]["sentences"]
    return lines


def _winner(summary: dict[str, Any]) -> str:
    """Return which threshold won."""
    if summary["threshold"] is None:
        return "No threshold won: all features score the same."
    quality = summary["parameters"]["quality"]
    quality = quality.upper() if quality in ("rqh", "cv") else quality
    won = f"Winning threshold {summary['threshold']:.4g}"
    if summary["quality"] is not None:
        won += f" ({quality} {summary['quality']:.4g})"
    return (
        f"{won}: {summary['n_edges']:,} edges, "
        f"{summary['n_isolated']:,} isolated features"
    )
