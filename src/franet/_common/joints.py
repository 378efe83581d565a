"""Packages that a method of a lower one uses; the package root connects them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_loaders: list[Callable[[str], Any]] = []


def connect(load: Callable[[str], Any]) -> None:
    """Say how packages are loaded by their names."""
    _loaders.append(load)


def connected(name: str) -> Any:
    """Return the package of that name."""
    return _loaders[-1](name)
