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
_OPTIONS: _options.Rows = {
    **_judging.JUDGING,
    **_judging.SHOWN,
    "--tolerance": (
        "How much worse than the best the recommended number may be.",
        {"type": click.FloatRange(min=0), "default": 0.01},
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
    context_settings={"default_map": {"rankers": "cover,frane", "folds": "10"}},
    short_help="Judge rankers on a file: which, and how many features.",
)
@click.argument("file", type=Reads(path_type=Path))
@_options.add(_OPTIONS)
@_options.reading_options
def evaluate(
    file: Path,
    at: int,
    n_features: Any,
    measure: str,
    tolerance: float,
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
    say how many features are enough.
    """
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
    with _screen.ProgressBar(hidden=quiet) as bar:
        results = judge(
            table.X,
            n_features=sorted({*feature_counts(n_features, n), min(at, n)}),
            measures=[measure],
            name=file.name,
            random_state=seed,
            progress=bar,
            **more,
        )
    if output is not None:
        columns = zip(*results.rows(), strict=True)
        write_table(dict(zip(Row._fields, columns, strict=True)), output, force=force)
    if plot is not None:
        _screen.save_picture(results.plot_curves(measure=measure), plot, force)
    made = results.table(at, measure)
    advice = results.recommend(measure=measure, tolerance=tolerance)
    if as_json:
        _screen.show_results(
            "franet-evaluation",
            made,
            recommendation=asdict(advice),
            values=[row._asdict() for row in results.rows()],
        )
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
