"""The errors and warnings that franet raises on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "ApproximationWarning",
    "BackendError",
    "CollapsedBlockWarning",
    "Column",
    "DataError",
    "DegenerateRankingWarning",
    "Message",
    "MissingExtraError",
    "Setting",
    "UsageError",
]


class Setting(NamedTuple):
    """A parameter that a message names; each front end writes it in its own way.

    Attributes
    ----------
    parameter : str
        Its name.
    value : object, default=...
        Its value; ``...`` where the parameter alone is meant.
    ranker : str, default=""
        The class of the ranker that has it, where that is another one.

    Examples
    --------
    >>> str(Setting("missing", "pairwise")), str(Setting("include"))
    ("missing='pairwise'", 'include')
    >>> str(Setting("missing", "pairwise", "FRANe"))
    "FRANe(missing='pairwise')"
    """

    parameter: str
    value: Any = ...
    ranker: str = ""

    def __str__(self) -> str:
        name = self.parameter
        text = name if self.value is ... else f"{name}={self.value!r}"
        return f"{self.ranker}({text})" if self.ranker else text


class Column(NamedTuple):
    """A column that a message names.

    Attributes
    ----------
    position : int
        Its position, from 0.
    name : str or None, default=None
        Its name, where the table has names.

    Examples
    --------
    >>> str(Column(1)), str(Column(1, "b"))
    ('Column 1', "Column 'b' (1)")
    """

    position: int
    name: str | None = None

    def __str__(self) -> str:
        j = self.position
        return f"Column {j}" if self.name is None else f"Column {self.name!r} ({j})"


class Message(Exception):
    """The text of an error or a warning, with fields that front ends can write.

    Parameters
    ----------
    problem : str
        What is wrong and where. With fields, their places are ``{}`` or ``{0}``.
    *fields : Setting, Column or object
        What stands in these places.
    remedy : str, default=""
        What to do about it, a sentence with the same places.

    Examples
    --------
    >>> err = UsageError(
    ...     "{} needs {}.",
    ...     Setting("p", 3),
    ...     Setting("similarity", "minkowski"),
    ...     remedy="Leave out {0}.",
    ... )
    >>> print(err)
    p=3 needs similarity='minkowski'. Leave out p=3.
    >>> err.parameter, err.value, err.remedy
    ('p', 3, 'Leave out p=3.')
    >>> err.render(lambda field: f"--{field.parameter} {field.value}")
    '--p 3 needs --similarity minkowski. Leave out --p 3.'
    """

    def __init__(self, problem: str, *fields: Any, remedy: str = "") -> None:
        # As arguments, so that errors of other processes can be pickled.
        super().__init__(problem, *fields)
        self._problem, self._fields, self._remedy = problem, fields, remedy

    @property
    def parameter(self) -> str | None:
        """The first parameter that the message names."""
        return next((f.parameter for f in self._fields if isinstance(f, Setting)), None)

    @property
    def value(self) -> Any:
        """Its value; ``...`` where the parameter alone is meant."""
        return next((f.value for f in self._fields if isinstance(f, Setting)), ...)

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return self._filled(self._remedy, str)

    def render(self, write: Callable[[Setting | Column], str] = str) -> str:
        """Return the message, its settings and columns written by a function."""
        texts = (self._filled(self._problem, write), self._filled(self._remedy, write))
        return " ".join(text for text in texts if text)

    def _filled(self, text: str, write: Callable[[Setting | Column], str]) -> str:
        if not self._fields:
            return text
        return text.format(
            *(write(f) if isinstance(f, Setting | Column) else f for f in self._fields)
        )

    def __str__(self) -> str:
        return self.render()


class DataError(Message, ValueError):
    """The data cannot be used as they are; the message says where and what to do.

    Parameters
    ----------
    problem : str
        What is wrong and where; see `Message`.
    *fields : Setting, Column or object
        What stands in the places of `problem` and `remedy`.
    remedy : str, default=""
        What to do about it.
    """


class UsageError(Message, ValueError):
    """An option or an argument does not fit; the message names it and the remedy.

    Parameters
    ----------
    problem : str
        What is wrong and where; see `Message`.
    *fields : Setting, Column or object
        What stands in the places of `problem` and `remedy`.
    remedy : str, default=""
        What to do about it.
    """


class BackendError(Message, RuntimeError):
    """What a fit runs on has failed; the message says what to do about it.

    Parameters
    ----------
    problem : str
        What is wrong and where; see `Message`.
    *fields : Setting, Column or object
        What stands in the places of `problem` and `remedy`.
    remedy : str, default=""
        What to do about it.
    """


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
        self.what, self.extra = what, extra


class ApproximationWarning(Message, UserWarning):
    """An approximate ranking may differ visibly from the exact one.

    Parameters
    ----------
    problem : str
        What is wrong and where; see `Message`.
    *fields : Setting, Column or object
        What stands in the places of `problem` and `remedy`.
    remedy : str, default=""
        What to do about it.
    """


class CollapsedBlockWarning(Message, UserWarning):
    """Many columns are represented by one or two: a cutoff may lose what they hold.

    Parameters
    ----------
    problem : str
        What is wrong and where; see `Message`.
    *fields : Setting, Column or object
        What stands in the places of `problem` and `remedy`.
    remedy : str, default=""
        What to do about it.
    """


class DegenerateRankingWarning(Message, UserWarning):
    """The ranking says less than its length suggests (ties, isolated features).

    Parameters
    ----------
    problem : str
        What is wrong and where; see `Message`.
    *fields : Setting, Column or object
        What stands in the places of `problem` and `remedy`.
    remedy : str, default=""
        What to do about it.
    """


def __dir__() -> list[str]:
    return sorted(__all__)
