"""Writing results: whole files or none, and never over another by accident."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from franet._common.checked import FLAG, PATH, TEXT, checked, optional
from franet._common.files import atomic_write, guard, text_writer
from franet._common.optional import require
from franet.exceptions import UsageError


@checked(path=PATH, force=FLAG, format=optional(TEXT))
def write_table(
    columns: Mapping[str, Sequence[Any] | Any],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    format: str | None = None,
) -> None:
    """Write named columns of equal length to a csv, tsv, json or parquet file.

    Parameters
    ----------
    columns : mapping of str to list or ndarray
        The columns, in the order they are written.
    path : path-like
        The file; its ending says the format.
    force : bool, default=False
        Whether a file that is there may be replaced.
    format : {"csv", "tsv", "json", "parquet"}, optional
        The format, where the ending does not say it.

    Raises
    ------
    DataError
        Where the file exists and `force` is False, or cannot be written.
    UsageError
        Where the format is not known or the columns differ in length.

    Notes
    -----
    Floats are written so that reading gives the same number back. A json file holds
    one object, ``{"features": [...]}`` with an object per row; NaN is null there.

    In csv and tsv files a quote (') is put before text that begins with =, +, -, @, a
    tab or a line end, because spreadsheets would run it as a formula. Text that is a
    number is left as it is. `read_table` takes the quote away from names.
    """
    if not isinstance(columns, Mapping) or not columns:
        raise UsageError("columns is a mapping from names to lists, and not empty")
    kind = output_format(path, format)
    plain = {str(name): _plain(str(name), values) for name, values in columns.items()}
    if len({len(values) for values in plain.values()}) > 1:
        raise UsageError("the columns of a table must have the same length")
    binary = kind == "parquet"
    if binary:
        require("polars", "Writing parquet files", "polars")
    with atomic_write(path, force=force, mode="wb" if binary else "w") as file:
        _WRITERS[kind](plain, file)


def output_format(path: str | os.PathLike[str], given: str | None = None) -> str:
    """Return the format to write, as given or by the ending of `path`.

    Raises
    ------
    UsageError
        Where it is not one that can be written.
    """
    kind = (given or Path(path).suffix.lstrip(".")).lower()
    if kind not in _WRITERS:
        endings = ", ".join(f".{name}" for name in _WRITERS)
        raise UsageError(f"{path}: cannot write that format; end the name in {endings}")
    return kind


def _plain(name: str, values: Any) -> list[Any]:
    """Return Python values, which `repr` writes without the name of their type."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UsageError(f"columns: {name!r} is no list of values")
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [item.item() if hasattr(item, "item") else item for item in listed]


def _write_text(columns: dict[str, list[Any]], file: IO[str], mark: str = ",") -> None:
    head = [guard(name) for name in columns]
    guarded = [
        [guard(v) if isinstance(v, str) else v for v in column]
        for column in columns.values()
    ]
    writer = text_writer(file, (v for column in [head, *guarded] for v in column), mark)
    writer.writerow(head)
    writer.writerows(zip(*guarded, strict=True))


def _write_json(columns: dict[str, list[Any]], file: IO[str]) -> None:
    rows = [
        {name: _finite(value) for name, value in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]
    json.dump({"features": rows}, file, indent=1, ensure_ascii=False, allow_nan=False)
    file.write("\n")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_parquet(columns: dict[str, list[Any]], file: IO[bytes]) -> None:
    pl = require("polars", "Writing parquet files", "polars")
    # polars does not say whether the disk was full.
    whole = BytesIO()
    pl.DataFrame(columns).write_parquet(whole)
    file.write(whole.getbuffer())


_WRITERS: dict[str, Callable[[dict[str, list[Any]], Any], None]] = {
    "csv": _write_text,
    "tsv": partial(_write_text, mark="\t"),
    "json": _write_json,
    "parquet": _write_parquet,
}
