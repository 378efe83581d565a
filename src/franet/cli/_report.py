"""The report of a ranking: checked before the work, written after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from franet.exceptions import UsageError

__all__ = ["Reporter", "check_report_file", "reporter", "show_in_browser"]

Reporter = Callable[[Any, Any, list[str], float, list[str]], None]


def check_report_file(path: Path, force: bool, others: Sequence[Path | None]) -> None:
    """Raise where the report cannot be written, or would replace another file.

    Parameters
    ----------
    path : Path
        The report.
    force : bool
        Whether a file that is there may be replaced.
    others : sequence of Path or None
        The files that are read or written as well.
    """
    from franet.report import check_report

    for other in others:
        if other is not None and os.path.realpath(other) == os.path.realpath(path):
            raise UsageError("--report needs a file of its own; name another file")
    check_report(path, force=force)


def reporter(
    path: Path | None, force: bool, title: str, notes: Sequence[str] = ()
) -> Reporter | None:
    """Return ``f(ranker, X, names, seconds, messages)``, which writes the report."""
    if path is None:
        return None

    def write_report(
        ranker: Any, X: Any, names: list[str], seconds: float, messages: list[str]
    ) -> None:
        from franet.report import summarize, write

        # The report tells itself what FRANe warns of, with more detail.
        said = [*notes] if hasattr(ranker, "network_") else [*notes, *messages]
        summary = summarize(
            ranker, X, names=names, title=title, seconds=seconds, warnings=said
        )
        write(summary, path, force=force)

    return write_report


def show_in_browser(path: Path) -> None:
    """Open the report, or say that there is no browser to open it in."""
    import webbrowser

    from franet.cli._screen import warn

    # A path would be taken for the name of a host by some browsers.
    if not webbrowser.open(path.resolve().as_uri()):
        warn([f"no browser was found; open {path} in one yourself"])
