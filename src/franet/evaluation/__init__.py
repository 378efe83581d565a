"""How good a ranking is: folds, measures, curves, comparisons, and a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from franet.evaluation import statistics
    from franet.evaluation._evaluate import evaluate, reconstruction
    from franet.evaluation.folds import make_folds, paper_folds, shuffled_folds
    from franet.evaluation.measures import MEASURES
    from franet.evaluation.records import Record
    from franet.evaluation.results import Results, compare
    from franet.evaluation.runner import run
    from franet.evaluation.store import ResultsStore

__all__ = [
    "MEASURES",
    "Record",
    "Results",
    "ResultsStore",
    "compare",
    "evaluate",
    "make_folds",
    "paper_folds",
    "reconstruction",
    "run",
    "shuffled_folds",
    "statistics",
]

_HOME = {
    "MEASURES": "measures",
    "Record": "records",
    "Results": "results",
    "ResultsStore": "store",
    "compare": "results",
    "evaluate": "_evaluate",
    "make_folds": "folds",
    "paper_folds": "folds",
    "reconstruction": "_evaluate",
    "run": "runner",
    "shuffled_folds": "folds",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'franet.evaluation' has no attribute {name!r}")
    from importlib import import_module

    if name not in _HOME:
        return import_module(f"franet.evaluation.{name}")
    return getattr(import_module(f"franet.evaluation.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
