"""Parameters of functions, checked before the work, in words that name them.

Estimators have scikit-learn's checks; functions do not need it to be loaded.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from functools import wraps
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

from franet.exceptions import Setting, UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

_LARGEST_SEED = 2**32 - 1
_LONG = 60  # characters of a value that are shown


class Kind(NamedTuple):
    """What a parameter has to be.

    Attributes
    ----------
    words : str
        What it is called in a message.
    accepts : callable
        Tells whether a value is of the kind.
    """

    words: str
    accepts: Callable[[Any], bool]


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_flag(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not _is_flag(value)


def _has(name: str) -> Callable[[Any], bool]:
    return lambda value: hasattr(value, name) and not isinstance(value, type)


FLAG = Kind("True or False", _is_flag)
WHOLE = Kind("a whole number", _is_whole)
NUMBER = Kind("a number", _is_number)
SEED = Kind(
    f"a whole number from 0 to {_LARGEST_SEED}",
    lambda value: _is_whole(value) and 0 <= value <= _LARGEST_SEED,
)
TEXT = Kind("a text", lambda value: isinstance(value, str))
PATH = Kind(
    "a path", lambda value: isinstance(value, str | os.PathLike) and value != ""
)
SEVERAL = Kind(
    "a list",
    lambda value: (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes)
        and getattr(value, "ndim", 1) == 1
    ),
)
FUNCTION = Kind("a function", callable)
NAMES = Kind(
    "a name or a list of names",
    lambda value: TEXT.accepts(value) or SEVERAL.accepts(value),
)
RANDOM = Kind(
    f"{SEED.words}, a RandomState",
    lambda value: SEED.accepts(value) or _has("random_sample")(value),
)
RANKERS = Kind(
    "a ranker, a name, or several",
    lambda value: _has("fit")(value) or NAMES.accepts(value),
)
NETWORK = Kind(
    "a fitted ranker or its network",
    lambda value: _has("adjacency")(value) or _has("get_support")(value),
)
RANKER = Kind("a fitted ranker", _has("get_support"))
STABILITY = Kind("what ranker.stability returned", _has("interchangeable"))
RESULTS = Kind("what franet.evaluation.evaluate returned", _has("curve"))
COMPARISON = Kind("what franet.evaluation.compare returned", _has("regions"))
AXES = Kind("axes of matplotlib", _has("set_xlabel"))


def optional(kind: Kind) -> Kind:
    """Return the kind that may also be None."""
    return Kind(
        f"{kind.words} or None", lambda value: value is None or kind.accepts(value)
    )


def checked(**kinds: Kind) -> Callable[[Function], Function]:
    """Have parameters of a function checked before it runs.

    Parameters
    ----------
    **kinds : Kind
        What the parameters of these names have to be.

    Returns
    -------
    decorate : callable
        Gives a function that raises a `UsageError` where one is something else.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)

        @wraps(function)
        def careful(*args: Any, **given: Any) -> Any:
            bound = signature.bind(*args, **given).arguments
            for name, kind in kinds.items():
                if name in bound and not kind.accepts(bound[name]):
                    shown = " ".join(repr(bound[name]).split())[:_LONG]
                    words = (Setting(name), kind.words, shown)
                    raise UsageError("{} must be {}, not {}.", *words)
            return function(*args, **given)

        return careful  # type: ignore[return-value]

    return decorate


def check_value(name: str, value: Any, is_fine: bool, remedy: str) -> None:
    """Raise a `UsageError` where the value of a parameter is not possible.

    Parameters
    ----------
    name : str
        The name of the parameter.
    value : object
        Its value; ``...`` where the parameter alone is meant.
    is_fine : bool
        Whether it is possible.
    remedy : str
        What to give instead.

    Examples
    --------
    >>> check_value("top", 0, False, "give a number of features, at least 1")
    Traceback (most recent call last):
    franet.exceptions.UsageError: top=0: give a number of features, at least 1
    """
    if not is_fine:
        # A field, because the values in it may have braces.
        raise UsageError("{}:", Setting(name, value), remedy, remedy="{1}")
