"""``franet bench``: many rankers on many data sets, as tables and pictures."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franet.cli import _complete, _judging, _options, _screen
from franet.cli._errors import in_words
from franet.cli._paths import Command, ReadsResults, Writes, check_paths, results_files
from franet.exceptions import DataError, UsageError

if TYPE_CHECKING:
    from franet.evaluation.results import Results
    from franet.evaluation.runner import Status, Summary

bench = _options.group("bench", "Compare rankers on the data sets of the paper.")

_FORBIDDEN = re.compile(r"[^\w.-]")  # in the names of files
_SHOWN = 5  # failures that are told one by one
_EVERY = 30.0  # seconds between two lines where there is no terminal

_folder = click.argument("folder", type=ReadsResults(path_type=Path))
_NEW_FOLDER = {"required": True, "metavar": "DIR", "type": Writes(path_type=Path)}
_RUN: _options.Rows = {
    "--datasets": (
        "Names with commas between them, or all of the paper's table.",
        _judging.parsed(
            _judging.parse_datasets,
            "NAMES",
            shell_complete=_complete.datasets,
            default="all",
        ),
    ),
    "--out": (
        "The folder of results. What it holds is not measured again, unless another "
        "version of franet measured it.",
        _NEW_FOLDER,
    ),
    **_judging.JUDGING,
    "--measures": (
        "Measures with commas between them, or all.  [default: those that need no "
        "classes]",
        _judging.parsed(
            _judging.parse_measures, "NAMES", shell_complete=_complete.measures
        ),
    ),
    "--jobs n_jobs": (
        "Worker processes, among which the cores are divided.  [default: all cores]",
        {"type": click.IntRange(min=1)},
    ),
    "--timeout": (
        "A ranker that takes longer on a fold is stopped, and has failed there.",
        {"metavar": "SECONDS", "type": click.FloatRange(min=0, min_open=True)},
    ),
    "--max-memory": (
        "A worker that takes more, such as '4 GB', is stopped; the program and the "
        "data count.",
        {"metavar": "SIZE"},
    ),
    "--retry-failed": ("Try again what failed before.", _options.FLAG),
    "--skip-missing": ("Leave out data sets that are not here.", _options.FLAG),
    "--quiet": ("No progress, and no lines but errors.", _options.FLAG),
}
_RESULTS: _options.Rows = {
    **_judging.SHOWN,
    "--folds": ("Which folds, where the folder holds several.", {"metavar": "NAME"}),
    **_judging.FORCE,
}
_TABLE: _options.Rows = {
    "--csv": ("Write the table to this file, with all digits.", _options.NEW_FILE),
    **_options.AS_JSON,
}
_PLOT: _options.Rows = {
    "--out": ("The folder for the pictures.", _NEW_FOLDER),
    "--format kind": (
        "The format of the pictures.",
        {"type": click.Choice(["svg", "png"]), "default": "svg"},
    ),
}


class BenchBar(_screen.ProgressBar):
    """A bar on a terminal; elsewhere a line now and then, for logs.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    """

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet)
        self._logs = not quiet and not sys.stderr.isatty()
        self._told = time.monotonic()

    def tell(self, status: Status) -> None:
        """Show how far the work is: failures, and the time that is left."""
        from franet.evaluation.runner import words_for

        if self._logs and time.monotonic() - self._told >= _EVERY:
            self._told = time.monotonic()
            click.echo(str(status), err=True)
        if self._bar is not None and self._task is not None and status.record:
            words = [status.record.dataset]
            words += [f"{status.failed} failed"] if status.failed else []
            words += [] if status.left is None else [f"{words_for(status.left)} left"]
            self._bar.update(self._task, description=", ".join(words))


@bench.command(
    cls=Command, short_help="Run rankers on data sets; can be stopped and resumed."
)
@_options.add(_RUN)
def run(quiet: bool, **options: Any) -> None:
    """Run rankers on data sets and add what they measure to a folder.

    Stop it when you like, and give the same command again: it continues where it was.
    A ranker that fails on a fold is noted as failed, and the others continue.
    """
    from franet._common.progress import listening
    from franet.evaluation import runner

    datasets, out = options["datasets"], options["out"]
    _check_store(datasets, out)
    try:
        with BenchBar(quiet) as bar, listening(bar):
            summary = runner.run(listener=bar.tell, **options)
    except KeyboardInterrupt:
        click.echo("Stopped. What is finished is kept; run again to resume.", err=True)
        raise
    if not quiet:
        _tell(summary, datasets, out)


@bench.command(cls=Command, short_help="Print the results as a table.")
@_folder
@_options.add({**_RESULTS, **_TABLE})
def table(
    folder: Path,
    at: int,
    measure: str,
    folds: str | None,
    csv: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Print the results in FOLDER: data sets in rows, rankers in columns.

    Values are means over the folds. Below are the average ranks, with both rules
    for ties, and the number of wins. A ranking that called itself degenerate is
    marked, and so is one that failed.
    """
    from franet.io import atomic_write, check_target

    if csv is not None:
        check_target(csv, force=force)
    made = _results(folder, folds).table(at=at, measure=measure)
    if csv is not None:
        with atomic_write(csv, force=force) as file:
            file.write(made.to_csv())
    if as_json:
        _screen.show_results("franet-bench-table", made, at=at, measure=measure)
    else:
        click.echo(str(made))


