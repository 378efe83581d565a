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
    use_raw: bool = False,
    normalize: str | None = None,
    batch_key: str | None = None,
    start: Any = None,
    mask_var: Any = None,
    min_cells: float | None = None,
    max_cells: float | None = None,
    level: str | None = None,
    min_level: float | None = None,
    max_level: float | None = None,
    max_total: float | None = None,
    key_added: str = "franet",
    n_top: int | float | None = None,
    subset: bool = False,
    inplace: bool = True,
    ranker: FeatureRanker | None = None,
) -> Any:
    """Rank the variables (genes) of AnnData, and note what represents what.

    It is used like `scanpy.pp.highly_variable_genes`, and beside it. Values are to be
    normalized and log-transformed; raw counts are an error unless `normalize` says
    what to do with them.

    Parameters
    ----------
    adata : AnnData
        Cells in rows and genes in columns. Names of variables must be unique.
    layer : str, default=None
        The layer to rank; None: `adata.X`.
    use_raw : bool, default=False
        Whether the values of `adata.raw` are ranked, for the genes of `adata`.
    normalize : {"log1p", "none"}, default=None
        What is done with raw counts, which are whole numbers from 0 on, some of them
        above 2. ``"log1p"``: cells get the same total, the median one, and values are
        ``log(1 + count)``; nothing is written. ``"none"``: they are ranked as they
        are. None: they are an error.
    batch_key : str, default=None
        The column of `adata.obs` with the batch of each cell. Each gene is centered
        within each batch, so that a gene has to explain what varies within batches,
        and not what differs between them; each cell counts the same. A batch has at
        least 10 cells.
    start : sequence of str, or path-like, default=None
        Genes that are picked first, in this order: names or patterns such as
        ``"HLA-*"``, or a file with one a line (or .csv with a column ``feature`` or
        ``gene``). They are picked whatever their expression.
    mask_var : str or array of bool, default=None
        The genes that may be picked, or the column of `adata.var` that says which;
        others are represented all the same. So it is with genes outside of the
        following limits.
    min_cells, max_cells : float, default=None
        The least and the largest share of cells in which a gene is detected, with a
        value other than 0.
    level : str, default=None
        The column of `adata.var` with the level of each gene, such as mean counts;
        None: the means of the values that are ranked, as they are before centering.
    min_level, max_level : float, default=None
        The lowest and the highest level of a gene. Highly expressed genes saturate
        probes.
    max_total : float, default=None
        The most that the levels of all selected genes add up to. A pick that would go
        beyond it, and all genes that would go beyond it there, are left out, and genes
        are picked again behind those before it; fewer than `n_top` may be selected.
        Each such pick takes another fit.
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
        Where the names are not unique, values are missing, infinite or raw counts,
        there are fewer than three cells or two genes, a batch has fewer than 10 cells,
        or `adata` has no X.
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
        clips, at least 90 % have a standard deviation within 5 % of 1, or, in a part of
        the cells of a scaled table, one within 20 % and a mean within 0.2 of 0.

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

    from franet.anndata import _genes, _inputs
    from franet.anndata._results import columns_of, matrix_of, notes_on, plain, store
    from franet.cover._constraints import by_position

    _inputs.check_data(adata, anndata.AnnData)
    _inputs.check_arguments(adata, key_added, n_top, subset=subset, inplace=inplace)
    given = _inputs.prepare(ranker, n_top)
    batches = None if batch_key is None else _genes.read_batches(adata, batch_key)
    pairwise = batches is None and getattr(given, "missing", "error") == "pairwise"
    X = _inputs.read_matrix(adata, layer, use_raw=use_raw, allow_missing=pairwise)
    X = _genes.normalized(X, normalize)
    limits = _genes.Limits(
        mask_var, level, min_cells, max_cells, min_level, max_level, max_total
    )
    closed = _genes.closed_by(limits, X, adata)
    chosen = clone(given).set_params(
        **_genes.start_first(given, adata.var_names, start, closed, max_total)
    )
    # A matrix has no names of columns, and a frame cannot be sparse.
    named = by_position(chosen.get_params(deep=False), adata.var_names)
    if inplace and adata.is_view:
        warnings.warn(
            "adata is a view: it becomes a copy of its part, with the results in it. "
            "What it is a view of stays as it is. Pass adata.copy() to say so "
            "yourself.",
            anndata.ImplicitModificationWarning,
            stacklevel=2,
        )
    table = _genes.centered(X, batches, adata.var_names)

    def fit(n: Any, **features: Any) -> FeatureRanker:
        of_features = {k: v for k, v in features.items() if v is not None}
        fitted = clone(chosen).set_params(**named | of_features)
        fitted.set_params(n_features_to_select=n)
        _inputs.fit(fitted, table, adata.var_names, n_top)
        return fitted

    start_of = {name: named.get(name) for name in ("include", "exclude")}
    n = chosen.n_features_to_select
    fitted = _genes.within_total(fit, limits, X, adata, n=n, **start_of)
    if note := _inputs.note_on_scale(fitted, X):
        warnings.warn(str(note), stacklevel=2)
    frame = columns_of(fitted, adata.var_names, key_added)
    selected = frame[f"{key_added}_selected"]
    if not inplace:
        return frame[selected] if subset else frame
    notes = notes_on(given, fitted, "raw" if use_raw else layer)
    options = {"batch_key": batch_key, "normalize": normalize, **vars(limits)}
    if start is not None:
        options["start"] = _genes.read_panel(start)
    notes |= plain(options)
    store(adata, frame, matrix_of(fitted), notes, key_added)
    if subset:
        # There is no public way; other tools of scverse do the same.
        adata._inplace_subset_var(selected.to_numpy())
    return None


def __dir__() -> list[str]:
    return sorted(__all__)
