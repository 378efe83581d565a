"""Column files: parquet and feather (Arrow IPC), by polars."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from franet._common.optional import require
from franet.io._source import expect, reading, start_of
from franet.io._table import Options, Raw, check_columns, coded

_PYARROW = 15  # older ones unpickle types that a file names
_PANDAS_INDEX = re.compile(r"__index_level_\d+__$")


def read(path: Path, options: Options) -> Raw:
    """Read a parquet or feather file."""
    if options.format == "parquet" and options.only_opens(path.stat().st_size):
        found = _open(path, options)
        if found is not None:
            return found
    pl = require("polars", f"Reading {options.format} files", "polars")
    with reading(path, options.format):
        frame = _load(pl, path, options.format)
        names = frame.columns
        labels = _labels(pl, path, frame, options)
        rows = guessed = None
        if labels:
            rows = [str(value) for value in frame[labels[0]]]
            is_guess = options.index == "auto" and labels == names[:1]
            guessed = names[0] if is_guess else None
        data = [name for name in names if name not in set(labels)]
        good = [name for name in data if _is_number(pl, frame.schema[name])]
        bad = [name for name in data if name not in set(good)]
        if bad and options.text:
            X = coded(path, frame.select(data))
            return Raw(X, data, rows, labels=guessed)
        check_columns(path, good, bad, options)
        return Raw(_matrix(pl, frame.select(good)), good, rows, bad, guessed)


def _open(path: Path, options: Options) -> Raw | None:
    """Return a parquet file of numbers that is opened, not read.

    None where pyarrow is not installed or too old, or where the file has labels or
    text.
    """
    try:
        pyarrow = import_module("pyarrow")
        types, parquet = map(import_module, ("pyarrow.types", "pyarrow.parquet"))
    except ImportError:
        return None
    from franet.pairs.columns._kinds import ParquetColumns

    if int(pyarrow.__version__.partition(".")[0]) < _PYARROW:
        return None
    expect(path, "a parquet file", b"PAR1")
    with reading(path, "parquet"):
        file = parquet.ParquetFile(path)
        schema = file.schema_arrow
        told = (schema.pandas_metadata or {}).get("index_columns", [])
        labels = {name for name in told if isinstance(name, str)}
        labels |= set(filter(_PANDAS_INDEX.match, schema.names))
        if options.index != "auto":
            labels = set(schema.names[:1]) if options.index else set()
        names = [name for name in schema.names if name not in labels]
        kinds = [schema.field(name).type for name in names]
        numbers = (types.is_integer, types.is_floating, types.is_boolean)
        if not names or not all(any(is_a(k) for is_a in numbers) for k in kinds):
            return None
        X = ParquetColumns(file, names)
    X.names, X.source = None, str(path)
    return Raw(X, names)


def _load(pl: Any, path: Path, kind: str) -> Any:
    if kind == "parquet":
        expect(path, "a parquet file", b"PAR1")
        load = pl.read_parquet
    elif start_of(path, 6) == b"ARROW1":
        load = pl.read_ipc
    else:
        expect(path, "a feather (version 2) or arrow file", b"\xff\xff\xff\xff")
        load = pl.read_ipc_stream
    with path.open("rb") as file:
        return load(file)


def _is_number(pl: Any, kind: Any) -> bool:
    return bool(kind.is_numeric() or kind == pl.Boolean)


def _labels(pl: Any, path: Path, frame: Any, options: Options) -> list[str]:
    """Return the columns that hold the labels of the rows."""
    names: list[str] = frame.columns
    if options.index is True:
        return names[:1]
    if options.index is False:
        return []
    indices = _pandas_index(pl, path, options.format)
    found = [n for n in names if n in indices or _PANDAS_INDEX.match(n)]
    if found or len(names) < 2 or frame.schema[names[0]] != pl.String:
        return found
    if options.transpose:  # words in front of a feature's values can only be its name
        return names[:1]
    others = all(_is_number(pl, frame.schema[name]) for name in names[1:])
    return names[:1] if others and frame[names[0]].is_unique().all() else []


def _pandas_index(pl: Any, path: Path, kind: str) -> set[str]:
    """Return the columns that pandas wrote as the index of its frame."""
    look = getattr(pl, "read_parquet_metadata", None)
    if kind != "parquet" or look is None:
        return set()
    try:
        told = json.loads(look(path).get("pandas", "{}"))
        return {name for name in told["index_columns"] if isinstance(name, str)}
    except (KeyError, TypeError, ValueError):
        return set()


def _matrix(pl: Any, frame: Any) -> Any:
    """Return the numbers; missing values are NaN."""
    kinds = set(frame.dtypes)
    if len(kinds) == 1 and not any(frame.null_count().row(0)):
        only = frame.dtypes[0]
        is_int = only.is_integer() and only != pl.Int128
        if is_int or only in (pl.Float32, pl.Float64):
            return frame.to_numpy()
    wide = pl.Float32 if kinds == {pl.Float32} else pl.Float64
    return frame.select(pl.all().cast(wide)).to_numpy()
