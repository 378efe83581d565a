"""Tables that are read piece by piece: files, chunked arrays, lazy arrays.

What a table is stored as decides on how its columns are read, and on nothing else. The
libraries that store tables are never imported here: who has such a table has them.
"""

from franet.pairs.columns._base import Columns
from franet.pairs.columns._open import open_columns

__all__ = ["Columns", "open_columns"]
