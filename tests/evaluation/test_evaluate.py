from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from franet import Cover, FRANe
from franet.evaluation import compare, evaluate
from franet.exceptions import DataError, DegenerateRankingWarning, UsageError
from franet.rankers import ColumnSubset, RandomRanking, Variance

QUICK = {"folds": 3, "measures": "rmae"}


@pytest.fixture
def X():
    random = np.random.default_rng(0)
    Z = random.normal(size=(45, 4))
    return np.hstack([Z + 0.1 * random.normal(size=(45, 4)) for _ in range(6)])


def test_references_are_always_there_unless_told_not(X):
    assert evaluate(X, rankers="variance", **QUICK).rankers == [
        "variance", "random", "column-subset",
    ]  # fmt: skip
    alone = evaluate(X, rankers="variance", references=False, **QUICK)
    assert alone.rankers == ["variance"]
    mine = {"my chance": RandomRanking(), "css": ColumnSubset()}
    assert evaluate(X, rankers=mine, **QUICK).rankers == ["my chance", "css"]


def test_rankers_come_in_many_forms(X):
    assert evaluate(X, rankers=Variance(), **QUICK).rankers[0] == "variance"
    assert evaluate(X, rankers=["spec", FRANe()], **QUICK).rankers[:2] == [
        "spec",
        "frane",
    ]
    both = [FRANe(), Cover()]
    assert evaluate(X, rankers=both, **QUICK).rankers[:2] == ["frane", "cover"]
    for wrong, words in (
        ([], "at least one"),
        ({"a": 3}, "neither"),
        ([FRANe(), FRANe(damping=0.5)], "two are called 'frane'"),
        ("best", "no ranker 'best'"),
    ):
        with pytest.raises(UsageError, match=words):
            evaluate(X, rankers=wrong, **QUICK)


def test_one_representative_a_group_is_enough(X):
    results = evaluate(X, rankers="frane", folds=5)
    at_4 = results.values("table", "column-subset", 4).mean()
    assert at_4 < results.values("table", "column-subset", 2).mean()
    found = results.recommend("column-subset", tolerance=0.02)
    assert found.n_features == 4
    chance = results.values("table", "random", 4).mean()
    assert at_4 < chance < results.values("table", "random", 2).mean()


def test_every_value_is_the_same_again(X):
    first = evaluate(X, rankers="genie3", **QUICK)
    second = evaluate(X, rankers="genie3", **QUICK)
    assert list(first.rows()) == list(second.rows())
    other = evaluate(X, rankers="genie3", random_state=1, **QUICK)
    assert list(first.rows()) != list(other.rows())


def test_chance_differs_from_fold_to_fold(X):
    results = evaluate(X, rankers="variance", **QUICK)
    tops = [record.top for record in results.of("table", "random")]
    assert tops[0] != tops[1]


def test_greedy_rankers_order_what_is_judged():
    X = np.random.default_rng(0).normal(size=(120, 100))
    given = ColumnSubset(n_ranked=3)
    results = evaluate(X, rankers={"few": given, "all": ColumnSubset()}, **QUICK)
    parameters = [r.parameters for r in results.of("table", "few")]
    assert parameters[0] == {"n_ranked": 3}
    assert given.n_ranked == 3
    fold = results.of("table", "all")[0]
    train = np.random.default_rng(0).permutation(120)[40:]
    expected = ColumnSubset(n_ranked=100).fit(X[train])
    assert fold.top == np.argsort(expected.ranking_, kind="stable").tolist()


def test_fewer_are_judged_than_are_included(X):
    ranker = Cover(include=[5, 2, 9])
    results = evaluate(X, rankers=ranker, n_features=[1], folds=3, references=False)
    assert all(record.top[:3] == [5, 2, 9] for record in results.records)


def test_collapsed_rankers_are_marked():
    X = np.random.default_rng(0).normal(size=(30, 6))
    X[:, :] = X[:, :1]  # all alike
    results = evaluate(X, rankers="variance", **QUICK)
    assert results.of("table", "variance")[0].warnings
    assert "variance warned" in str(results.table(2))


