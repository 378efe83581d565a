"""The error of a parameter that does not fit."""

from __future__ import annotations

from typing import Any

from franet.exceptions import Setting, UsageError


def misuse(problem: str, parameter: str, value: Any = ...) -> UsageError:
    """Return the error to raise, which carries the parameter as a field.

    Examples
    --------
    >>> print(misuse("give a number of at least 1", "n_jobs", 0))
    n_jobs=0: give a number of at least 1
    """
    return UsageError("{}: {}", Setting(parameter, value), problem)
