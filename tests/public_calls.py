"""Every public call, and what it changes in the process; run as a script.

Libraries are loaded where a user's call loads them: within the call that is measured.
Those that franet requires are loaded before: what they do then is their own.
"""

from __future__ import annotations

import gc
import inspect
import json
import locale
import logging
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from importlib import import_module
from pathlib import Path

import joblib  # noqa: F401
import matplotlib
import numba
import numpy as np
import pandas as pd
import sklearn
import sklearn.base
import threadpoolctl
from scipy import special, stats  # noqa: F401

PAGE = Path(__file__).parent.parent / "docs" / "api" / "index.rst"
MODULES = re.findall(r"^\.\. currentmodule:: (\S+)", PAGE.read_text("utf-8"), re.M)


def state():
    """Return the settings of the process, in comparable form."""
    root = logging.getLogger()
    loggers = {
        name: (logger.level, list(logger.handlers), logger.propagate, logger.disabled)
        for name, logger in logging.Logger.manager.loggerDict.items()
        if name.startswith("franet") and isinstance(logger, logging.Logger)
    }
    libraries = threadpoolctl.threadpool_info()
    found = {
        "matplotlib settings": dict(matplotlib.rcParams.copy()),
        "warning filters": list(warnings.filters),
        "warning functions": (warnings.showwarning, warnings.formatwarning),
        "root logger": (root.level, list(root.handlers), root.manager.disable),
        "franet's loggers": loggers,
        "random": random.getstate(),
        "NumPy's random state": repr(np.random.get_state(legacy=False)),  # noqa: NPY002
        "environment": dict(os.environ),
        "signal handlers": {s: signal.getsignal(s) for s in signal.valid_signals()},
        "locale": locale.setlocale(locale.LC_ALL),
        "folder": Path.cwd(),
        "sys.path": list(sys.path),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook),
        "thread hooks": (threading.excepthook, threading.gettrace()),
        "streams": [(s, s.errors) for s in (sys.stdout, sys.stderr)],
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled()),
        "NumPy's errors": np.geterr(),
        "NumPy's printing": np.get_printoptions(),
        # pandas has no public list of its options.
        "pandas options": str(pd._config.config._global_config),
        "scikit-learn settings": sklearn.get_config(),
        "numba threads": numba.get_num_threads(),
        # Not those of OpenMP: torch sets them once, when it first computes.
        **{
            f"threads of {it['filepath']}": it["num_threads"]
            for it in libraries
            if it["user_api"] == "blas"
        },
    }
    if (torch := sys.modules.get("torch")) is not None:
        found["torch"] = (
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.is_grad_enabled(),
            torch.are_deterministic_algorithms_enabled(),
            torch.get_rng_state().tolist(),
        )
    if (networkit := sys.modules.get("networkit")) is not None:
        found["networkit threads"] = networkit.getMaxNumberOfThreads()
    if (anndata := sys.modules.get("anndata")) is not None:
        found["anndata settings"] = str(anndata.settings)
    return found


def public():
    """Return the names of all public functions, methods and properties."""
    names = set()
    for module in map(import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and not issubclass(thing, Exception):
                names.update(members(thing))
            elif inspect.isroutine(thing):
                names.add(f"{module.__name__}.{name}")
    return names


def members(cls):
    """Yield the names of the methods and properties that franet defines."""
    for name, value in inspect.getmembers(cls):
        function = getattr(value, "fget", value)
        ours = getattr(function, "__module__", None) or ""
        if not name.startswith("_") and ours.startswith("franet"):
            yield function.__qualname__


CASES = {}


def case(*names):
    """Register a function as a call of what is named."""

    def add(function):
        CASES[names] = function
        return function

    return add


RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))[:, np.arange(9) % 3] + 0.4 * RNG.normal(size=(24, 9))
SCORES = RNG.normal(size=(8, 3))
FOLDS = RNG.normal(0.5, 0.01, (2, 6, 5))
FOLDER = Path(tempfile.mkdtemp())
MADE = {}


@case(*(f"franet.quality.{n}" for n in "rqh gini coefficient_of_variation".split()))
def quality():
    from franet import quality

    for name in ("rqh", "gini", "coefficient_of_variation"):
        getattr(quality, name)(np.array([1.0, 2.0, 3.0]))