def test_estimators_of_others_are_judged_by_their_importances(X):
    from sklearn.base import BaseEstimator

    class Last(BaseEstimator):
        def fit(self, X, y=None):
            self.feature_importances_ = np.arange(X.shape[1])
            return self

    class Nothing(BaseEstimator):
        def fit(self, X, y=None):
            return self

    results = evaluate(X, rankers=Last(), references=False, **QUICK)
    assert results.records[0].top == list(range(23, -1, -1))
    with pytest.raises(UsageError, match="no ranker of features"):
        evaluate(X, rankers=Nothing(), references=False, **QUICK)


def test_hidden_classes(X):
    y = np.repeat(["a", "b", "c"], 15)
    results = evaluate(
        X, y, rankers="variance", folds=3, measures=["nmi", "knn_accuracy"]
    )
    assert results.curve("variance", measure="nmi").values.shape == (3, 6)
    with pytest.raises(UsageError, match="examples, y"):
        evaluate(X, rankers="variance", measures="nmi")
    with pytest.raises(DataError, match="3 classes for 45"):
        evaluate(X, [1, 2, 3], rankers="variance")


def test_sparse_tables_and_frames(X):
    pandas = pytest.importorskip("pandas")
    plain = list(evaluate(X, rankers="variance", **QUICK).rows())
    assert (
        list(evaluate(sparse.csr_array(X), rankers="variance", **QUICK).rows()) == plain
    )
    assert (
        list(evaluate(pandas.DataFrame(X), rankers="variance", **QUICK).rows()) == plain
    )


def test_missing_values_are_an_error(X):
    X[3, 2] = np.nan
    with pytest.raises(DataError, match="NaN"):
        evaluate(X, rankers="variance")


def test_progress_is_told(X):
    told = []
    evaluate(X, rankers="variance", progress=lambda *what: told.append(what), **QUICK)
    rankings = [what for what in told if what[0] == "rankings"]
    assert rankings == [("rankings", k, 9) for k in range(1, 10)]


def test_compare_pairs_sets_by_name(X):
    results = [
        evaluate(X + shift, rankers="variance", folds=5, measures="rmae", name=name)
        for shift, name in ((0, "a"), (1, "b"), (2, "c"))
    ]
    joined = results[0] + results[1] + results[2]
    one, two = (joined.scores(name, at=4) for name in ("column-subset", "random"))
    shuffled = {name: two[name] for name in ("c", "a", "b")}
    found = compare(one, shuffled)
    assert found.p_first == compare(one, two).p_first
    assert found.p_first > found.p_second


def test_compare_names_what_does_not_fit():
    a = {"x": [0.1, 0.2], "y": [0.1, 0.2]}
    with pytest.raises(UsageError, match="Only one of the two has: z"):
        compare(a, {**a, "z": [0.1, 0.2]})
    with pytest.raises(UsageError, match="y: the two have different numbers"):
        compare(a, {"x": [0.1, 0.2], "y": [0.1]})
    with pytest.raises(UsageError, match="results_b"):
        compare(a, [0.1])


def test_features_by_name(X):
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    named, placed = (
        evaluate(table, rankers=Cover(include=include), references=False, **QUICK)
        for table, include in ((frame, ["f3"]), (X, [3]))
    )
    first, second = ([row.value for row in found.rows()] for found in (named, placed))
    assert first == second
    with pytest.raises(UsageError, match="include: There is no feature 'g3'"):
        evaluate(frame, rankers=Cover(include=["g3"]), references=False, **QUICK)


