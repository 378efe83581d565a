"""Parquet files, opened by pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import Column, DataError
from franet.pairs.columns._base import Columns

__all__ = ["ParquetColumns"]


class ParquetColumns(Columns):
    """The columns of a parquet file; missing values are NaN.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
        The file, open.
    columns : sequence of str, optional
        Which columns; all by default.
    """

    has_rows = False

    def __init__(self, file: Any, columns: Any = None) -> None:
        schema = file.schema_arrow
        names = list(schema.names if columns is None else columns)
        kinds = [self._kind(schema.field(name), j) for j, name in enumerate(names)]
        one = len(set(kinds)) == 1 and kinds[0] == np.float32
        shape = file.metadata.num_rows, len(names)
        super().__init__(shape, np.float32 if one else np.float64, names)
        self._file, self._fields = file, names

    @staticmethod
    def _kind(field: Any, j: int) -> np.dtype[Any]:
        try:
            kind = np.dtype(field.type.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            kind = np.dtype(object)
        if kind.kind not in "buif":
            raise DataError(
                "{} does not hold numbers ({}).",
                Column(j, field.name),
                field.type,
                remedy="Drop or encode it first.",
            )
        return kind

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        names = self._fields[start:stop]
        with self.reading():
            table = self._file.read(columns=names)
            part = np.empty((self.shape[0], stop - start), self.dtype, order="F")
            for k, name in enumerate(names):
                part[:, k] = table.column(name).to_numpy()
        return part

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self.read(0, self.shape[1])[start:stop]
