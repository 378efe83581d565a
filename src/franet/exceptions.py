"""The errors and warnings that franet raises on purpose."""

from __future__ import annotations

__all__ = [
    "ApproximationWarning",
    "BackendError",
    "DataError",
    "DegenerateRankingWarning",
    "MissingExtraError",
    "UnitsWarning",
    "UsageError",
]


class DataError(ValueError):
    """The data cannot be used as they are; the message says where and what to do."""


class UsageError(ValueError):
    """An option or an argument does not fit; the message names it and the remedy."""


class BackendError(RuntimeError):
    """What a fit runs on has failed; the message says what to do about it."""


class MissingExtraError(ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    what : str
        What needed the dependency, as the start of a sentence.
    extra : str
        The extra that installs it.
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra: pip install 'franet[{extra}]'")


class ApproximationWarning(UserWarning):
    """An approximate ranking may differ visibly from the exact one."""


class DegenerateRankingWarning(UserWarning):
    """The ranking says less than its length suggests (ties, isolated features)."""


class UnitsWarning(UserWarning):
    """The units of one column decide which examples are near each other."""


def __dir__() -> list[str]:
    return sorted(__all__)
