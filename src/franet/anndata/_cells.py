"""Single cells from a .h5ad file, for the command line."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from franet._common.optional import require
from franet.anndata._inputs import check_data
from franet.exceptions import DataError, Setting, UsageError
from franet.io import read_table
from franet.io._arrays import read_annotations
from franet.io._source import find_format
from franet.pairs.columns._base import check_finite

# Embeddings to draw, the best first; of principal components the first two.
_EMBEDDINGS = ("X_umap", "X_tsne", "X_pca")


def read_cells(path: Path, layer: str | None, *, use_raw: bool) -> Any:
    """Return what a panel needs of a .h5ad file, as AnnData in memory.

    Parameters
    ----------
    path : Path
        The file.
    layer : str or None
        The layer that becomes X; None: X itself.
    use_raw : bool
        Whether X and the variables are those of ``raw``.
    """
    anndata = require("anndata", "Reading h5ad files", "anndata")
    if layer is not None and use_raw:
        raise UsageError(
            "{} and {} name two tables.",
            Setting("use_raw"),
            Setting("layer", layer),
            remedy="Leave out one of them.",
        )
    if (kind := find_format(path, None)) != "h5ad":
        raise UsageError(
            f"{path}: is {kind}, and a panel is chosen from a .h5ad file; franet rank "
            "ranks other tables"
        )
    table = read_table(path, variable="raw" if use_raw else layer)
    obs, var, obsm = read_annotations(path, raw=use_raw)
    check_finite(table.X, table.names, False, None)
    if len(obs) != table.X.shape[0] or len(var) != table.X.shape[1]:
        raise DataError(f"{path}: is damaged, its parts differ in length; write it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata sets options that pandas deprecates
        adata = anndata.AnnData(table.X, obs=obs, var=var)
    for name, values in obsm.items():
        if name in _EMBEDDINGS and len(values) == len(obs):
            adata.obsm[name] = values
    check_data(adata, anndata.AnnData)
    return adata


def embedding(adata: Any) -> Any:
    """Return where cells are drawn, two columns; None if nothing is stored."""
    stored = (adata.obsm[name] for name in _EMBEDDINGS if name in adata.obsm)
    return next((values[:, :2] for values in stored if values.shape[1] > 1), None)
