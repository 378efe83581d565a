"""``franet panel``: a panel of genes from a file of single cells, or one to judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from franet._common.progress import listening
from franet.cli import _options, _screen
from franet.cli._errors import in_words, name_columns
from franet.cli._options import FLAG
from franet.cli._paths import Command, Reads
from franet.estimators._parameters import GREEDY
from franet.exceptions import Setting, UsageError

_COLUMN = {"metavar": "COLUMN"}
_SHARE = {"type": click.FloatRange(0, 1)}
_NUMBER = {"type": float}
_SHARED: dict[str, Mapping[str, Any]] = {
    "include": _options.FEATURES,
    "exclude": _options.FEATURES,
}
_GREEDY = {name: GREEDY[name] for name in _SHARED}
_OPTIONS: _options.Rows = {
    "--genes": (
        "How many genes; auto: as many as are suggested.  [default: auto]",
        {"metavar": "NUMBER|AUTO", "type": _options.number_or_auto},
    ),
    "--judge": (
        "Judge the genes of this file instead of choosing: one a line, or a csv file "
        "of this command.",
        _options.A_FILE,
    ),
    "--start": ("Pick the genes of such a file first.", _options.A_FILE),
    **_options.of_parameters(_SHARED, {"panel": _GREEDY}),
    "--weights": (
        "What a gene counts: the variance that it shares with others, or nearly alike.",
        {"type": click.Choice(["variance", "robust"]), "default": "variance"},
    ),
    "--batch batch_key": (
        "The column of obs with the batch of each cell: genes explain within batches.",
        _COLUMN,
    ),
    "--label": (
        "The column of obs with the type of each cell, which judges the panel and "
        "never chooses.",
        _COLUMN,
    ),
    "--layer": ("The layer to rank instead of X.", {"metavar": "NAME"}),
    "--use-raw": ("Rank the genes and values of raw.", FLAG),
    "--normalize": (
        "What to do with raw counts, which are an error otherwise: log1p of equal "
        "totals, or none.",
        {"type": click.Choice(["log1p", "none"])},
    ),
    "--mask mask_var": ("The column of var: genes that may be picked.", _COLUMN),
    "--min-cells": ("Pick genes detected in this share of cells at least.", _SHARE),
    "--max-cells": ("Pick genes detected in this share of cells at most.", _SHARE),
    "--level": (
        "The column of var with the level of each gene.  [default: mean values]",
        _COLUMN,
    ),
    "--min-level": ("The lowest level of a gene that may be picked.", _NUMBER),
    "--max-level": ("The highest level of a gene that may be picked.", _NUMBER),
    "--max-total": (
        "The most that the levels of all genes of the panel add up to.",
        _NUMBER,
    ),
    "--stability n_halves": (
        "Rank N halves of the cells too, and show how sure the picks are; none: not in "
        "the report, either.  [default: 20 where --report is given and they take 10 s "
        "or 5 times the ranking at most]",
        {"metavar": "N|none", "type": _options.halves},
    ),
    "--seed": ("The seed of --stability, and of the cells that judge.", _options.SEED),
    "--n-jobs": ("Number of threads.  [default: all cores]", {"type": int}),
    "--output": (
        "Write the panel to this .csv, .tsv, .json or .parquet file.",
        _options.NEW_FILE,
    ),
    "--report": (
        "Write a page that shows the panel to this .html (or .json) file.",
        _options.NEW_FILE,
    ),
    "--force": ("Replace files to write if they exist.", FLAG),
    **_options.AS_JSON,
    "--quiet": ("No table, no progress, no warnings.", FLAG),
}


@click.command(cls=Command, short_help="Choose or judge a gene panel of a .h5ad file.")
@click.argument("file", type=Reads(path_type=Path))
@_options.add(_OPTIONS)
def panel(
    file: Path,
    genes: int | str | None,
    judge: Path | None,
    label: str | None,
    n_halves: int | None,
    seed: int | None,
    n_jobs: int | None,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Choose genes of FILE that represent the others, without labels, and judge them.

    FILE is a .h5ad file: normalized, log-transformed values of single cells. Genes are
    picked one after another by Cover, each for what earlier ones miss; a gene counts by
    the variance that it shares with others.
    """
    import numpy as np

    from franet.anndata import _cells, _genes
    from franet.anndata._inputs import note_on_scale
    from franet.cli import _job
    from franet.cli._constraints import find_features
    from franet.cover._constraints import find_features as find_positions
    from franet.estimators._cover import Cover
    from franet.evaluation.panel import judge_panel
    from franet.pairs.similarity._sparse import constant_in
    from franet.report import summarize_panel, write
    from franet.report._panel import panel_columns

    _check_together(genes, judge, n_halves, report, options)
    _check_outputs(output, report, force)
    adata = _cells.read_cells(file, options["layer"], use_raw=options["use_raw"])
    names = [str(name) for name in adata.var_names]
    name_columns(names)
    labels = None if label is None else _genes.read_labels(adata, label)
    key = options["batch_key"]
    batches = None if key is None else _genes.read_batches(adata, key)
    X = _genes.normalized(adata.X, options["normalize"])
    bounds = {name: options[name] for name in _genes.BOUNDS}
    limits = _genes.Limits(options["mask_var"], **bounds)
    found, matches = find_features(options, {}, names)
    if judge is not None:
        known = np.array(names, object)
        given = find_positions(known, _genes.read_panel(judge), "judge")
        if (flat := constant_in(X[:, given])).any():
            raise UsageError(
                "{}: {!r} is constant, and says nothing of any cell.",
                Setting("judge"),
                names[given[flat.argmax()]],
                remedy="Leave it out.",
            )
        parameters = {"include": given, "n_ranked": len(given)}
        genes = len(given)
    else:
        closed = _genes.closed_by(limits, X, adata)
        parameters = found | _genes.start_first(
            Cover(**found), names, options["start"], closed, limits.max_total
        )
    parameters = {"weights": options["weights"], "n_jobs": n_jobs, **parameters}
    table = _genes.centered(X, batches, names)
    with _screen.ProgressBar(hidden=quiet) as bar, listening(bar):
        top = _options.AUTO if genes is None else genes

        def rank(n: Any, **features: Any) -> Any:
            of_features = {k: v for k, v in features.items() if v is not None}
            return _job.rank_table(table, names, parameters | of_features, top=n)

        first = {name: parameters.get(name) for name in ("include", "exclude")}
        ranking = _genes.within_total(rank, limits, X, adata, n=top, **first)
        fitted, summary = ranking.fitted, ranking.summary
        chosen = [row["index"] for row in summary["features"]]
        judged = judge_panel(table, chosen, labels, names=names, random_state=seed or 0)
        notes = [*summary["warnings"]]
        if note := note_on_scale(fitted, X):
            notes.insert(0, in_words(note))
        sure: Any = _job.NOT_ASKED
        if judge is not None:
            sure = "The panel was given: how sure picks are has no meaning."
        elif n_halves:
            sure = _job.add_stability(ranking, n_halves, seed, n_jobs)
        elif report is not None and n_halves is None:
            sure = _job.stability_unasked(ranking, seed, n_jobs)
        page = summarize_panel(
            fitted,
            X,
            judged,
            labels=None if labels is None else list(labels),
            embedding=_cells.embedding(adata),
            names=names,
            title=file.name,
            seconds=summary["seconds"],
            warnings=[*notes, *matches],
            stability=None if isinstance(sure, str) else sure,
        )
    if isinstance(sure, str):
        page["stability"]["text"] = sure.replace("franet rank", "franet panel")
    if output is not None:
        from franet.io import write_table

        write_table(panel_columns(page), output, force=force)
    if report is not None:
        write(page, report, force=force)
    if not quiet:
        _screen.warn(*notes)
    if as_json:
        _screen.show_json({k: v for k, v in page.items() if k != "cells"})
    elif not quiet:
        _show(summary | {"matches": matches}, page, judged)
        for what, path in (("Panel", output), ("Report", report)):
            if path is not None:
                click.echo(f"{what}: {path}")


