"""Text tables: csv, tsv and txt, plain or gzipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from franet._common.files import unguard
from franet._common.optional import require
from franet.exceptions import DataError
from franet.io._cells import to_number
from franet.io._decimal import check_dots, decimal_sign
from franet.io._sniff import Layout, sniff, split
from franet.io._source import open_text, reading
from franet.io._table import Options, Raw, coded, non_numeric

__all__ = ["read"]


def read(path: Path, options: Options) -> Raw:
    """Read a text table, by NumPy where all cells are numbers, else by pandas."""
    layout = sniff(path, options)
    with reading(path, "a text table"):
        raw = _by_numpy(path, layout) if layout.plain else None
        if raw is None:
            labels, n_rows = _check_lines(path, layout)
            raw = _by_pandas(path, layout, options, labels)
            if raw.X.shape[0] != n_rows:
                raise DataError(f"{path}: quotes do not match; check the quoted cells")
    return raw


def _skip(file: Any, layout: Layout) -> Any:
    for _ in range(layout.skip):
        file.readline()
    return file


def _by_numpy(path: Path, layout: Layout) -> Raw | None:
    """Read numbers only; None where there is anything else."""
    import numpy as np

    labels: list[str] = []

    def label(cell: str) -> float:
        labels.append(unguard(cell.strip()))
        return 0.0

    with open_text(path) as file:
        try:
            lines = _skip(file, layout)
            X = np.loadtxt(
                lines if layout.delimiter else _plain_blanks(lines),
                delimiter=layout.delimiter,
                comments=None,
                quotechar='"',
                converters={0: label} if layout.index else None,
                encoding=None,
                ndmin=2,
            )
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None
    _check_header(path, layout, layout.names, layout.width - layout.index)
    if not layout.index:
        return Raw(X, columns=layout.names)
    return Raw(X[:, 1:], layout.names, labels, labels=layout.guessed)


def _plain_blanks(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file without a delimiter.

    NumPy cuts a line at all that Unicode calls space, other readers at blanks and tabs.
    """
    for line in lines:
        if not line.isascii():
            raise ValueError("other characters than ASCII")
        yield line


def _check_header(
    path: Path, layout: Layout, names: list[str] | None, n_columns: int
) -> None:
    if names is not None and len(names) != n_columns:
        raise DataError(
            f"{path}: line {layout.skip} has {len(names)} names for {n_columns} "
            "columns; repair the header, or use --no-header (header=False)"
        )


def _check_lines(path: Path, layout: Layout) -> tuple[list[str], int]:
    """Return the labels and the number of rows; ragged lines are an error."""
    labels: list[str] = []
    n_rows = 0
    with open_text(path) as file:
        _skip(file, layout)
        for number, row in split(file, layout.delimiter):
            if len(row) != layout.width:
                raise DataError(
                    f"{path}: line {number + layout.skip} has {len(row)} fields where "
                    f"others have {layout.width}; repair or remove that line"
                )
            # To pandas a text ends there.
            if "\0" in "".join(row):
                raise DataError(
                    f"{path}: line {number + layout.skip} holds a zero byte; repair or "
                    "remove that line"
                )
            n_rows += 1
            if layout.index:
                labels.append(unguard(row[0].strip()))
    return labels, n_rows


