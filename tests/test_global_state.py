"""Nothing that franet does changes the settings of the process that uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import pytest

from franet._common.global_state import restored_state

pytest.importorskip("seaborn", reason="networkit then changes the style of plots")
FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return what each public call changed, and the names of all of them."""
    folder = tmp_path_factory.mktemp("calls")
    known = {name: value for name, value in os.environ.items() if name[:4] != "PYTE"}
    # No data, an empty cache, and no way to the internet through a proxy.
    known.pop("FRANET_DATA", None)
    own = {
        "FRANET_CACHE": str(folder / "cache"),
        "NO_PROXY": "*",
        "PYTHONPATH": os.pathsep.join([str(FOLDER), *filter(None, sys.path)]),
        "TMPDIR": str(folder),
    }
    done = subprocess.run(
        [sys.executable, FOLDER / "public_calls.py"],
        env=known | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *calls, last = map(json.loads, done.stdout.splitlines())
    return calls, set(last["public"])


def test_no_call_changes_global_state(measured):
    changed = {", ".join(c["names"]): c["changed"] for c in measured[0] if c["changed"]}
    assert changed == {}


def test_every_public_call_is_measured(measured):
    calls, public = measured
    known = {name for call in calls for name in call["names"]}
    assert public - known == set()


def test_communities_leave_plots_alone_where_matplotlib_comes_later():
    code = (
        "import numpy as np\n"
        "from franet import FRANe\n"
        "X = np.random.default_rng(0).normal(size=(20, 6))\n"
        "FRANe(quality='gini').fit(X).network_.communities('leiden')\n"
        "import sys, matplotlib\n"
        "assert 'seaborn' in sys.modules\n"
        "default = dict(matplotlib.rcParamsOrig.copy())\n"
        "changed = [k for k, v in default.items() if matplotlib.rcParams[k] != v]\n"
        "print(*set(changed) - {'backend'})\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.stdout.strip()) == ("", "")


def test_state_is_restored_where_an_import_fails(monkeypatch):
    monkeypatch.setenv("FRANET_TEST", "before")
    filters, style = list(warnings.filters), dict(matplotlib.rcParams.copy())
    with pytest.raises(ImportError), restored_state():
        os.environ["FRANET_TEST"] = "after"
        os.environ["FRANET_MORE"] = "new"
        warnings.simplefilter("ignore")
        matplotlib.rcParams["axes.grid"] = True
        raise ImportError
    assert os.environ["FRANET_TEST"] == "before"
    assert "FRANET_MORE" not in os.environ
    assert list(warnings.filters) == filters
    assert dict(matplotlib.rcParams.copy()) == style
