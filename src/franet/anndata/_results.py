"""What a fitted ranker says, as AnnData and .h5ad files keep it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.files import atomic_write, check_apart
from franet._common.version import __version__
from franet.exceptions import DataError

_KEY = "franet"  # in files
# What `var` gets, after the key and an underscore; the last three from files alone.
COLUMNS = (
    "score", "rank", "selected", "community", "representative",
    "rank_low", "rank_high", "selected_share",
)  # fmt: skip


def columns_of(ranker: Any, names: Any, key: str) -> Any:
    """Return a frame with a row for each variable; columns that `ranker` can fill."""
    import pandas as pd

    found: dict[str, Any] = {
        "score": ranker.scores_,
        "rank": ranker.ranking_.astype(np.int64),
        "selected": ranker.support_,
    }
    if ranker._finds != "ranking":
        groups = ranker.network_.communities()
        labels = [str(k) for k in range(len(groups))]
        # Text, as scanpy's clusters are, and not numbers to be calculated with.
        found["community"] = pd.Categorical.from_codes(groups.labels, labels)
        by = _representatives(ranker)
        found["representative"] = _names_at(pd, by, names, ranker.ranking_)
    return pd.DataFrame(
        {f"{key}_{column}": values for column, values in found.items()}, index=names
    )


def _representatives(ranker: Any) -> NDArray[np.intp]:
    """Return what represents each feature, by position; -1: nothing does."""
    if ranker._finds == "representatives":
        return np.asarray(ranker.representative_)
    by, _ = ranker.network_.redundant_with()
    alone = (by < 0) & ~ranker.constant_
    by[alone] = np.flatnonzero(alone)
    return by


def _names_at(
    pd: Any, by: NDArray[np.intp], names: Any, ranking: NDArray[np.intp]
) -> Any:
    """Return names as categories, those of the best features first."""
    used = np.unique(by[by >= 0])
    used = used[np.argsort(ranking[used])]
    # The last place is that of nobody, -1.
    code = np.full(len(names) + 1, -1, np.intp)
    code[used] = np.arange(len(used))
    return pd.Categorical.from_codes(code[by], [str(names[j]) for j in used])


def matrix_of(ranker: Any) -> Any:
    """Return the network as a CSR matrix, None where there is none."""
    if ranker._finds == "ranking":
        return None
    return sparse.csr_matrix(ranker.network_.adjacency)


def notes_on(given: Any, fitted: Any, layer: str | None) -> dict[str, Any]:
    """Return how the ranking was made; no value is None.

    Parameters
    ----------
    given : ranker
        The ranker with its parameters as the user wrote them.
    fitted : ranker
        The ranker that was fitted.
    layer : str or None
        The layer it was fitted to.
    """
    notes = {
        "version": __version__,
        "ranker": type(given).__name__,
        "params": plain(given.get_params(deep=False)),
        "layer": "X" if layer is None else layer,
        "n_selected": int(fitted.n_features_),
    }
    if fitted._finds != "ranking":
        notes["communities"] = fitted.network_.communities().method
    if fitted._finds == "network":
        notes["threshold"] = float(fitted.threshold_)
    if fitted._finds == "representatives":
        notes["summary"] = fitted.summary()
        notes["explained"] = fitted.explained_
        if fitted.n_features_suggested_ is not None:
            notes["n_suggested"] = int(fitted.n_features_suggested_)
    return notes


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that a .h5ad file can hold, without those that are None."""
    return {
        name: _writable(value) for name, value in values.items() if value is not None
    }


def _writable(value: Any) -> Any:
    """Return a value that a .h5ad file can hold, as text if nothing else does."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        # Not a group of the file: names of genes may have slashes.
        return json.dumps({str(name): value[name] for name in value}, default=str)
    if isinstance(value, Iterable):
        array = np.asarray(value)
        numbers = array.dtype.kind in "biuf"
        return array if numbers else np.array([str(item) for item in value], object)
    return getattr(value, "__qualname__", None) or str(value)


def store(adata: Any, frame: Any, matrix: Any, notes: Any, key: str) -> None:
    """Write results into `adata`, and remove those of an earlier call with this key."""
    if adata.is_view:
        adata.var = adata.var.copy()  # this makes it a copy
    store_columns(adata.var, frame, key)
    if matrix is not None:
        adata.varp[key] = matrix
    elif key in adata.varp:
        del adata.varp[key]
    adata.uns[key] = notes


def store_columns(var: Any, frame: Any, key: str) -> None:
    """Write columns into `var`, and remove those of an earlier call with this key."""
    for column in COLUMNS:
        name = f"{key}_{column}"
        if name in frame:
            var[name] = frame[name].array
        elif name in var:
            del var[name]


def write_ranked_file(
    source: Path,
    target: Path,
    fitted: Any,
    *,
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
    fitted : ranker
        The fitted ranker.
    more : mapping of str to array
        Further columns of `var`, a value for each variable.
    notes : mapping
        How the ranking was made, for `uns`.
    force : bool
        Whether a file that is there may be replaced.
    """
    import h5py

    check_apart(target, [source])
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
                _add(copy, fitted, more, notes)
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
