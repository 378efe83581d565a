"""What ``import franet`` costs and shows."""

from __future__ import annotations

import subprocess
import sys

import pytest

import franet

HEAVY = [
    "sklearn", "numba", "pandas", "polars", "h5py", "anndata", "scipy.stats", "bokeh",
    "igraph", "jinja2", "matplotlib", "networkit", "networkx",
]  # fmt: skip


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize("module", ["franet", "franet.exceptions", "franet.network"])
def test_import_loads_nothing_heavy(module):
    loaded = run(f"import sys, {module}; print(*sys.modules)")
    assert module in loaded
    assert not set(HEAVY) & set(loaded)


def test_the_estimator_loads_no_data_frame_library_and_no_torch():
    code = "import sys, franet, franet._torch; franet.FRANe(); print(*sys.modules)"
    loaded = run(code)
    assert "sklearn" in loaded
    assert not {"polars", "h5py", "anndata", "torch"} & set(loaded)


def test_import_loads_next_to_nothing():
    before = set(run("import sys; print(*sys.modules)"))
    loaded = set(run("import sys, franet; print(*sys.modules)")) - before
    ours = {name for name in loaded if name.partition(".")[0] == "franet"}
    assert ours == {"franet", "franet._global_state"}
    others = {name.partition(".")[0] for name in loaded - ours}
    assert others <= sys.stdlib_module_names


def test_names():
    assert dir(franet) == sorted(franet.__all__)
    for name in franet.__all__:
        assert getattr(franet, name) is not None
    assert franet.__version__.count(".") == 2
    from franet import FRANe

    assert franet.FRANe is FRANe
    assert FRANe.__name__ == "FRANe"


def test_unknown_name():
    with pytest.raises(AttributeError, match="'franet' has no attribute 'Frane'"):
        _ = franet.Frane
    with pytest.raises(ImportError, match="cannot import name 'Frane'"):
        from franet import Frane  # noqa: F401