@case("franet.quality.entropy_gap")
def entropy_gap():
    from franet.quality import entropy_gap

    entropy_gap(np.array([1.0, 2.0, 3.0]))


@case("franet.io.write_table", "franet.io.read_table", "franet.io.check_target")
def tables():
    import scipy.io
    import scipy.sparse

    from franet.io import check_target, read_table, write_table

    columns = {f"x{j}": X[:, j] for j in range(9)}
    check_target(FOLDER / "t.csv")
    for ending in ("csv", "tsv", "parquet", "json"):
        write_table(columns, FOLDER / f"t.{ending}")
    (FOLDER / "gaps.csv").write_text("a,b\n1,\n2,3\nNA,4\n")
    np.save(FOLDER / "t.npy", X)
    scipy.io.savemat(FOLDER / "t.mat", {"X": X})
    scipy.io.mmwrite(FOLDER / "t.mtx", scipy.sparse.coo_array(X))
    rows = (" ".join(f"{j}:{v}" for j, v in enumerate(row, 1)) for row in X.tolist())
    (FOLDER / "t.libsvm").write_text("".join(f"0 {row}\n" for row in rows))
    (FOLDER / "t.arff").write_text("@relation t\n@attribute a real\n@data\n1\n2\n")
    for ending in ("csv", "tsv", "parquet", "npy", "mat", "mtx", "libsvm", "arff"):
        assert read_table(FOLDER / f"t.{ending}").X.shape[0] in (2, 24)
    assert read_table(FOLDER / "gaps.csv").X.shape == (3, 2)


@case("franet.io.read_table of stores")
def stores():
    from franet.io import read_table

    code = (
        "import sys, h5py, zarr, anndata, numpy as np; X = np.load(sys.argv[1]);"
        "h5py.File(sys.argv[2] + '/t.h5', 'w').create_dataset('X', data=X);"
        "zarr.save(sys.argv[2] + '/t.zarr', X);"
        "anndata.AnnData(X).write_h5ad(sys.argv[2] + '/t.h5ad')"
    )
    written = [sys.executable, "-c", code, str(FOLDER / "t.npy"), str(FOLDER)]
    subprocess.run(written, check=True)
    for ending in ("h5", "zarr", "h5ad"):
        assert read_table(FOLDER / f"t.{ending}").X.shape == (24, 9)
        assert read_table(FOLDER / f"t.{ending}", lazy=1).X.shape == (24, 9)


@case("franet.io.atomic_write")
def atomic_write():
    from franet.io import atomic_write

    with atomic_write(FOLDER / "text.txt") as file:
        file.write("text")


@case("franet.groups_by_distance")
def groups_by_distance():
    from franet import groups_by_distance

    groups_by_distance(X[:, :2], 0.5)


@case("FRANe.plan", "Cover.plan", "FeatureRanker.fit", "FeatureSelector.transform")
def frane():
    from franet import Cover, FRANe

    MADE["ranker"] = ranker = FRANe(n_features_to_select=3).fit(X)
    ranker.plan(X)
    MADE["selected"] = ranker.transform(X)
    MADE["cover"] = Cover(n_features_to_select=3).fit(X)
    MADE["cover"].plan(X)


@case("RidgeReconstruction.fit", "RidgeReconstruction.predict")
def ridge():
    from franet.evaluation import RidgeReconstruction

    RidgeReconstruction([0, 1]).fit(X).predict(X[:, :2])


@case("FRANe on torch")
def on_torch():
    from franet import Cover, FRANe

    if import_module("importlib.util").find_spec("torch") is not None:
        FRANe(backend="torch").fit(X)
        Cover(backend="torch").fit(X)


@case("FRANe of mixed columns, approximate, on disk")
def kinds():
    from franet import FRANe

    letters = pd.Categorical(list("abc" * 8))
    FRANe(similarity="mixed").fit(
        pd.DataFrame(X[:, :4], columns=list("abcd")).assign(k=letters)
    )
    FRANe(search="approximate", random_state=0).fit(X)
    FRANe(missing="pairwise").fit(np.where(X > 1.5, np.nan, X))
    FRANe().fit(np.load(FOLDER / "t.npy", mmap_mode="r"))