def test_columns_of_ones_own_are_judged(X):
    frame = pd.DataFrame(X).add_prefix("g")
    mine = {"mine": ["g5", "g0", "g10"], "first": "variance", "by place": np.array([3])}
    results = evaluate(frame, rankers=mine, n_features=[1, 2, 6], folds=3)
    assert results.rankers[:3] == ["mine", "first", "by place"]
    curve = results.curve("mine")
    assert curve.counts.tolist() == [1, 2, 3]
    assert results.curve("first").counts.tolist() == [1, 2, 3, 6]
    assert results.curve("by place").counts.tolist() == [1]
    assert results.of("table", "mine")[0].top[:3] == [5, 0, 10]
    # As any ranker with this order would be judged.

    class Mine(RandomRanking):
        def fit(self, X, y=None):
            self.ranking_ = np.full(24, 9)
            self.ranking_[[5, 0, 10]] = 1, 2, 3
            return self

    other = evaluate(X, rankers={"it": Mine()}, n_features=[1, 2, 3], folds=3)
    np.testing.assert_array_equal(other.curve("it").values, curve.values)
    table = results.table(6)
    places = dict(zip(table.column("ranker"), table.column("features"), strict=True))
    assert (places["mine"], places["by place"], places["first"]) == (3, 1, 6)
    assert results.verdicts(6).keys() >= {"mine", "first", "by place"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["g5", "g99"], "'mine': There is no feature 'g99'. Did you mean"),
        (["g5", "g5"], "names 'g5' twice"),
        ([3, "g3"], "names 'g3' twice"),
        ([24], "positions go from 0 to 23"),
        ([], "names no column"),
        ({"g1", "g2"}, "is a set, which has no order"),
        ([1.5], "holds 1.5. Give names or positions"),
        ([True], "holds True"),
    ],
)
def test_bad_columns(X, given, words):
    frame = pd.DataFrame(X).add_prefix("g")
    with pytest.raises(UsageError, match=words) as caught:
        evaluate(frame, rankers={"mine": given}, **QUICK)
    assert "\n" not in str(caught.value)


def test_columns_need_a_label(X):
    with pytest.raises(UsageError, match="give lists of columns in a dict"):
        evaluate(X, rankers=[[0, 1], "variance"], **QUICK)


def test_the_suggested_number_is_judged(X):
    results = evaluate(X, rankers=["variance", "cover"], n_features=[1, 16], folds=3)
    wanted = Cover().fit(X).n_features_suggested_
    assert wanted not in (None, 1, 16)
    assert results.suggested == {"table": ("cover", wanted)}
    assert results.curve("variance").counts.tolist() == sorted([1, 16, wanted])
    assert set(results.table().column("features")) == {wanted}
    found = results.recommend()
    assert (found.n_features, found.suggested_by) == (wanted, "cover")
    assert found.measure == "r2"
    # The columns that have to be in are known by name, as in a fit.
    frame = pd.DataFrame(X).add_prefix("g")
    named = evaluate(frame, rankers=Cover(include=["g7"]), **QUICK)
    expected = Cover(include=["g7"]).fit(frame).n_features_suggested_
    assert named.suggested["table"] == ("cover", expected)


def test_nothing_is_suggested_for_noise():
    X = np.random.default_rng(0).normal(size=(60, 12))
    with pytest.warns(DegenerateRankingWarning, match="No small subset"):
        assert Cover().fit(X).n_features_suggested_ is None
    results = evaluate(X, folds=3, measures=["r2", "rmae"])
    assert results.suggested == {}
    assert results.recommend().suggested_by == ""
    assert set(results.table(4).column("features")) == {4}


def test_cover_is_not_called_no_better_than_random_where_it_is_suggested():
    from sklearn.datasets import load_breast_cancer

    X = load_breast_cancer().data
    results = evaluate(X, rankers=["cover"], folds=5, measures=["r2", "rmae"])
    # By neighbors in the units of the columns, of which Cover knows nothing, it was.
    assert results.verdicts(8, "rmae")["cover"] != "better than random"
    _, wanted = results.suggested["table"]
    assert results.verdicts()["cover"] != "no better than random"
    advice = str(results.recommend())
    assert advice.startswith(f"By R² of ridge regression, keep {wanted} features")
    assert "no better than random" not in advice + str(results.table())
