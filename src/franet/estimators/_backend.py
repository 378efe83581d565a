"""Which engine a fit runs on, and its opening."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from franet._common.memory import parse_bytes
from franet._common.supports import Supports, check_supported, supported
from franet._common.threads import count_threads
from franet.engine import device as _torch
from franet.engine._numpy import TileEngine
from franet.engine.device import EngineTask
from franet.engine.plan import planned_engine
from franet.estimators._validation import check_table, kind_of, number_to_select
from franet.pairs.similarity import GAPS, REFERENCE, open_source
from franet.pairs.similarity._dense import check_not_all
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.tiles import PairSource
from franet.search.exact import Outcome, Settings

if TYPE_CHECKING:
    from franet.estimators._frane import FRANe

# From so many pairs on, a GPU is worth the seconds that loading torch takes.
_MANY_PAIRS = 100_000_000

PREDICTION = Supports(
    "A prediction of time and memory",
    values={"search": ("exact",), "backend": ("auto", "numpy")},
)

_Opened = tuple[TileEngine, NDArray[np.bool_]]


def _choices(ranker: FRANe, missing: str) -> list[Supports]:
    """Return what supports the choices that a ranker's parameters make."""
    place = ranker._place()
    found = []
    if ranker.search == "approximate":
        from franet.search.approximate import APPROXIMATE

        found.append(APPROXIMATE)
    if place.kind == "torch":
        from franet.engine._torch import TorchEngine

        found.append(replace(TorchEngine.supports, choice=place.given))
    elif place.kind == "dask":
        from franet.engine._dask import DaskEngine

        found.append(DaskEngine.supports)
    else:
        found.append(TileEngine.supports)
    if missing == "pairwise":
        found.append(GAPS)
    if ranker.variant == "reference":
        found.append(REFERENCE)
    return found


def _parameters(ranker: FRANe, all_of: list[Supports]) -> dict[str, Any]:
    # Attributes, because a subclass may have fewer parameters.
    return {name: getattr(ranker, name) for each in all_of for name in each.values}


def reads_pieces(ranker: FRANe) -> bool:
    """Return whether a table that does not fit into memory is read piece by piece."""
    choices = _choices(ranker, ranker.missing)
    return all(ranker.similarity in each.stored for each in choices)


def offers_gaps(ranker: FRANe, is_sparse: bool) -> bool:
    """Return whether ``missing="pairwise"`` goes with the other parameters."""
    choices = _choices(ranker, "pairwise")
    parameters = _parameters(ranker, choices) | {"missing": "pairwise"}
    return supported(choices, parameters, "sparse" if is_sparse else "dense")


def check(ranker: FRANe, X: Any, *others: Supports) -> Any:
    """Return the table of a fit, checked; `Columns` if it is read piece by piece.

    `others` say what else must support the parameters.
    """
    choices = [*others, *_choices(ranker, ranker.missing)]
    check_supported(choices, _parameters(ranker, choices))
    table = check_table(ranker, X, lazy=reads_pieces(ranker))
    check_supported(choices, {}, kind_of(table))
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


def task_of(ranker: FRANe, X: Any, *others: Supports) -> EngineTask:
    """Return what an engine is opened for: the parameters and the table, checked.

    `others` say what else must support the parameters.
    """
    table = check(ranker, X, *others)
    return EngineTask(
        ranker._place(),
        X,
        table,
        getattr(ranker, "feature_names_in_", None),
        comparison_of(ranker),
        settings_of(ranker),
        n_threads=count_threads(ranker.n_jobs),
        checkpoint=ranker.checkpoint,
    )


def open_numpy_source(task: EngineTask) -> tuple[PairSource, NDArray[np.bool_]]:
    """Return the similarities of a table, and which columns have none."""
    return open_source(
        task.table,
        **task.options,
        max_memory=task.settings.max_memory,
        n_thresholds=task.settings.n_thresholds,
        n_threads=task.n_threads,
    )


def open_engine(ranker: FRANe, X: Any) -> AbstractContextManager[_Opened]:
    """Return the engine on which a table's features are compared.

    Parameters
    ----------
    ranker : FRANe
        Its parameters say which.
    X : array-like
        The table.

    Returns
    -------
    context
        Gives the engine, open until the end of the context, and a boolean array:
        which columns have no similarity.
    """
    task = task_of(ranker, X)
    if task.place.kind == "dask":
        from franet.engine._dask import open_dask

        return open_dask(task)
    if _on_torch(ranker, task):
        from franet.engine._torch import open_torch

        return open_torch(task)
    return _open_numpy(task)


@contextmanager
def _open_numpy(task: EngineTask) -> Iterator[_Opened]:
    source, constant = open_numpy_source(task)
    with closing(source), planned_engine(TileEngine, source, task) as engine:
        yield engine, constant


def _on_torch(ranker: FRANe, task: EngineTask) -> bool:
    """Return whether torch is asked for, or pays."""
    if task.place.kind != "auto":
        return task.place.kind == "torch"
    from franet.engine._torch import TorchEngine

    n = task.table.shape[1]
    pays = n * (n - 1) // 2 >= _MANY_PAIRS or bool(getattr(task.X, "is_cuda", False))
    choices = [TorchEngine.supports]
    return (
        pays
        and isinstance(task.table, np.ndarray)
        and supported(choices, _parameters(ranker, choices))
        and _torch.cuda_ready()
    )


def approximate(ranker: FRANe, X: Any) -> tuple[Outcome, NDArray[np.bool_]]:
    """Return what an approximate search finds, and which columns are constant."""
    from franet.search.approximate import search_approximately

    table = check(ranker, X)
    constant = constant_in(table)
    check_not_all(constant)
    outcome = search_approximately(
        table.tocsc() if sparse.issparse(table) else table,
        np.flatnonzero(~constant),
        settings_of(ranker),
        similarity=str(ranker.similarity),
        n_threads=count_threads(ranker.n_jobs),
    )
    return outcome, constant