@case(
    "franet.drop_correlated",
    "DropCorrelated.fit",
    *(f"CorrelatedColumns.{n}" for n in "columns dropped groups kept_names".split()),
    *(f"CorrelatedColumns.{n}" for n in "lines named report summary symbol".split()),
    *(f"CorrelatedColumns.{n}" for n in "to_frame transform".split()),
    "franet.report.summarize_groups",
)
def prune():
    from franet import DropCorrelated, drop_correlated
    from franet.report import summarize_groups

    found = drop_correlated(X, 0.8, exact=True).named(list("abcdefghi"))
    DropCorrelated(similarity="spearman").fit_transform(X)
    for part in ("dropped", "groups", "kept_names", "symbol"):
        getattr(found, part)
    for part in ("columns", "lines", "summary"):
        getattr(found, part)()
    for library in ("pandas", "polars"):
        found.to_frame(library)
    found.transform(X)
    found._repr_html_()
    found.report(FOLDER / "groups.html")
    summarize_groups(found)


@case(
    "franet.cover._represent.Representatives",
    *(
        f"Cover.{n}"
        for n in (
            "explained_by_components",
            "inverse_transform",
            "reconstruct",
            "represent",
            "sentences",
            "suggest",
            "summary",
        )
    ),
)
def explained():
    ranker = MADE["cover"]
    ranker.explained_by_components(X, 2)
    part = X[:, ranker.support_]
    ranker.inverse_transform(part)
    ranker.reconstruct(part)
    ranker.represent(1)
    ranker.sentences()
    ranker.suggest(0.5)
    ranker.summary()


@case("FeatureSelector.inverse_transform", "FeatureRanker.feature_importances_")
def inverse_transform():
    MADE["ranker"].inverse_transform(MADE["selected"])
    _ = MADE["ranker"].feature_importances_


@case("FeatureRanker.score")
def score():
    MADE["ranker"].score(X)


@case("StabilityMixin.stability")
def stability():
    MADE["ranker"].stability(X, n_halves=4)


@case("AttributeNetwork.communities", "Communities.members")
def communities():
    network = MADE["ranker"].network_
    for method in ("leiden", "louvain", "components"):
        network.communities(method).members(0)


@case(
    "AttributeNetwork.neighbors",
    "AttributeNetwork.explain",
    "AttributeNetwork.redundant_with",
    *(f"Neighbors.{n}" for n in "correlation indices names ranks scores".split()),
    "Neighbors.similarity",
)
def neighbors():
    for name in ("ranker", "cover"):
        network = MADE[name].network_
        network.redundant_with()
        str(network.explain(0))
        found = network.neighbors(0)
        for part in ("correlation", "indices", "names", "ranks", "scores"):
            getattr(found, part)
        _ = found.similarity


@case("AttributeNetwork.at", "AttributeNetwork.subgraph", "AttributeNetwork.to_scipy")
def parts():
    network = MADE["ranker"].network_
    network.at(network.threshold, X)
    network.subgraph([0, 1, 2])
    network.to_scipy()
    network._repr_html_()


@case(*(f"AttributeNetwork.to_{n}" for n in ("networkx", "igraph", "pandas_edges")))
def conversions():
    network = MADE["ranker"].network_
    network.to_networkx()
    network.to_igraph()
    network.to_pandas_edges()


@case("AttributeNetwork.write")
def write_network():
    for ending in ("graphml", "gexf", "json", "csv"):
        MADE["ranker"].network_.write(FOLDER / f"network.{ending}")


@case(
    *(
        f"Representation.{n}"
        for n in "between of represented_by representatives".split()
    )
)
def representation():
    found = MADE["cover"].network_.representation
    first = int(found.representatives[0])
    found.represented_by(first)
    found.between(np.array([first]), np.array([first]))
    found.of(np.arange(9))


@case("franet.network.layout")
def layout():
    from franet.network import layout

    layout(MADE["ranker"].network_)


@case("franet.rankers.get")
def get():
    from franet import rankers
    from quick_rankers import quick

    for name in rankers.NAMES:
        quick(name).fit(X)
    for _ in range(10):  # the threads of its trees have raced for warning filters
        quick("genie3", n_jobs=2).fit(X)
    if import_module("importlib.util").find_spec("torch") is not None:
        quick("agnos", backend="torch").fit(X)


