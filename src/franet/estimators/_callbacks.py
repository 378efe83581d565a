"""What a fit tells the callbacks of scikit-learn 1.9, and those of older versions.

A ranker has scikit-learn's ``CallbackSupportMixin`` where there is one, and otherwise
`OlderCallbacks`, which follows the same protocol. Inside a fit the reports of
`franet._common.progress` become tasks: a task for each stage, and in it one for each
step.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Self

from franet._common.progress import Listener, current_listener, listening

# The most steps of a stage: a callback is told of each, and a stage may have millions.
_STEPS = 100
_HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")


@dataclass(eq=False)
class OlderContext:
    """A task of a fit, with those attributes of scikit-learn 1.9 that callbacks use.

    Attributes
    ----------
    task_name : str
        What is done.
    max_subtasks : int or None
        How many tasks it may have; None: not known, 0: none.
    parent : OlderContext, default=None
        The task that this is a part of.
    task_id : int
        Which task of its parent it is, from 0 on.
    """

    task_name: str
    max_subtasks: int | None
    parent: OlderContext | None = None
    task_id: int = 0
    _begun: int = 0

    def subcontext(
        self, task_name: str = "", max_subtasks: int | None = 0
    ) -> OlderContext:
        """Return the next task of this one."""
        self._begun += 1
        return OlderContext(task_name, max_subtasks, self, self._begun - 1)

    def call_on_fit_task_begin(self, *, estimator: Any, **given: Any) -> OlderContext:
        """Tell the callbacks that the task begins."""
        self._call("on_fit_task_begin", estimator, given)
        return self

    def call_on_fit_task_end(self, *, estimator: Any, **given: Any) -> bool:
        """Tell the callbacks that the task ends; return whether one wants to stop."""
        if given.pop("reconstruction_attributes", None) is not None:
            given["fitted_estimator"] = estimator
        return self._call("on_fit_task_end", estimator, given)

    def _call(self, hook: str, estimator: Any, given: dict[str, Any]) -> bool:
        wishes = []
        for callback in getattr(estimator, "_skl_callbacks", []):
            call = getattr(callback, hook)
            wanted = inspect.getfullargspec(call).kwonlyargs
            wishes.append(call(estimator, self, **{w: given.get(w) for w in wanted}))
        return any(wishes)


class OlderCallbacks:
    """Callbacks for scikit-learn before 1.9, in its manner.

    They are set on the ranker itself: older pipelines and searches do not hand
    callbacks on to their parts. Clones share them.
    """

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks that `fit` tells of its progress.

        Parameters
        ----------
        *callbacks : object
            With the methods ``setup``, ``on_fit_task_begin``, ``on_fit_task_end`` and
            ``teardown``; none takes all callbacks away.

        Returns
        -------
        self : object
            The ranker.
        """
        for callback in callbacks:
            if isinstance(callback, type) or not all(
                callable(getattr(callback, hook, None)) for hook in _HOOKS
            ):
                # scikit-learn raises a TypeError here, too.
                raise TypeError(
                    f"{callback!r} is no callback: it must be an object with the "
                    f"methods {', '.join(_HOOKS)}."
                )
        # Without any the attribute is not there, as in scikit-learn.
        self.__dict__.pop("_skl_callbacks", None)
        if callbacks:
            self._skl_callbacks = list(callbacks)
        return self

    def _init_callback_context(self, max_subtasks: int | None) -> OlderContext:
        return OlderContext("fit", max_subtasks)

    def __sklearn_clone__(self) -> Any:
        fresh: Any = super().__sklearn_clone__()  # type: ignore[misc]
        if hasattr(self, "_skl_callbacks"):
            fresh._skl_callbacks = self._skl_callbacks
        return fresh


try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:
    CallbackSupportMixin = OlderCallbacks


class _Stages:
    """A listener that makes tasks of reports, and hands them on to another listener."""

    def __init__(self, estimator: Any, context: Any, outer: Listener | None) -> None:
        self._estimator = estimator
        self._context = context
        self._outer = outer
        self._name = ""
        self._stage: Any = None
        self._steps = self._taken = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._outer is not None:
            self._outer(stage, done, total)
        reached = done * self._steps // max(total, 1)
        if self._stage is None or stage != self._name or reached < self._taken:
            self.close()
            self._open(stage, total)
            reached = done * self._steps // max(total, 1)
        for _ in range(self._taken, min(reached, self._steps)):
            step = self._stage.subcontext(task_name=stage)
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)
            self._taken += 1
        if done >= total:
            self.close()

    def _open(self, stage: str, total: int) -> None:
        self._name, self._taken = stage, 0
        self._steps = max(1, min(total, _STEPS))
        self._stage = self._context.subcontext(
            task_name=stage, max_subtasks=self._steps
        )
        self._stage.call_on_fit_task_begin(estimator=self._estimator)

    def close(self) -> None:
        """End the stage that is under way, if one is."""
        stage, self._stage = self._stage, None
        if stage is not None:
            stage.call_on_fit_task_end(estimator=self._estimator)


@contextmanager
def telling(estimator: Any, X: Any, y: Any) -> Iterator[None]:
    """Tell the callbacks of an estimator what happens inside the block, a fit.

    Parameters
    ----------
    estimator : object
        The ranker, with `CallbackSupportMixin`.
    X, y : object
        What it is fitted to.

    Yields
    ------
    None
        Nothing.
    """
    with ExitStack() as leave:
        # How many stages there will be depends on what the first ones find.
        context = estimator._init_callback_context(max_subtasks=None)
        callbacks = getattr(estimator, "_skl_callbacks", [])
        if isinstance(estimator, OlderCallbacks):
            # From 1.9 on scikit-learn does this, around fit.
            for callback in callbacks:
                leave.callback(callback.teardown, estimator, context)
                callback.setup(estimator, context)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        stages = _Stages(estimator, context, current_listener())
        with listening(stages if callbacks else None):
            yield
        stages.close()
        # The estimator is fitted as it stands: nothing is to be added.
        context.call_on_fit_task_end(
            estimator=estimator, X=X, y=y, reconstruction_attributes={}
        )
