"""What a person sees: the table, the lines below it, warnings and progress."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from franet.cli._words import clean, one_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table

__all__ = ["ProgressBar", "save_picture", "show", "show_plan", "warn"]

_PATIENCE = 1.0  # seconds without a sign of life
_NARROW = 80


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
        self._task: TaskID | None = None
        self._stage = ""

    def __enter__(self) -> Self:
        return self

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that `done` of `total` of a stage is finished."""
        if self._hidden or time.monotonic() - self._start < _PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
        if self._task is None or stage != self._stage:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task, self._stage = self._bar.add_task(stage), stage
        self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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


def warn(messages: list[str]) -> None:
    """Write each warning as a line on stderr."""
    for message in messages:
        click.echo(f"warning: {one_line(message)}", err=True)


def show(summary: dict[str, Any]) -> None:
    """Write the best features as a table, and what is to know about the ranking."""
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False, markup=False, emoji=False)
    table = _table(summary)
    if not console.is_terminal:  # whole names for files and pipes
        unbounded = console.options.update(width=1_000_000)
        needed = console.measure(table, options=unbounded).maximum
        console.width = max(_NARROW, needed)
    console.print(table)
    console.print()
    for line in _lines(summary):
        console.print(line, style="dim", soft_wrap=True)


def show_plan(plan: dict[str, Any]) -> None:
    """Write what the work will take."""
    side = plan["block"]
    expected, dense = plan["seconds"], plan["seconds_dense"]
    lines = [
        f"features  {plan['n_features']:,} ({plan['n_pairs']:,} pairs)",
        f"tiles     {plan['n_tiles']:,} of {side} × {side} features, "
        f"on {plan['n_threads']} threads",
        f"memory    {_size(plan['memory'])} besides the table, "
        f"of {_size(plan['max_memory'])}"
        + (", edges in temporary files" if plan["on_disk"] else ""),
        f"time      about {_duration(expected)}"
        + (
            f"; up to {_duration(dense)} if the winning network is dense"
            if dense > 1.5 * expected
            else ""
        ),
    ]
    for line in lines:
        click.echo(line)


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _table(summary: dict[str, Any]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold", style="bold")
    table.add_column("score", justify="right")
    table.add_column("redundant with", overflow="fold")
    for row in summary["features"]:
        table.add_row(
            str(row["rank"]),
            Text(clean(row["name"])),
            f"{row['score']:.4g}",
            Text(_partner(row, summary)),
        )
    return table


def _partner(row: dict[str, Any], summary: dict[str, Any]) -> str:
    """Return the feature that this one repeats, and how closely."""
    if row["redundant_with"] is None:
        return "—"
    name, weight = clean(row["redundant_with"]), row["similarity"]
    if summary["ranker"] != "frane":
        return f"{name} (r = {weight:.2f})"
    parameters = summary["parameters"]
    if not parameters.get("weighted", True):
        return name
    if parameters.get("variant") == "reference":  # d_max − d, whatever d is
        return f"{name} (weight {weight:.4g})"
    match parameters.get("similarity", "correlation"):
        case "correlation":  # the weight of an edge is 1 + r
            return f"{name} (r = {weight - 1:.2f})"
        case "spearman":
            return f"{name} (ρ = {weight - 1:.2f})"
        case "abs-correlation":
            return f"{name} (|r| = {weight:.2f})"
    return f"{name} (similarity {weight:.4g})"


def _lines(summary: dict[str, Any]) -> list[str]:
    size = f"{summary['n_features']:,} features"
    if summary["n_examples"] is not None:
        size += f" × {summary['n_examples']:,} examples"
    if summary["n_constant"]:
        size += f" ({summary['n_constant']:,} features constant, ranked last)"
    size += f", {summary['seconds']:.2f} s"
    if summary["ranker"] != "frane":
        return [size, f"Ranked by {summary['ranker']}."]
    if summary["threshold"] is None:
        return [size, "No threshold won: all features score the same."]
    quality = summary["parameters"].get("quality", "rqh")
    quality = quality.upper() if quality in ("rqh", "cv") else quality
    won = f"Winning threshold {summary['threshold']:.4g}"
    if summary["quality"] is not None:
        won += f" ({quality} {summary['quality']:.4g})"
    won += (
        f": {summary['n_edges']:,} edges, {summary['n_isolated']:,} isolated features"
    )
    return [size, won]
