"""What ``import franet`` costs and shows."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

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
    code = (
        "import sys, franet, franet.engine.device; franet.FRANe(); print(*sys.modules)"
    )
    loaded = run(code)
    assert "sklearn" in loaded
    assert not {"polars", "h5py", "anndata", "torch"} & set(loaded)


def test_import_loads_next_to_nothing():
    before = set(run("import sys; print(*sys.modules)"))
    loaded = set(run("import sys, franet; print(*sys.modules)")) - before
    ours = {name for name in loaded if name.partition(".")[0] == "franet"}
    common = {
        f"franet._common{name}" for name in ("", ".global_state", ".joints", ".version")
    }
    assert ours == {"franet", *common}
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


PUBLIC = """
    franet franet.anndata franet.callbacks franet.datasets franet.evaluation
    franet.evaluation.statistics franet.exceptions franet.io franet.network
    franet.plotting franet.quality franet.rankers franet.report
""".split()


@pytest.mark.parametrize("name", PUBLIC)
def test_public_modules_show_what_is_public(name):
    # Other modules may be loaded by now, and become attributes of this one.
    module = import_module(name)
    assert dir(module) == sorted(module.__all__)
    assert [each for each in dir(module) if each.startswith("_")] == (
        ["__version__"] if name == "franet" else []
    )
    for each in dir(module):
        thing = getattr(module, each)
        assert not isinstance(thing, ModuleType) or f"{name}.{each}" in PUBLIC


@pytest.mark.parametrize("name", PUBLIC[1:])
def test_public_modules_are_loaded_on_first_use(name):
    code = f"import sys, franet; print(*sys.modules, {name}.__name__, sep='\\n')"
    *loaded, found = run(code)
    assert found == name
    assert name not in loaded
    home, _, last = name.rpartition(".")
    assert last in dir(import_module(home))


def test_unknown_name():
    with pytest.raises(AttributeError, match="'franet' has no attribute 'Frane'"):
        _ = franet.Frane
    with pytest.raises(ImportError, match="cannot import name 'Frane'"):
        from franet import Frane  # noqa: F401
