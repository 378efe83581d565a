"""The file of --output: checked before the work, written after it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from franet.exceptions import UsageError

__all__ = ["check_output", "write_output"]

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
    from franet.io import check_target
    from franet.io._write import output_format

    if _is_h5ad(output):
        _check_h5ad(file, reading)
    else:
        output_format(output)
    check_target(output, force=force)


def _is_h5ad(path: Path) -> bool:
    return path.suffix.lower() == ".h5ad"


def _check_h5ad(file: Path, reading: Mapping[str, Any]) -> None:
    """Raise where the file to read cannot hold the results."""
    from franet._common.optional import require
    from franet.io._formats import find_format

    kind = find_format(file, reading["format"])
    if kind != "h5ad":
        raise UsageError(
            f"--output: a .h5ad file is a copy of the .h5ad file that is ranked, but "
            f"{file} is {kind}; end the name in .csv, .tsv, .json or .parquet"
        )
    if reading["transpose"]:
        raise UsageError(
            "--output: a .h5ad file holds the ranks of its variables, but --transpose "
            "ranks observations; leave it out, or end the name in .csv"
        )
    require("anndata", "Writing h5ad files", "anndata")


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
    if not _is_h5ad(output):
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
