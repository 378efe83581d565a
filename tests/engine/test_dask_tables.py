"""Tables in files that workers open: nothing in them is unpickled."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from scipy import sparse

from franet.engine._dask_tables import deposit
from franet.pairs.coded import CodedTable

TABLES = {
    "sparse": sparse.csr_array(np.eye(4, 3)),
    "columns": sparse.csc_array(np.eye(4, 3)),
    "coded": CodedTable(
        np.arange(6.0).reshape(3, 2), np.array([True, False]), (["a", "b", "c"], None)
    ),
}


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


@pytest.mark.parametrize("kind", TABLES)
def test_tables_come_back(tmp_path, kind):
    table = TABLES[kind]
    found = deposit(table, tmp_path).open()
    assert type(found) is type(table)
    if kind == "coded":
        np.testing.assert_array_equal(found.values, table.values)
        np.testing.assert_array_equal(found.is_category, table.is_category)
    else:
        np.testing.assert_array_equal(found.toarray(), table.toarray())


@pytest.mark.parametrize("kind", [*TABLES, "array"])
def test_pickles_are_not_loaded(tmp_path, kind):
    mark = tmp_path / "sprung"
    trap = np.array([Trap(str(mark))] * 3, object)
    file = deposit(TABLES.get(kind, np.eye(3)), tmp_path)
    names = ("format", "shape", "data", "indices", "indptr", "values", "is_category")
    if kind == "array":
        np.save(file.path, trap)
    else:
        np.savez(file.path, **dict.fromkeys(names, trap))
    with pytest.raises(ValueError, match=r"Python objects|allow_pickle"):
        file.open()
    with open(file.path, "wb") as raw:
        raw.write(pickle.dumps(trap))
    with pytest.raises(ValueError, match=r"pickle|magic"):
        file.open()
    assert not mark.exists()
