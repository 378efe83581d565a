"""``franet rank``: rank the features of a file; ``franet demo``: of data at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from franet.cli import _output
from franet.cli._errors import name_columns
from franet.cli._options import (
    GroupedCommand,
    rank_options,
    take_reading,
)
from franet.cli._paths import Reads
from franet.cli._specs import parameters_of
from franet.cli._terminal import clean
from franet.exceptions import DataError, MissingExtraError, UsageError

_DEMO_REPORT = Path("franet-demo-report.html")


@click.command(cls=GroupedCommand, short_help="Rank the features of a file.")
@click.argument("file", type=Reads(path_type=Path))
@rank_options
@click.pass_context
def rank(
    ctx: click.Context,
    /,
    file: Path,
    ranker: str,
    n_boot: int | None,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Rank the features of FILE, best first, without any labels.

    FILE is a table with examples in rows and features in columns: csv, tsv, txt,
    mtx, libsvm or arff (also gzipped), parquet, feather, npy, npz, mat, h5ad, hdf5
    or zarr.
    """
    parameters = parameters_of(ctx.params)
    _check_together(ctx.params)
    reading, standardize = take_reading(options), options["standardize"]
    if output is not None:
        _output.check_output(file, output, reading, force)
    if report is not None:
        _output.check_report(report, force)
    from franet.cli import _job, _screen
    from franet.cli._constraints import find_features, read_files
    from franet.io import read_table

    files = read_files(options)
    text = options["similarity"] == "mixed"
    needs_all = bool(report or n_boot or standardize or text)
    lazy = None if needs_all else _job.largest_to_load(ranker, parameters)
    table = read_table(file, text=text, lazy=lazy, **reading)
    name_columns(table.names)
    labels = _job.feature_labels(table.X, table.names)
    parameters |= find_features(options, files, labels)
    if options["dry_run"]:
        plan = _job.plan_table(table.X, parameters, ranker)
        if as_json:
            _screen.show_json(plan)
        else:
            click.echo("\n".join(_screen.plan_lines(plan)))
        return
    X = _job.standardized(table.X) if standardize else table.X
    notes = [_screen.left_out(table.dropped)] if table.dropped else []
    with _screen.ProgressBar(hidden=quiet) as bar:
        ranking = _job.rank_table(
            X, labels, parameters, ranker=ranker, top=options["top"], listener=bar
        )
        if report is not None:
            _output.write_report(report, force, ranking, X, labels, file.name, notes)
        if n_boot is not None:
            seed, n_jobs = options["seed"], options["n_jobs"]
            _job.add_stability(ranking, X, n_boot, seed, n_jobs, bar)
    summary = ranking[0]
    summary["warnings"][:0] = notes
    summary["standardized"] = standardize
    if output is not None:
        _output.write_output(file, output, reading, ranking, force)
    if not quiet:
        _screen.warn(summary["warnings"])
    if as_json:
        _screen.show_json(summary)
    elif not quiet:
        _screen.show(summary)
        if table.labels is not None and not reading["transpose"]:
            label = clean(repr(table.labels))
            click.echo(f"Row labels: {label} (--no-index if it is a feature)")
        if output is not None:
            where = f"{output} (var)" if _output.is_h5ad(output) else str(output)
            click.echo(f"All {len(labels):,} features: {where}")
        if report is not None:
            click.echo(f"Report: {report}")
    if report is not None and options["open_report"]:
        _output.show_in_browser(report)


def _check_together(given: dict[str, Any]) -> None:
    """Raise before any work where an option has no meaning beside another one."""
    is_given, has_text = (given["similarity"] == x for x in ("precomputed", "mixed"))
    none = "examples, of which --similarity precomputed has none"
    numbers = "is for tables of numbers, --similarity mixed for those with text"
    plan = "--dry-run predicts one ranking, not the draws of --stability"
    for is_wrong, why in (
        (is_given and given["n_boot"], f"--stability draws {none}"),
        (is_given and given["standardize"], f"--standardize scales {none}"),
        (has_text and given["transpose"], f"--transpose {numbers}"),
        (has_text and given["standardize"], f"--standardize {numbers}"),
        (has_text and given["drop_non_numeric"], f"--drop-non-numeric {numbers}"),
        (given["dry_run"] and given["n_boot"], plan),
    ):
        if is_wrong:
            raise UsageError(f"{why}; leave one of them out")
    if given["open_report"] and given["report"] is None:
        raise UsageError("--open shows the report; name it by --report report.html")


@click.command(short_help="Rank the features of a small data set, as a first look.")
@click.option(
    "--open", "open_report", is_flag=True, help="Show the report in the browser."
)
def demo(open_report: bool) -> None:
    """Rank the 30 measurements of 569 tumours that come with scikit-learn.

    The diagnoses are not used. A report is written to the current folder.
    """
    from sklearn.datasets import load_breast_cancer

    from franet.cli import _job, _screen

    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    click.echo(
        "Measurements of cell nuclei in 569 tumours, scaled to unit variance because "
        "their units differ; the diagnoses are not used."
    )
    why_not = ""
    try:
        _output.check_report(_DEMO_REPORT, force=True)
    except (DataError, MissingExtraError) as err:
        why_not = str(err)
    X = _job.standardized(data.data)
    with _screen.ProgressBar() as bar:
        ranking = _job.rank_table(X, names, {}, top=10, listener=bar)
        if not why_not:
            _output.write_report(_DEMO_REPORT, True, ranking, X, names, "Tumours")
    _screen.warn(ranking[0]["warnings"])
    _screen.show(ranking[0])
    click.echo("\nYour own table, with examples in rows and features in columns:")
    options = "" if why_not else " --report report.html --open"
    click.echo(f"  franet rank data.csv --output ranking.csv{options}")
    click.echo(f"\n{why_not or f'Open in a browser: {_DEMO_REPORT}'}")
    if open_report and why_not:
        _screen.warn(["there is no report to open"])
    elif open_report:
        _output.show_in_browser(_DEMO_REPORT)
