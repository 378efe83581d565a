"""``franet prune``: drop the correlated columns of a file."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franet._common.progress import listening
from franet.cli import _options, _screen
from franet.cli._errors import in_words, name_columns
from franet.cli._paths import Command, Reads
from franet.estimators._parameters import PRUNE

if TYPE_CHECKING:
    from franet.estimators._prune import CorrelatedColumns

# Groups that the screen shows.
_SHOWN = 10
_SHARED: dict[str, Mapping[str, Any]] = {
    "keep": _options.FEATURES,
    "cost": _options.A_FILE,
    "keep_constant": _options.FLAG,
    "exact": _options.FLAG,
}
_OPTIONS: _options.Rows = {
    **_options.of_parameters(
        {name: _SHARED.get(name, {}) for name in PRUNE}, {"prune": PRUNE}
    ),
    "--output": (
        "Write the kept columns to this .csv, .tsv, .json or .parquet file.",
        _options.NEW_FILE,
    ),
    "--dropped": (
        "Write the dropped columns, each with its representative and their "
        "correlation, to such a file.",
        _options.NEW_FILE,
    ),
    "--report": (
        "Write a page that shows who represents whom to this .html (or .json) file.",
        _options.NEW_FILE,
    ),
    "--force": ("Replace files to write if they exist.", _options.FLAG),
    **_options.AS_JSON,
    "--quiet": ("No table, no progress, no warnings.", _options.FLAG),
}


@click.command(cls=Command, short_help="Drop the correlated columns of a file.")
@click.argument("file", type=Reads(path_type=Path))
@_options.add(_OPTIONS)
@_options.reading_options
def prune(
    file: Path,
    output: Path | None,
    dropped: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Drop columns of FILE that others repeat, before a model is fitted.

    No two of the kept columns are correlated above the cutoff, and each dropped one is
    correlated with a kept one at or above it, constant columns aside.
    """
    reading = _options.take_reading(options)
    _check_outputs(output, dropped, report, force)
    from franet._common.memory import available_bytes
    from franet.cli._constraints import find_features, in_names, read_files
    from franet.estimators._prune import drop_correlated
    from franet.io import read_table, write_table

    files = read_files(options)
    text = options["similarity"] == "mixed"
    lazy = None if text else available_bytes() // 4
    table = read_table(file, text=text, lazy=lazy, **reading)
    name_columns(table.names)
    names = table.names or [f"x{j}" for j in range(table.X.shape[1])]
    lists = ("keep", "cost")
    given = {k: v for k, v in options.items() if v is not None and k not in lists}
    features, matches = find_features(options, files, names)
    given |= features
    notes = [_screen.left_out(table.dropped)] if table.dropped else []
    start = time.perf_counter()
    with (
        _screen.ProgressBar(hidden=quiet) as bar,
        listening(bar),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        found = drop_correlated(table.X, **given).named(names)
    seconds = time.perf_counter() - start
    notes += [
        in_words(warning.message)
        for warning in caught
        if issubclass(warning.category, UserWarning | RuntimeWarning)
    ]
    if output is not None:
        write_table(_kept_columns(table.X, found), output, force=force)
    if dropped is not None:
        write_table(found.columns(), dropped, force=force)
    if report is not None:
        from franet.report import summarize_groups, write

        page = summarize_groups(found, title=file.name, seconds=seconds, warnings=notes)
        write(page, report, force=force)
    if not quiet:
        _screen.warn(*notes)
    if as_json:
        _screen.show_json(
            {
                **found.summary(),
                "matches": matches,
                "warnings": notes,
                "parameters": in_names(given, names),
                "seconds": round(seconds, 6),
            }
        )
    elif not quiet:
        _show(found, seconds)
        click.echo("".join(f"{line}\n" for line in matches), nl=False)
        if table.labels is not None and not reading["transpose"]:
            label = _screen.clean(repr(table.labels))
            click.echo(f"Row labels: {label} (--no-index if it is a column)")
        for what, path in (
            ("Kept columns", output),
            ("Dropped columns", dropped),
            ("Report", report),
        ):
            if path is not None:
                click.echo(f"{what}: {path}")


def _check_outputs(
    output: Path | None, dropped: Path | None, report: Path | None, force: bool
) -> None:
    """Raise before any work where a file could not be written after it."""
    from franet.io import check_target
    from franet.io._write import output_format

    for path in (output, dropped):
        if path is not None:
            output_format(path)
            check_target(path, force=force)
    if report is not None:
        from franet.report import check_report

        check_report(report, force=force)


def _kept_columns(X: Any, found: CorrelatedColumns) -> dict[str, Any]:
    """Return the kept columns as they are written: text as text, no column sparse."""
    from scipy import sparse

    from franet.pairs.coded import CodedTable

    if isinstance(X, CodedTable):
        of_all = zip(X.values.T, X.levels, strict=True)
        columns = [
            values if levels is None else [levels[int(v)] for v in values]
            for values, levels in of_all
        ]
        return {found.names[j]: columns[j] for j in found.kept}
    if hasattr(X, "read_rows"):  # it was only opened
        return {found.names[j]: X.read(j, j + 1).ravel() for j in found.kept.tolist()}
    if sparse.issparse(X):
        X = X.tocsc()
        return {found.names[j]: X[:, [j]].toarray().ravel() for j in found.kept}
    return {found.names[j]: X[:, j] for j in found.kept}


def _show(found: CorrelatedColumns, seconds: float) -> None:
    """Write the largest groups as a table, and what was found as lines."""
    console = _screen.open_console()
    rows = [
        {
            "kept": found.names[k],
            "represents": f"{len(members):,}",
            "least |r|": f"{abs(found.r[members]).min():.3f}",
            "closest": found.names[members[0]],
        }
        for k, members in [*found.groups.items()][:_SHOWN]
    ]
    if rows:
        _screen.print_table(console, rows, ("kept", "closest"))
        more = len(found.groups) - len(rows)
        if more:
            groups = "group" if more == 1 else "groups"
            console.print(f"and {more:,} smaller {groups}", style="dim")
        console.print()
    for line in found.lines():
        console.print(f"{line[0].upper()}{line[1:]}", style="dim", soft_wrap=True)
    console.print(f"{seconds:.2f} s", style="dim")