@bench.command(
    cls=Command, short_help="Draw curves and the critical-difference diagram."
)
@_folder
@_options.add({**_PLOT, **_RESULTS})
def plot(
    folder: Path,
    out: Path,
    kind: str,
    at: int,
    measure: str,
    folds: str | None,
    force: bool,
) -> None:
    """Draw the results in FOLDER: a curve of each ranker, a picture a data set.

    The critical-difference diagram at --at features compares the rankers over the
    data sets that all of them finished.
    """
    from franet._common.optional import require

    require("matplotlib", "Plotting", "plot").use("agg")
    results = _results(folder, folds)
    parts = {name: _FORBIDDEN.sub("_", name) for name in results.datasets}
    pictures = {name: out / f"curves-{part}.{kind}" for name, part in parts.items()}
    last = out / f"critical-difference.{kind}"
    inputs = [("FOLDER", file) for file in results_files(folder)]
    check_paths(inputs, [("--out", path) for path in (*pictures.values(), last)])
    out.mkdir(parents=True, exist_ok=True)
    for dataset, picture in pictures.items():
        if not any(results.has(dataset, name, measure) for name in results.rankers):
            _screen.warn(f"{dataset}: no ranker finished all folds")
            continue
        ax = results.plot_curves(dataset, measure=measure)
        click.echo(_screen.save_picture(ax, picture, force))
    try:
        ax = _critical_difference(results, at, measure)
    except (DataError, UsageError) as err:
        _screen.warn(f"no critical-difference diagram: {in_words(err)}")
    else:
        click.echo(_screen.save_picture(ax, last, force))


def _check_store(names: list[str], out: Path) -> None:
    """Raise where results would be written to the file of a data set."""
    from franet.datasets import find

    known = [(name, find(name)) for name in names]
    inputs = [(f"--datasets {name}", path) for name, path in known if path is not None]
    for file in results_files(out):
        check_paths(inputs, [("--out", file)])


def _tell(summary: Summary, names: list[str], out: Path) -> None:
    left_out = [name for name in names if name not in summary.datasets]
    more = len(summary.failed) - _SHOWN
    if left_out:
        _screen.warn(f"{len(left_out)} data sets are not here: {', '.join(left_out)}")
    for each in summary.failed[:_SHOWN]:
        place = f"{each.ranker} on {each.dataset}, fold {each.fold}"
        _screen.warn(f"{place}: {each.status}. {each.reason}")
    if more > 0:
        _screen.warn(f"{more} more failed")
    click.echo(
        f"{summary.measured:,} measured, {len(summary.failed):,} failed, "
        f"{summary.skipped:,} were there already: {out}"
    )
    click.echo(f"To look at them: franet bench table {out}")


def _results(folder: Path, folds: str | None) -> Results:
    """Return the results of one kind of folds: others cannot be compared with them."""
    from franet.evaluation.results import Results
    from franet.evaluation.store import ResultsStore

    records = ResultsStore.read(folder)
    kinds = list(dict.fromkeys(record.folds for record in records))
    if not kinds:
        raise DataError(f"{folder}: holds no results yet; run the benchmark first")
    listed = ", ".join(map(repr, kinds))
    if folds is None and len(kinds) > 1:
        raise UsageError(
            f"{folder} holds results of several folds; choose by --folds: {listed}"
        )
    if folds is not None and folds not in kinds:
        raise UsageError(f"--folds {folds!r} is not there; choose from: {listed}")
    chosen = [each for each in records if each.folds == (folds or kinds[0])]
    versions = sorted({record.version for record in chosen})
    if len(versions) > 1:
        _screen.warn(f"{folder}: measured by several versions, {', '.join(versions)}")
    return Results(chosen)


def _critical_difference(results: Results, at: int, measure: str) -> Any:
    from franet.evaluation.measures import MEASURES
    from franet.plotting import plot_critical_difference

    rankers = results.rankers
    scores = [
        [results.values(name, each, at, measure).mean() for each in rankers]
        for name in results.datasets
        if all(results.has(name, each, measure) for each in rankers)
    ]
    if len(scores) < 2:
        raise DataError("fewer than two data sets were finished by all rankers")
    return plot_critical_difference(
        scores, rankers, lower_is_better=MEASURES[measure].lower_is_better
    )
