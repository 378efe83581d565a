"""The short form of the suite: the same code as ``make reliability``, fewer cases."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from franet.exceptions import DataError
from franet.io import read_table
from reliability import __main__ as suite
from reliability import fuzz, hostile, kills, limits, parameters, soak, together
from reliability.damage import make_case, make_table
from reliability.oracle import explains
from reliability.plan import SHORT
from reliability.seeds import SEEDS, seeds_of

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
# In one process each, as loading the libraries takes most of the time.
QUICK = ("csv", "txt", "mtx", "npy", "npz", "mat", "parquet", "hdf5", "h5ad", "zarr")


def assert_good(rows):
    rows = list(rows)
    assert rows
    for row in rows:
        assert row.bad == 0, "\n".join(row.findings)


@linux
@pytest.mark.parametrize("kind", QUICK)
def test_damaged_files(kind):
    assert_good(fuzz.run(SHORT, [kind]))


@linux
def test_a_crash_is_seen(monkeypatch, tmp_path):
    """The process that reads dies: the case is named, and the next ones are run."""
    outcome = fuzz.Outcome("csv")
    monkeypatch.setattr(fuzz, "CHILD", ("-c", "import os; os.abort()"))
    assert fuzz._one_process(outcome, 5, 9, tmp_path) == 6
    assert outcome.crashes == 1
    assert outcome.findings[0][0] == 5
    assert "SIGABRT" in outcome.findings[0][1]


@pytest.mark.parametrize("kind", SEEDS)
def test_cases_come_from_their_number(kind):
    pytest.importorskip("anndata", reason="needs the extra anndata")
    seeds = seeds_of(kind)
    assert make_case(kind, seeds, 3) == make_case(kind, seeds, 3)
    assert len({str(make_case(kind, seeds, i)) for i in range(20)}) > 10


def test_the_oracle_knows_a_wrong_number():
    data, expected = make_table("csv", 1)
    assert explains(data, expected)
    wrong = expected.copy()
    wrong[0, 0] += 1.0
    assert not explains(data, wrong)


def test_wrong_arguments_of_functions():
    assert_good(parameters.run(SHORT, ["functions"]))


def test_names_and_formulas():
    assert_good([hostile.names(), hostile.formulas(), hostile.pickles()])


@linux
def test_bombs():
    assert_good([hostile.bombs(("npz", "h5"))])


def test_kills():
    assert_good([kills.kill_writers(SHORT.kills)])


@linux
def test_full_disk():
    assert_good([limits.full_disk(SHORT.commands)])


def test_fits_at_the_same_time():
    assert_good(together.run(SHORT, ["fits"]))


@linux
def test_the_same_work_again_and_again():
    assert_good(soak.run(SHORT))


def test_damaged_mat_files_do_not_end_the_process(tmp_path):
    """SciPy looks a type up in a table without asking whether it is in it."""
    from scipy.io import savemat

    path = tmp_path / "x.mat"
    savemat(path, {"X": np.eye(3)})
    data = bytearray(path.read_bytes())
    at = data.index(b"X\0\0\0") + 4
    data[at : at + 4] = (41).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"crashed|cannot be read as mat"):
        read_table(path)


@pytest.mark.parametrize("end", [b"6.4\0E-1\n", b"6.4E-", b"6.4E-1x\n", b"6.4 1\n"])
def test_damaged_mtx_files_do_not_end_the_process(tmp_path, end):
    path = tmp_path / "x.mtx"
    path.write_bytes(
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 " + end
    )
    with pytest.raises(DataError, match="cannot be read as MatrixMarket"):
        read_table(path)
    path.write_bytes(path.read_bytes()[: -len(end)] + b"6.4E-1\r")
    np.testing.assert_array_equal(read_table(path).X.toarray(), [[0.64, 0], [0, 0]])


def test_the_page_has_the_table_of_the_results():
    if not suite.RESULTS.exists() or not suite.PAGE.exists():
        pytest.skip("the results are not here")
    page = suite.PAGE.read_text("utf-8")
    assert suite.filled(page) == page
