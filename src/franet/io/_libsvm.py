"""Files in the format of libsvm and svmlight, by scikit-learn."""

from __future__ import annotations

from pathlib import Path

from franet._common.global_state import restored_state
from franet.io._source import open_binary, reading
from franet.io._table import Options, Raw

__all__ = ["read"]


def read(path: Path, options: Options) -> Raw:
    """Read the features as a sparse matrix; the targets are not used."""
    with restored_state():  # scikit-learn loads rich, which draws from `random`
        from sklearn.datasets import load_svmlight_file
    with reading(path, "libsvm"), open_binary(path) as file:
        return Raw(load_svmlight_file(file)[0])
