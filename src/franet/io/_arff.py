"""ARFF files of Weka, by scipy."""

from __future__ import annotations

from pathlib import Path

from franet.io._source import open_text, reading
from franet.io._table import Options, Raw, from_structured

__all__ = ["read"]


def read(path: Path, options: Options) -> Raw:
    """Read the numeric attributes; nominal ones and dates are not numeric."""
    from scipy.io import arff

    with reading(path, "arff"), open_text(path) as file:
        records, _ = arff.loadarff(file)
    return from_structured(path, records, options.drop)
