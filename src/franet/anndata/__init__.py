"""Ranking the variables of AnnData, as the tools of scverse do it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from franet._common.optional import require

if TYPE_CHECKING:
    from franet.estimators._base import FeatureRanker

__all__ = ["rank_features"]


def rank_features(
    adata: Any,
    *,
    layer: str | None = None,
    key_added: str = "franet",
    n_top: int | float | None = None,
    subset: bool = False,
    inplace: bool = True,
    ranker: FeatureRanker | None = None,
) -> Any:
    """Rank the variables (genes) of AnnData, and note what represents what.

    It is used like `scanpy.pp.highly_variable_genes`, and beside it. Normalised and
    log-transformed values suit correlations better than counts.

    Parameters
    ----------
    adata : AnnData
        Cells in rows and genes in columns. Names of variables must be unique.
    layer : str, default=None
        The layer to rank; None: `adata.X`.
    key_added : str, default="franet"
        The start of the names of all that is written.
    n_top : int or float, default=None
        How many variables are selected; a float is a share. None: as many as `ranker`
        asks for; by default as many as `Cover` suggests.
    subset : bool, default=False
        Whether only the selected variables are kept.
    inplace : bool, default=True
        Whether results are written into `adata`, or returned.
    ranker : ranker of franet, default=None
        An instance such as ``FRANe()`` or ``rankers.ColumnSubset()``; it is copied and
        stays as it is. None: ``Cover(weights="variance")``, whose picks represent the
        other variables, each weighted by the variance that it shares with others.

    Returns
    -------
    frame : pandas.DataFrame or None
        With ``inplace=False``, what would be the new columns of `adata.var`, for the
        selected variables only with ``subset=True``. Otherwise None.

    Raises
    ------
    DataError
        Where the names are not unique, values are missing or infinite, there are fewer
        than three cells or two genes, or `adata` has no X.
    UsageError
        Where an argument does not fit, or `adata` is backed and would have to be
        copied: by ``subset=True``, or because it is a view.
    MissingExtraError
        Where anndata is not installed.

    Warns
    -----
    ImplicitModificationWarning
        Where `adata` is a view and results are written: it becomes a copy.
    UserWarning
        Where `ranker` has ``weights="variance"``, but columns are scaled: of those that
        vary and do not reach the largest absolute value, at which `scanpy.pp.scale`
        clips, at least 90 % have a standard deviation within 5 % of 1.

    Notes
    -----
    Written are, with ``key_added="franet"``:

    - ``var["franet_score"]``: the score, larger is better;
    - ``var["franet_rank"]``: 1 is best; genes without variance rank last;
    - ``var["franet_selected"]``: whether it is among the best `n_top`;
    - ``var["franet_community"]``: the community, ``"0"`` is the largest; missing for
      genes without an edge;
    - ``var["franet_representative"]``: the gene that represents it, itself for
      those that represent others; missing where none does;
    - ``varp["franet"]``: the network, a CSR matrix;
    - ``uns["franet"]``: the ranker, its ``params`` (such as ``weights``; without those
      that are None), the layer, the version of franet, and after `Cover` the
      ``summary`` in words, ``n_suggested`` and ``explained``, the share of the table
      that the first picks explain.

    Communities, representatives and the network are left out where the ranker has
    none. All of it can be written to .h5ad.

    The matrix is read once, as it is stored, also from a backed file. What a fit takes
    depends on the ranker: `Cover` makes dense float64 copies, with ``FRANe()`` a matrix
    of which at most a tenth is filled stays sparse.

    Examples
    --------
    >>> import anndata
    >>> from franet.anndata import rank_features
    >>> from franet.datasets import make_groups
    >>> made = make_groups(100, 3, 4, shuffle=False, random_state=0)
    >>> adata = anndata.AnnData(3 * made.X)
    >>> adata.var_names = made.names
    >>> rank_features(adata)
    >>> list(adata.var_names[adata.var["franet_selected"]])
    ['g0', 'g1', 'g2']
    >>> adata.var.loc["g1.2", "franet_representative"]
    'g1'
    >>> print(adata.uns["franet"]["n_suggested"])
    3
    """
    anndata = require("anndata", "Ranking AnnData", "anndata")
    from sklearn.base import clone

    from franet.anndata import _inputs
    from franet.anndata._results import columns_of, matrix_of, notes_on, store
    from franet.cover._constraints import by_position

    _inputs.check_data(adata, anndata.AnnData)
    _inputs.check_arguments(adata, key_added, n_top, subset=subset, inplace=inplace)
    given = _inputs.prepare(ranker, n_top)
    # A matrix has no names of columns, and a frame cannot be sparse.
    named = by_position(given.get_params(deep=False), adata.var_names)
    fitted = clone(given).set_params(**named)
    pairwise = getattr(given, "missing", "error") == "pairwise"
    X = _inputs.read_matrix(adata, layer, allow_missing=pairwise)
    if inplace and adata.is_view:
        warnings.warn(
            "adata is a view: it becomes a copy of its part, with the results in it. "
            "What it is a view of stays as it is. Pass adata.copy() to say so "
            "yourself.",
            anndata.ImplicitModificationWarning,
            stacklevel=2,
        )
    _inputs.fit(fitted, X, adata.var_names, n_top)
    if note := _inputs.note_on_scale(fitted, X):
        warnings.warn(str(note), stacklevel=2)
    frame = columns_of(fitted, adata.var_names, key_added)
    selected = frame[f"{key_added}_selected"]
    if not inplace:
        return frame[selected] if subset else frame
    notes = notes_on(given, fitted, layer)
    store(adata, frame, matrix_of(fitted), notes, key_added)
    if subset:
        # There is no public way; other tools of scverse do the same.
        adata._inplace_subset_var(selected.to_numpy())
    return None


def __dir__() -> list[str]:
    return sorted(__all__)
