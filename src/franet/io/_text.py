"""Text tables: csv, tsv and txt, plain or gzipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from franet._common.files import unguard
from franet._common.optional import require
from franet.exceptions import DataError
from franet.io._cells import check_dots, decimal_sign, to_number
from franet.io._sniff import Layout, sniff
from franet.io._source import reading
from franet.io._table import Options, Raw, check_columns, coded


def read(path: Path, options: Options) -> Raw:
    """Read a text table, by NumPy where all cells are numbers, else by pandas."""
    layout = sniff(path, options)
    with reading(path, "a text table"):
        raw = _by_numpy(layout) if layout.plain else None
        if raw is None:
            labels, n_rows = _check_lines(layout)
            raw = _by_pandas(layout, options, labels)
            if raw.X.shape[0] != n_rows:
                raise DataError(f"{path}: quotes do not match; check the quoted cells")
    return raw


def _by_numpy(layout: Layout) -> Raw | None:
    """Read numbers only; None where there is anything else."""
    import numpy as np

    labels: list[str] = []

    def label(cell: str) -> float:
        labels.append(unguard(cell.strip()))
        return 0.0

    with layout.lines() as lines:
        try:
            X = np.loadtxt(
                lines if layout.delimiter else _plain_blanks(lines),
                delimiter=layout.delimiter,
                comments=None,
                quotechar='"',
                converters={0: label} if layout.first else None,
                encoding=None,
                ndmin=2,
            )
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None
    _check_header(layout, layout.names, layout.width - layout.first)
    rows = labels if layout.first else None
    return Raw(X[:, layout.first :], layout.names, rows, labels=layout.labels)


def _plain_blanks(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file without a delimiter.

    NumPy cuts a line at all that Unicode calls space, other readers at blanks and tabs.
    """
    for line in lines:
        if not line.isascii():
            raise ValueError("other characters than ASCII")
        yield line


def _check_header(layout: Layout, names: list[str] | None, n_columns: int) -> None:
    if names is not None and len(names) != n_columns:
        raise DataError(
            f"{layout.path}: line {layout.skip} has {len(names)} names for {n_columns} "
            "columns; repair the header, or use --no-header (header=False)"
        )


def _check_lines(layout: Layout) -> tuple[list[str], int]:
    """Return the labels and the number of rows; ragged lines are an error."""
    labels: list[str] = []
    n_rows, width = 0, layout.width
    for number, row in layout.rows():
        wrong = ""
        if len(row) != width:
            wrong = f"has {len(row)} fields where others have {width}"
        elif "\0" in "".join(row):  # to pandas a text ends there
            wrong = "holds a zero byte"
        if wrong:
            raise DataError(
                f"{layout.path}: line {number} {wrong}; repair or remove that line"
            )
        n_rows += 1
        if layout.first:
            labels.append(unguard(row[0].strip()))
    return labels, n_rows


def _by_pandas(layout: Layout, options: Options, labels: list[str]) -> Raw:
    """Read a table with blanks, missing values, quotes or words in it."""
    import numpy as np

    frame = _frame(layout)
    first, last = layout.first, layout.width
    names = layout.names
    if layout.trailing and frame[last - 1].isna().all():
        last -= 1
        names = names and names[: last - first]
    _check_header(layout, names, last - first)
    known: Sequence[str] = names or [f"column {j + 1}" for j in range(last)][first:]
    frame, decimal = _with_decimal(
        layout, options.decimal, frame.iloc[:, first:last], known
    )
    frame, bad = _numeric(frame, decimal)
    rows = labels if first else None
    if bad and options.text:
        for j in bad:
            frame[j] = frame[j].str.strip()
        X = coded(layout.path, frame.set_axis(known, axis=1))
        return Raw(X, names, rows, labels=layout.labels)
    dropped = [known[j] for j in bad]
    kept = frame.drop(columns=bad)
    check_columns(layout.path, kept.columns.tolist(), dropped, options)
    columns = names and [names[j] for j in kept]
    X = kept.to_numpy(dtype=np.float64)
    return Raw(X, columns, rows, dropped, layout.labels)


def _frame(layout: Layout, decimal: str = ".", as_text: Sequence[int] = ()) -> Any:
    """Return the cells as a data frame, some columns as text."""
    pd = require("pandas", "Reading text with blank or non-numeric cells", "pandas")
    with layout.lines() as lines:
        return pd.read_csv(
            lines,
            sep=layout.delimiter or r"\s+",
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
    layout: Layout, decimal: str, frame: Any, names: Sequence[str]
) -> tuple[Any, str]:
    """Return the columns, as text where dots must be checked, and the decimal sign."""
    found = decimal == "auto"
    place = partial(_place, layout, names)
    if found:
        words = [frame[j] for j in _words(frame)]
        decimal = decimal_sign(words, layout.delimiter == ",", place)
    if decimal == ",":
        columns, text = list(frame.columns), []
        with layout.lines() as lines:
            dots = any("." in line for line in lines)
        if dots:  # pandas does not check where they are
            text = [j for j, kind in frame.dtypes.items() if kind.kind != "b"]
        frame = _frame(layout, decimal, text)[columns]
        if dots and found:
            check_dots((frame[j] for j in columns), place)
    return frame, decimal


def _place(layout: Layout, names: Sequence[str], cell: str) -> str:
    """Return the file, the line and the column of a cell, as text."""
    for number, row in layout.rows():
        columns = row[layout.first : layout.first + len(names)]
        for name, found in zip(names, columns, strict=True):
            if found.strip() == cell.strip():
                return f"{layout.path}: line {number}, column {name!r}"
    return str(layout.path)


def _words(frame: Any) -> list[Any]:
    """Return the columns that pandas did not read as numbers."""
    return list(frame.select_dtypes(exclude=["number", "bool"]))


def _numeric(frame: Any, decimal: str) -> tuple[Any, list[int]]:
    """Return columns as numbers where they can be, and the places of the others."""
    frame = frame.set_axis(range(frame.shape[1]), axis=1)
    bad = []
    for j in _words(frame):
        values = _rescue(frame[j], decimal)
        if values is None:
            bad.append(j)
        else:
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
