"""The progress of a benchmark: units, failures, and the time that is left."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from franet.cli._terminal import open_console

if TYPE_CHECKING:
    from franet.evaluation.runner import Status

__all__ = ["BenchBar"]

_EVERY = 30.0  # seconds between two lines where there is no terminal


class BenchBar:
    """A bar on a terminal; elsewhere a line now and then, for logs.

    Parameters
    ----------
    hidden : bool, default=False
        Show nothing.
    """

    def __init__(self, hidden: bool = False) -> None:
        self._hidden = hidden
        self._bar: Any = None
        self._task: Any = None
        self._told = time.monotonic()

    def __enter__(self) -> Self:
        if not self._hidden and sys.stderr.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress
            from rich.progress import TextColumn as Text

            self._bar = Progress(
                Text("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                Text("{task.fields[note]}", markup=False),
                console=open_console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=None, note="")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def stage(self, stage: str, done: int, total: int) -> None:
        """Show what happens before the work."""
        if self._bar is not None and stage != "units":
            self._bar.update(self._task, description=stage, completed=done, total=total)

    def __call__(self, status: Status) -> None:
        """Show how far the work is."""
        from franet.evaluation.runner import words_for

        if self._bar is not None:
            record = status.record
            note = f"{status.failed} failed, " if status.failed else ""
            if status.left is not None:
                note += f"{words_for(status.left)} left"
            self._bar.update(
                self._task,
                description=record.dataset if record else "starting",
                completed=status.done,
                total=status.total,
                note=note.removesuffix(", "),
            )
        elif not self._hidden and time.monotonic() - self._told >= _EVERY:
            self._told = time.monotonic()
            click.echo(str(status), err=True)
