"""What goes with a choice: one table for each, one check for all."""

from __future__ import annotations

import pytest

from franet._common.supports import Supports, check_supported, supported
from franet.exceptions import DataError, Setting, UsageError

FAST = Supports(
    Setting("engine", "fast"),
    Setting("engine", "slow"),
    {"measure": ("a", "b", "c"), "weights": (None,)},
    tables=("dense",),
    because={"weights": "it counts", "d": "nobody has it"},
)
GOOD = {"measure": "b", "weights": None}


def error_of(parameters, table=None):
    with pytest.raises((DataError, UsageError)) as caught:
        check_supported([FAST], {**GOOD, **parameters}, table)
    assert not supported([FAST], {**GOOD, **parameters}, table)
    return caught.value


def test_what_is_supported_passes():
    for table in (None, "dense"):
        check_supported([FAST], GOOD, table)
        assert supported([FAST], GOOD, table)
    assert supported([], {"measure": "z"}, "sparse")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"measure": "z"},
            "engine='fast' does not support measure='z'. Set measure to 'a', 'b' or "
            "'c', or set engine='slow'.",
        ),
        (
            {"measure": "d"},
            "engine='fast' does not support measure='d': nobody has it. Set measure "
            "to 'a', 'b' or 'c', or set engine='slow'.",
        ),
        (
            {"measure": len},
            "engine='fast' does not support a function as measure. Set measure to "
            "'a', 'b' or 'c', or set engine='slow'.",
        ),
        (
            {"weights": [1, 2]},
            "engine='fast' does not support weights=[1, 2]: it counts. Leave out "
            "weights, or set engine='slow'.",
        ),
    ],
)
def test_messages_name_choice_parameter_and_remedy(parameters, message):
    error = error_of(parameters)
    assert str(error) == message
    assert (error.parameter, error.value) == ("engine", "fast")
    assert error.render(lambda field: f"--{field.parameter}").startswith("--engine ")


def test_tables():
    error = error_of({}, "sparse")
    assert isinstance(error, DataError)
    assert str(error) == (
        "engine='fast' does not support sparse tables. Pass X.toarray(), or set "
        "engine='slow'."
    )
    assert "encode columns of text" in str(error_of({}, "text"))


def test_a_choice_without_another_one():
    alone = Supports("A forecast", values={"engine": ("slow",)})
    with pytest.raises(UsageError) as caught:
        check_supported([alone], {"engine": "fast"})
    message = "A forecast does not support engine='fast'. Leave out engine."
    assert str(caught.value) == message
