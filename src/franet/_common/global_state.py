"""Imports that leave the settings of the process as they were."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def restored_state() -> Iterator[None]:
    """Restore what libraries change while they are imported.

    These are environment variables (polars), warning filters and formats (bokeh,
    torch, zarr), the state of `random` (rich) and the settings of matplotlib
    (networkit, which applies a style of seaborn). No library changes signal handlers,
    thread counts or the random state of NumPy; the loggers of a library are its own.
    """
    variables, drawn = dict(os.environ), random.getstate()
    write = warnings.formatwarning  # which is not among what catch_warnings restores
    plotting = sys.modules.get("matplotlib")
    try:
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            if plotting is not None:
                stack.enter_context(plotting.rc_context())
            yield
    finally:
        random.setstate(drawn)
        warnings.formatwarning = write
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)
        loaded = sys.modules.get("matplotlib")
        if plotting is None and loaded is not None:
            loaded.rc_file_defaults()
