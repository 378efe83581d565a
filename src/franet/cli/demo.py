"""``franet demo``: the main job on data that are already here."""

from __future__ import annotations

from pathlib import Path

import click

from franet.cli._report import reporter, show_in_browser
from franet.exceptions import DataError, MissingExtraError

__all__ = ["demo"]

_REPORT = Path("franet-demo-report.html")


@click.command(short_help="Rank the features of a small data set, as a first look.")
@click.option(
    "--open", "open_report", is_flag=True, help="Show the report in the browser."
)
def demo(open_report: bool) -> None:
    """Rank the 30 measurements of 569 tumours that come with scikit-learn.

    The diagnoses are not used. A report is written to the current folder.
    """
    from sklearn.datasets import load_breast_cancer

    from franet.cli._job import rank_table
    from franet.cli._scale import standardized
    from franet.cli._screen import ProgressBar, show, warn

    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    click.echo(
        "Measurements of cell nuclei in 569 tumours, scaled to unit variance because "
        "their units differ; the diagnoses are not used."
    )
    with ProgressBar() as bar:
        why_not = _why_no_report()
        report = reporter(None if why_not else _REPORT, True, "Tumours")
        summary, _, _ = rank_table(
            standardized(data.data),
            names,
            {},
            top=10,
            listener=bar,
            report=report,
        )
    warn(summary["warnings"])
    show(summary)
    click.echo("\nYour own table, with examples in rows and features in columns:")
    options = "" if why_not else " --report report.html --open"
    click.echo(f"  franet rank data.csv --output ranking.csv{options}")
    click.echo(f"\n{why_not or f'Open in a browser: {_REPORT}'}")
    if open_report:
        if why_not:
            warn(["there is no report to open"])
        else:
            show_in_browser(_REPORT)


def _why_no_report() -> str:
    """Return why the report cannot be written, nothing if it can."""
    from franet.report import check_report

    try:
        check_report(_REPORT, force=True)
    except (DataError, MissingExtraError) as err:
        return str(err)
    return ""
