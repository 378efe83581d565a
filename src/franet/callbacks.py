"""Callbacks for rankers, with any version of scikit-learn.

scikit-learn 1.9 brings callbacks of its own, such as ``sklearn.callback.ProgressBar``;
rankers take those too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Progress"]


class Progress:
    """Report how far a fit is: as a bar, or by a function.

    Set it by ``ranker.set_callbacks(Progress())``. Unlike scikit-learn's progress bar
    it needs no version 1.9, and stays with the ranker on which it is set.

    Parameters
    ----------
    listener : callable, default=None
        Called as ``listener(stage, done, total)``: `done` of `total` steps of a stage
        are finished; a stage has at most 100 steps. None shows a bar on a terminal,
        once the fit has lasted a second.

    Examples
    --------
    >>> from franet.callbacks import Progress
    >>> from franet.rankers import Genie3
    >>> X = [[1, 0, 5], [2, 4, 1], [3, 9, 2], [1, 7, 4], [2, 3, 8]]
    >>> ranker = Genie3(n_estimators=2, random_state=0, n_jobs=1)
    >>> _ = ranker.set_callbacks(Progress(print)).fit(X)
    trees 1 2
    trees 2 2
    """

    def __init__(self, listener: Callable[[str, int, int], Any] | None = None) -> None:
        self.listener = listener
        self._bar: Any = None
        self._shown: Any = None

    def setup(self, estimator: Any, context: Any) -> None:
        """Get ready before a fit."""
        # A terminal shows the bar of one fit at a time.
        if self.listener is None and self._bar is None:
            from franet.cli._screen import ProgressBar

            self._bar, self._shown = ProgressBar().__enter__(), estimator

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: only what is done counts."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Report a step that is done."""
        stage = context.parent
        # Of the fit, its stages and their steps, the steps are the leaves.
        if context.max_subtasks != 0 or stage is None:
            return
        listener = self._bar if self.listener is None else self.listener
        if self.listener is not None or estimator is self._shown:
            listener(stage.task_name, context.task_id + 1, stage.max_subtasks)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Take the bar away after a fit."""
        if estimator is self._shown:
            self._bar.__exit__(None, None, None)
            self._bar = self._shown = None

    def __getstate__(self) -> dict[str, Any]:
        # A bar belongs to a terminal of this process.
        return {**vars(self), "_bar": None, "_shown": None}


def __dir__() -> list[str]:
    return sorted(__all__)
