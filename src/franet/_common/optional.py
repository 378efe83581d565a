"""Optional dependencies, named by the extra that installs them."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from franet._common.global_state import restored_state
from franet.exceptions import MissingExtraError


def require(module: str, what: str, extra: str) -> Any:
    """Import an optional dependency, or name the extra that installs it.

    The first import restores what the library changes in the process.
    """
    try:
        with nullcontext() if module in sys.modules else restored_state():
            return import_module(module)
    except ImportError as err:
        raise MissingExtraError(what, extra) from err
