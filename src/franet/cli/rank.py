"""``franet rank``: rank the features of a file; ``franet demo``: of data at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franet._common.progress import listening
from franet.cli import _options, _screen
from franet.cli._errors import in_words, name_columns
from franet.cli._options import NONE, STANDARD
from franet.cli._paths import Reads
from franet.exceptions import DataError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from franet.cli._job import Ranking

_DEMO_REPORT = Path("franet-demo-report.html")
# Columns of the full ranking that AnnData has no other place for.
_STABILITY = ("rank_low", "rank_high", "selected_share", "picked_again", "held")


@click.command(cls=_options.GroupedCommand, short_help="Rank the features of a file.")
@click.argument("file", type=Reads(path_type=Path))
@_options.rank_options
@click.pass_context
def rank(
    ctx: click.Context,
    /,
    file: Path,
    ranker: str,
    n_halves: int | None,
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
    parameters = _options.parameters_of(ctx.params)
    _check_together(ctx.params)
    reading, scale = _options.take_reading(options), options["scale"]
    standardize = _standardizes(ctx.params)
    if output is not None:
        _check_output(file, output, reading, force)
    if report is not None:
        from franet.report import check_report

        check_report(report, force=force)
    from franet.anndata._inputs import note_on_scale
    from franet.cli import _job
    from franet.cli._constraints import find_features, read_files
    from franet.io import read_table
    from franet.io._source import find_format

    files = read_files(options)
    text = options["similarity"] == "mixed"
    needs_all = bool(report or n_halves or standardize or text)
    lazy = None if needs_all else _job.largest_to_load(ranker, parameters)
    table = read_table(file, text=text, lazy=lazy, **reading)
    name_columns(table.names)
    labels = table.names or [f"x{j}" for j in range(table.X.shape[1])]
    features, matches = find_features(options, files, labels)
    parameters |= features
    is_h5ad = find_format(file, reading.get("format")) == "h5ad"
    if ranker == "cover" and is_h5ad and not reading.get("transpose"):
        parameters = {"weights": "variance", **parameters}
    if options["dry_run"]:
        if options["top"] is not None:
            parameters["n_features_to_select"] = options["top"]
        plan = _job.plan_table(table.X, parameters, ranker)
        if as_json:
            _screen.show_json(plan)
        else:
            click.echo("\n".join(_screen.plan_lines(plan)))
        return
    X = _job.standardized(table.X) if standardize else table.X
    notes = [_screen.left_out(table.dropped)] if table.dropped else []
    top, seed, n_jobs = options["top"], options["seed"], options["n_jobs"]
    with _screen.ProgressBar(hidden=quiet) as bar, listening(bar):
        ranking = _job.rank_table(X, labels, parameters, ranker=ranker, top=top)
        if note := note_on_scale(ranking.fitted, X):
            notes.append(in_words(note))
        sure: Any = _job.NOT_ASKED
        if n_halves:
            sure = _job.add_stability(ranking, n_halves, seed, n_jobs)
        elif report is not None and n_halves is None:
            sure = _job.stability_unasked(ranking, seed, n_jobs)
        if report is not None:
            _write_report(ranking, report, force, file.name, notes, sure)
    summary = ranking.summary
    summary["warnings"][:0] = notes
    summary["matches"] = matches
    summary["scale"] = scale or (STANDARD if ranker == "cover" else NONE)
    if output is not None:
        _write_output(ranking, file, output, reading.get("variable"), force)
    if not quiet:
        _screen.warn(*summary["warnings"])
    if as_json:
        _screen.show_json(summary)
    elif not quiet:
        _screen.show(summary)
        if table.labels is not None and not reading["transpose"]:
            label = _screen.clean(repr(table.labels))
            click.echo(f"Row labels: {label} (--no-index if it is a feature)")
        if output is not None:
            where = f"{output} (var)" if _is_h5ad(output) else str(output)
            click.echo(f"All {len(labels):,} features: {where}")
        if report is not None:
            click.echo(f"Report: {report}")
    if report is not None and options["open_report"]:
        _show_in_browser(report)


def _standardizes(given: Mapping[str, Any]) -> bool:
    """Return whether the table is scaled before it is ranked."""
    return given["scale"] == STANDARD and given["ranker"] != "cover"


def _check_together(given: dict[str, Any]) -> None:
    """Raise before any work where an option has no meaning beside another one."""
    is_given, has_text = (given["similarity"] == x for x in ("precomputed", "mixed"))
    none = "examples, of which --similarity precomputed has none"
    standardize, scaled = _standardizes(given), "--scale standard"
    text = f"{scaled} is for numbers, --similarity mixed for tables with text"
    plan = "--dry-run predicts one ranking, not the draws of --stability"
    for is_wrong, why in (
        (is_given and given["n_halves"], f"--stability draws {none}"),
        (is_given and standardize, f"{scaled} scales {none}"),
        (has_text and standardize, text),
        (given["dry_run"] and given["n_halves"], plan),
    ):
        if is_wrong:
            raise UsageError(f"{why}; leave one of them out")
    if given["n_halves"] == 0 and given["report"] is None:
        raise UsageError(
            "--stability none is for --report, which is not given; leave it out"
        )
    if given["open_report"] and given["report"] is None:
        raise UsageError("--open shows the report; name it by --report report.html")


def _check_output(
    file: Path, output: Path, reading: Mapping[str, Any], force: bool
) -> None:
    """Raise before any work where the ranking could not be written after it.

    Parameters
    ----------
    file, output : Path
        The file to read, and the one to write.
    reading : mapping
        How the file is read.
    force : bool
        Whether a file that is there may be replaced.
    """
    from franet._common.optional import require
    from franet.io import check_target
    from franet.io._source import find_format
    from franet.io._write import output_format

    if not _is_h5ad(output):
        output_format(output)
    elif (kind := find_format(file, reading.get("format"))) != "h5ad":
        raise UsageError(
            f"--output: a .h5ad file is a copy of the .h5ad file that is ranked, but "
            f"{file} is {kind}; end the name in .csv, .tsv, .json or .parquet"
        )
    elif reading["transpose"]:
        raise UsageError(
            "--output: a .h5ad file holds the ranks of its variables, but --transpose "
            "ranks observations; leave it out, or end the name in .csv"
        )
    else:
        require("anndata", "Writing h5ad files", "anndata")
    check_target(output, force=force)


def _is_h5ad(path: Path) -> bool:
    """Return whether a file is to be a copy of a .h5ad file."""
    return path.suffix.lower() == ".h5ad"


def _write_output(
    ranking: Ranking, file: Path, output: Path, layer: str | None, force: bool
) -> None:
    """Write the full ranking, or a copy of the .h5ad file with the ranking in it.

    Parameters
    ----------
    ranking : Ranking
        What to write.
    file, output : Path
        The file that was read, and the one to write.
    layer : str or None
        Which layer of a .h5ad file was read.
    force : bool
        Whether a file that is there may be replaced.
    """
    summary, columns, fitted = ranking[:3]
    if not _is_h5ad(output):
        from franet.io import write_table

        write_table(columns, output, force=force)
        return
    import numpy as np
    from sklearn.base import clone

    from franet.anndata._results import notes_on, write_ranked_file

    back = np.argsort(columns["index"])
    more = {
        name: np.array(columns[name], int if name.startswith("rank") else float)[back]
        for name in _STABILITY
        if name in columns
    }
    given = clone(fitted).set_params(**summary["parameters"])
    notes = notes_on(given, fitted, layer)
    notes["scale"] = summary["scale"]
    write_ranked_file(file, output, fitted, more=more, notes=notes, force=force)


def _write_report(
    ranking: Ranking,
    path: Path,
    force: bool,
    title: str,
    notes: Sequence[str],
    sure: Any,
) -> None:
    """Write the page that shows a ranking.

    Parameters
    ----------
    ranking : Ranking
        What to show.
    path : Path
        The file to write.
    force : bool
        Whether a file that is there may be replaced.
    title : str
        The title of the page.
    notes : sequence of str
        What else the page warns of.
    sure : Stability or str
        How sure the ranking is, or why this is not known.
    """
    from franet.report import summarize, write

    summary, _, fitted, X, labels = ranking[:5]
    # The report itself explains what Cover and FRANe warn of, with more detail.
    explained = summary["ranker"] in ("cover", "frane")
    page = summarize(
        fitted,
        X,
        names=labels,
        title=title,
        seconds=summary["seconds"],
        warnings=[*notes] if explained else [*notes, *summary["warnings"]],
        stability=None if isinstance(sure, str) else sure,
    )
    if isinstance(sure, str):
        page["stability"]["text"] = sure
    write(page, path, force=force)


def _show_in_browser(path: Path) -> None:
    """Open the report, or say that there is no browser to open it in."""
    import webbrowser

    # A path would be taken for the name of a host by some browsers.
    if not webbrowser.open(path.resolve().as_uri()):
        _screen.warn(f"no browser was found; open {path} in one yourself")


@click.command(short_help="Rank the features of a small data set, as a first look.")
@click.option(
    "--open", "open_report", is_flag=True, help="Show the report in the browser."
)
def demo(open_report: bool) -> None:
    """Rank the 30 measurements of 569 tumours that come with scikit-learn.

    The diagnoses are not used. A report is written to the current folder.
    """
    from sklearn.datasets import load_breast_cancer

    from franet.cli import _job
    from franet.report import check_report

    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    click.echo(
        "Measurements of cell nuclei in 569 tumours; the diagnoses are not used."
    )
    why_not = ""
    try:
        check_report(_DEMO_REPORT, force=True)
    except (DataError, MissingExtraError) as err:
        why_not = str(err)
    with _screen.ProgressBar() as bar, listening(bar):
        ranking = _job.rank_table(data.data, names, {}, top=10)
        if not why_not:
            sure = _job.stability_unasked(ranking, None, None)
            _write_report(ranking, _DEMO_REPORT, True, "Tumours", (), sure)
    _screen.warn(*ranking.summary["warnings"])
    _screen.show(ranking.summary)
    click.echo("\nYour own table, with examples in rows and features in columns:")
    options = "" if why_not else " --report report.html --open"
    click.echo(f"  franet rank data.csv --output ranking.csv{options}")
    click.echo(f"\n{why_not or f'Open in a browser: {_DEMO_REPORT}'}")
    if open_report and why_not:
        _screen.warn("there is no report to open")
    elif open_report:
        _show_in_browser(_DEMO_REPORT)
