"""Sentences about how sure a ranking is, and who judges best: each rule once."""

from __future__ import annotations

import pytest

from franet._common.sentences import (
    how_stable,
    judged_at,
    not_measured,
    of_first_pick,
    recommended,
    where_best,
)

GROUPS = "Other samples would pick other members of the same groups: trust groups, "
GROUPS += "not names. "
SAME = "if features with |r| ≥ 0.9 count as the same"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((16, 16, 16, 0.9, [0.2]), "These 16 are stable: other samples would pick the"),
        (
            (16, 15, 15, 0.9, [0.2]),
            "15 of these 16 picks are stable: other samples would pick nearly the same",
        ),
        (
            (16, 15, 16, 0.9, [0.2]),
            f"15 of these 16 picks are stable, 16 {SAME}: other samples would pick "
            "nearly the same",
        ),
        (
            (16, 3, 15, 0.9, [0.2]),
            f"{GROUPS}3 of these 16 picks are stable, 15 {SAME}.",
        ),
        ((16, 0, 16, 0.9, []), f"{GROUPS}None of these 16 picks is stable, 16 {SAME}."),
        ((16, 1, 14, 0.9, []), f"1 of these 16 picks is stable, 14 {SAME}; other"),
        ((16, 0, 0, 0.3, [0.2]), "None of these 16 picks is stable: other samples"),
        ((16, 0, 0, 0.2, [0.1, 0.2]), "No more stable than for permuted columns: one"),
        (
            (16, 16, 16, 0.9, [0.95]),
            "These 16 are stable, but no more than for permuted",
        ),
        (
            (1, 1, 1, 0.9, [0.2]),
            "This pick is stable: other samples would pick the same feature.",
        ),
        (
            (1, 0, 1, 0.9, [0.2]),
            "Other samples would pick another member of the same group: trust the "
            f"group, not the name. This pick is not stable, but it is {SAME}.",
        ),
        (
            (1, 0, 0, 0.5, [0.2]),
            "This pick is not stable: other samples would replace it",
        ),
        ((1, 1, 1, 0.9, [0.9]), "This pick is stable, but no more than for permuted"),
    ],
)
def test_how_stable(given, said):
    assert how_stable(*given).startswith(said)


def test_the_first_of_many_picks():
    assert how_stable(256, 256, 256, 0.9, [0.2], is_all=False).startswith(
        "The first 256 are stable"
    )
    assert how_stable(256, 9, 9, 0.9, [0.2], is_all=False).startswith(
        "9 of the first 256 picks are stable"
    )


def test_rates_of_permuted_columns():
    said = how_stable(8, 0, 0, 0.1, [0.125, 0.25])
    assert said.endswith(
        "picks 10 % of what the other half picks, and 12 to 25 % where "
        "each column is permuted."
    )
    said = how_stable(8, 0, 0, 0.1, [0.125, 0.125])
    assert "and 12 % where" in said
    assert how_stable(3, 3, 3, 1.0, [], has_choice=False).startswith(
        "No other features"
    )


def test_a_first_pick_is_doubtful_below_one_half():
    assert of_first_pick("a", 0.5, 1, 9) == ""
    said = of_first_pick("a", 0.04, 24, 1570)
    assert "a, would be picked by 4 % of other half-samples" in said
    assert said.endswith("it ranks from 24 to 1,570.")
    assert of_first_pick("a", float("nan"), 1, 9) == ""


def test_what_was_not_measured():
    assert "was not measured. To measure it" in not_measured()
    assert "was not measured: there are 3 samples. To" in not_measured(
        "there are 3 samples"
    )


def test_who_is_best():
    found = [(1, "a", False), (2, "b", True), (4, "b", True), (8, "c", False)]
    assert where_best("R²", found) == (
        "R²: a is best at 1 feature (not clearly); b at 2 and 4 (clearly); c at 8 (not "
        "clearly)."
    )


@pytest.mark.parametrize("suggested", [None, ("cover", 9)])
def test_what_a_table_shows(suggested):
    assert judged_at("R²", 1, suggested).startswith("R² at 1 feature: mean")


def test_recommendations():
    given = ("R²", "a", 8, (4, 16), 0.8, (0.7, 0.9), 0.95)
    assert recommended(*given, "", "") == (
        "By R², keep 8 features of a (4 to 16 in 90 % of bootstrap samples): 0.800 "
        "(0.700 to 0.900 over the folds); the best of all is 0.950."
    )
    assert recommended(*given, "undecided", "cover") == (
        "By R², keep 8 features of a, as cover suggests: 0.800 (0.700 to 0.900 over "
        "the folds). Whether it beats random columns there is undecided."
    )
    said = recommended(*given, "better than random", "a")
    assert said.endswith("At that number it is better than random.")
