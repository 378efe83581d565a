"""What may be sent to a screen: colours only where they are wanted, no commands."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_COLOURS = {"error": "red", "warning": "yellow"}


def clean(text: str) -> str:
    r"""Replace what a terminal would take for a command or a new line.

    Examples
    --------
    >>> clean("a\nb")
    'a\\nb'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def has_colours(stream: Any) -> bool:
    """Return whether a stream takes colours: NO_COLOR, FORCE_COLOR, then a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def tell(kind: str, message: str) -> None:
    """Write a line on stderr that begins with its kind, such as "error"."""
    coloured = has_colours(sys.stderr)
    start = f"{kind}:"
    if coloured:
        start = click.style(start, fg=_COLOURS[kind], bold=True)
    # click indents what there is to choose from by tabs.
    line = clean(" ".join(part.strip() for part in message.splitlines()))
    click.echo(f"{start} {line}", err=True, color=coloured)


def open_console(stderr: bool = False) -> Console:
    """Return a console for tables and bars, which takes no text for markup."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # stderr takes every character; it belongs to the program that shows a progress bar.
    if not stderr and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    # Without colours rich would still write in bold.
    return Console(
        stderr=stderr,
        color_system="auto" if has_colours(stream) else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def plain_table() -> Table:
    """Return a table without columns and rows, of which only the head is underlined."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def print_whole(console: Console, table: Any, least: int = 80) -> None:
    """Print a table; to a file or a pipe with all of its columns in full."""
    if not sys.stdout.isatty():
        unbounded = console.options.update(width=1_000_000)
        needed = console.measure(table, options=unbounded).maximum
        console.width = max(least, needed)
    console.print(table)
