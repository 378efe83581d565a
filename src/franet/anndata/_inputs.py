"""What a call is given, checked before the work: the data, the matrix, the ranker."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from franet._common.checked import WHOLE, check_value
from franet.cover._rows import take_rows
from franet.exceptions import DataError, Message, Setting, UsageError
from franet.pairs.columns import Columns
from franet.pairs.columns._base import first_bad
from franet.pairs.columns._open import as_numpy, check_stored

# With two cells every correlation is 1 or -1.
_CELLS, _GENES = 3, 2
_SHOWN = 5
# Columns are scaled if this share of them deviates from 1 by no more than the second,
# or, in a part of the cells, from 1 and from 0 by no more than the third.
_MOST, _NEAR, _PART = 0.9, 0.05, 0.2
# Rows of a table that is not in memory by which this is judged, about.
_ROWS = 2048


def check_data(adata: Any, kind: Any) -> None:
    """Raise unless `adata` is of this class, large enough, and has unique names."""
    if not isinstance(adata, kind):
        raise UsageError(
            f"adata is a {type(adata).__name__}, not AnnData. Tables of other kinds "
            "are for Cover().fit(X)."
        )
    if adata.n_obs < _CELLS or adata.n_vars < _GENES:
        raise DataError(
            f"The shape of adata is {adata.n_obs} × {adata.n_vars}. Pass at least "
            f"{_CELLS} observations and {_GENES} variables."
        )
    names = adata.var_names
    if not names.is_unique:
        twice = names[names.duplicated()].unique()
        shown = ", ".join(repr(name) for name in twice[:_SHOWN])
        more = " …" if len(twice) > _SHOWN else ""
        raise DataError(
            f"Names of variables occur more than once: {shown}{more}. Call "
            "adata.var_names_make_unique() first."
        )


def check_arguments(
    adata: Any, key_added: Any, n_top: Any, *, subset: bool, inplace: bool
) -> None:
    """Raise where an argument does not fit the data."""
    # A dot is the group itself in files of HDF5, and a slash leads to another one.
    name = isinstance(key_added, str) and key_added not in ("", ".")
    remedy = "give a name without a slash that is not a dot, such as 'franet'."
    check_value("key_added", key_added, name and "/" not in key_added, remedy)
    share = isinstance(n_top, float | np.floating) and bool(0.0 < n_top < 1.0)
    number = WHOLE.accepts(n_top) and 1 <= n_top <= adata.n_vars
    remedy = (
        f"give a number from 1 to {adata.n_vars} (adata.n_vars), a share above 0 and "
        "below 1, or None."
    )
    check_value("n_top", n_top, n_top is None or share or number, remedy)
    if not inplace or not adata.isbacked:
        return
    # A copy of backed data is another file, or all of it in memory: the user's choice.
    if adata.is_view:
        raise UsageError(
            "adata is a view of a backed file, into which nothing can be written.",
            Setting("inplace", False),
            remedy="Pass adata.to_memory(), or {}.",
        )
    if subset:
        raise UsageError(
            "{} cannot cut a backed file.",
            Setting("subset", True),
            f"adata[:, adata.var['{key_added}_selected']].to_memory()",
            remedy="Leave it out, and take {1} after that.",
        )


def prepare(ranker: Any, n_top: Any) -> Any:
    """Return a copy of the ranker that selects as many features as are asked for."""
    from sklearn.base import clone

    from franet.estimators._base import FeatureRanker
    from franet.estimators._cover import Cover

    if ranker is None:
        ranker = Cover(weights="variance")
    if not isinstance(ranker, FeatureRanker):
        raise UsageError(
            "{} is not an instance of a franet ranker.",
            Setting("ranker", ranker),
            remedy="Pass one, such as Cover().",
        )
    # As text: others may not compare with it.
    if str(getattr(ranker, "similarity", None)) == "precomputed":
        raise UsageError(
            "ranker: {} is for a matrix of similarities, which adata does not hold.",
            Setting("similarity", "precomputed"),
            remedy="Choose another similarity.",
        )
    copy = clone(ranker)
    if n_top is not None:
        asked = ranker.n_features_to_select
        if asked != type(ranker)().n_features_to_select:
            raise UsageError(
                "{}, but ranker has {}.",
                Setting("n_top", n_top),
                Setting("n_features_to_select", asked),
                remedy="Leave out one of them.",
            )
        copy.set_params(n_features_to_select=n_top)
    return copy


def read_matrix(
    adata: Any,
    layer: str | None,
    *,
    use_raw: bool = False,
    allow_missing: bool = False,
) -> Any:
    """Return X, a layer or raw values as a dense array or a sparse matrix.

    What lies in memory is not copied; what lies in a file is read once.

    Parameters
    ----------
    adata : AnnData
        The data.
    layer : str or None
        The layer; None: X.
    use_raw : bool, default=False
        Whether the values are those of ``adata.raw``, for the genes of `adata`.
    allow_missing : bool, default=False
        Whether NaN is let through.
    """
    check_stored(adata)
    if use_raw:
        return _finite(_raw_values(adata, layer), adata, allow_missing)
    # From anndata 0.13 on X is among the layers, as None.
    layers = [name for name in adata.layers if name is not None]
    if layer is not None and layer not in layers:
        raise UsageError(
            "{}: adata has {}.",
            Setting("layer", layer),
            ", ".join(layers) or "no layers",
            remedy="None is X.",
        )
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise DataError(
            f"adata has no X. Choose a layer: {', '.join(layers) or 'it has none'}."
        )
    return _finite(X, adata, allow_missing)


def _finite(X: Any, adata: Any, allow_missing: bool) -> Any:
    """Return values in memory, checked."""
    X = _in_memory(X)
    if bad := first_bad(X, allow_missing):
        row, j = bad
        raise DataError(
            f"{str(adata.var_names[j])!r} holds "
            f"{'NaN' if np.isnan(X[row, j]) else 'infinity'} in "
            f"{str(adata.obs_names[row])!r}. Fill the value, or leave out the variable "
            "or the observation."
        )
    return X


def _raw_values(adata: Any, layer: str | None) -> Any:
    """Return the values of ``adata.raw`` for the genes of `adata`."""
    given = Setting("use_raw", True)
    if layer is not None:
        other = Setting("layer", layer)
        remedy = "Leave out one of them."
        raise UsageError("{} and {} name two tables.", given, other, remedy=remedy)
    if adata.raw is None:
        raise UsageError("{}, but adata has no raw.", given, remedy="Leave it out.")
    at = adata.raw.var_names.get_indexer(adata.var_names)
    if (at < 0).any():
        gene = str(adata.var_names[(at < 0).argmax()])
        raise DataError(
            "{}: {!r} is not in adata.raw. Rank adata.raw.to_adata().", given, gene
        )
    return adata.raw.X[:, at]


def _in_memory(X: Any) -> Any:
    if sparse.issparse(X):
        return X
    check_stored(X)
    # Sparse matrices in files have the first, arrays of dask the second.
    for method in ("to_memory", "compute"):
        if hasattr(X, method):
            return getattr(X, method)()
    return np.asarray(as_numpy(X))


def fit(ranker: Any, X: Any, names: Any, n_top: Any) -> None:
    """Fit the ranker; errors speak of `n_top` where it was given.

    The names go with the matrix, so that what the ranker says names genes.
    """
    from anndata import AnnData
    from pandas import DataFrame

    named = X
    if not isinstance(X, Columns):  # which has the names
        with warnings.catch_warnings():
            # anndata sets options that pandas deprecates
            warnings.simplefilter("ignore")
            named = AnnData(X, var=DataFrame(index=names))
    try:
        ranker.fit(named)
    except UsageError as err:
        if n_top is None:
            raise
        said = str(err).replace("n_features_to_select", "n_top")
        raise UsageError(said) from None


def note_on_scale(ranker: Any, X: Any) -> Message | None:
    """Return a note if a ranker weighs columns by variance that are scaled already.

    They are if at least 90 % have a standard deviation within 5 % of 1; or within 20 %
    and a mean within 0.2 of 0, as in a part of the cells of a scaled table. Columns do
    not count that are constant, or that reach the largest absolute value of the table,
    at which `scanpy.pp.scale` clips.

    Parameters
    ----------
    ranker : ranker
        The fitted ranker.
    X : ndarray, sparse matrix or Columns
        The table it was fitted to. Of one that is not in memory some rows are read.
    """
    weights = getattr(ranker, "weights", None)
    if not isinstance(weights, str) or weights != "variance":
        return None
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    if isinstance(X, Columns):
        X = take_rows(X, np.arange(0, X.shape[0], -(-X.shape[0] // _ROWS)))
    largest = MaxAbsScaler().fit(X).max_abs_
    varied = ~ranker.constant_ & (largest < largest.max())
    with np.errstate(all="ignore"):  # units may be huge
        found = StandardScaler(with_mean=False).fit(X)
        away = abs(np.sqrt(found.var_[varied]) - 1.0)
        part = (away <= _PART) & (abs(found.mean_[varied]) <= _PART)
    words = {
        f"a standard deviation within {100 * _NEAR:.0f} % of 1": away <= _NEAR,
        f"a mean within {_PART} of 0 and a standard deviation within "
        f"{100 * _PART:.0f} % of 1": part,
    }
    shares = {text: fits.mean() for text, fits in words.items() if fits.size}
    how = next((text for text, share in shares.items() if share >= _MOST), None)
    if how is None:
        return None
    return Message(
        f"{{}} means little here: {100 * shares[how]:.0f} % of the columns have {how}, "
        "as scaling makes them.",
        Setting("weights", weights),
        Setting("weights", "robust"),
        remedy="Rank values that are not scaled, such as a layer, or set {1}.",
    )
