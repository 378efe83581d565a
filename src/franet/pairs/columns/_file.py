"""A table that was put into a temporary file, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import RowFile
from franet.pairs.columns._base import Columns

__all__ = ["FileColumns"]


class FileColumns(Columns):
    """Columns that lie one after the other in a temporary file.

    Parameters
    ----------
    columns : Columns
        The table that is to be put into the file.
    """

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns.shape, np.float64, columns.names)
        self.file = RowFile(self.shape[0])

    def fill(self, columns: Columns, nbytes: int) -> None:
        """Copy a table, in pieces of about so many bytes."""
        if columns.has_columns:
            for at, part in columns.pieces(nbytes):
                self.file.write(at, part.T.astype(np.float64, order="C"))
            return
        for at, part in columns.row_pieces(nbytes):
            self.file.write_columns(at, part.T.astype(np.float64, order="C"))

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        return self.file.read(start, stop).T

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self.file.read_columns(self.shape[1], start, stop).T

    def close(self) -> None:
        """Give the file back."""
        self.file.close()
