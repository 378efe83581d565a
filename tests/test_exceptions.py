"""Errors and warnings carry fields, which each front end writes in its own way."""

from __future__ import annotations

import pickle
import warnings

import pandas as pd
import pytest

from franet import Cover, FRANe
from franet.exceptions import (
    BackendError,
    Column,
    DataError,
    DegenerateRankingWarning,
    Setting,
    UsageError,
)
from franet.pairs.similarity._mixed import IdentifierWarning
from tables import random

KINDS = (DataError, UsageError, BackendError, DegenerateRankingWarning)


def option(field):
    return f"<{field.parameter}>" if isinstance(field, Setting) else f"<{field.name}>"


@pytest.mark.parametrize("kind", KINDS)
def test_fields_are_written_by_the_front_end(kind):
    fields = (Column(3, "b"), Setting("missing", "pairwise"), 7)
    err = kind("{} holds NaN, {} does not {}.", *fields, remedy="Leave out {1}.")
    assert str(err) == (
        "Column 'b' (3) holds NaN, missing='pairwise' does not 7. "
        "Leave out missing='pairwise'."
    )
    assert err.render(option) == (
        "<b> holds NaN, <missing> does not 7. Leave out <missing>."
    )
    assert (err.parameter, err.value) == ("missing", "pairwise")
    assert err.remedy == "Leave out missing='pairwise'."


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_other_processes_keep_their_fields(kind):
    err = pickle.loads(pickle.dumps(kind("{}.", Setting("p", 3), remedy="Drop {}.")))
    assert str(err) == "p=3. Drop p=3."
    assert (err.parameter, err.value, err.remedy) == ("p", 3, "Drop p=3.")


def test_a_message_without_fields_may_hold_braces():
    err = DataError("the cell holds {}")
    assert str(err) == "the cell holds {}"
    assert (err.parameter, err.value, err.remedy) == (None, ..., "")


@pytest.mark.parametrize(
    ("ranker", "parameter", "value", "remedy"),
    [
        (FRANe(p=3), "p", 3, "Leave out p."),
        (FRANe(max_memory="many"), "max_memory", "many", "use a number of bytes"),
        (FRANe(10_000), "n_features_to_select", 10_000, "Ask for at most"),
        (Cover(include=["nothing"]), "include", ..., ""),
        (Cover(backend="cpu"), "backend", "cpu", "choose 'auto'"),
    ],
)
def test_errors_of_a_fit_name_the_parameter(ranker, parameter, value, remedy):
    with pytest.raises(UsageError) as caught:
        ranker.fit(random())
    assert (caught.value.parameter, caught.value.value) == (parameter, value)
    assert caught.value.remedy.startswith(remedy)


def test_warnings_have_fields():
    frame = pd.DataFrame({"a": [f"t{i}" for i in range(12)], "b": random(12, 1)[:, 0]})
    frame["c"], frame["d"] = frame["b"] ** 2, frame["b"] ** 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FRANe(similarity="mixed").fit(frame)
    (warning,) = (w.message for w in caught if isinstance(w.message, IdentifierWarning))
    assert str(warning).startswith("Column 'a' (0): every row has")
    assert warning.render(lambda field: f"#{field.position}").startswith("#0: every")
