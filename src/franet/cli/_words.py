"""Words for the screen."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["as_options", "clean", "left_out", "name_column", "one_line"]

# Parameters that have an option of their own, and those that --set sets.
_OPTIONS = (
    "backend", "centrality", "checkpoint", "damping", "max_memory", "missing",
    "n_jobs", "n_thresholds", "quality", "search", "similarity", "thresholds",
    "tie_break", "variant",
)  # fmt: skip
_SET = ("affinity", "min_mean_degree", "n_clusters", "p", "style", "weighted", "width")
_PARAMETER = re.compile(rf"\b({'|'.join((*_OPTIONS, *_SET))})=('[^']*'|[\w.]*\w)")
_FRANE = re.compile(r"\bFRANe\(([^()]*)\)")
_COUNT = re.compile(r"\bn_features_to_select=(\w+)")
_FEATURES = re.compile(r"(^|\bin |, but )(include|exclude|cost|groups)\b")
_SCALE = "Scale the columns first, as sklearn.preprocessing.StandardScaler does,"
_COLUMN = re.compile(r"(^|, )Column (\d+)\b")


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


def one_line(text: str) -> str:
    """Return the text as one line that is safe to print."""
    # click indents what there is to choose from by tabs.
    return clean(" ".join(line.strip() for line in text.splitlines()))


def as_options(message: str) -> str:
    """Write the parameters that a message names as options of the command line.

    Examples
    --------
    >>> as_options("Set tie_break='denser'.")
    'Set --tie-break denser.'
    """

    def option(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("'") or "''"
        if name in _SET:
            return f"--set {name}={value}"
        return f"--{name.replace('_', '-')} {value}"

    message = message.replace(_SCALE, "Use --standardize")
    message = _FRANE.sub(r"--ranker frane \1", message)
    message = _COUNT.sub(r"--top \1", _PARAMETER.sub(option, message))
    return _FEATURES.sub(r"\1--\2", message)


def name_column(message: str, names: Sequence[str] | None) -> str:
    """Add the names of the columns that a message starts with.

    Examples
    --------
    >>> name_column("Column 1 holds NaN", ["a", "b"])
    "Column 'b' (1) holds NaN"
    """

    def named(match: re.Match[str]) -> str:
        j = int(match[2])
        if names is None or j >= len(names):
            return match[0]
        return f"{match[1]}Column {names[j]!r} ({j})"

    return _COLUMN.sub(named, message)


def left_out(names: list[str]) -> str:
    """Return a sentence about columns that were not read."""
    from franet.io._table import few

    count = "1 column" if len(names) == 1 else f"{len(names)} columns"
    return f"Left out {count} without numbers: {few(names)}."
