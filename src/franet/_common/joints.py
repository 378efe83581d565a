"""Packages that a method of a lower one uses; the package root connects them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_loaders: dict[str, Callable[[], Any]] = {}


def connect(name: str, load: Callable[[], Any]) -> None:
    """Say how a package is loaded."""
    _loaders[name] = load


def connected(name: str) -> Any:
    """Return the package of that name."""
    return _loaders[name]()