def _check_together(
    genes: Any,
    judge: Path | None,
    n_halves: int | None,
    report: Path | None,
    options: Mapping[str, Any],
) -> None:
    """Raise before any work where an option has no meaning beside another one."""
    choosing = {
        "genes": genes,
        "stability": n_halves,
        **{
            name: value
            for name, value in options.items()
            if name not in ("batch_key", "layer", "use_raw", "normalize", "weights")
        },
    }
    for name, value in choosing.items():
        if judge is not None and value not in (None, ()):
            raise UsageError(
                "{} chooses genes, and {} judges those of a file.",
                Setting({"stability": "n_halves"}.get(name, name)),
                Setting("judge"),
                remedy="Leave one of them out.",
            )
    if n_halves == 0 and report is None:
        raise UsageError(
            "--stability none is for --report, which is not given; leave it out"
        )


def _check_outputs(output: Path | None, report: Path | None, force: bool) -> None:
    """Raise before any work where a file could not be written after it."""
    from franet.io import check_target
    from franet.io._write import output_format
    from franet.report import check_report

    if output is not None:
        output_format(output)
        check_target(output, force=force)
    if report is not None:
        check_report(report, force=force)


def _show(summary: dict[str, Any], page: dict[str, Any], judged: Any) -> None:
    """Write the panel as a table, the types as another, and what was found as lines."""
    _screen.show(summary)
    console = _screen.open_console()
    for line in judged.sentences():
        console.print(line, style="dim", soft_wrap=True)
    if page["types"] is None:
        return
    console.print()
    rows = []
    for row in page["types"]:
        taken = row["taken_for"]
        share = "—" if taken is None else f"{100 * taken['share']:.0f} %"
        rows.append(
            {
                "type": row["name"],
                "cells": f"{row['count']:,}",
                "F1, neighbors": f"{row['f1_neighbors']:.2f}",
                "F1, logistic": f"{row['f1_logistic']:.2f}",
                "taken for": share if taken is None else f"{taken['name']} ({share})",
                "carried by": ", ".join(row["carriers"]),
            }
        )
    _screen.print_table(console, rows, ("type", "taken for", "carried by"))
    console.print()
