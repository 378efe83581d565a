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
    from franet import FRANe
    from franet.rankers import NAMES, get

    for ranker in [FRANe, *(get(name) for name in NAMES)]:
        signature = getattr(ranker, "__init__", ranker)
        names = [n for n in inspect.signature(signature).parameters if n != "self"]
        kind = getattr(ranker, "__name__", "cover")

        def fit(given: dict[str, Any], ranker: Any = ranker) -> Any:
            table = given.pop("X", X)
            return ranker(**given).fit(table)

        yield from tried(kind, fit, [*names, "X"], {})


def _functions(folder: Path) -> list[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Return public functions, with arguments that are right."""
    from franet import io

    table, out = folder / "x.npy", folder / "out.csv"
    np.save(table, X)
    columns = {"columns": {"a": [1]}, "path": out, "force": True}
    return [
        ("read_table", io.read_table, {"path": table}),
        ("write_table", io.write_table, columns),
        ("check_target", io.check_target, {"path": out, "force": True}),
    ]


def of_functions() -> Iterator[tuple[str, str | None]]:
    """Yield the cases of functions."""
    with tempfile.TemporaryDirectory() as name:
        for what, function, base in _functions(Path(name)):
            names = [
                each
                for each, parameter in inspect.signature(function).parameters.items()
                if parameter.kind is not parameter.VAR_KEYWORD
            ]
            yield from tried(
                what, lambda given, function=function: function(**given), names, base
            )


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
