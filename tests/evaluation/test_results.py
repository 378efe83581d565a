from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t
from sklearn.base import BaseEstimator

from franet import FRANe
from franet._common.table import TextTable
from franet.evaluation import Record, Results
from franet.evaluation._summaries import over_folds
from franet.evaluation.records import changed_parameters
from franet.exceptions import DataError, UsageError


def records(
    dataset="a", ranker="good", base=0.5, n_folds=10, counts=(1, 4, 16), **more
):
    """Errors that fall with the features, with a little noise by fold."""
    random = np.random.default_rng(len(dataset) + len(ranker))
    return [
        Record(
            dataset,
            "paper",
            fold,
            ranker,
            values={
                "rmae": {
                    k: base + 1 / (1 + k) + 0.002 * random.normal() for k in counts
                }
            },
            top=list(range(fold % 2, 20 + fold % 2)),
            n_features=40,
            test_share=0.1,
            seconds=0.5,
            **more,
        )
        for fold in range(n_folds)
    ]


def both(*more):
    return Results([*records(), *records(ranker="random", base=0.6), *more])


def test_values_come_by_fold():
    results = Results(reversed(records()))
    expected = [record.values["rmae"][4] for record in records()]
    assert results.values("a", "good", 4).tolist() == expected
    curve = results.curve("good")
    assert curve.counts.tolist() == [1, 4, 16]
    assert curve.values[:, 1].tolist() == expected
    assert curve.mean[1] == pytest.approx(np.mean(expected))
    assert curve.error[1] == pytest.approx(np.std(expected, ddof=1) / np.sqrt(10))


def test_one_fold_has_no_error():
    results = Results(records(n_folds=1))
    assert results.curve("good").error.tolist() == [0, 0, 0]
    assert results.table().column("low") == results.table().column("high") == [None]


def test_a_small_table_is_judged_by_all_its_features():
    results = Results(records(counts=(1, 4, 7)))
    assert len(results.values("a", "good", 16)) == 10
    with pytest.raises(UsageError, match="at 1, 4, 7 features"):
        results.values("a", "good", 5)


def test_verdicts():
    worse = records(ranker="bad", base=0.7)
    same = records(ranker="same", base=0.6)
    found = both(*worse, *same).verdicts(16)
    assert found == {
        "good": "better than random",
        "bad": "worse than random",
        "same": "no better than random",
    }
    # Better at fewer features only: not "no better".
    late = [
        replace(r, values={"rmae": r.values["rmae"] | {16: values[16]}})
        for r, values in zip(
            records(ranker="late"),
            [r.values["rmae"] for r in records(ranker="x", base=0.6)],
            strict=True,
        )
    ]
    results = both(*late)
    assert results.verdicts(16)["late"] == "undecided"
    assert results.verdicts(4)["late"] == "better than random"
    with pytest.raises(UsageError, match="by chance"):
        Results(records()).verdicts()


def test_no_better_is_more_than_not_shown_to_be_better():
    """The folds have to show it, at every number of features."""
    chance, unsure = (
        [
            replace(
                r, values={"rmae": {k: 0.5 + scale * random.normal() for k in (1, 4)}}
            )
            for r in records(ranker=name)
        ]
        for random in [np.random.default_rng(0)]
        for name, scale in (("random", 0.0), ("unsure", 0.1))
    )
    results = Results([*chance, *unsure])
    assert results.verdicts(4) == {"unsure": "undecided"}
    said = results.lead("rmae").notes
    assert said[-1] == (
        "RMAE of 5-NN: no ranker is clearly better than random columns, at any number "
        "of features."
    )
    assert len(both().lead("rmae").notes) == 1


def test_all_features_are_recommended_without_a_ranker():
    few = [
        replace(r, n_features=16)
        for r in [*records(), *records(ranker="random", base=0.6)]
    ]
    found = Results(few).recommend(tolerance=0.01)
    assert found.is_all
    assert str(found) == (
        "By RMAE of 5-NN, keep all 16 features: no smaller number that was judged is "
        "nearly as good."
    )
    assert "at 16 features" in Results(few).table(30).notes[0]


def test_one_fold_proves_nothing():
    results = Results([*records(n_folds=1), *records(ranker="random", n_folds=1)])
    assert results.verdicts(16) == {"good": "undecided"}


def test_the_table_of_one_set():
    table = both(*records(ranker="sad", base=0.8, warnings=["all tie"])).table(16)
    assert table.column("ranker") == ["good", "random", "sad"]
    assert table.column("against random")[0] == "better than random"
    assert table.column("stability")[0] == pytest.approx(
        both().stability("good", 16)["kuncheva"]
    )
    assert table.column("warned") == ["", "", "†"]
    text = str(table)
    assert "sad warned on a" in text
    assert text.splitlines()[0].split()[:3] == ["ranker", "features", "rmae"]
    assert table.to_csv().splitlines()[0].startswith("ranker,features,rmae,low,high")


