"""What is wrong with a call, said before the work."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from franet.exceptions import DataError, UsageError

__all__ = ["check_arguments", "check_data", "warn_of_view"]

# With two cells every correlation is 1 or -1.
_CELLS, _GENES = 3, 2
_SHOWN = 5


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
    if not name or "/" in key_added:
        raise UsageError(
            f"key_added={key_added!r}: give a name without a slash that is not a dot, "
            "such as 'franet'."
        )
    if n_top is not None:
        _check_n_top(n_top, adata.n_vars)
    if not inplace or not adata.isbacked:
        return
    # A copy of backed data is another file, or all of it in memory: the user's choice.
    if adata.is_view:
        raise UsageError(
            "adata is a view of a backed file, into which nothing can be written. Pass "
            "adata.to_memory(), or inplace=False."
        )
    if subset:
        raise UsageError(
            "subset=True cannot cut a backed file. Leave it out, and take "
            f"adata[:, adata.var['{key_added}_selected']].to_memory() after that."
        )


def _check_n_top(n_top: Any, n: int) -> None:
    if isinstance(n_top, float | np.floating):
        fits = 0.0 < n_top < 1.0
    else:
        whole = isinstance(n_top, int | np.integer) and not isinstance(n_top, bool)
        fits = whole and 1 <= n_top <= n
    if not fits:
        raise UsageError(
            f"n_top={n_top!r}: give a number from 1 to {n} (adata.n_vars), a share "
            "above 0 and below 1, or None."
        )


def warn_of_view(category: type[Warning]) -> None:
    """Warn the caller of `rank_features` that a view becomes a copy."""
    warnings.warn(
        "adata is a view: it becomes a copy of its part, with the results in it. What "
        "it is a view of stays as it is. Pass adata.copy() to say so yourself.",
        category,
        stacklevel=3,
    )
