"""NumPy or torch: what both write alike stands once, and this tells them apart.

Shares, coverage and suggestion take arrays of either kind and ask `namespace` for
functions that both have under one name, and `kernels_of` for those that they do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover import _torch, kernels
from franet.engine.device import load

# An ndarray, or a tensor on some device; float64 in both.
Array = Any
# Features of one block: 8 MB with all of the sample.
_BLOCK = 512


def namespace(array: Array) -> Any:
    """Return the module whose functions take such an array: NumPy or torch."""
    return np if isinstance(array, np.ndarray) else load()


def kernels_of(array: Array) -> Any:
    """Return the module of loops and sizes for such an array."""
    return kernels if isinstance(array, np.ndarray) else _torch


def at_once(array: Array) -> int:
    """Return how many times the block that a cache holds is computed in one go.

    A processor is fast while blocks stay in its cache, 4 or 8 MB; a GPU while they are
    large enough to keep it busy.
    """
    on_processor = isinstance(array, np.ndarray) or array.device.type == "cpu"
    return 1 if on_processor else 16


def blocks_of(rows: Array) -> list[slice]:
    """Return the parts into which work on many rows is cut."""
    size = _BLOCK * at_once(rows)
    return [slice(at, at + size) for at in range(0, len(rows), size)]


def put(array: NDArray[Any], device: Any) -> Array:
    """Return an array on a torch device; as it is if there is none."""
    return array if device is None else load().as_tensor(array, device=device)


def beside(array: NDArray[Any], other: Array) -> Array:
    """Return an array of the kind of another, where that is."""
    return put(array, None if isinstance(other, np.ndarray) else other.device)


def host(array: Array) -> NDArray[Any]:
    """Return an array in NumPy."""
    return array if isinstance(array, np.ndarray) else np.asarray(array.cpu())
