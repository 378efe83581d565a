"""Every public parameter with values of a wrong type, range or shape.

What comes of it is a fit, or an error that names the parameter in one line: never an
error from deep below.
"""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np

from reliability.plan import Row, Sizes

X = np.random.default_rng(0).normal(size=(12, 5))


class Strange:
    """An object of no use as any parameter."""

    def __repr__(self) -> str:
        return "Strange()"


WRONG: tuple[Any, ...] = (
    Strange(), "nonsense", "", b"bytes", -1, -1.5, 0, 1.5, float("nan"), float("inf"),
    1j, None, True, [], {}, [1, 2], ["a", "b"], {"a": 1}, (),
    np.zeros((1, 2)), np.array(["a"]),
)  # fmt: skip
# Where it is the table that is wrong.
TABLES: tuple[Any, ...] = (
    Strange(), "nonsense", None, 3, [], [[]], [1, 2], [["a", "b"], ["c", "d"]],
    np.zeros(3), np.zeros((2, 2, 2)), np.zeros((0, 3)), np.zeros((3, 0)),
    np.ones((1, 4)), np.ones((4, 1)), np.full((4, 3), np.nan), np.full((4, 3), np.inf),
    np.ones((4, 3)), np.zeros((3, 3), complex), np.array([[None, 1], [2, 3]], object),
    {"a": 1}, {1, 2}, [[1, 2], [3]], b"bytes",
)  # fmt: skip
_CLEAN = frozenset(
    "BackendError DataError InvalidParameterError MissingExtraError UsageError".split()
)


def judged(call: Callable[[], Any], name: str) -> str | None:
    """Return what is wrong with the outcome of a call."""
    try:
        call()
    except Exception as err:
        message, kind = str(err), type(err).__name__
        if "\n" in message.strip():
            return f"{kind} of several lines: {message[:100]!r}"
        if kind in _CLEAN:
            return None
        # scikit-learn wants TypeError and ValueError where one passes what it refuses.
        if isinstance(err, TypeError | ValueError) and name in message:
            return None
        return f"{kind}: {message[:150]}"
    return None


def tried(
    what: str, make: Callable[[dict[str, Any]], Any], names: list[str], base: dict
) -> Iterator[tuple[str, str | None]]:
    """Yield each case of a function and what is wrong with it."""
    for name in names:
        for value in TABLES if name == "X" else WRONG:
            given = {**base, name: value}
            wrong = judged(lambda given=given: make(given), name)
            yield f"{what}({name}={value!r})"[:90].replace("\n", " "), wrong


def of_estimators() -> Iterator[tuple[str, str | None]]:
    """Yield the cases of all rankers."""
    from franet.rankers import NAMES, get

    for ranker in map(get, NAMES):
        names = list(inspect.signature(ranker).parameters)

        def fit(given: dict[str, Any], ranker: Any = ranker) -> Any:
            table = given.pop("X", X)
            return ranker(**given).fit(table)

        yield from tried(ranker.__name__, fit, [*names, "X"], {})


Functions = list[tuple[str, Callable[..., Any], dict[str, Any]]]


def _of_files(folder: Path) -> Functions:
    """Return the functions that read and write, with arguments that are right."""
    from franet import io, report

    table, out = folder / "x.npy", folder / "out.csv"
    np.save(table, X)
    columns = {"columns": {"a": [1]}, "path": out, "force": True}
    page = {"path": folder / "page.html", "force": True}
    return [
        ("read_table", io.read_table, {"path": table}),
        ("write_table", io.write_table, columns),
        ("check_target", io.check_target, {"path": out, "force": True}),
        ("check_report", report.check_report, page),
    ]


def _of_rankings() -> Functions:
    """Return what can be asked of a ranking, with arguments that are right."""
    from franet import Cover, FRANe, plotting, rankers, report

    ranker = FRANe(n_features_to_select=2).fit(X)
    cover = Cover().fit(X)
    net = ranker.network_
    return [
        ("get", rankers.get, {"name": "frane"}),
        ("stability", ranker.stability, {"X": X, "n_halves": 2}),
        ("score", ranker.score, {"X": X}),
        ("summarize", report.summarize, {"ranker": ranker, "X": X}),
        ("network.at", net.at, {"threshold": 1.2, "X": X}),
        ("network.communities", net.communities, {}),
        ("network.explain", net.explain, {"feature": 0}),
        ("network.neighbors", net.neighbors, {"feature": 0}),
        ("network.subgraph", net.subgraph, {}),
        ("plot_explained", plotting.plot_explained, {"ranker": cover}),
        ("plot_network", plotting.plot_network, {"network": net}),
        ("plot_quality", plotting.plot_quality, {"ranker": ranker}),
        ("plot_scores", plotting.plot_scores, {"ranker": ranker}),
        ("plot_similarity", plotting.plot_similarity, {"ranker": ranker, "X": X}),
    ]


def _of_evaluations() -> Functions:
    """Return what judges rankings and makes tables, with arguments that are right."""
    from franet import datasets, evaluation

    rankers = {"rankers": "variance", "X": X, "folds": 3, "references": False}
    results = evaluation.evaluate(X, rankers="variance", folds=3, references=False)
    size = {"n_examples": 8, "n_groups": 2, "group_size": 3}
    return [
        ("evaluate", evaluation.evaluate, rankers),
        ("make_folds", evaluation.make_folds, {"folds": 3, "n_examples": 12}),
        ("paper_folds", evaluation.paper_folds, {"n_examples": 20}),
        ("shuffled_folds", evaluation.shuffled_folds, {"n_examples": 20}),
        ("results.recommend", results.recommend, {}),
        ("results.table", results.table, {"at": 2}),
        ("results.curve", results.curve, {"ranker": "variance"}),
        ("make_groups", datasets.make_groups, size),
        ("datasets.get", datasets.get, {"name": "colon"}),
        ("datasets.find", datasets.find, {"name": "colon"}),
        ("datasets.load", datasets.load, {"name": "colon", "download": False}),
        ("datasets.names", datasets.names, {}),
    ]


def of_functions() -> Iterator[tuple[str, str | None]]:
    """Yield the cases of functions."""
    import matplotlib.pyplot as plt

    with tempfile.TemporaryDirectory() as name:
        functions = [*_of_files(Path(name)), *_of_rankings(), *_of_evaluations()]
        for what, function, base in functions:
            names = [
                each
                for each, parameter in inspect.signature(function).parameters.items()
                if parameter.kind is not parameter.VAR_KEYWORD and each != "y"
            ]
            yield from tried(
                what, lambda given, function=function: function(**given), names, base
            )
            plt.close("all")


def run(sizes: Sizes, chosen: list[str] | None = None) -> Iterator[Row]:
    """Yield a row for rankers and one for functions."""
    parts = {"rankers": of_estimators, "functions": of_functions}
    for name in chosen or parts:
        findings, cases = [], 0
        # Any word is a fine name for a folder of checkpoints.
        with (
            tempfile.TemporaryDirectory() as folder,
            chdir(folder),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            for what, wrong in parts[name]():
                cases += 1
                if wrong is not None:
                    findings.append(f"{what}: {wrong}")
        note = "fits, or errors of one line that name the parameter"
        yield Row("parameters", name, cases, len(findings), note, tuple(findings))
