"""``franet bench``: many rankers on many data sets, as tables and pictures."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franet.cli import _complete, _judging
from franet.cli._paths import Command, ReadsResults, check_paths, results_files
from franet.cli._screen import ProgressBar, save_picture, warn
from franet.exceptions import DataError, UsageError

if TYPE_CHECKING:
    from franet.evaluation.results import Results
    from franet.evaluation.runner import Status, Summary

__all__ = ["bench"]

_FORBIDDEN = re.compile(r"[^\w.-]")  # in the names of files
_SHOWN = 5  # failures that are told one by one
_EVERY = 30.0  # seconds between two lines where there is no terminal

_folds = click.option(
    "--folds", metavar="NAME", help="Which folds, where the folder holds several."
)
_folder = click.argument("folder", type=ReadsResults(path_type=Path))
_out = partial(_judging.writes, "--out", required=True, metavar="DIR")


@click.group(
    invoke_without_command=True,
    short_help="Compare rankers on the data sets of the paper.",
)
@click.pass_context
def bench(ctx: click.Context) -> None:
    """Compare rankers on the data sets of the paper."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


class BenchBar(ProgressBar):
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
@_judging.shown(
    "--datasets",
    default="all",
    metavar="NAMES",
    shell_complete=_complete.datasets,
    help="Names with commas between them, or all of the paper's table.",
)
@_judging.rankers(default="all")
@_out(
    help="The folder of results. What it holds is not measured again, unless another "
    "version of franet measured it."
)
@_judging.folds(default="paper")
@_judging.repeats
@_judging.n_features
@click.option(
    "--measures",
    metavar="NAMES",
    shell_complete=_complete.measures,
    help="Measures with commas between them, or all.  [default: those that need no "
    "classes]",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Worker processes, among which the cores are divided.  [default: all cores]",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="A ranker that takes longer on a fold is stopped, and has failed there.",
)
@click.option(
    "--max-memory",
    metavar="SIZE",
    help="A worker that takes more, such as '4 GB', is stopped; the program and the "
    "data count.",
)
@_judging.seed
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option(
    "--skip-missing", is_flag=True, help="Leave out data sets that are not here."
)
@_judging.quiet(help="No progress, and no lines but errors.")
def run(
    datasets: str,
    rankers: str,
    out: Path,
    folds: str,
    n_features: str,
    measures: str | None,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Run rankers on data sets and add what they measure to a folder.

    Stop it when you like, and give the same command again: it continues where it was.
    A ranker that fails on a fold is noted as failed, and the others continue.
    """
    from franet._common.progress import listening
    from franet.cli import _specs
    from franet.evaluation import runner

    arguments = {
        "folds": _specs.parse_folds(folds),
        "n_features": _specs.parse_counts(n_features),
        "measures": _specs.parse_measures(measures),
        "n_jobs": jobs,
        **options,
    }
    names, chosen = _names(datasets), _specs.parse_rankers(rankers)
    _check_store(names, out)
    try:
        with BenchBar(quiet) as bar, listening(bar):
            summary = runner.run(names, chosen, out, listener=bar.tell, **arguments)
    except KeyboardInterrupt:
        click.echo("Stopped. What is finished is kept; run again to resume.", err=True)
        raise
    if not quiet:
        _tell(summary, names, out)


@bench.command(cls=Command, short_help="Print the results as a table.")
@_folder
@_judging.at
@_judging.measure
@_folds
@_judging.writes("--csv", help="Write the table to this file, with all digits.")
@_judging.force
@_judging.as_json
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
    if not as_json:
        click.echo(str(made))
        return
    document = {
        "format": "franet-bench-table",
        "version": 1,
        "at": at,
        "measure": measure,
        "columns": made.columns,
        "rows": [[_finite(cell) for cell in row] for row in made.rows],
        "notes": made.notes,
    }
    click.echo(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))


@bench.command(
    cls=Command, short_help="Draw curves and the critical-difference diagram."
)
@_folder
@_out(help="The folder for the pictures.")
@_judging.shown(
    "--format",
    "kind",
    type=click.Choice(["svg", "png"]),
    default="svg",
    help="The format of the pictures.",
)
@_judging.at
@_judging.measure
@_folds
@_judging.force
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
    pictures = {
        name: out / f"curves-{_FORBIDDEN.sub('_', name)}.{kind}"
        for name in results.datasets
    }
    last = out / f"critical-difference.{kind}"
    inputs = [("FOLDER", file) for file in results_files(folder)]
    check_paths(inputs, [("--out", path) for path in (*pictures.values(), last)])
    out.mkdir(parents=True, exist_ok=True)
    for dataset, picture in pictures.items():
        if not any(results.has(dataset, name, measure) for name in results.rankers):
            warn([f"{dataset}: no ranker finished all folds"])
            continue
        ax = results.plot_curves(dataset, measure=measure)
        click.echo(save_picture(ax, picture, force))
    try:
        ax = _critical_difference(results, at, measure)
    except (DataError, UsageError) as err:
        warn([f"no critical-difference diagram: {err}"])
    else:
        click.echo(save_picture(ax, last, force))


def _names(text: str) -> list[str]:
    from franet.cli._specs import ALL
    from franet.datasets import get, names

    if text.strip() == ALL:
        return names(paper=True)
    wanted = [part.strip() for part in text.split(",") if part.strip()]
    if not wanted:
        raise UsageError("--datasets names none; say all, or give names")
    return list(dict.fromkeys(get(name).name for name in wanted))


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
        warn([f"{len(left_out)} data sets are not here: {', '.join(left_out)}"])
    warn(
        [
            f"{each.ranker} on {each.dataset}, fold {each.fold}: {each.status}. "
            f"{each.reason}"
            for each in summary.failed[:_SHOWN]
        ]
    )
    warn([f"{more} more failed"] if more > 0 else [])
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
        warn([f"{folder}: measured by several versions, {', '.join(versions)}"])
    return Results(chosen)


def _critical_difference(results: Results, at: int, measure: str) -> Any:
    from franet.evaluation.measures import MEASURES
    from franet.plotting import plot_critical_difference

    rankers = results.rankers
    scores = [
        [float(results.values(name, each, at, measure).mean()) for each in rankers]
        for name in results.datasets
        if all(results.has(name, each, measure) for each in rankers)
    ]
    if len(scores) < 2:
        raise DataError("fewer than two data sets were finished by all rankers")
    return plot_critical_difference(
        scores, rankers, lower_is_better=MEASURES[measure].lower_is_better
    )


def _finite(cell: Any) -> Any:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
