"""``franet rank``: rank the features of a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from franet.cli._options import ranking_options, reading_options, take_reading
from franet.cli._rankers import check_ranker, parameters_of
from franet.cli._report import check_report_file, reporter
from franet.exceptions import UsageError

__all__ = ["rank"]


@click.command(short_help="Rank the features of a file.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--top",
    type=click.IntRange(min=1),
    help="How many features to show and select.  [default: 16]",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the full ranking to this .csv, .tsv, .json or .parquet file.",
)
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a page that shows the ranking to this .html (or .json) file.",
)
@click.option("--force", is_flag=True, help="Replace files to write if they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--dry-run", is_flag=True, help="Only tell what the work will take, then stop."
)
@click.option("--quiet", is_flag=True, help="No table, no progress, no warnings.")
@reading_options
@ranking_options
@click.pass_context
def rank(
    ctx: click.Context,
    /,
    file: Path,
    top: int | None,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    ranker: str,
    **options: Any,
) -> None:
    """Rank the features of FILE, best first, without any labels.

    FILE is a table with examples in rows and features in columns: csv, tsv, txt,
    mtx, libsvm or arff (also gzipped), parquet, feather, npy, npz, mat or h5ad.
    """
    check_ranker(ranker, ctx)
    if output is not None:
        _check_output(file, output, force)
    if report is not None:
        check_report_file(report, force, (file, output))
    reading = take_reading(options)
    parameters = parameters_of(ranker, options)

    from franet.cli._job import plan_table, rank_table
    from franet.cli._screen import ProgressBar, show, show_plan, warn
    from franet.cli._words import clean, left_out
    from franet.io import read_table, write_table

    table = read_table(file, **reading)
    if dry_run:
        plan = plan_table(table.X, table.names, parameters)
        if as_json:
            click.echo(json.dumps(plan, indent=1))
        else:
            show_plan(plan)
        return
    notes = [left_out(table.dropped)] if table.dropped else []
    with ProgressBar(hidden=quiet) as bar:
        summary, columns = rank_table(
            table.X,
            table.names,
            parameters,
            ranker=ranker,
            top=top,
            listener=bar,
            report=reporter(report, force, file.name, notes),
        )
    summary["warnings"][:0] = notes
    if output is not None:
        write_table(columns, output, force=force)
    if not quiet:
        warn(summary["warnings"])
    if as_json:
        click.echo(json.dumps(summary, indent=1, allow_nan=False))
    elif not quiet:
        show(summary)
        if table.labels is not None and not reading["transpose"]:
            label = clean(repr(table.labels))
            click.echo(f"Row labels: {label} (--no-index if it is a feature)")
        if output is not None:
            click.echo(f"All {len(columns['rank']):,} features: {output}")
        if report is not None:
            click.echo(f"Report: {report}")


def _check_output(file: Path, output: Path, force: bool) -> None:
    """Raise before any work where the ranking could not be written after it."""
    from franet.io import check_target
    from franet.io._write import output_format

    output_format(output)
    if output.exists() and file.exists() and os.path.samefile(file, output):
        raise UsageError("--output is the file to read; name another file")
    check_target(output, force=force)
