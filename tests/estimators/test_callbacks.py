"""What callbacks hear of a fit: those of scikit-learn 1.9, and the older way."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from franet import DataError, FRANe
from franet._common.progress import listening, report
from franet.callbacks import Progress
from franet.estimators._callbacks import OlderCallbacks, OlderContext, telling
from franet.rankers import NAMES, ColumnSubset
from quick_rankers import quick
from tables import TABLES

X = TABLES["random"]


class Recorder:
    """A callback that writes down what it hears."""

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.heard.append(("begin", context.task_name, context.max_subtasks))
        if context.parent is None:
            self.table = X

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.heard.append(("end", context.task_name, context.max_subtasks))
        if context.parent is None:
            self.fitted = fitted_estimator

    def teardown(self, estimator, context):
        self.heard.append(("teardown", context.task_name))

    def names(self, what):
        return [entry[1] for entry in self.heard if entry[0] == what]


class Work(OlderCallbacks, BaseEstimator):
    """An estimator with callbacks as before 1.9, whatever version is installed."""

    def __init__(self, reports=(), fails=False):
        self.reports = reports
        self.fails = fails

    def fit(self, X, y=None):
        with telling(self, X, y):
            for stage, done, total in self.reports:
                report(stage, done, total)
            if self.fails:
                raise DataError("no")
        return self


# Both ways must say the same of the same reports.
if issubclass(FRANe, OlderCallbacks):
    WAYS = [Work]
else:
    from sklearn.base import _fit_context
    from sklearn.callback import CallbackSupportMixin

    class NewerWork(CallbackSupportMixin, BaseEstimator):
        _parameter_constraints: dict = {}  # noqa: RUF012
        __init__ = Work.__init__
        fit = _fit_context(prefer_skip_nested_validation=True)(Work.fit)

    WAYS = [Work, NewerWork]
both = pytest.mark.parametrize("kind", WAYS)


@both
def test_stages_are_tasks_and_steps_are_tasks_in_them(kind):
    recorder = Recorder()
    reports = [("edges", 1, 2), ("edges", 2, 2), ("edges", 3, 3), ("ranks", 1, 4)]
    work = kind(reports).set_callbacks(recorder)
    assert work.fit(X) is work
    edges, ranks = ("edges", 0), ("ranks", 0)
    assert recorder.heard == [
        ("setup", "fit"),
        ("begin", "fit", None),
        ("begin", "edges", 2),
        *[(what, *edges) for _ in range(2) for what in ("begin", "end")],
        ("end", "edges", 2),
        # The same stage once more, all at once.
        ("begin", "edges", 3),
        *[(what, *edges) for _ in range(3) for what in ("begin", "end")],
        ("end", "edges", 3),
        # A stage that stops early ends with the fit.
        ("begin", "ranks", 4),
        ("begin", *ranks),
        ("end", *ranks),
        ("end", "ranks", 4),
        ("end", "fit", None),
        ("teardown", "fit"),
    ]
    assert recorder.table is X
    assert recorder.fitted.reports is reports


@both
def test_no_stage_has_more_than_a_hundred_steps(kind):
    recorder = Recorder()
    million = [("edges", done, 10**6) for done in range(1, 10**6 + 1, 501)]
    kind([*million, ("edges", 10**6, 10**6)]).set_callbacks(recorder).fit(X)
    steps = [entry for entry in recorder.heard if entry == ("end", "edges", 0)]
    assert len(steps) == 100
    assert recorder.heard.count(("begin", "edges", 100)) == 1


@both
def test_a_fit_that_fails_takes_leave(kind):
    recorder = Recorder()
    work = kind([("edges", 1, 2)], fails=True).set_callbacks(recorder)
    with pytest.raises(DataError, match="no"):
        work.fit(X)
    assert recorder.heard[-1] == ("teardown", "fit")
    assert ("end", "fit", None) not in recorder.heard


@both
def test_all_take_leave_if_one_fails(kind):
    class Hasty(Recorder):
        def setup(self, estimator, context):
            super().setup(estimator, context)
            raise RuntimeError("too early")

    before, hasty, after = Recorder(), Hasty(), Recorder()
    with pytest.raises(RuntimeError, match="too early"):
        kind().set_callbacks(before, hasty, after).fit(X)
    assert before.names("teardown") == hasty.names("teardown") == ["fit"]
    assert after.heard == []


@both
def test_clones_share_callbacks_and_none_takes_them_away(kind):
    recorder = Recorder()
    work = kind().set_callbacks(recorder)
    clone(work).fit(X)
    assert recorder.names("setup") == ["fit"]
    work.set_callbacks().fit(X)
    assert recorder.names("setup") == ["fit"]
    assert not hasattr(work, "_skl_callbacks")


@both
@pytest.mark.parametrize("wrong", [print, Recorder, object(), None])
def test_what_is_no_callback_is_refused(kind, wrong):
    with pytest.raises(TypeError, match="callback"):
        kind().set_callbacks(wrong)


@both
def test_other_listeners_hear_too(kind):
    heard = []
    work = kind([("edges", 1, 2)])
    for callbacks in ([], [Recorder()]):
        with listening(lambda *entry: heard.append(entry)):
            work.set_callbacks(*callbacks).fit(X)
    assert heard == 2 * [("edges", 1, 2)]


@pytest.mark.parametrize("name", NAMES)
def test_every_ranker_tells(name):
    recorder = Recorder()
    ranker = quick(name).set_callbacks(recorder)
    assert ranker.fit(X) is ranker
    assert recorder.heard[:2] == [("setup", "fit"), ("begin", "fit", None)]
    assert recorder.heard[-2:] == [("end", "fit", None), ("teardown", "fit")]
    assert recorder.table is X
    np.testing.assert_array_equal(recorder.fitted.ranking_, ranker.ranking_)
    # What begins also ends.
    assert sorted(recorder.names("begin")) == sorted(recorder.names("end"))


def test_callbacks_change_nothing():
    told = FRANe().set_callbacks(Recorder(), Progress()).fit(X)
    np.testing.assert_array_equal(told.scores_, FRANe().fit(X).scores_)
    assert told.get_params() == FRANe().get_params()
    pickle.loads(pickle.dumps(told.set_callbacks(Progress())))
    with pytest.raises(DataError, match="NaN"):
        FRANe().set_callbacks(Recorder()).fit(np.where(X > 2, np.nan, X))


def test_an_error_in_a_callback_ends_the_fit():
    def stop(stage, done, total):
        raise KeyboardInterrupt

    ranker = FRANe().set_callbacks(Progress(stop))
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X)
    assert not hasattr(ranker, "scores_")
    assert ranker.set_callbacks().fit(X).n_features_ == 12


def test_progress_by_a_function():
    heard = []
    listener = Progress(lambda *entry: heard.append(entry))
    ColumnSubset(3).set_callbacks(listener).fit(X)
    assert heard == [("picks", done, 3) for done in range(1, 4)]
    heard.clear()
    make_pipeline(StandardScaler(), ColumnSubset(3).set_callbacks(listener)).fit(X)
    assert heard == [("picks", done, 3) for done in range(1, 4)]


def test_progress_as_a_bar(monkeypatch, capsys):
    from franet.cli import _screen

    monkeypatch.setattr(_screen, "_PATIENCE", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    bar = Progress()
    stages = [("edges", 1, 2), ("edges", 2, 2)]
    Work(stages).set_callbacks(bar).fit(X)
    assert "edges" in capsys.readouterr().err
    assert bar._bar is bar._shown is None
    # A fit inside another leaves the bar to the outer one.
    bar.setup(outer := Work(), None)
    Work(stages).set_callbacks(bar).fit(X)
    assert "edges" not in capsys.readouterr().err
    assert bar._shown is outer
    assert pickle.loads(pickle.dumps(bar))._bar is None
    bar.teardown(outer, None)
    assert bar._bar is None


def test_unheard_reports_make_no_tasks(monkeypatch):
    begun, make = [], OlderContext.subcontext

    def subcontext(self, *args, **kwargs):
        begun.append(self)
        return make(self, *args, **kwargs)

    monkeypatch.setattr(OlderContext, "subcontext", subcontext)
    work = Work([("edges", done, 1000) for done in range(1, 1001)])
    work.fit(X)
    assert not begun
    work.set_callbacks(Recorder()).fit(X)
    assert len(begun) == 101, "a task for the stage and one for each hundredth of it"


needs_callbacks = pytest.mark.skipif(
    issubclass(FRANe, OlderCallbacks), reason="scikit-learn before 1.9"
)


@needs_callbacks
def test_scikit_learn_hands_callbacks_on():
    class Everywhere(Recorder):
        max_propagation_depth = None

    recorder = Everywhere()
    steps = make_pipeline(StandardScaler(), FRANe(3))
    grid = {"frane__damping": [0.5, 0.85]}
    search = GridSearchCV(steps, grid, cv=2).set_callbacks(recorder).fit(X)
    # Four fits and that of the best, each with the stages of FRANe.
    assert recorder.names("end").count("extremes") > 5
    assert recorder.names("setup") == recorder.names("teardown") == ["fit"]
    assert not hasattr(search.best_estimator_[-1], "_skl_callbacks")


@needs_callbacks
def test_progress_bar_of_scikit_learn(capsys):
    from sklearn.callback import ProgressBar

    FRANe().set_callbacks(ProgressBar()).fit(X)
    shown = capsys.readouterr().out
    assert "FRANe - extremes" in shown
    assert "100%" in shown


@needs_callbacks
def test_scoring_monitor_of_scikit_learn():
    from sklearn.callback import ScoringMonitor

    from franet.evaluation import reconstruction

    monitor = ScoringMonitor(scoring={"rebuilt": reconstruction})
    ranker = FRANe().set_callbacks(monitor).fit(X, np.zeros(len(X)))
    (row,) = monitor.get_logs().data
    assert row["rebuilt"] == ranker.score(X)
