"""The report as a file: whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from franet._common.checked import FLAG, PATH, checked
from franet.exceptions import UsageError
from franet.io import atomic_write, check_target
from franet.report._render import check_installed, render

__all__ = ["check_report", "write"]

_ENDINGS = (".html", ".htm", ".json")


@checked(path=PATH, force=FLAG)
def check_report(path: str | os.PathLike[str], *, force: bool = False) -> None:
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


def write(
    summary: dict[str, Any], path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write a report to one file.

    Parameters
    ----------
    summary : dict
        What `summarize` returned.
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
