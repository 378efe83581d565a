"""``franet evaluate``: which ranker, how many features, and do they beat chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franet.cli import _judging
from franet.cli._errors import name_columns
from franet.cli._options import reading_options, take_reading
from franet.cli._paths import Command, Reads
from franet.exceptions import UsageError

if TYPE_CHECKING:
    from franet.evaluation.results import Results

__all__ = ["evaluate"]

_PICTURES = (".svg", ".png", ".pdf")


@click.command(
    cls=Command, short_help="Judge rankers on a file: which, and how many features."
)
@click.argument("file", type=Reads(path_type=Path))
@_judging.rankers(default="cover,frane")
@_judging.at
@_judging.n_features
@_judging.folds(default="10")
@_judging.repeats
@_judging.measure
@_judging.shown(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.01,
    help="How much worse than the best the recommended number may be.",
)
@click.option(
    "--no-references",
    is_flag=True,
    help="Do not judge random columns and column-subset beside the others.",
)
@_judging.seed
@_judging.writes("--plot", help="Draw the curves into this .svg, .png or .pdf file.")
@_judging.writes(
    "--output", help="Write every value to this .csv, .tsv, .json or .parquet file."
)
@_judging.force
@_judging.as_json
@_judging.quiet(help="No progress, no warnings.")
@reading_options
def evaluate(
    file: Path,
    rankers: str,
    at: int,
    n_features: str,
    folds: str,
    repeats: int,
    measure: str,
    tolerance: float,
    no_references: bool,
    seed: int,
    plot: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Judge rankers by how well their best features rebuild the table in FILE.

    Each ranker sees nine tenths of the examples; the other tenth is then rebuilt from
    its first features. Random columns and column-subset are judged too. The last lines
    say how many features are enough.
    """
    from franet.cli._screen import ProgressBar, left_out, warn
    from franet.cli._specs import parse_counts, parse_folds, parse_rankers
    from franet.evaluation import evaluate as judge
    from franet.evaluation.measures import check_measures
    from franet.io import check_target, read_table
    from franet.io._write import output_format

    check_measures(measure, labeled=False)
    counts, chosen = parse_counts(n_features), parse_rankers(rankers)
    if output is not None:
        output_format(output)
    if plot is not None:
        _check_picture(plot)
    for path in (plot, output):
        if path is not None:
            check_target(path, force=force)
    table = read_table(file, **take_reading(options))
    name_columns(table.names)
    if table.dropped and not quiet:
        warn([left_out(table.dropped)])
    with ProgressBar(hidden=quiet) as bar:
        results = judge(
            table.X,
            rankers=chosen,
            n_features=_with(counts, at, table.X.shape[1]),
            folds=parse_folds(folds),
            repeats=repeats,
            measures=[measure],
            references=not no_references,
            name=file.name,
            random_state=seed,
            progress=bar,
        )
    _write(results, measure, plot, output, force)
    made = results.table(at, measure)
    advice = results.recommend(measure=measure, tolerance=tolerance)
    if as_json:
        click.echo(json.dumps(_document(made, advice, results), indent=1))
    else:
        click.echo(f"{made}\n\n{advice}")


def _check_picture(path: Path) -> None:
    """Raise before any work where the picture could not be drawn after it."""
    from franet._common.optional import require

    if path.suffix not in _PICTURES:
        raise UsageError(
            f"--plot {path}: cannot draw that; end the name in {', '.join(_PICTURES)}"
        )
    require("matplotlib", "--plot", "plot").use("agg")


def _with(counts: Any, at: int, n_features: int) -> Any:
    """Return the counts with that of the table among them."""
    from franet.evaluation.measures import feature_counts

    return sorted({*feature_counts(counts, n_features), min(at, n_features)})


def _write(
    results: Results, measure: str, plot: Path | None, output: Path | None, force: bool
) -> None:
    from franet.cli._screen import save_picture
    from franet.evaluation.records import Row
    from franet.io import write_table

    if output is not None:
        columns = zip(*results.rows(), strict=True)
        write_table(dict(zip(Row._fields, columns, strict=True)), output, force=force)
    if plot is not None:
        save_picture(results.plot_curves(measure=measure), plot, force)


def _document(made: Any, advice: Any, results: Results) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "format": "franet-evaluation",
        "version": 1,
        "columns": made.columns,
        "rows": made.rows,
        "notes": made.notes,
        "recommendation": asdict(advice),
        "values": [row._asdict() for row in results.rows()],
    }
