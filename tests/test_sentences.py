"""Every sentence about a table: twenty tables as a reader sees them, and the rules.

`tests/sentences.txt` holds what is said; read it when it changes. Running this file
writes it anew.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franet import Cover
from franet._common import sentences
from franet.exceptions import DegenerateRankingWarning
from sentence_tables import TABLES_SAID

SNAPSHOTS = Path(__file__).with_name("sentences.txt")


def said_about(name):
    """Return what is said about a table, the warning of its fit first."""
    X = TABLES_SAID[name]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateRankingWarning)
        ranker = Cover(n_jobs=1).fit(X)
    found = [f"warning: {warning.message}" for warning in caught]
    return ranker, [*found, *ranker.sentences()]


def stored():
    parts = re.split(r"^## (.*)\n", SNAPSHOTS.read_text("utf-8"), flags=re.M)[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: text.strip().split("\n") for name, text in pairs}


@pytest.mark.parametrize("name", TABLES_SAID)
def test_twenty_tables(name):
    ranker, found = said_about(name)
    assert found == stored()[name]
    check_numbers(ranker)


def check_numbers(ranker):
    """No number of a sentence contradicts the curve."""
    summary, k = ranker.summary(), ranker.n_features_suggested_
    explained = ranker.explained_.round(3)
    if k is None:
        assert "needs" not in summary
        return
    assert summary.startswith(f"{k:,} of ")
    shown = re.search(r"explains? (more than |less than )?(\d+) %", summary)
    if not shown[1]:
        assert int(shown[2]) == pytest.approx(100 * ranker.explained_[k - 1], abs=0.51)
    for mark, count in re.findall(r"(\d+) % needs ([\d,]+)", summary):
        at = int(count.replace(",", ""))
        assert explained[at - 1] >= int(mark) / 100
        assert (explained[: at - 1] < int(mark) / 100).all()
        assert at > k
    shown = sentences.increases(ranker.explained_)
    np.testing.assert_allclose(np.cumsum(shown), explained, atol=1e-9)


def test_there_are_no_other_snapshots():
    assert set(stored()) == set(TABLES_SAID)


@given(
    st.lists(st.floats(-0.1, 1.0), min_size=1, max_size=30),
    st.integers(0, 40),
    st.booleans(),
)
def test_any_curve(explained, more, is_subset):
    n = len(explained) + more
    for suggested in (None, 1, len(explained)):
        text = sentences.how_many(explained, n, suggested, is_subset=is_subset)
        assert text[0].isupper() or text[0].isdigit()
        assert text.endswith(".")
        assert "  " not in text
        assert not re.search(r"\b1 columns|\b1 explain\b", text)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            ([0.4, 0.79, 0.85, 0.9, 0.951], 30, 2),
            "2 of 30 columns explain 79 % of the table; further columns explain little "
            "but themselves. 90 % needs 4 columns, 95 % needs 5.",
        ),
        (
            ([0.94, 0.96], 3, 1),
            "1 of 3 columns explains 94 % of the table; further columns explain little "
            "but themselves. 95 % needs 2 columns.",
        ),
        (
            ([0.94, 1.0], 2, 1),
            "1 of 2 columns explains 94 % of the table; the other explains little but "
            "itself. 95 % needs 2 columns.",
        ),
        (([0.5, 1.0], 2, 2), "2 of 2 columns explain 100 % of the table."),
        (
            ([0.996, 0.99999], 9, 1),
            "1 of 9 columns explains more than 99 % of the table; further columns "
            "explain little but themselves.",
        ),
        # What a table shows as 90.0 % has reached 90 %.
        (
            ([0.7, 0.89996, 0.91], 5, 1),
            "1 of 5 columns explains 70 % of the table; further columns explain little "
            "but themselves. 90 % needs 2 columns.",
        ),
        (
            ([0.3, 0.5], 2000, None),
            "2 of 2,000 columns explain 50 % of the table; further picks may explain "
            "more of the others.",
        ),
        (
            ([0.3], 2000, None),
            "1 of 2,000 columns explains 30 % of the table; further picks may explain "
            "more of the others.",
        ),
    ],
)
def test_how_many(arguments, wanted):
    assert sentences.how_many(*arguments, is_subset=True) == wanted


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            (30, 2, 8, 0.1234, 0.05),
            "2 of 30 columns are not represented by a pick (|r| ≥ 0.12, significant "
            "at 0.05/8 for 8 picks).",
        ),
        (
            (3, 1, 1, 0.5, 0.01),
            "1 of 3 columns is not represented by a pick (|r| ≥ 0.50, significant at "
            "0.01/1 for 1 pick).",
        ),
        (
            (30, 0, 2, 0.1, 0.05),
            "Every column is represented by a pick (|r| ≥ 0.10, significant at 0.05/2 "
            "for 2 picks).",
        ),
        (
            (8, 7, 1, np.inf, 0.05),
            "7 of 8 columns are not represented by a pick: in two samples every |r| is "
            "1.",
        ),
    ],
)
def test_represented(arguments, wanted):
    assert sentences.represented(*arguments) == wanted


def test_the_others():
    assert sentences.sampled(50, 50) == ""
    drawn = "Measured on 4,096 of 5,000 samples, drawn at random."
    assert sentences.sampled(4096, 5000) == drawn
    assert sentences.nothing_suggested(1, False) == (
        "No small subset represents this table: the 1 column that was picked is "
        "selected."
    )
    assert sentences.nothing_suggested(64, True) == (
        "More picks are needed to say how many columns are enough: all 64 columns "
        "that were picked are selected."
    )


if __name__ == "__main__":
    said = {name: "\n".join(said_about(name)[1]) for name in TABLES_SAID}
    text = "\n\n".join(f"## {name}\n{lines}" for name, lines in said.items())
    SNAPSHOTS.write_text(text + "\n", "utf-8")
