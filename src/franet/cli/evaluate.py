"""``franet evaluate``: which ranker, how many features, and do they beat chance."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from franet.cli import _judging, _options, _screen
from franet.cli._errors import name_columns
from franet.cli._paths import Command, Reads
from franet.exceptions import UsageError

_PICTURES = (".svg", ".png", ".pdf")
# Measured besides the one that is shown: what units do not change.
_MEASURES = ("r2", "rmae_scaled")
_OPTIONS: _options.Rows = {
    **_judging.JUDGING,
    "--measure": _judging.SHOWN["--measure"],
    "--at": (
        "How many features the results are shown for.  [default: as many as a ranker "
        "suggests; 16 if none does]",
        {"type": click.IntRange(min=1)},
    ),
    "--tolerance": (
        "Recommend the smallest number of features that is at most this much worse "
        "than the best.  [default: the suggested number; 0.01 if there is none]",
        {"type": click.FloatRange(min=0)},
    ),
    "--columns": (
        "Judge columns of your own too: NAME=COLUMNS with commas between names or "
        "positions, or NAME=FILE with one a line; may be repeated.",
        {"metavar": "NAME=COLUMNS|FILE", "multiple": True},
    ),
    "--no-references references": (
        "Do not judge random columns and column-subset beside the others.",
        {"flag_value": False, "default": True, "show_default": False},
    ),
    "--plot": ("Draw the curves into this .svg, .png or .pdf file.", _options.NEW_FILE),
    "--output": (
        "Write every value to this .csv, .tsv, .json or .parquet file.",
        _options.NEW_FILE,
    ),
    **_judging.FORCE,
    **_options.AS_JSON,
    "--quiet": ("No progress, no warnings.", _options.FLAG),
}


@click.command(
    cls=Command,
    context_settings={
        "default_map": {"rankers": "cover,frane", "folds": "10", "measure": "r2"}
    },
    short_help="Judge rankers on a file: which, and how many features.",
)
@click.argument("file", type=Reads(path_type=Path))
@_options.add(_OPTIONS)
@_options.reading_options
def evaluate(
    file: Path,
    at: int | None,
    n_features: Any,
    measure: str,
    tolerance: float | None,
    rankers: dict[str, Any],
    columns: tuple[str, ...],
    seed: int,
    plot: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **more: Any,
) -> None:
    """Judge rankers by how well their best features rebuild the table in FILE.

    Each ranker sees nine tenths of the examples; the other tenth is then rebuilt from
    its first features. Random columns and column-subset are judged too. The last lines
    say which ranker is best where, and how many features to keep.
    """
    from franet.cli._constraints import read_columns
    from franet.evaluation import evaluate as judge
    from franet.evaluation.measures import check_measures, feature_counts
    from franet.evaluation.records import Row
    from franet.io import check_target, read_table, write_table
    from franet.io._write import output_format

    check_measures(measure, labeled=False)
    for path, check in ((output, output_format), (plot, _check_picture)):
        if path is not None:
            check(path)
            check_target(path, force=force)
    table = read_table(file, **_options.take_reading(more))
    name_columns(table.names)
    if table.dropped and not quiet:
        _screen.warn(_screen.left_out(table.dropped))
    n = table.X.shape[1]
    names = table.names or [f"x{j}" for j in range(n)]
    lists = read_columns(columns, names, rankers)
    shown = [] if at is None else [min(at, n)]
    with _screen.ProgressBar(hidden=quiet) as bar:
        results = judge(
            table.X,
            rankers=rankers | lists,
            n_features=sorted({*feature_counts(n_features, n), *shown}),
            measures=list(dict.fromkeys([measure, *_MEASURES])),
            name=file.name,
            random_state=seed,
            progress=bar,
            **more,
        )
    if output is not None:
        cells = zip(*results.rows(), strict=True)
        write_table(dict(zip(Row._fields, cells, strict=True)), output, force=force)
    if plot is not None:
        _screen.save_picture(results.plot_curves(measure=measure), plot, force)
    made = results.table(at, measure)
    advice = results.recommend(measure=measure, tolerance=tolerance)
    lead = results.lead()
    if as_json:
        _screen.show_results(
            "franet-evaluation",
            made,
            lead=[dict(zip(lead.columns, row, strict=True)) for row in lead.rows],
            recommendation=asdict(advice),
            values=[row._asdict() for row in results.rows()],
        )
    else:
        best = "\n".join(lead.notes)
        click.echo(f"{made}\n\n{best}\n\n{advice}")


def _check_picture(path: Path) -> None:
    """Raise before any work where the picture could not be drawn after it."""
    from franet._common.optional import require

    if path.suffix not in _PICTURES:
        raise UsageError(
            f"--plot {path}: cannot draw that; end the name in {', '.join(_PICTURES)}"
        )
    require("matplotlib", "--plot", "plot").use("agg")