def test_no_formulas_in_a_csv_file():
    made = TextTable(["ranker", "=b"], [["=1+1", -0.5], ["plain", 2]])
    lines = made.to_csv().splitlines()
    assert lines == ["ranker,'=b", "'=1+1,-0.5", "plain,2"]


def test_the_table_of_many_sets():
    results = both(
        *records("b"),
        *records("b", ranker="random", base=0.4),
        *records("c", status="failed", reason="ValueError: no"),
        *records("c", ranker="random"),
    )
    table = results.table(16)
    assert table.column("data set") == [
        "a", "b", "c", "average rank", "… ties smallest", "wins",
    ]  # fmt: skip
    assert table.column("good")[2] is None
    assert table.column("good")[3:] == [1.5, 1.5, 1]
    assert "good did not finish 10 folds, the first of c: ValueError: no." in str(table)


def test_means_over_different_folds_are_not_compared():
    results = both(*records(ranker="half", n_folds=5))
    assert not results.has("a", "half")
    assert results.scores("half") == {}
    with pytest.raises(DataError, match="all folds"):
        results.curve("half")
    assert "half" not in results.table().column("ranker")


def test_parameters_tell_rankers_of_one_label_apart():
    results = both(*records(parameters={"p": 3}))
    assert results.rankers == ["good {}", "random", 'good {"p": 3}']


def test_recommendation():
    # 0.5 + 1 / (1 + k) at 1, 4, 16: 1, 0.7, 0.559; chance has 0.1 more.
    results = both()
    near = results.recommend(tolerance=0.05)
    assert (near.ranker, near.n_features, near.interval) == ("good", 16, (16, 16))
    assert near.n_random is None
    wide = results.recommend(tolerance=0.2)
    assert (wide.n_features, wide.interval, wide.n_random) == (4, (4, 4), 16)
    assert str(wide).startswith("By RMAE of 5-NN, keep 4 features of good (4 in 90 %")
    assert "better than random; it takes 16 random columns to do as well" in str(wide)
    alone = Results(records()).recommend("good", tolerance=0)
    assert (alone.n_features, alone.verdict) == (16, "")
    with pytest.raises(UsageError, match="tolerance"):
        results.recommend(tolerance=-1)


def test_the_suggested_number_is_recommended():
    results = both(*records(ranker="other", base=0.55))
    results.suggested = {"a": ("other", 4)}
    found = results.recommend()
    assert (found.ranker, found.n_features, found.suggested_by) == ("good", 4, "other")
    assert found.value == pytest.approx(0.7, abs=0.01)
    assert found.interval == (4, 4)
    assert found.n_random == 16
    said = str(found)
    assert said.startswith(
        "By RMAE of 5-NN, keep 4 features of good, as other suggests"
    )
    assert (
        f"({found.value_interval[0]:.3f} to {found.value_interval[1]:.3f} over" in said
    )
    # It is what the table shows.
    assert results.table().column("features") == [4, 4, 4]
    assert results.table().column("ranker")[0] == "good"
    assert "at 4 features, as other suggests" in str(results.table())
    # A tolerance asks for the smallest number instead.
    assert results.recommend(tolerance=0.05).n_features == 16
    assert results.recommend("other", tolerance=0.05).suggested_by == ""
    # What was added to it keeps its suggestion.
    assert (results + both(*records("b"))).suggested == results.suggested


def test_intervals_over_folds_by_their_definition():
    values = np.array([0.3, 0.5, 0.45, 0.6])
    scale = np.sqrt((1 / 4 + 0.1 / 0.9) * values.var(ddof=1))
    expected = t.interval(0.95, 3, values.mean(), scale)
    assert over_folds(values, 0.1) == pytest.approx(expected)
    assert over_folds(values, None) == pytest.approx(over_folds(values, 0.25))
    assert over_folds(values[:1], 0.1) is None


def test_who_is_best_where():
    random = np.random.default_rng(1)
    folds = []
    for f in range(8):
        noise = 0.001 * random.normal(size=2)
        a = {1: 0.2 + noise[0], 2: 0.5 + noise[1], 4: 0.6, 8: 0.9}
        b = {1: 0.3, 2: 0.5, 4: 0.6 + 0.2 * (f % 2) - 0.09, 8: 0.9}
        for ranker, values in (("a", a), ("b", b)):
            folds.append(
                Record("x", "y", f, ranker, values={"r2": values}, n_features=8)
            )
    table = Results(folds).lead()
    # All eight features are the same for both.
    assert table.column("features") == [1, 2, 4]
    assert table.column("best")[::2] == ["b", "b"]
    assert table.column("low")[0] > 0.09
    assert table.column("low")[2] < 0 < table.column("lead")[2]
    assert table.notes[0].startswith("R² of ridge regression: b is best at 1")
    assert "clearly at 1" in table.notes[0]
    worse = [
        replace(r, values={"rmae": {k: -v for k, v in r.values["r2"].items()}})
        for r in folds
    ]
    assert Results(worse).lead("rmae").column("best") == table.column("best")