@case("franet.anndata.rank_features")
def anndata():
    from franet.anndata import rank_features

    read = import_module("franet._common.optional").require("anndata", "", "").read_h5ad
    rank_features(read(FOLDER / "t.h5ad"))


@case("franet.report.check_installed", "franet.report.check_report")
def check_report():
    from franet.report import check_installed, check_report

    check_installed()
    check_report(FOLDER / "page.html")


@case("franet.report.summarize", "franet.report.render", "franet.report.write")
def report():
    from franet.report import render, summarize, write

    for name in ("ranker", "cover"):
        render(summarize(MADE[name], X))
    write(summarize(MADE["ranker"], X), FOLDER / "page.html")


@case("FeatureRanker.to_frame")
def to_frame():
    for library in ("pandas", "polars"):
        MADE["cover"].to_frame(library)


@case("FeatureRanker.report")
def method_report():
    MADE["ranker"].report(FOLDER / "page-2.html", X)


@case("Progress.setup", "Progress.teardown")
@case("Progress.on_fit_task_begin", "Progress.on_fit_task_end")
def progress():
    from franet import FRANe
    from franet.callbacks import Progress

    FRANe().set_callbacks(Progress()).fit(X)
    FRANe().set_callbacks(Progress(lambda *step: None)).fit(X)


@case(*(f"franet.evaluation.{n}_folds" for n in ("make", "paper", "shuffled")))
def folds():
    from franet.evaluation import make_folds, paper_folds, shuffled_folds

    make_folds(3, 24)
    paper_folds(24)
    shuffled_folds(24)


@case(
    "franet.evaluation.judge_panel",
    "franet.report.summarize_panel",
    "PanelJudgement.sentences",
    "Labels.mixed",
)
def panel():
    from franet import Cover
    from franet.evaluation import judge_panel
    from franet.report import summarize_panel

    cover, labels = Cover(3).fit(X), X[:, 0] > 0
    judged = judge_panel(X, cover.order_[:3], labels)
    judged.sentences()
    judged.labels.mixed  # noqa: B018
    summarize_panel(cover, X, judged, labels=labels)


@case("franet.evaluation.evaluate", "franet.evaluation.reconstruction")
def evaluate():
    from franet.evaluation import evaluate, reconstruction
    from franet.rankers import Variance

    reconstruction(MADE["ranker"], X)
    given = {"variance": Variance(3), "frane": MADE["ranker"]}
    classes = np.arange(24) % 2
    MADE["results"] = evaluate(X, classes, rankers=given, n_features=[1, 2], folds=3)


@case("franet.evaluation.run")
def run():
    from evaluation.bad_rankers import ByColumn, load
    from franet.evaluation import run

    given = {"by column": ByColumn()}
    halves = [(np.arange(10), np.arange(10, 20))]
    summary = run(
        ["a"], given, FOLDER / "store", folds=halves, n_features=[2], measures="rmae",
        n_jobs=1, load=load,
    )  # fmt: skip
    assert summary.measured == 1


STORE = "append append_run close read read_runs records unfinished"


@case(*(f"ResultsStore.{name}" for name in STORE.split()))
def store():
    from franet.evaluation import ResultsStore

    with ResultsStore(FOLDER / "other-store") as store:
        store.append(ResultsStore.read(FOLDER / "store")[0])
        store.append_run(ResultsStore.read_runs(FOLDER / "store")[0])
        assert len(store.records) == 1
        assert not store.unfinished
    store.close()


@case(*(f"Record.{n}" for n in "from_json key rows to_json".split()))
def record():
    first = MADE["results"].records[0]
    _ = first.key
    list(first.rows())
    type(first).from_json(first.to_json())


@case(
    *(
        f"Results.{n}"
        for n in "curve has lead measure name_of of overlap plot_curves".split()
    ),
    *(f"Results.{n}" for n in "scores stability table to_pandas values".split()),
    *(f"Results.{n}" for n in "recommend rows".split()),
    "Results.verdicts",
)
def results():
    found = MADE["results"]
    found.curve("frane")
    found.has("table", "frane")
    found.lead()
    found.measure()
    found.name_of(found.records[0])
    found.of("table", "frane")
    found.overlap("table", "frane")
    found.plot_curves()
    found.recommend()
    list(found.rows())
    found.scores("frane", at=2)
    found.stability("frane", at=2)
    found.table(at=2)
    found.to_pandas()
    found.values("table", "frane", at=2)
    found.verdicts(at=2)


