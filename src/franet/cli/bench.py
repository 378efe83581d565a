"""``franet bench``: many rankers on many data sets, as tables and pictures."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franet.cli import _complete
from franet.cli._paths import (
    Command,
    ReadsResults,
    Writes,
    check_paths,
    results_files,
)
from franet.cli._terminal import tell
from franet.exceptions import DataError, UsageError

if TYPE_CHECKING:
    from franet.evaluation.results import Results
    from franet.evaluation.runner import Summary

__all__ = ["bench"]

_FORBIDDEN = re.compile(r"[^\w.-]")  # in the names of files
_SHOWN = 5  # failures that are told one by one

_at = click.option(
    "--at",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="How many features the rankings are judged at.",
)
_measure = click.option(
    "--measure",
    default="rmae",
    show_default=True,
    shell_complete=_complete.measures,
    help="The measure to show.",
)
_folds = click.option(
    "--folds",
    metavar="NAME",
    help="Which folds, where the folder holds several.",
)
_force = click.option("--force", is_flag=True, help="Replace files that exist.")
_folder = click.argument("folder", type=ReadsResults(path_type=Path))


@click.group(
    invoke_without_command=True,
    short_help="Compare rankers on the data sets of the paper.",
)
@click.pass_context
def bench(ctx: click.Context) -> None:
    """Compare rankers on the data sets of the paper."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@bench.command(
    cls=Command, short_help="Run rankers on data sets; can be stopped and resumed."
)
@click.option(
    "--datasets",
    default="all",
    show_default=True,
    metavar="NAMES",
    shell_complete=_complete.datasets,
    help="Names with commas between them, or all of the paper's table.",
)
@click.option(
    "--rankers",
    default="all",
    show_default=True,
    metavar="SPECS",
    shell_complete=_complete.rankers,
    help="Rankers with commas between them, or all. With parameters: "
    "frane:variant=reference:n_thresholds=50",
)
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=Writes(path_type=Path),
    help="The folder of results. What it holds is not measured again.",
)
@click.option(
    "--folds",
    default="paper",
    show_default=True,
    metavar="paper|N",
    help="The partition of the paper, or a number of shuffled folds.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Repetitions of --folds N, with other shuffles.",
)
@click.option(
    "--n-features",
    default="powers",
    show_default=True,
    metavar="powers|16,64",
    help="At how many features rankings are judged; powers: 1, 2, 4, … and all.",
)
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
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="The seed of --folds N, and of rankers that have none.",
)
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option(
    "--skip-missing", is_flag=True, help="Leave out data sets that are not here."
)
@click.option("--quiet", is_flag=True, help="No progress, and no lines but errors.")
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

    Stop it when you like, and give the same command again: it goes on where it was.
    A ranker that fails on a fold is noted as failed, and the others go on.
    """
    from franet._common.progress import listening
    from franet.cli._bench_bar import BenchBar
    from franet.cli._specs import (
        parse_counts,
        parse_folds,
        parse_measures,
        parse_rankers,
    )
    from franet.evaluation import runner

    arguments = {
        "folds": parse_folds(folds),
        "n_features": parse_counts(n_features),
        "measures": parse_measures(measures),
        "n_jobs": jobs,
        **options,
    }
    names, chosen = _names(datasets), parse_rankers(rankers)
    _check_store(names, out)
    try:
        with BenchBar(hidden=quiet) as bar, listening(bar.stage):
            summary = runner.run(names, chosen, out, listener=bar, **arguments)
    except KeyboardInterrupt:
        click.echo("Stopped. What is finished is kept; run again to go on.", err=True)
        raise
    if not quiet:
        _tell(summary, names, out)


@bench.command(cls=Command, short_help="Print the results as a table.")
@_folder
@_at
@_measure
@_folds
@click.option(
    "--csv",
    metavar="FILE",
    type=Writes(path_type=Path),
    help="Write the table to this file, with all digits.",
)
@_force
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
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

    Values are means over the folds. Below stand the average ranks, with both rules
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
    else:
        click.echo(str(made))


@bench.command(
    cls=Command, short_help="Draw curves and the critical-difference diagram."
)
@_folder
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=Writes(path_type=Path),
    help="The folder for the pictures.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["svg", "png"]),
    default="svg",
    show_default=True,
    help="The format of the pictures.",
)
@_at
@_measure
@_folds
@_force
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
    from franet.cli._screen import save_picture

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
            tell("warning", f"{dataset}: no ranker finished all folds")
            continue
        ax = results.plot_curves(dataset, measure=measure)
        click.echo(save_picture(ax, picture, force))
    try:
        ax = _critical_difference(results, at, measure)
    except (DataError, UsageError) as err:
        tell("warning", f"no critical-difference diagram: {err}")
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
    from franet.cli._screen import warn

    left_out = [name for name in names if name not in summary.datasets]
    if left_out:
        warn([f"{len(left_out)} data sets are not here: {', '.join(left_out)}"])
    warn(
        [
            f"{each.ranker} on {each.dataset}, fold {each.fold}: {each.status}. "
            f"{each.reason}"
            for each in summary.failed[:_SHOWN]
        ]
    )
    more = len(summary.failed) - _SHOWN
    if more > 0:
        warn([f"{more} more failed"])
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
    if folds is None and len(kinds) > 1:
        raise UsageError(
            f"{folder} holds results of several folds; choose by --folds: "
            + ", ".join(map(repr, kinds))
        )
    if folds is not None and folds not in kinds:
        raise UsageError(
            f"--folds {folds!r} is not there; choose from: "
            + ", ".join(map(repr, kinds))
        )
    return Results(each for each in records if each.folds == (folds or kinds[0]))


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