def test_the_measure_that_is_shown():
    def measured(*names):
        return Results([Record("a", "x", 0, "r", values={n: {1: 0.5} for n in names})])

    assert measured("rmae", "rmae_scaled", "r2").measure() == "r2"
    assert measured("rmae", "rmae_scaled").measure() == "rmae_scaled"
    assert measured("nmi").measure() == "nmi"
    assert measured("rmae", "r2").measure("rmae") == "rmae"
    assert measured("rmae", "r2").table().columns[2] == "r2"


def test_an_unsure_recommendation_says_so():
    random = np.random.default_rng(0)
    folds = [
        Record(
            "a", "x", f, "good", values={"rmae": dict(zip((1, 2, 4), row, strict=True))}
        )
        for f, row in enumerate(random.normal(0.5, 0.2, (6, 3)))
    ]
    low, high = Results(folds).recommend(tolerance=0.01).interval
    assert low < high


def test_measures_that_grow_are_recommended_by_their_largest():
    folds = [
        Record("a", "x", f, "good", values={"r2": {1: 0.2, 2: 0.795, 4: 0.8}})
        for f in range(4)
    ]
    found = Results(folds).recommend(measure="r2")
    assert (found.n_features, found.value, found.best) == (2, 0.795, 0.8)


def test_stability():
    found = both().stability("good", 16)
    # 25 of 45 pairs have 15 of 16 in common, the others all.
    assert found["jaccard"] == pytest.approx((20 + 25 * 15 / 17) / 45)
    chance = 16 * 16 / 40
    assert found["kuncheva"] == pytest.approx(
        (20 + 25 * (15 - chance) / (16 - chance)) / 45
    )
    assert 0.9 < found["rank_correlation"] < 1
    with pytest.raises(UsageError, match="20 features are kept"):
        both().stability("good", 21)


def test_what_is_not_there_is_named():
    results = both(*records("b"))
    with pytest.raises(UsageError, match="ranker='x'"):
        results.values("a", "x")
    with pytest.raises(UsageError, match="2 tables"):
        results.curve("good")
    with pytest.raises(UsageError, match="measure='x'"):
        results.table(measure="x")
    with pytest.raises(DataError, match="not measured"):
        results.curve("good", "a", "r2")


def test_rows_and_sums():
    results = Results(records()) + Results(records("b"))
    rows = list(results.rows())
    assert len(rows) == 60
    assert rows[0][:7] == ("a", "paper", 0, "good", "{}", "rmae", 1)
    assert repr(results) == "<Results: 2 data sets, 1 rankers, 20 records>"
    frame = results.to_pandas()
    assert frame.shape == (60, 8)
    assert frame["n_features"].max() == 16


def test_records_survive_json():
    record = records(warnings=["ö"])[3]
    line = record.to_json()
    assert "\n" not in line
    assert Record.from_json(line) == record
    for wrong in ("", "{}", "[1]", line.replace('"ok"', '"fine"')):
        with pytest.raises(DataError, match="record"):
            Record.from_json(wrong)


def test_parameters_that_are_not_the_defaults():
    class Needy(BaseEstimator):
        def __init__(self, must, weights=None, low=1.0, other=3):
            self.must = must
            self.weights = weights
            self.low = low
            self.other = other

    assert changed_parameters(FRANe()) == {}
    assert changed_parameters(FRANe(damping=0.5, n_jobs=2)) == {
        "damping": 0.5,
        "n_jobs": 2,
    }
    given = Needy((1, np.int64(2)), weights=np.ones(2), low=1, other=np.mean)
    assert changed_parameters(given) == {
        "low": 1,
        "must": [1, 2],
        "other": "mean",
        "weights": [1.0, 1.0],
    }


def test_a_table_prints_numbers_to_the_right():
    table = TextTable(["name", "x"], [["a", 1.0], ["long", None]], ["note <b>"])
    assert str(table) == "name      x\n────  ─────\na     1.000\nlong\nnote <b>"
    assert "note &lt;b&gt;" in table._repr_html_()
    assert str(TextTable(["a"], [])) == "a\n─"
    assert str(TextTable(["a"], [[-1e-9]])).endswith("\n0.000")


def test_curves_are_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    ax = both().plot_curves()
    assert [line.get_label() for line in ax.lines] == ["good", "random"]
    assert ax.get_title("left") == "a"
    with pytest.raises(DataError, match="not measured"):
        both().plot_curves(measure="r2")
    pyplot.close("all")
