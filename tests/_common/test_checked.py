"""Parameters of functions, checked before the work."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from franet._common.checked import (
    FLAG,
    NAMES,
    NUMBER,
    RANDOM,
    SEED,
    SEVERAL,
    TEXT,
    WHOLE,
    checked,
    optional,
)
from franet.exceptions import UsageError


@checked(top=WHOLE, title=optional(TEXT))
def shown(ranker, top=5, *, title=None):
    """Show it."""
    return ranker, top, title


def test_what_is_right_passes():
    assert shown("a", 3, title="b") == ("a", 3, "b")
    assert shown("a") == ("a", 5, None)
    assert shown(ranker="a", top=np.int32(2)) == ("a", 2, None)


def test_the_error_names_the_parameter():
    with pytest.raises(UsageError, match=r"^top must be a whole number, not 'x'\.$"):
        shown("a", "x")
    with pytest.raises(UsageError, match=r"^title must be a text or None, not 1\.$"):
        shown("a", title=1)
    with pytest.raises(UsageError) as error:
        shown("a", np.zeros((40, 40)))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 100


def test_the_function_stays_what_it_is():
    assert list(inspect.signature(shown).parameters) == ["ranker", "top", "title"]
    assert shown.__doc__ == "Show it."
    with pytest.raises(TypeError, match="missing a required argument"):
        shown()


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (FLAG, [True, np.bool_(False)], [1, "yes", None]),
        (WHOLE, [-3, np.int64(2)], [True, 2.0, "2"]),
        (NUMBER, [1, 2.5, np.float32(1)], [True, 1j, "1"]),
        (SEED, [0, 2**32 - 1], [-1, 2**32, 1.5]),
        (RANDOM, [3, np.random.RandomState(0)], [1.5, "x"]),
        (SEVERAL, [[], ("a",), {"a": 1}, np.zeros(2)], ["ab", 3, np.zeros((2, 2))]),
        (NAMES, ["a", ["a"]], [3, None, b"a"]),
    ],
)  # fmt: skip
def test_kinds(kind, right, wrong):
    assert all(kind.accepts(value) for value in right)
    assert not any(kind.accepts(value) for value in wrong)
