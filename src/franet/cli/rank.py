"""``franet rank``: rank the features of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from franet.cli._complete import one_of
from franet.cli._constraints import find_features, read_files
from franet.cli._options import (
    AUTO,
    COMPUTE,
    COUNT,
    OUTPUT,
    RANKING,
    GroupedCommand,
    Top,
    grouped,
    ranking_options,
    reading_options,
    take_reading,
)
from franet.cli._output import check_output, write_output
from franet.cli._paths import Reads, Writes
from franet.cli._rankers import check_options, largest_to_load, parameters_of
from franet.cli._report import reporter, show_in_browser
from franet.exceptions import UsageError

__all__ = ["rank"]


@click.command(cls=GroupedCommand, short_help="Rank the features of a file.")
@click.argument("file", type=Reads(path_type=Path))
@grouped(
    COUNT,
    "--top",
    type=Top(),
    shell_complete=one_of(AUTO),
    help="How many features to show and select; cover: auto for as many as it "
    "suggests.  [default: 16]",
)
@grouped(
    COUNT,
    "--stability",
    "n_boot",
    metavar="N",
    type=click.IntRange(min=2),
    help="Rank N resampled tables too, and show how sure the ranks are.",
)
@grouped(
    RANKING,
    "--standardize",
    is_flag=True,
    help="Scale columns to unit variance first, where their units are arbitrary.",
)
@grouped(
    OUTPUT,
    "--output",
    metavar="FILE",
    type=Writes(path_type=Path),
    help="Write the full ranking to this .csv, .tsv, .json or .parquet file; of a h5ad "
    "file a copy with the ranking in it to this .h5ad file.",
)
@grouped(
    OUTPUT,
    "--report",
    metavar="FILE",
    type=Writes(path_type=Path),
    help="Write a page that shows the ranking to this .html (or .json) file.",
)
@grouped(
    OUTPUT,
    "--open",
    "open_report",
    is_flag=True,
    help="Show the report in the browser.",
)
@grouped(OUTPUT, "--force", is_flag=True, help="Replace files to write if they exist.")
@grouped(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON document.")
@grouped(
    COMPUTE,
    "--dry-run",
    is_flag=True,
    help="Only predict what the work will take, then stop.",
)
@grouped(OUTPUT, "--quiet", is_flag=True, help="No table, no progress, no warnings.")
@reading_options
@ranking_options
@click.pass_context
def rank(
    ctx: click.Context,
    /,
    file: Path,
    top: int | str | None,
    n_boot: int | None,
    standardize: bool,
    output: Path | None,
    report: Path | None,
    open_report: bool,
    force: bool,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Rank the features of FILE, best first, without any labels.

    FILE is a table with examples in rows and features in columns: csv, tsv, txt,
    mtx, libsvm or arff (also gzipped), parquet, feather, npy, npz, mat, h5ad, hdf5
    or zarr.
    """
    check_options(ctx)
    ranker, parameters = options["ranker"], parameters_of(ctx)
    _check_examples(options, "--stability draws", n_boot is not None)
    _check_examples(options, "--standardize scales", standardize)
    text = options["similarity"] == "mixed"
    if text:
        _check_text(options, standardize)
    if dry_run and n_boot is not None:
        raise UsageError(
            "--dry-run predicts one ranking, not the draws of --stability; leave one "
            "of them out"
        )
    reading = take_reading(options)
    if output is not None:
        check_output(file, output, reading, force)
    if report is not None:
        from franet.report import check_report

        check_report(report, force=force)
    elif open_report:
        raise UsageError("--open shows the report; name it by --report report.html")
    files = read_files(options)

    from franet.cli._job import (
        feature_labels,
        in_words_of_the_shell,
        plan_table,
        rank_table,
    )
    from franet.cli._scale import standardized
    from franet.cli._screen import ProgressBar, show, show_plan, warn
    from franet.cli._words import left_out
    from franet.io import read_table

    needs_all = bool(report or n_boot or standardize or text)
    with in_words_of_the_shell():
        lazy = None if needs_all else largest_to_load(ranker, parameters)
    table = read_table(file, text=text, lazy=lazy, **reading)
    labels = feature_labels(table.X, table.names)
    parameters |= find_features(options, files, labels)
    if dry_run:
        show_plan(plan_table(table.X, table.names, parameters, ranker), as_json)
        return
    X = standardized(table.X) if standardize else table.X
    notes = [left_out(table.dropped)] if table.dropped else []
    with ProgressBar(hidden=quiet) as bar:
        ranking = rank_table(
            X,
            table.names,
            parameters,
            ranker=ranker,
            top=top,
            n_boot=n_boot,
            seed=options["seed"],
            n_jobs=options["n_jobs"],
            listener=bar,
            report=reporter(report, force, file.name, notes),
        )
    summary = ranking[0]
    summary["warnings"][:0] = notes
    summary["standardized"] = standardize
    if output is not None:
        write_output(file, output, reading, ranking, force)
    if not quiet:
        warn(summary["warnings"])
    if as_json:
        click.echo(json.dumps(summary, indent=1, allow_nan=False))
    elif not quiet:
        show(summary)
        guessed = None if reading["transpose"] else table.labels
        _tell_more(guessed, len(labels), output, report)
    if report is not None and open_report:
        show_in_browser(report)


def _tell_more(
    guessed: str | None, n_features: int, output: Path | None, report: Path | None
) -> None:
    """Write which column was taken for row labels, and where the files are."""
    from franet.cli._words import clean

    if guessed is not None:
        label = clean(repr(guessed))
        click.echo(f"Row labels: {label} (--no-index if it is a feature)")
    if output is not None:
        where = f"{output} (var)" if output.suffix.lower() == ".h5ad" else str(output)
        click.echo(f"All {n_features:,} features: {where}")
    if report is not None:
        click.echo(f"Report: {report}")


def _check_examples(options: dict[str, Any], what: str, wanted: bool) -> None:
    """Raise before any work where examples are needed and there are none."""
    if wanted and options["similarity"] == "precomputed":
        raise UsageError(
            f"{what} examples, of which --similarity precomputed has none; leave one "
            "of them out"
        )


def _check_text(options: dict[str, Any], standardize: bool) -> None:
    """Raise before any work where an option has no meaning for text."""
    given = {
        "--transpose": options["transpose"],
        "--standardize": standardize,
        "--drop-non-numeric": options["drop_non_numeric"],
    }
    for option in (option for option, is_given in given.items() if is_given):
        raise UsageError(
            f"{option} is for tables of numbers, --similarity mixed for those with "
            "text; leave one of them out"
        )
