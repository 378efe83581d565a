"""The files of --output and --report: checked before the work, written after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from franet.cli._terminal import tell
from franet.exceptions import UsageError

# Columns of the full ranking that AnnData has no other place for.
_STABILITY = ("rank_low", "rank_high", "selected_share")


def check_output(
    file: Path, output: Path, reading: Mapping[str, Any], force: bool
) -> None:
    """Raise before any work where the ranking could not be written after it.

    Parameters
    ----------
    file, output : Path
        The file to read, and the one to write.
    reading : mapping
        How the file is read.
    force : bool
        Whether a file that is there may be replaced.
    """
    from franet._common.optional import require
    from franet.io import check_target
    from franet.io._formats import find_format
    from franet.io._write import output_format

    if not is_h5ad(output):
        output_format(output)
    elif (kind := find_format(file, reading["format"])) != "h5ad":
        raise UsageError(
            f"--output: a .h5ad file is a copy of the .h5ad file that is ranked, but "
            f"{file} is {kind}; end the name in .csv, .tsv, .json or .parquet"
        )
    elif reading["transpose"]:
        raise UsageError(
            "--output: a .h5ad file holds the ranks of its variables, but --transpose "
            "ranks observations; leave it out, or end the name in .csv"
        )
    else:
        require("anndata", "Writing h5ad files", "anndata")
    check_target(output, force=force)


def check_report(path: Path, force: bool) -> None:
    """Raise before any work where the report could not be written after it."""
    from franet import report

    report.check_report(path, force=force)


def is_h5ad(path: Path) -> bool:
    """Return whether a file is to be a copy of a .h5ad file."""
    return path.suffix.lower() == ".h5ad"


def write_output(
    file: Path,
    output: Path,
    reading: Mapping[str, Any],
    ranking: tuple[dict[str, Any], dict[str, Any], Any],
    force: bool,
) -> None:
    """Write the full ranking, or a copy of the .h5ad file with the ranking in it.

    Parameters
    ----------
    file, output : Path
        The file that was read, and the one to write.
    reading : mapping
        How the file was read.
    ranking : tuple
        What `rank_table` returned.
    force : bool
        Whether a file that is there may be replaced.
    """
    summary, columns, fitted = ranking
    if not is_h5ad(output):
        from franet.io import write_table

        write_table(columns, output, force=force)
        return
    import numpy as np
    from sklearn.base import clone

    from franet.anndata._file import write_ranked_file

    back = np.argsort(columns["index"])
    write_ranked_file(
        file,
        output,
        clone(fitted).set_params(**summary["parameters"]),
        fitted,
        layer=reading["variable"],
        more={name: columns[name][back] for name in _STABILITY if name in columns},
        notes={"standardized": summary["standardized"]},
        force=force,
    )


def write_report(
    path: Path,
    force: bool,
    ranking: tuple[dict[str, Any], dict[str, Any], Any],
    X: Any,
    labels: Sequence[str],
    title: str,
    notes: Sequence[str] = (),
) -> None:
    """Write the page that shows a ranking.

    Parameters
    ----------
    path : Path
        The file to write.
    force : bool
        Whether a file that is there may be replaced.
    ranking : tuple
        What `rank_table` returned.
    X : array of shape (n_examples, n_features)
        The table that was ranked.
    labels : sequence of str
        What its features are called.
    title : str
        The title of the page.
    notes : sequence of str
        What else the page warns of.
    """
    from franet.report import summarize, write

    summary, _, fitted = ranking
    # The report itself explains what Cover and FRANe warn of, with more detail.
    explained = summary["ranker"] in ("cover", "frane")
    page = summarize(
        fitted,
        X,
        names=labels,
        title=title,
        seconds=summary["seconds"],
        warnings=[*notes] if explained else [*notes, *summary["warnings"]],
    )
    write(page, path, force=force)


def show_in_browser(path: Path) -> None:
    """Open the report, or say that there is no browser to open it in."""
    import webbrowser

    # A path would be taken for the name of a host by some browsers.
    if not webbrowser.open(path.resolve().as_uri()):
        tell("warning", f"no browser was found; open {path} in one yourself")
