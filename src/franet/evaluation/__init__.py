"""How good a ranking is: folds, measures, curves, comparisons, and a benchmark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from franet.evaluation import statistics
    from franet.evaluation._evaluate import evaluate, reconstruction
    from franet.evaluation._ridge import RidgeReconstruction
    from franet.evaluation.folds import make_folds, paper_folds, shuffled_folds
    from franet.evaluation.measures import MEASURES
    from franet.evaluation.panel import Labels, PanelJudgement, judge_panel
    from franet.evaluation.records import Record
    from franet.evaluation.results import Results, compare
    from franet.evaluation.runner import run
    from franet.evaluation.store import ResultsStore

__all__ = [
    "MEASURES",
    "Labels",
    "PanelJudgement",
    "Record",
    "Results",
    "ResultsStore",
    "RidgeReconstruction",
    "compare",
    "evaluate",
    "judge_panel",
    "make_folds",
    "paper_folds",
    "reconstruction",
    "run",
    "shuffled_folds",
    "statistics",
]

# Loaded on first use.
_HOME = {
    "_evaluate": ("evaluate", "reconstruction"),
    "_ridge": ("RidgeReconstruction",),
    "folds": ("make_folds", "paper_folds", "shuffled_folds"),
    "measures": ("MEASURES",),
    "panel": ("Labels", "PanelJudgement", "judge_panel"),
    "records": ("Record",),
    "results": ("Results", "compare"),
    "runner": ("run",),
    "store": ("ResultsStore",),
}


def __getattr__(name: str) -> Any:
    if name == "statistics":
        return import_module("franet.evaluation.statistics")
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"franet.evaluation.{module}"), name)
    raise AttributeError(f"module 'franet.evaluation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
