"""Results in a .h5ad file: a copy of the file that was ranked, with them added."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from franet._common.files import check_apart
from franet.anndata._results import columns_of, matrix_of, notes_on, store_columns
from franet.exceptions import DataError
from franet.io import atomic_write

_KEY = "franet"


def write_ranked_file(
    source: Path,
    target: Path,
    given: Any,
    fitted: Any,
    *,
    layer: str | None,
    more: Mapping[str, Any],
    notes: Mapping[str, Any],
    force: bool,
) -> None:
    """Write a copy of a file to which `var`, `varp` and `uns` of a ranking are added.

    All else is copied as it is, compressed or not, and is not read.

    Parameters
    ----------
    source, target : Path
        The file that was ranked, and the one to write.
    given, fitted : ranker
        The ranker with its parameters as the user wrote them, and the fitted one.
    layer : str or None
        The layer that was ranked.
    more : mapping of str to array
        Further columns of `var`, a value for each variable.
    notes : mapping
        Further entries of `uns`.
    force : bool
        Whether a file that is there may be replaced.
    """
    import h5py

    check_apart(target, [source])
    found = {**notes_on(given, fitted, layer), **notes}
    with atomic_write(target, force=force, mode="wb") as draft:
        with source.open("rb") as file:
            shutil.copyfileobj(file, draft, 1 << 20)
        draft.flush()
        try:
            with h5py.File(draft.name, "r+") as copy:
                if not isinstance(copy.get("var"), h5py.Group):
                    raise DataError(
                        f"{source}: is of a time before anndata 0.7; read and write it "
                        "once by anndata.read_h5ad and write_h5ad"
                    )
                _add(copy, fitted, more, found)
        # What HDF5 cannot write it may tell by either.
        except (RuntimeError, OSError) as err:
            reason = " ".join(str(err).split())[:200]
            raise DataError(
                f"{target}: cannot be written ({reason}); is there room on the disk?"
            ) from err


def _add(
    file: Any, fitted: Any, more: Mapping[str, Any], notes: Mapping[str, Any]
) -> None:
    """Add the results to an open file."""
    from anndata.io import read_elem, write_elem

    var = read_elem(file["var"])
    frame = columns_of(fitted, var.index, _KEY)
    for name, values in more.items():
        frame[f"{_KEY}_{name}"] = values
    store_columns(var, frame, _KEY)
    write_elem(file, "var", var)
    for group, value in {"varp": matrix_of(fitted), "uns": dict(notes)}.items():
        if group not in file:
            write_elem(file, group, {})
        if value is not None:
            write_elem(file[group], _KEY, value)
        elif _KEY in file[group]:
            del file[group][_KEY]
