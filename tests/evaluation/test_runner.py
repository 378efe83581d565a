"""The benchmark: what is measured, what goes wrong, and going on afterwards."""

from __future__ import annotations

import functools
import multiprocessing
import os
import sys
import types
from dataclasses import replace

import numpy as np
import pytest

from evaluation.bad_rankers import (
    ByColumn,
    Counting,
    Dying,
    FailsUntil,
    Hungry,
    Noisy,
    Raising,
    Sleeping,
    load,
    load_other,
    stand_in_for_sklearn,
)
from evaluation.stored import contents, rows_in
from franet._common.version import __version__
from franet.evaluation import MEASURES, Results, evaluate, runner
from franet.evaluation._unit import machine, versions
from franet.evaluation.runner import run
from franet.evaluation.store import ResultsStore
from franet.exceptions import DataError, UsageError

HALVES = [(np.arange(10), np.arange(10, 20))]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
# Where it does not matter what scikit-learn does.
quick = pytest.mark.usefixtures("quick_workers")


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    import sklearn.base  # noqa: F401  here it is the real one

    return stand_in_for_sklearn(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def quick_workers(stand_in, monkeypatch):
    # Workers get the path of their parent.
    monkeypatch.syspath_prepend(stand_in)


@pytest.fixture(scope="module")
def bad(tmp_path_factory, stand_in):
    """Return what comes of all that can go wrong, and of a good ranker at the end."""
    folder = tmp_path_factory.mktemp("bad")
    rankers = {
        "raising": Raising(),
        "memory error": Raising("MemoryError"),
        "leaving": Raising("SystemExit"),
        "end of file": Raising("EOFError"),
        "exit": Dying("exit"),
        "abort": Dying("abort"),
        "killed": Dying("kill"),
        "fork": Dying("fork"),
        "good": ByColumn(),
    }
    heard = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(stand_in)
        summary = run(
            ["a"], rankers, folder, folds=HALVES, n_features=[2], measures="rmae",
            n_jobs=2, load=load, listener=heard.append,
        )  # fmt: skip
    return summary, {r.ranker: r for r in ResultsStore.read(folder)}, heard


@pytest.mark.parametrize(
    ("label", "status", "reason"),
    [
        ("raising", "failed", "ValueError: no good at all"),
        ("memory error", "memory", "MemoryError: too much"),
        ("leaving", "failed", "SystemExit: 3"),
        ("end of file", "failed", "EOFError: end"),
        ("exit", "failed", "The process ended with code 7."),
        ("abort", "failed", "The process was ended by SIGABRT."),
        ("killed", "failed", "The process was ended by SIGKILL."),
        ("fork", "failed", "The process ended with code 7."),
        ("good", "ok", ""),
    ],
)
def test_what_goes_wrong_is_stored(bad, label, status, reason):
    record = bad[1][label]
    assert (record.status, record.reason) == (status, reason)
    assert bool(record.values) == (status == "ok")


def test_the_run_goes_on(bad):
    summary, records, heard = bad
    assert (summary.measured, len(summary.failed), summary.skipped) == (1, 8, 0)
    assert [s.done for s in heard] == list(range(10))
    assert {s.total for s in heard} == {9}
    assert heard[-1].failed == 8
    assert heard[0].left is None
    assert heard[-1].left == 0.0
    assert {r.run for r in records.values()} == {summary.run}


@quick
def test_timeout(tmp_path):
    # A ranker that ends would need luck to be in time on a busy machine.
    rankers = {"sleeping": Sleeping(), "as well": Sleeping()}
    summary = run(
        ["a"], rankers, tmp_path, folds=HALVES, n_jobs=1, timeout=0.5, load=load
    )
    assert [(r.status, r.reason) for r in summary.failed] == [
        ("timeout", "It took more than 0.5 s.")
    ] * 2


@quick
@linux
def test_memory(tmp_path):
    summary = run(
        ["a"], {"hungry": Hungry(), "good": ByColumn()}, tmp_path, folds=HALVES,
        n_jobs=1, max_memory="400 MB", load=load,
    )  # fmt: skip
    (failed,) = summary.failed
    assert (failed.ranker, failed.status) == ("hungry", "memory")
    assert failed.reason.endswith("bytes of memory, more than 400,000,000.")
    assert summary.measured == 1


@quick
@linux
def test_too_little_memory_for_anything(tmp_path):
    with pytest.raises(UsageError, match=r"max_memory=1000000: a worker takes .* more"):
        run(["a"], {"good": ByColumn()}, tmp_path, max_memory=10**6, load=load)
    assert ResultsStore.read(tmp_path) == []


def test_same_values_as_without_processes(tmp_path):
    rankers = {"noisy": Noisy(), "fixed": Noisy(random_state=3), "column": ByColumn()}
    run(["a", "b"], rankers, tmp_path, folds=4, seed=5, n_jobs=2, load=load)
    found = Results(ResultsStore.read(tmp_path))
    assert found.datasets == ["a", "b"]
    assert found.rankers == ["noisy", "fixed", "column"]
    expected = [
        row
        for name in "ab"
        for row in evaluate(
            load(name)[0],
            rankers=rankers,
            folds=4,
            random_state=5,
            references=False,
            name=name,
        ).rows()
    ]
    assert set(found.rows()) == set(expected)
    assert len(rows_in(tmp_path)) == len(expected)


@quick
def test_more_of_the_same(tmp_path):
    """Other measures, counts, rankers, sets: only what is new is measured."""
    heard = []
    go = functools.partial(
        run, out=tmp_path, folds=HALVES, n_jobs=1, load=load, listener=heard.append
    )
    noisy, column = {"noisy": Noisy()}, {"column": ByColumn()}
    go(["a"], noisy, measures=["rmae"], n_features=[2])
    first = contents(tmp_path)
    again = go(["a"], noisy, measures=["rmae"], n_features=[2])
    assert (again.run, again.measured, again.skipped) == ("", 0, 1)
    assert contents(tmp_path) == first
    assert len(ResultsStore.read_runs(tmp_path)) == 1, "there was nothing to do"

    more = go(["a"], noisy, measures=["rmae", "r2"], n_features=[2, 4])
    assert more.measured == 1
    assert contents(tmp_path)[:1] == first
    assert {(row.measure, row.n_features) for row in rows_in(tmp_path)} == {
        ("rmae", 2), ("rmae", 4), ("r2", 2), ("r2", 4)
    }  # fmt: skip
    (merged,) = ResultsStore.read(tmp_path)
    assert len(list(merged.rows())) == 4
    direct = evaluate(
        load("a")[0], rankers=noisy, folds=HALVES, n_features=[2, 4],
        measures=["rmae", "r2"], references=False, name="a",
    )  # fmt: skip
    assert merged.values == direct.records[0].values

    wide = go(["a", "b"], noisy | column, measures=["rmae", "r2"], n_features=[2, 4])
    assert (wide.measured, wide.skipped) == (3, 1)
    found = list(Results(ResultsStore.read(tmp_path)).rows())
    assert len(found) == len(set(found)) == len(set(rows_in(tmp_path))) == 16


@quick
def test_some_folds_now_the_others_later(tmp_path):
    go = functools.partial(
        run, ["a"], {"noisy": Noisy()}, folds=4, n_jobs=1, measures="rmae", load=load
    )
    go(out=tmp_path / "here", fold_numbers=[0, 2])
    assert {record.fold for record in ResultsStore.read(tmp_path / "here")} == {0, 2}
    assert go(out=tmp_path / "here").measured == 2
    go(out=tmp_path / "whole")
    assert set(rows_in(tmp_path / "here")) == set(rows_in(tmp_path / "whole"))


@quick
def test_measures_that_stop_early(tmp_path, monkeypatch):
    """Where a measure is not defined, nothing is missing."""
    monkeypatch.setitem(MEASURES, "nmi", replace(MEASURES["nmi"], limit=4))
    go = functools.partial(
        run, ["a"], {"c": ByColumn()}, tmp_path, folds=HALVES, n_jobs=1, load=load
    )
    go(n_features=[2, 4], measures=["nmi"])
    assert go(n_features=[2, 4, 6], measures=["nmi"]).skipped == 1


@quick
def test_failures_are_tried_again_on_demand(tmp_path):
    block = tmp_path / "block"
    block.touch()
    out = tmp_path / "out"
    go = functools.partial(
        run, ["a"], {"f": FailsUntil(str(block))}, out, folds=HALVES, n_jobs=1,
        load=load,
    )  # fmt: skip
    assert go().failed[0].reason == "RuntimeError: not yet"
    block.unlink()
    assert go().skipped == 1
    assert go(retry_failed=True).measured == 1
    assert [record.status for record in ResultsStore.read(out)] == ["ok"]
    assert go(retry_failed=True).skipped == 1


@pytest.mark.parametrize(("cores", "jobs", "threads"), [(6, 2, 3), (4, 4, 1)])
def test_threads(tmp_path, monkeypatch, cores, jobs, threads):
    monkeypatch.setattr(runner, "cpu_count", lambda: cores)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    summary = run(
        ["a"], {"n": Counting()}, tmp_path, folds=HALVES, n_jobs=jobs, load=load
    )
    assert summary.failed[0].reason == f"RuntimeError: threads: [{threads}]"
    assert os.environ["OMP_NUM_THREADS"] == "7", "as before"
    assert "NUMBA_NUM_THREADS" not in os.environ
    (about,) = ResultsStore.read_runs(tmp_path)
    assert (about["n_jobs"], about["threads"]) == (jobs, threads)


@quick
def test_what_a_run_was(tmp_path):
    run(
        ["a"], {"c": ByColumn()}, tmp_path, folds=2, n_features=np.array([2, 3]),
        measures=("rmae",), n_jobs=1, timeout=3600, max_memory="2 GB", load=load,
    )  # fmt: skip
    (about,) = ResultsStore.read_runs(tmp_path)
    assert about["versions"] == versions()
    assert {"franet", "python", "numpy", "scipy", "scikit-learn", "numba"} <= {
        *about["versions"]
    }
    assert about["machine"] == machine()
    assert about["machine"]["cores"] >= 1
    expected = {
        "datasets": ["a"], "rankers": ["c"], "folds": "2 folds x 1, seed 0", "seed": 0,
        "n_features": [2, 3], "measures": ["rmae"], "timeout": 3600,
        "max_memory": 2 * 10**9,
    }  # fmt: skip
    assert {name: about[name] for name in expected} == expected
    assert {record.run for record in ResultsStore.read(tmp_path)} == {about["id"]}


@pytest.fixture
def workers():
    """Return a function that lists the workers: those of joblib stay from elsewhere."""
    others = multiprocessing.active_children()
    return lambda: [w for w in multiprocessing.active_children() if w not in others]


@quick
def test_worker_that_dies_between_two_units(tmp_path, workers):
    """Nobody's fault: no unit fails by it."""
    killed = []

    def kill(status):
        if status.done in (1, 2) and len(killed) < 2:
            (worker,) = workers()
            worker.kill()
            worker.join()
            killed.append(worker.pid)

    rankers = {str(i): ByColumn() for i in range(4)}
    summary = run(
        ["a"], rankers, tmp_path, folds=HALVES, n_jobs=1, load=load, listener=kill
    )
    assert len(set(killed)) == 2
    assert (summary.measured, summary.failed) == (4, [])


@quick
def test_no_worker_is_left(tmp_path, workers):
    run(["a"], {"c": ByColumn()}, tmp_path, folds=2, n_jobs=2, load=load)
    assert workers() == []

    def stop(status):
        if status.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(["b"], {"c": ByColumn()}, tmp_path, folds=2, n_jobs=2, load=load,
            listener=stop)  # fmt: skip
    assert workers() == []
    assert len(ResultsStore.read(tmp_path)) == 3, "what was finished is kept"


@quick
def test_missing_data(tmp_path):
    names = ["missing 1", "a", "missing 2"]
    go = functools.partial(run, names, {"c": ByColumn()}, tmp_path, load=load, folds=2)
    with pytest.raises(DataError, match=r"2 data sets .* missing 1, missing 2; leave"):
        go()
    with pytest.raises(DataError, match=r"cannot be loaded. missing: .* fetch it"):
        run(["a", "missing"], {"c": ByColumn()}, tmp_path, load=load)
    assert ResultsStore.read(tmp_path) == []
    assert contents(tmp_path, "franet_runs") == []
    summary = go(skip_missing=True, n_jobs=1)
    assert (summary.measured, summary.datasets) == (2, ["a"])
    with pytest.raises(DataError, match="cannot be loaded"):
        run(["missing"], {"c": ByColumn()}, tmp_path, load=load, skip_missing=True)


@quick
def test_results_are_not_mixed(tmp_path):
    go = functools.partial(run, ["a"], {"c": ByColumn()}, tmp_path, n_jobs=1)
    go(folds=HALVES, load=load)
    with pytest.raises(UsageError, match="holds results with seed 0; take that one"):
        go(folds=HALVES, load=load, seed=1)
    with pytest.raises(DataError, match="a: the table or its folds are not those"):
        go(folds=HALVES, load=load_other)
    with pytest.raises(DataError, match="a: the table or its folds are not those"):
        go(folds=[HALVES[0][::-1]], load=load)
    assert go(folds=2, seed=1, load=load).measured == 2, (
        "folds with a name of their own"
    )


def test_two_runs_on_one_folder(tmp_path):
    with (
        ResultsStore(tmp_path),
        pytest.raises(DataError, match="another run is writing to this folder"),
    ):
        run(["a"], {"c": ByColumn()}, tmp_path, load=load)


def bad_arguments():
    good = {"datasets": ["a"], "rankers": {"c": ByColumn()}, "load": load}
    local = type("Local", (ByColumn,), {})
    yield good | {"datasets": []}, "datasets: name at least one"
    yield good | {"rankers": {}}, "rankers: name at least one"
    yield good | {"rankers": 3}, "rankers must be a ranker, a name, or several, not 3"
    yield good | {"rankers": {"x": 3}}, "rankers: 3 is neither an estimator nor a name"
    yield (
        good | {"rankers": {"x": local()}},
        "cannot be sent to another process .*Local",
    )
    yield (
        good | {"load": lambda name: load(name)},
        "rankers or load cannot be sent to another process .*<lambda>",
    )
    client = types.SimpleNamespace(nthreads=dict)
    for name, value in {"n_jobs": 2, "timeout": 3.0, "max_memory": 10**9}.items():
        yield (
            good | {"client": client, name: value},
            rf"{name}={value} applies to processes of this machine, not with client",
        )
    yield good | {"n_jobs": 0}, "n_jobs=0: give a number of at least 1"
    yield good | {"timeout": 0}, "timeout=0: give seconds, more than 0"
    yield good | {"max_memory": "much"}, "max_memory='much' is not a size"
    yield good | {"folds": 11}, "a: 20 examples are too few for 11 folds"
    yield good | {"fold_numbers": [9, 10]}, "a: there is no fold 10; the folds are 0"
    yield good | {"measures": ["mae"]}, "a: measures: there is no 'mae'"
    yield good | {"n_features": [0]}, r"a: n_features=\[0\]: give numbers of at least 1"
    yield (
        good | {"datasets": ["plain"], "measures": ["nmi"]},
        "plain: measures: 'nmi' needs the classes",
    )


@pytest.mark.parametrize(("arguments", "message"), bad_arguments())
def test_bad_arguments(tmp_path, arguments, message):
    with pytest.raises(UsageError, match=message):
        run(out=tmp_path / "out", **arguments)


def test_ranker_that_workers_cannot_import(tmp_path, monkeypatch):
    module = types.ModuleType("only_here")
    module.Ranker = type("Ranker", (ByColumn,), {"__module__": "only_here"})
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.raises(
        UsageError, match=r"A worker cannot take .* 'only_here'.*module"
    ):
        run(["a"], {"x": module.Ranker()}, tmp_path, n_jobs=1, load=load)


@quick
def test_another_version_is_measured_again(tmp_path, monkeypatch):
    """Also what failed then: each record says which version measured it."""
    block = tmp_path / "block"
    block.touch()
    rankers = {"noisy": Noisy(), "fails": FailsUntil(str(block))}
    out = tmp_path / "out"
    go = functools.partial(run, ["a"], rankers, out, folds=HALVES, n_jobs=1, load=load)
    go()
    block.unlink()
    assert go().skipped == 2
    assert {r.version for r in ResultsStore.read(out)} == {__version__}
    assert all(r.machine == machine() for r in ResultsStore.read(out) if r.values)
    old = [replace(r, version="0.0.1", values={}) for r in ResultsStore.read(out)]
    with ResultsStore(out) as store:
        for record in old:
            store.append(record)
    assert {r.version for r in ResultsStore.read(out)} == {"0.0.1"}
    again = go()
    assert (again.measured, again.skipped) == (2, 0)
    assert {(r.version, r.status) for r in ResultsStore.read(out)} == {
        (__version__, "ok")
    }
    assert go().skipped == 2


def test_on_a_cluster(tmp_path):
    """The same values; a worker that is lost is replaced, a deadly unit has failed."""
    distributed = pytest.importorskip("distributed", reason="needs franet[dask]")
    rankers = {"noisy": Noisy(), "raising": Raising(), "deadly": Dying("kill")}
    heard = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(sys.path.append, os.path.dirname(os.path.dirname(__file__)))
        go = functools.partial(
            run, datasets=["a", "b"], out=tmp_path, folds=4, client=client, load=load,
            measures="rmae", listener=heard.append,
        )  # fmt: skip
        summary = go(rankers={name: rankers[name] for name in ("noisy", "raising")})
        assert (summary.measured, len(summary.failed)) == (8, 8)
        assert go(rankers=rankers, datasets=["a"], fold_numbers=[0]).skipped == 2
    assert heard[-1].left == 0.0
    status = {(r.ranker, r.status) for r in ResultsStore.read(tmp_path)}
    assert status == {("noisy", "ok"), ("raising", "failed"), ("deadly", "failed")}
    expected = {
        row
        for name in "ab"
        for row in evaluate(
            load(name)[0], rankers={"noisy": Noisy()}, folds=4, measures="rmae",
            references=False, name=name,
        ).rows()
    }  # fmt: skip
    assert set(Results(ResultsStore.read(tmp_path)).rows()) == expected
