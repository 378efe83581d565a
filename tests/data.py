"""Where the benchmark data and the reference outputs are, if they are here at all."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.sparse import issparse


@cache  # some tests change the variable
def shared_dir() -> Path | None:
    given = os.environ.get("FRANET_DATA")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared"
    return folder.resolve() if folder.is_dir() else None


def _find(name: str) -> Path | None:
    """Find a file or folder in the shared folder, or beside its data sets."""
    folder = shared_dir()
    if folder is None:
        return None
    places = (folder / "datasets" / name, folder / name, folder.parent / name)
    return next((place for place in places if place.exists()), None)


def reference_dir() -> Path | None:
    index = _find("reference/index.json")
    return index.parent if index else None


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    path = _find(f"{name}.mat")
    if path is None:
        raise FileNotFoundError(f"{name}.mat: set FRANET_DATA")
    content = loadmat(path)
    X = content["X"]
    X = X.toarray() if issparse(X) else X
    return np.asarray(X, dtype=np.float64), np.ravel(content["Y"])


def dataset_names() -> list[str]:
    """Names of the data sets that are here, the smallest file first."""
    path = _find("lung_small.mat")
    files = [] if path is None else sorted(path.parent.glob("*.mat"), key=_size)
    return [file.stem for file in files]


def _size(file: Path) -> int:
    return file.stat().st_size


needs_shared = pytest.mark.skipif(
    _find("lung_small.mat") is None, reason="no data sets here: set FRANET_DATA"
)
needs_reference = pytest.mark.skipif(
    reference_dir() is None, reason="no reference outputs here: set FRANET_DATA"
)
