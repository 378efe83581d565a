"""``franet rank``: rank the features of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from franet.cli._complete import one_of
from franet.cli._constraints import find_features, read_files
from franet.cli._options import (
    AUTO,
    Top,
    ranking_options,
    reading_options,
    take_reading,
)
from franet.cli._output import check_output, write_output
from franet.cli._paths import Command, Reads, Writes
from franet.cli._rankers import choose_ranker, largest_to_load, parameters_of
from franet.cli._report import reporter, show_in_browser
from franet.exceptions import DataError, UsageError

__all__ = ["rank"]

# How the error for a value that is not there ends.
_GAP = "Fill or drop it."


@click.command(cls=Command, short_help="Rank the features of a file.")
@click.argument("file", type=Reads(path_type=Path))
@click.option(
    "--top",
    type=Top(),
    shell_complete=one_of(AUTO),
    help="How many features to show and select; auto: as many as are enough.  "
    "[default: 16]",
)
@click.option(
    "--stability",
    "n_boot",
    metavar="N",
    type=click.IntRange(min=2),
    help="Rank N samples of the examples, too, and tell how sure the ranks are.",
)
@click.option(
    "--standardise",
    is_flag=True,
    help="Scale columns to unit variance first, where their units are arbitrary.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=Writes(path_type=Path),
    help="Write the full ranking to this .csv, .tsv, .json or .parquet file; of a h5ad "
    "file a copy with the ranking in it to this .h5ad file.",
)
@click.option(
    "--report",
    metavar="FILE",
    type=Writes(path_type=Path),
    help="Write a page that shows the ranking to this .html (or .json) file.",
)
@click.option(
    "--open", "open_report", is_flag=True, help="Show the report in the browser."
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
    top: int | str | None,
    n_boot: int | None,
    standardise: bool,
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
    ranker, option = choose_ranker(ctx)
    _check_examples(options, "--stability draws", n_boot is not None)
    _check_examples(options, "--standardise scales", standardise)
    text = options["similarity"] == "mixed"
    if text:
        _check_text(options, standardise)
    reading = take_reading(options)
    if output is not None:
        check_output(file, output, reading, force)
    if report is not None:
        from franet.report import check_report

        check_report(report, force=force)
    elif open_report:
        raise UsageError("--open shows the report; name it by --report report.html")
    parameters = parameters_of(ranker, options)
    files = read_files(options)

    from franet.cli._job import feature_labels, plan_table, rank_table
    from franet.cli._scale import standardised
    from franet.cli._screen import ProgressBar, show, show_plan, warn
    from franet.cli._words import left_out
    from franet.io import read_table

    needs_all = bool(report or n_boot or standardise or text)
    lazy = None if needs_all else largest_to_load(ranker, parameters)
    table = read_table(file, text=text, lazy=lazy, **reading)
    labels = feature_labels(table.X, table.names)
    parameters |= find_features(options, files, labels)
    if dry_run:
        show_plan(plan_table(table.X, table.names, parameters), as_json)
        return
    X = standardised(table.X) if standardise else table.X
    notes = [left_out(table.dropped)] if table.dropped else []
    with ProgressBar(hidden=quiet) as bar, _naming_pairwise(option, parameters, X):
        ranking = rank_table(
            X,
            table.names,
            parameters,
            ranker=ranker,
            top=top,
            n_boot=n_boot,
            listener=bar,
            report=reporter(report, force, file.name, notes),
        )
    summary = ranking[0]
    summary["warnings"][:0] = notes
    summary["standardised"] = standardise
    if output is not None:
        write_output(file, output, reading, ranking, force)
    if not quiet:
        warn(summary["warnings"])
    if as_json:
        click.echo(json.dumps(summary, indent=1, allow_nan=False))
    elif not quiet:
        show(summary, option)
        guessed = None if reading["transpose"] else table.labels
        _tell_more(guessed, len(labels), output, report)
    if report is not None and open_report:
        show_in_browser(report)


@contextmanager
def _naming_pairwise(asked: str, parameters: dict[str, Any], X: Any) -> Iterator[None]:
    """Name the option for gaps in errors, where no other option speaks against it.

    The paper's ranking can do with them, and the option asks for that.
    """
    from scipy.sparse import issparse

    from franet import FRANe
    from franet._validation import can_pair

    try:
        yield
    except DataError as err:
        said = str(err)
        if asked or not said.endswith(_GAP):
            raise
        if not can_pair(FRANe(**{**parameters, "redundancy": None}), issparse(X)):
            raise
        raise DataError(f"{said[:-1]}, or set --missing pairwise.") from err


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


def _check_text(options: dict[str, Any], standardise: bool) -> None:
    """Raise before any work where an option has no meaning for text."""
    given = {
        "--transpose": options["transpose"],
        "--standardise": standardise,
        "--drop-non-numeric": options["drop_non_numeric"],
    }
    for option in (option for option, is_given in given.items() if is_given):
        raise UsageError(
            f"{option} is for tables of numbers, --similarity mixed for those with "
            "text; leave one of them out"
        )
