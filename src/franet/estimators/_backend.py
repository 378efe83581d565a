"""Which engine a fit runs on, and its opening."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from franet._common.memory import Store, parse_bytes
from franet._common.threads import count_threads
from franet.engine import device as _torch
from franet.engine._numpy import TileEngine
from franet.engine.checkpoint import open_checkpoint
from franet.engine.plan import make_plan
from franet.estimators._validation import check_table, number_to_select
from franet.exceptions import UsageError
from franet.pairs.similarity import open_source
from franet.pairs.similarity._dense import check_not_all
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.tiles import PairSource
from franet.search.exact import Outcome, Settings

if TYPE_CHECKING:
    from franet.estimators._frane import FRANe

__all__ = [
    "approximate",
    "check",
    "check_plan",
    "comparison_of",
    "open_engine",
    "open_numpy_source",
    "settings_of",
]

# From so many pairs on, a GPU is worth the seconds that loading torch takes.
_MANY_PAIRS = 100_000_000


def check(ranker: FRANe, X: Any) -> Any:
    """Return the table of a fit, checked; `Columns` if it is read piece by piece."""
    whole = ranker._place().kind == "torch" or ranker.search == "approximate"
    pairwise = ranker.missing == "pairwise"
    table = check_table(ranker, X, allow_missing=pairwise, lazy=not whole)
    # Before the work, not after it.
    number_to_select(ranker.n_features_to_select, ranker.n_features_in_)
    return table


def comparison_of(ranker: FRANe) -> dict[str, Any]:
    """Return how a ranker compares features: the arguments of `open_source`."""
    return {
        "similarity": ranker.similarity,
        "p": ranker.p,
        "variant": ranker.variant,
        "pairwise": ranker.missing == "pairwise",
    }


def settings_of(ranker: FRANe) -> Settings:
    """Return what the parameters of a ranker ask of a search."""
    memory = ranker.max_memory
    other = {
        "second_key": ranker.tie_break == "denser",
        "max_memory": None if memory is None else parse_bytes(memory),
        "random": check_random_state(ranker.random_state),
    }
    names = [field.name for field in fields(Settings) if field.name not in other]
    # Attributes, because a subclass may have fewer parameters.
    return Settings(**{name: getattr(ranker, name) for name in names}, **other)


def open_numpy_source(
    ranker: FRANe, table: Any
) -> tuple[PairSource, NDArray[np.bool_]]:
    """Return the similarities of a checked table, and which columns have none."""
    memory = ranker.max_memory
    return open_source(
        table,
        **comparison_of(ranker),
        max_memory=None if memory is None else parse_bytes(memory),
        n_thresholds=ranker.n_thresholds,
        n_threads=count_threads(ranker.n_jobs),
    )


@contextmanager
def open_engine(
    ranker: FRANe, X: Any
) -> Iterator[tuple[TileEngine, NDArray[np.bool_]]]:
    """Give the engine on which a table's features are compared.

    Parameters
    ----------
    ranker : FRANe
        Its parameters say which.
    X : array-like
        The table.

    Yields
    ------
    engine : TileEngine
        Open until the end of the context.
    constant : ndarray of bool
        Columns without a similarity.
    """
    settings, n_threads = settings_of(ranker), count_threads(ranker.n_jobs)
    if ranker._place().kind == "dask":
        from franet.engine._dask import open_dask

        with open_dask(ranker, X, settings, n_threads) as opened:
            yield opened
        return
    table = check(ranker, X)
    if _on_torch(ranker, X, table):
        with _open_torch(ranker, table, settings) as opened:
            yield opened
        return
    source, constant = open_numpy_source(ranker, table)
    with closing(source):
        plan = make_plan(source, settings.n_thresholds, n_threads, settings.max_memory)
        with (
            Store(plan.on_disk) as store,
            open_checkpoint(ranker.checkpoint, source, settings) as checkpoint,
        ):
            yield TileEngine(source, n_threads, store, checkpoint), constant


def approximate(ranker: FRANe, X: Any) -> tuple[Outcome, NDArray[np.bool_]]:
    """Return what an approximate search finds, and which columns are constant."""
    from franet.search.approximate import check_settings, search_approximately

    _check_approximate(ranker)
    settings, similarity = settings_of(ranker), str(ranker.similarity)
    # Before the table, which is one of numbers only under what there is.
    check_settings(settings, similarity)
    table = check(ranker, X)
    constant = constant_in(table)
    check_not_all(constant)
    outcome = search_approximately(
        table.tocsc() if sparse.issparse(table) else table,
        np.flatnonzero(~constant),
        settings,
        similarity=similarity,
        n_threads=count_threads(ranker.n_jobs),
    )
    return outcome, constant


def _check_approximate(ranker: FRANe) -> None:
    """Refuse what an approximate search would ignore."""
    place = ranker._place()
    if place.kind not in ("auto", "numpy"):
        raise UsageError(
            "search='approximate' runs on the cores of this machine, not on "
            f"{place.given}. Leave out backend."
        )
    for name in ("checkpoint", "max_memory"):
        if getattr(ranker, name) is not None:
            raise UsageError(
                f"{name} needs search='exact': an approximate search makes no passes "
                f"over all pairs. Leave out {name}."
            )
    if ranker.missing != "error":
        raise UsageError(
            "search='approximate' needs a table without gaps, not missing="
            f"{ranker.missing!r}. Fill them first, or use search='exact'."
        )


def check_plan(ranker: FRANe) -> None:
    """Refuse to predict what a fit takes, unless it is an exact one on the cores."""
    if ranker.search != "exact" or ranker._place().kind not in ("auto", "numpy"):
        raise UsageError(
            "Time and memory can be predicted for the exact search on the cores of "
            "this machine only. Set search='exact' and backend='numpy'."
        )


def _on_torch(ranker: FRANe, X: Any, table: Any) -> bool:
    fits = isinstance(table, np.ndarray) and ranker.missing == "error"
    has, place = _torch_has(ranker.similarity), ranker._place()
    if place.kind != "torch" and not (fits and has):
        return False
    many = fits and table.shape[1] * (table.shape[1] - 1) // 2 >= _MANY_PAIRS
    wanted = _torch.wanted(place, pays=many or bool(getattr(X, "is_cuda", False)))
    # A similarity that it does not have is refused by the source.
    if wanted and has and not fits:
        what = "" if ranker.missing == "error" else f", not missing={ranker.missing!r}"
        raise UsageError(
            f"{place.given} needs a dense table in memory, without gaps{what}. Leave "
            "out backend."
        )
    return wanted


def _torch_has(similarity: Any) -> bool:
    from franet.engine._torch import SIMILARITIES

    return isinstance(similarity, str) and similarity in SIMILARITIES


@contextmanager
def _open_torch(
    ranker: FRANe, table: NDArray[Any], settings: Settings
) -> Iterator[tuple[TileEngine, NDArray[np.bool_]]]:
    from franet.engine._torch import TorchEngine, open_torch_source

    source, constant = open_torch_source(
        table,
        str(ranker.similarity),
        p=ranker.p,
        variant=ranker.variant,
        device=ranker._place().device,
        max_memory=settings.max_memory,
    )
    with open_checkpoint(ranker.checkpoint, source, settings) as checkpoint:
        yield TorchEngine(source, checkpoint=checkpoint), constant
