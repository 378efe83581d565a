"""Where a fit runs: what the parameter `backend` names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from franet.exceptions import Setting, UsageError

__all__ = ["EngineTask", "Place", "parse_place", "portable"]

# Torch devices that need no word before them. "cpu" is not among them, because the
# cores of this machine are faster by NumPy.
_DEVICE = re.compile(r"(cuda|mps|xpu)(:\d+)?")
_TORCH = "torch:"
_AUTO = Setting("backend", "auto")
_CHOICES = {
    "numpy": "'numpy' (the cores of this machine)",
    "torch": "'torch', a torch device such as 'cuda:1'",
    "dask": "'dask', a Dask client or the address of its scheduler",
}


@dataclass(frozen=True)
class Place:
    """Where a fit runs.

    Attributes
    ----------
    kind : {"auto", "numpy", "torch", "dask"}
        What computes.
    device : str or None
        The torch device, where one is named.
    scheduler : str, distributed.Client or None
        The Dask cluster, where one is named.
    given : Setting
        What the user set, for messages.
    """

    kind: str
    device: str | None = None
    scheduler: Any = None
    given: Setting = _AUTO


@dataclass(frozen=True)
class EngineTask:
    """What an engine is opened for.

    Attributes
    ----------
    place : Place
        Where it runs.
    X : object
        The table as the user has given it.
    table : ndarray, sparse array, CodedTable or Columns
        The same, checked.
    names : sequence of str or None
        The names of its columns.
    options : dict
        How features are compared: `similarity`, `p`, `variant` and `pairwise`, as
        :func:`franet.pairs.similarity.open_source` takes them.
    settings : dataclass
        What is searched for; a checkpoint is of one search only.
    n_thresholds, n_threads : int
        What the search needs depends on them.
    max_memory : int or None
        Bytes that may be used.
    checkpoint : path-like or None
        The folder of the checkpoint.
    """

    place: Place
    X: Any
    table: Any
    names: Any
    options: dict[str, Any]
    settings: Any
    n_thresholds: int
    n_threads: int
    max_memory: int | None
    checkpoint: Any


def parse_place(backend: Any, kinds: tuple[str, ...]) -> Place:
    """Return the place that `backend` names.

    Parameters
    ----------
    backend : str or distributed.Client
        ``"auto"``, one of `kinds`, a torch device (``"cuda"``, ``"cuda:1"``,
        ``"torch:cpu"``), a Dask client or the address of a scheduler.
    kinds : tuple of str
        Which of ``"numpy"``, ``"torch"`` and ``"dask"`` the estimator can run on.

    Examples
    --------
    >>> place = parse_place("cuda:1", ("numpy", "torch"))
    >>> place.kind, place.device
    ('torch', 'cuda:1')
    """
    given = Setting("backend", backend)
    if not isinstance(backend, str):
        if "dask" in kinds:
            return Place("dask", scheduler=backend, given=given)
    elif backend in ("auto", *kinds):
        return Place(backend, given=given)
    elif "torch" in kinds and _DEVICE.fullmatch(backend):
        return Place("torch", backend, given=given)
    elif "torch" in kinds and backend.startswith(_TORCH):
        return Place("torch", backend.removeprefix(_TORCH), given=given)
    elif "dask" in kinds and "://" in backend:
        return Place("dask", scheduler=backend, given=given)
    known = ", ".join(_CHOICES[kind] for kind in kinds)
    raise UsageError(
        "{} cannot be used here;", given, known, remedy="choose 'auto', {1}."
    )


def portable(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a file can hold them: of a Dask client its address."""
    client = state.get("backend")
    address = getattr(getattr(client, "scheduler", None), "address", None)
    return dict(state) if address is None else {**state, "backend": address}
