"""The report of a ranking: written after the work, shown in a browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Reporter", "reporter", "show_in_browser"]

Reporter = Callable[[Any, Any, list[str], float, list[str]], None]


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