def _by_pandas(path: Path, layout: Layout, options: Options, labels: list[str]) -> Raw:
    """Read a table with blanks, missing values, quotes or words in it."""
    import numpy as np

    pd = require("pandas", "Reading text with blank or non-numeric cells", "pandas")
    frame = _frame(pd, path, layout)
    first, last = int(layout.index), layout.width
    names = layout.names
    if layout.trailing and frame[last - 1].isna().all():
        last -= 1
        names = names and names[: last - first]
    _check_header(path, layout, names, last - first)
    known: Sequence[str] = names or [f"column {j + 1}" for j in range(last)][first:]
    frame, decimal = _with_decimal(
        pd, path, layout, options.decimal, frame.iloc[:, first:last], known
    )
    frame, bad = _numeric(pd, frame, decimal)
    rows = labels if layout.index else None
    if bad and options.text:
        for j in bad:
            frame[j] = frame[j].str.strip()
        X = coded(path, frame.set_axis(known, axis=1))
        return Raw(X, names, rows, labels=layout.guessed)
    dropped = [known[j] for j in bad]
    if dropped and not options.drop:
        raise non_numeric(path, dropped, text=True)
    kept = frame.drop(columns=bad).to_numpy(dtype=np.float64)
    if not kept.shape[1]:
        raise DataError(f"{path}: no numeric column is left")
    gone = set(bad)
    columns = names and [name for j, name in enumerate(names) if j not in gone]
    return Raw(kept, columns, rows, dropped, layout.guessed)


def _frame(
    pd: Any,
    path: Path,
    layout: Layout,
    decimal: str = ".",
    as_text: Sequence[int] = (),
) -> Any:
    """Return the cells as a data frame, some columns as text."""
    with open_text(path) as file:
        return pd.read_csv(
            _skip(file, layout),
            sep=r"\s+" if layout.delimiter is None else layout.delimiter,
            header=None,
            names=range(layout.width),
            index_col=False,
            skipinitialspace=True,
            dtype=dict.fromkeys(as_text, str),
            decimal=decimal,
            float_precision="round_trip",
            low_memory=False,
        )


def _with_decimal(
    pd: Any,
    path: Path,
    layout: Layout,
    decimal: str,
    frame: Any,
    names: Sequence[str],
) -> tuple[Any, str]:
    """Return the columns, as text where dots must be checked, and the decimal sign."""
    found = decimal == "auto"

    def place(cell: str) -> str:
        return _place(path, layout, names, cell)

    if found:
        words = [frame[j] for j in _words(pd, frame)]
        decimal = decimal_sign(words, layout.delimiter == ",", place)
    if decimal == ",":
        columns, text = list(frame.columns), []
        with open_text(path) as file:
            dots = any("." in line for line in _skip(file, layout))
        if dots:  # pandas does not check where they are
            text = [j for j, kind in frame.dtypes.items() if kind.kind != "b"]
        frame = _frame(pd, path, layout, decimal, text)[columns]
        if dots and found:
            check_dots((frame[j] for j in columns), place)
    return frame, decimal


def _place(path: Path, layout: Layout, names: Sequence[str], cell: str) -> str:
    """Return the file, the line and the column of a cell, as text."""
    first = int(layout.index)
    with open_text(path) as file:
        _skip(file, layout)
        for number, row in split(file, layout.delimiter):
            columns = row[first : first + len(names)]
            for name, found in zip(names, columns, strict=True):
                if found.strip() == cell.strip():
                    return f"{path}: line {number + layout.skip}, column {name!r}"
    return str(path)


def _words(pd: Any, frame: Any) -> list[Any]:
    """Return the columns that pandas did not read as numbers."""
    numeric = pd.api.types.is_numeric_dtype
    return [j for j, kind in frame.dtypes.items() if not numeric(kind)]


def _numeric(pd: Any, frame: Any, decimal: str) -> tuple[Any, list[int]]:
    """Return columns as numbers where they can be, and the places of the others."""
    frame = frame.set_axis(range(frame.shape[1]), axis=1)
    rescued = {j: _rescue(frame[j], decimal) for j in _words(pd, frame)}
    bad = [j for j, values in rescued.items() if values is None]
    for j, values in rescued.items():
        if values is not None:
            frame[j] = values
    return frame, bad


def _rescue(column: Any, decimal: str) -> list[float] | None:
    """Return numbers for cells that pandas took for words, None where some are."""
    values: list[float] = []
    for cell in column:
        value = to_number(cell, decimal) if isinstance(cell, str) else float(cell)
        if value is None:
            return None
        values.append(value)
    return values