STATISTICS = "average_ranks ranks wins friedman nemenyi bonferroni_dunn".split()


@case(*(f"franet.evaluation.statistics.{n}" for n in STATISTICS), "PostHoc.groups")
def statistics():
    from franet.evaluation import statistics

    for name in STATISTICS[:-1]:
        getattr(statistics, name)(SCORES)
    statistics.bonferroni_dunn(SCORES, 0)
    statistics.nemenyi(SCORES).groups()


@case(*(f"franet.evaluation.statistics.{n}" for n in ("r_hat", "effective_size")))
def diagnostics():
    from franet.evaluation.statistics import effective_size, r_hat

    draws = np.random.default_rng(0).normal(size=(4, 50))
    r_hat(draws)
    effective_size(draws)


@case("franet.evaluation.statistics.correlated_t_test")
def correlated_t_test():
    from franet.evaluation.statistics import correlated_t_test

    correlated_t_test(FOLDS[0, 0], FOLDS[1, 0])


@case("franet.evaluation.statistics.hierarchical", "franet.evaluation.compare")
@case("Comparison.next_set", "Comparison.summary", "Comparison.plot")
def hierarchical():
    from franet.evaluation import compare
    from franet.evaluation.statistics import hierarchical

    few = {"n_draws": 800, "n_chains": 4, "n_warmup": 100}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)  # draws are few
        hierarchical(*FOLDS, **few)
        names = [f"set {i}" for i in range(6)]
        scores = [dict(zip(names, part, strict=True)) for part in FOLDS]
        MADE["comparison"] = compared = compare(*scores, **few)
    _ = compared.next_set
    compared.summary()
    compared.plot()


PLOTS = "network quality scores similarity explained".split()


@case(*(f"franet.plotting.plot_{n}" for n in PLOTS))
def plots():
    from franet import plotting

    for name in PLOTS[:-1]:
        getattr(plotting, f"plot_{name}")(MADE["ranker"])
    plotting.plot_explained(MADE["cover"])


@case(*(f"franet.plotting.plot_{n}" for n in ("curves", "critical_difference")))
@case("franet.plotting.plot_simplex")
def statistics_plots():
    from franet import plotting

    plotting.plot_curves(MADE["results"], "table")
    plotting.plot_critical_difference(SCORES, list("abc"))
    plotting.plot_simplex(MADE["comparison"])


@case(*(f"franet.datasets.{n}" for n in "cache_folder find get names".split()))
@case("Entry.filenames", "Entry.in_paper")
def known():
    from franet import datasets

    datasets.cache_folder()
    datasets.names()
    datasets.find("colon")
    entry = datasets.get("colon")
    _ = entry.filenames, entry.in_paper


@case("franet.datasets.fetch", "franet.datasets.load")
def fetch():
    from datasets.served import entry, serving
    from franet import datasets

    with serving() as server:
        datasets.DATASETS["tiny-set"] = entry(server.url)
        datasets.fetch("tiny-set")
        datasets.load("tiny-set")


@case("franet.datasets.make_groups")
def synthetic():
    from franet.datasets import make_groups

    make_groups(random_state=0)


@case("FRANe on Dask")
def on_dask():
    from franet import FRANe

    code = (
        "from distributed import LocalCluster\n"
        "with LocalCluster(n_workers=1, processes=False, protocol='tcp',"
        " dashboard_address=':0') as cluster:\n"
        "    print(cluster.scheduler_address, flush=True)\n"
        "    input()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as cluster:
        address = cluster.stdout.readline().strip()
        FRANe(backend=address, n_thresholds=8).fit(X)
        cluster.communicate("\n")


def measure(name, call):
    """Call it, and print what changed."""
    before = state()
    call()
    after = state()
    # A library that is loaded in between has no state before.
    changed = [key for key in before if before[key] != after[key]]
    sys.stdout.write(json.dumps({"names": name, "changed": changed}) + "\n")


def main():
    matplotlib.use("agg")
    for module in MODULES:
        measure([module], lambda module=module: import_module(module))
    for names, call in CASES.items():
        measure(list(names), call)
    sys.stdout.write(json.dumps({"public": sorted(public())}) + "\n")


if __name__ == "__main__":
    main()
