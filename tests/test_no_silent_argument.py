"""No argument of a public function is ignored: it changes what comes, or is refused."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from evaluation.bad_rankers import (
    ByColumn,
    Noisy,
    Raising,
    load,
    load_other,
    stand_in_for_sklearn,
)
from franet import AttributeNetwork, Cover, FRANe, drop_correlated
from franet.datasets import make_groups
from franet.evaluation import Results, ResultsStore, evaluate, judge_panel, run
from franet.evaluation.statistics import hierarchical
from franet.rankers import Variance

pytestmark = [
    pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
MODULES = """
    anndata datasets evaluation evaluation.statistics io network plotting quality
    rankers report
""".split()
HEARD: list[object] = []
MADE = make_groups(40, 5, 4, n_noise=4, random_state=0)
X = MADE.X
OTHER = X[:, ::-1] ** 3
Y = (X[:, 0] > 0).astype(int)
PAPER = FRANe(6, n_thresholds=12).fit(X)
DENSE = FRANe(min_mean_degree=15.0).fit(X).network_
PRUNED = drop_correlated(X, 0.7)
COVER = Cover(4).fit(X)
JUDGED = judge_panel(X, COVER.order_[:4])
NUMBERED = [f"f{j}" for j in range(24)]
SETS = np.random.default_rng(0).random((8, 4))
FOLDED = np.random.default_rng(1).random((2, 5, 10))
# Each process of the tests computes these, so they are of measures that take no time.
CURVES = {"folds": 3, "measures": ("rmae", "r2")}
RESULTS = evaluate(X, rankers=["variance", "random"], name="a", **CURVES)
TWO = RESULTS + evaluate(OTHER, rankers="variance", folds=3, measures="rmae", name="b")
DRAWS = {"n_draws": 160, "n_chains": 4, "n_warmup": 10}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # a few draws are enough here
    COMPARED, COMPARED_TOO = (
        hierarchical(*each, **DRAWS) for each in (FOLDED, FOLDED**2)
    )
SOME, MORE = (dict(zip("abcde", values, strict=True)) for values in FOLDED)
# How it is computed: no result depends on it. A lazy table is one of the same values.
COMPUTE = {"n_jobs": 2, "max_memory": "100 GB", "timeout": 600.0, "lazy": 1}


def adata():
    found = anndata.AnnData(3.0 * X, layers={"other": OTHER.copy()})
    found.var_names = MADE.names
    found.raw = found[:, ::-1].copy()
    found.raw.X[:, ::2] **= 3
    found.layers["counts"] = np.round(np.exp(X))
    found.X[:25, ::2] = 0.0
    found.obs["batch"] = np.repeat(["a", "b"], 20)
    found.var["some"] = np.arange(X.shape[1]) % 3 > 0
    found.var["level"] = np.arange(X.shape[1]) - 9.5
    return found


def plain(value):
    """Return something that can be compared."""
    if isinstance(value, AttributeNetwork):
        return plain(vars(value))
    if isinstance(value, plt.Axes):
        figure = value.figure
        figure.canvas.draw()
        return figure.canvas.buffer_rgba().tobytes(), figure.get_size_inches().tolist()
    if isinstance(value, Results):
        return [plain({**vars(record), "seconds": 0}) for record in value.records]
    if isinstance(value, anndata.AnnData):
        return plain([value.var, dict(value.uns), value.shape])
    if isinstance(value, pd.DataFrame):
        return value.to_json()
    if isinstance(value, np.ndarray):
        return value.shape, repr(value.tolist())  # NaN is not equal to itself
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "toarray"):
        return plain(value.toarray())
    if hasattr(value, "__dataclass_fields__"):
        fields = value.__dataclass_fields__
        return {name: plain(getattr(value, name)) for name in fields}
    return repr(value)


# For each function: arguments that are right, and for each of its parameters another
# value. A pair: what else it needs to apply, and the value.
SCORES = {"scores": SETS}
SCORED = {"scores": SETS**2 + SETS[::-1], "lower_is_better": False}
TIED = np.round(3 * SETS)
SUMS = np.cumsum(SETS, axis=1)
AXES = object()  # stands for axes of a figure that is there already
GROUPS = {"n_examples": 8, "n_groups": 2, "group_size": 3, "random_state": 0}
GROUPED = {
    "n_examples": 9,
    "n_groups": 3,
    "group_size": 4,
    "redundancy": 0.5,
    "n_noise": 2,
    "shuffle": False,
    "random_state": 1,
}
TABLE = {"path": "x.csv"}
CASES = {
    "anndata.rank_features": (
        {"adata": adata},
        {
            "adata": lambda: adata()[:, ::-1].copy(),
            "layer": "other",
            "use_raw": True,
            "normalize": ({"layer": "counts", "normalize": "none"}, "log1p"),
            "batch_key": "batch",
            "start": ["g1"],
            "mask_var": "some",
            "min_cells": 0.5,
            "max_cells": 0.5,
            "level": ({"min_level": 0.0}, "level"),
            "min_level": 0.0,
            "max_level": 0.0,
            "max_total": ({"layer": "counts", "normalize": "none"}, 8.0),
            "key_added": "mine",
            "n_top": 3,
            "subset": True,
            "inplace": False,
            "ranker": Variance(),
        },
    ),
    "datasets.cache_folder": ({}, {}),
    "datasets.find": ({"name": "colon"}, {"name": "none"}),
    "datasets.get": ({"name": "colon"}, {"name": "leukemia"}),
    "datasets.load": ({"name": "colon", "download": False}, {"name": "none"}),
    "datasets.make_groups": (
        GROUPS,
        {**GROUPED, "duplicates": 2, "exact": False},
    ),
    "datasets.names": ({}, {"paper": False, "available": True}),
    "evaluation.compare": (
        {"results_a": SOME, "results_b": MORE, **DRAWS},
        {
            "results_a": {name: values**2 for name, values in SOME.items()},
            "results_b": {name: values**2 for name, values in MORE.items()},
            "rope": 0.2,
            "lower_is_better": False,
            "random_state": 1,
            "options": {"n_draws": 320},
        },
    ),
    "evaluation.evaluate": (
        {"X": X, "rankers": ["variance", "random"], "folds": 3, "references": False},
        {
            "X": OTHER,
            "y": Y,
            "rankers": "variance",
            "n_features": [1, 3],
            "folds": 4,
            "repeats": 2,
            "measures": "rmae",
            "references": True,
            "name": "mine",
            "random_state": 1,
            "progress": lambda *heard: HEARD.append(heard),
        },
    ),
    "evaluation.judge_panel": (
        {"X": X, "panel": [0, 4, 8], "labels": Y},
        {
            "X": OTHER,
            "panel": [0, 5],
            "labels": Y[::-1],
            "names": NUMBERED,
            "random_state": 1,
        },
    ),
    "evaluation.make_folds": (
        {"folds": 3, "n_examples": 12},
        {"folds": 4, "n_examples": 13, "repeats": 2, "seed": 1},
    ),
    "evaluation.paper_folds": ({"n_examples": 20}, {"n_examples": 30}),
    "evaluation.reconstruction": (
        {"estimator": PAPER, "X": X},
        {
            "estimator": COVER,
            "X": OTHER,
            "y": ({"measure": "knn_accuracy", "y": Y}, Y[::-1]),
            "measure": "r2",
        },
    ),
    "evaluation.shuffled_folds": (
        {"n_examples": 20},
        {"n_examples": 30, "n_folds": 4, "repeats": 2, "seed": 1},
    ),
    "evaluation.statistics.average_ranks": (
        SCORES,
        {**SCORED, "ties": ({"scores": TIED}, "dense")},
    ),
    "evaluation.statistics.bonferroni_dunn": (
        {**SCORES, "control": 0},
        {**SCORED, "control": 1, "alpha": 0.5},
    ),
    "evaluation.statistics.correlated_t_test": (
        {"a": FOLDED[0, 0], "b": FOLDED[1, 0]},
        {
            "a": FOLDED[0, 1],
            "b": FOLDED[1, 1],
            "rope": 0.2,
            "rho": 0.5,
            "lower_is_better": False,
        },
    ),
    "evaluation.statistics.effective_size": ({"draws": SETS}, {"draws": SUMS}),
    "evaluation.statistics.friedman": (
        SCORES,
        {**SCORED, "correct_ties": ({"scores": TIED}, False)},
    ),
    "evaluation.statistics.hierarchical": (
        {"a": FOLDED[0], "b": FOLDED[1], **DRAWS},
        {
            "a": FOLDED[0] ** 2,
            "b": FOLDED[1] ** 2,
            "rope": 0.2,
            "rho": 0.5,
            "lower_is_better": False,
            "names": ("one", "two"),
            "n_draws": 320,
            "n_chains": 2,
            "n_warmup": 20,
            "random_state": 1,
        },
    ),
    "evaluation.statistics.nemenyi": (SCORES, {**SCORED, "alpha": 0.1}),
    "evaluation.statistics.r_hat": ({"draws": SETS}, {"draws": SUMS}),
    "evaluation.statistics.ranks": (
        SCORES,
        {**SCORED, "ties": ({"scores": TIED}, "dense")},
    ),
    "evaluation.statistics.wins": (SCORES, SCORED),
    "io.check_target": (
        {"path": "there.csv", "force": True},
        {"path": "new.csv", "force": False},
    ),
    "io.read_table": (
        TABLE,
        {
            "path": "y.csv",
            "format": "npy",
            "transpose": True,
            "header": False,
            "index": True,
            "decimal": ({"path": "commas.tsv", "decimal": "."}, ","),
            "drop_non_numeric": ({"path": "text.csv"}, True),
            "text": ({"path": "text.csv"}, True),
            "variable": ({"path": "two.npz", "variable": "a"}, "b"),
            "feature_names": [f"f{j}" for j in range(24)],
            "dtype": np.float32,
        },
    ),
    "io.write_table": (
        {"columns": {"a": [1]}, "path": "there.csv", "force": True},
        {"columns": {"b": [1]}, "path": "new.csv", "force": False, "format": "json"},
    ),
    "network.layout": (
        {"network": PAPER.network_},
        {
            "network": COVER.network_,
            "communities": np.arange(24) % 3,
            "seed": 1,
        },
    ),
    "plotting.plot_explained": (
        {"ranker": COVER},
        {"ranker": Cover(2).fit(X), "X": X, "ax": AXES},
    ),
    "plotting.plot_critical_difference": (
        SCORES,
        {
            **SCORED,
            "names": list("abcd"),
            "alpha": 0.1,
            "control": 1,
            "n_sets": ({"scores": [1.5, 2.0, 2.5], "n_sets": 9}, 40),
            "ax": AXES,
        },
    ),
    "plotting.plot_curves": (
        {"results": RESULTS},
        {
            "results": evaluate(OTHER, rankers="variance", **CURVES),
            "dataset": ({"results": TWO, "dataset": "a"}, "b"),
            "measure": "r2",
            "rankers": ["variance"],
            "ax": AXES,
        },
    ),
    "plotting.plot_network": (
        {"network": PAPER.network_},
        {
            "network": COVER.network_,
            "top": 5,
            "max_edges": 3,
            "labels": 2,
            "legend": False,
            "seed": 1,
            "ax": AXES,
        },
    ),
    "plotting.plot_quality": (
        {"ranker": PAPER},
        {"ranker": FRANe(n_thresholds=7).fit(X), "ax": AXES},
    ),
    "plotting.plot_scores": (
        {"ranker": PAPER},
        {"ranker": DENSE, "top": 5, "ax": AXES},
    ),
    "plotting.plot_similarity": (
        {"ranker": PAPER},
        {"ranker": COVER, "X": X, "top": 5, "ax": AXES},
    ),
    "plotting.plot_simplex": (
        {"comparison": COMPARED},
        {"comparison": COMPARED_TOO, "ax": AXES},
    ),
    "rankers.get": ({"name": "frane"}, {"name": "cover"}),
    "report.check_installed": ({}, {}),
    "report.check_report": (
        {"path": "there.json", "force": True},
        {"path": "new.csv", "force": False},
    ),
    "report.summarize_groups": (
        {"result": PRUNED},
        {
            "result": drop_correlated(X, 0.3),
            "title": "mine",
            "top": 1,
            "seconds": 2.0,
            "warnings": ["careful"],
        },
    ),
    "report.summarize_panel": (
        {"ranker": COVER, "X": X, "judged": JUDGED},
        {
            "ranker": Cover(4, weights="variance", include=COVER.order_[:4]).fit(X),
            "X": OTHER,
            "judged": judge_panel(X, COVER.order_[:4], Y),
            "labels": ({"judged": judge_panel(X, COVER.order_[:4], Y)}, Y),
            "embedding": X[:, :2],
            "names": NUMBERED,
            "title": "mine",
            "seconds": 2.0,
            "warnings": ["careful"],
            "stability": COVER.stability(X, 2),
        },
    ),
    "report.summarize": (
        {"ranker": PAPER},
        {
            "ranker": COVER,
            "X": X,
            "top": 5,
            "names": [f"f{j}" for j in range(24)],
            "title": "mine",
            "seconds": 2.0,
            "warnings": ["careful"],
            "stability": PAPER.stability(X, 2),
        },
    ),
}
for quality in ("coefficient_of_variation", "entropy_gap", "gini", "rqh"):
    CASES[f"quality.{quality}"] = ({"scores": SETS[0]}, {"scores": SETS[1] ** 2})
# Tested below, for their effects.
APART = {
    "datasets.fetch",
    "evaluation.run",
    "io.atomic_write",
    "report.render",
    "report.write",
}
ALL_PICKS = Cover(2, n_ranked=X.shape[1]).fit(X)
METHODS = {
    "cover.suggest": (ALL_PICKS.suggest, {}, {"share": 0.3}),
    "cover.represent": (COVER.represent, {}, {"k": 1, "level": 1e-9}),
    "cover.explained_by_components": (
        COVER.explained_by_components,
        {"X": X},
        {"X": X[::2], "n_components": 2},
    ),
    "stability": (
        PAPER.stability,
        {"X": X, "n_halves": 6},
        {
            "X": OTHER,
            "n_halves": 8,
            "top": 3,
            "level": 0.5,
            "random_state": 1,
        },
    ),
    "to_frame": (COVER.to_frame, {}, {"library": "polars"}),
    "network.at": (
        PAPER.network_.at,
        {"threshold": PAPER.threshold_ * 1.05},
        {"threshold": PAPER.threshold_ * 1.2, "X": ({"threshold": 0.4, "X": X}, OTHER)},
    ),
    "network.communities": (
        DENSE.communities,
        {"method": "leiden"},
        {"method": "components", "resolution": 3.0, "random_state": 1},
    ),
    "network.explain": (PAPER.network_.explain, {"feature": 0}, {"feature": 1}),
    "network.neighbors": (
        DENSE.neighbors,
        {"feature": 0},
        {"feature": 1, "top": 1},
    ),
    "network.subgraph": (
        PAPER.network_.subgraph,
        {"features": [0, 1]},
        {"features": [1, 2], "top": ({"features": None, "top": 3}, 4)},
    ),
    "results.curve": (
        RESULTS.curve,
        {"ranker": "variance"},
        {
            "ranker": "random",
            "dataset": "b",
            "measure": "rmae",
        },
    ),
    "results.table": (
        TWO.table,
        {"at": 4, "dataset": "a"},
        {"at": 2, "measure": "rmae", "dataset": "b"},
    ),
    "results.lead": (
        TWO.lead,
        {"dataset": "a"},
        {"measure": "rmae", "dataset": "b"},
    ),
    "results.stability": (
        TWO.stability,
        {"ranker": "variance", "at": 4, "dataset": "a"},
        {"ranker": "random", "at": 2, "dataset": "b"},
    ),
}


def public():
    """Yield the names of public functions."""
    for module in MODULES:
        home = import_module(f"franet.{module}")
        for name in home.__all__:
            if inspect.isfunction(getattr(home, name)):
                yield f"{module}.{name}"


def called(function, given):
    """Return what comes of a call, what it draws or writes, or its error."""
    HEARD.clear()
    plt.close("all")
    given = dict(given)
    if "adata" in given:
        given["adata"] = given["adata"]()
    if given.get("ax") is AXES:
        given["ax"] = plt.figure(figsize=(4, 3)).subplots()
    given |= given.pop("options", {})
    try:
        found = function(**given)
    except (ValueError, LookupError, OSError, ImportError) as err:
        return "error", f"{type(err).__name__}: {err}"
    there = plain(given.get("adata"))
    if isinstance(given.get("columns"), dict):
        there = given["path"], Path(given["path"]).read_bytes()
    return "fine", plain(found), there, bool(HEARD)


@pytest.fixture
def quick_workers(tmp_path, monkeypatch):
    # Workers get the path of their parent.
    monkeypatch.syspath_prepend(stand_in_for_sklearn(tmp_path / "stub"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files to read and to replace, where relative paths begin."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FRANET_DATA", str(tmp_path / "none"))
    frame = pd.DataFrame(X, columns=MADE.names)
    frame.to_csv("x.csv", index=False)
    Path("commas.tsv").write_text("a\tb\n1,234\t2\n2,345\t7\n9,876\t5\n")
    frame[::-1].to_csv("y.csv", index=False)
    frame.assign(word=["a", "b"] * 20).to_csv("text.csv", index=False)
    np.save("x.npy", X)
    np.savez("two.npz", a=X, b=OTHER)
    for name in ("there.csv", "there.json"):
        (tmp_path / name).write_text("an older one")
    yield tmp_path
    plt.close("all")


# What is an error without them.
HELP = {"drop_non_numeric", "text", "name"}


def check(function, base, values):
    """Assert that every parameter of a function matters, or only how it computes."""
    parameters = inspect.signature(function).parameters
    own = [name for name in parameters if name not in COMPUTE]
    for name in own:
        if name == "download":  # nothing is downloaded in tests
            continue
        assert name in values, f"{name} has no case"
        case = values[name]
        paired = isinstance(case, tuple) and isinstance(case[0], dict)
        needed, value = case if paired else ({}, case)
        before = called(function, {**base, **needed})
        assert before[0] == "fine" or name in HELP, before
        after = called(function, {**base, **needed, name: value})
        assert before != after, f"{name} is ignored"
    for name in set(parameters) & set(COMPUTE):
        assert called(function, base) == called(function, {**base, name: COMPUTE[name]})


def test_every_function_has_cases():
    assert set(public()) == set(CASES) | APART


@pytest.mark.parametrize("name", CASES)
def test_an_argument_changes_what_comes(name, folder):
    module, _, last = name.rpartition(".")
    check(getattr(import_module(f"franet.{module}"), last), *CASES[name])


@pytest.mark.parametrize("name", METHODS)
def test_an_argument_of_a_method_changes_what_comes(name, folder):
    function, base, values = METHODS[name]
    if name == "network.communities":
        pytest.importorskip("networkit")
        assert set(inspect.signature(function).parameters) == set(values)
        # A seed is always accepted; of so few features it rarely matters.
        assert called(function, {**base, "random_state": 1})[0] == "fine"
        for key in ("method", "resolution"):
            assert called(function, base) != called(
                function, {**base, key: values[key]}
            )
        return
    check(function, base, values)


def short(value):
    """Return the name of a case."""
    return value if isinstance(value, str) else "-".join(value)


REFUSED = [
    ("evaluation.make_folds", {"folds": "paper", "n_examples": 20, "repeats": 2}),
    (
        "evaluation.make_folds",
        {"folds": [([0, 1], [2])], "n_examples": 3, "repeats": 2},
    ),
    ("evaluation.evaluate", {"X": X, "folds": "paper", "repeats": 2}),
    ("evaluation.evaluate", {"X": X, "y": Y, "measures": "rmae"}),
    (
        "plotting.plot_critical_difference",
        {"scores": [1.5, 2.0, 2.5], "n_sets": 9, "lower_is_better": False},
    ),
    ("anndata.rank_features", {"adata": adata, "n_top": 3, "ranker": Variance(5)}),
    ("io.read_table", {"path": "x.npy", "header": True}),
    ("io.read_table", {"path": "x.csv", "variable": "a"}),
]
NAMES = {
    "evaluation.make_folds": ["folds", "repeats"],
    "evaluation.evaluate": [],
    "plotting.plot_critical_difference": ["scores", "lower_is_better"],
    "anndata.rank_features": ["n_top", "ranker", "n_features_to_select"],
    "io.read_table": [],
}


@pytest.mark.parametrize(("name", "given"), REFUSED, ids=short)
def test_what_cannot_apply_is_an_error_that_names_both(name, given, folder):
    module, _, last = name.rpartition(".")
    kind, message, *_ = called(getattr(import_module(f"franet.{module}"), last), given)
    assert kind == "error", "it was ignored"
    assert "\n" not in message
    asked = NAMES[name] or [key for key in given if key not in ("X", "path", "rankers")]
    for key in asked:
        assert key.replace("_", "-") in message or key in message, message


def test_resolution_is_for_modularity():
    for net, method in ((PAPER.network_, "components"), (COVER.network_, "auto")):
        with pytest.raises(ValueError, match=r"resolution=2\.0 applies with method="):
            net.communities(method, resolution=2.0)


def test_atomic_write_and_reports(folder):
    from franet.io import atomic_write
    from franet.report import render, summarize, write

    assert list(inspect.signature(atomic_write).parameters) == ["path", "force", "mode"]
    with pytest.raises(ValueError, match="there"), atomic_write("there.csv"):
        pass
    with atomic_write("there.csv", force=True, mode="wb") as file:
        file.write(b"new")
    assert (folder / "there.csv").read_bytes() == b"new"
    one, two = (summarize(ranker, X) for ranker in (PAPER, COVER))
    assert list(inspect.signature(write).parameters) == ["summary", "path", "force"]
    assert list(inspect.signature(render).parameters) == ["summary"]
    with pytest.raises(ValueError, match="there"):
        write(one, "there.json")
    texts = []
    for summary in (one, two):
        write(summary, "there.json", force=True)
        texts.append((folder / "there.json").read_text())
    assert texts[0] != texts[1]
    assert render(one) != render(two)


RUN = {
    "datasets": ["small"],
    "rankers": {"noisy": Noisy(random_state=0)},
    "folds": [(np.arange(10), np.arange(10, 20))],
    "load": load,
}
RUNS = {
    "datasets": ["other"],
    "rankers": {"by column": ByColumn()},
    "out": "elsewhere",
    "folds": 2,
    "repeats": ({"folds": 2}, 2),
    "seed": ({"folds": 2}, 1),
    "n_features": [1],
    "measures": "rmae",
    "fold_numbers": ({"folds": 2}, [0]),
    "retry_failed": ({"rankers": {"raising": Raising()}}, True),
    "skip_missing": ({"datasets": ["small", "missing"]}, True),
    "load": load_other,
    "listener": HEARD.append,
    # Without `n_jobs` it is used: tests/evaluation/test_runner.py.
    "client": SimpleNamespace(nthreads=dict),
}


def measured(given, folder):
    """Return what a run finds, the second time in a folder."""
    HEARD.clear()
    given = {**RUN, "n_jobs": 1, "out": "here", **given}
    given["out"] = folder / given["out"]
    try:
        run(**given)
        again = run(**given)
    except ValueError as err:
        return str(err)
    found = [
        [r.dataset, r.fold, r.ranker, r.status, r.top, r.values]
        for r in ResultsStore.read(given["out"])
    ]
    return found, again.skipped, bool(HEARD), (folder / "elsewhere").exists()


def test_run_has_cases_for_all_arguments():
    assert set(inspect.signature(run).parameters) | {"lazy"} == set(RUNS) | set(COMPUTE)


@pytest.mark.parametrize("name", [*RUNS, *sorted({*COMPUTE} - {"lazy"})])
def test_an_argument_of_run(name, tmp_path, quick_workers):
    case = RUNS.get(name, COMPUTE.get(name))
    needed, value = case if isinstance(case, tuple) else ({}, case)
    before = measured(needed, tmp_path / "before")
    after = measured({**needed, name: value}, tmp_path / "after")
    if name in COMPUTE:
        assert before == after
    else:
        assert before != after


def test_run_refuses_repeats_of_given_folds(tmp_path):
    with pytest.raises(ValueError, match=r"repeats=2 applies where folds is a number"):
        run(**{**RUN, "folds": "paper", "repeats": 2}, out=tmp_path / "out", n_jobs=1)
