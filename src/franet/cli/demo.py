"""``franet demo``: the main job on data that are already here."""

from __future__ import annotations

import click

__all__ = ["demo"]


@click.command(short_help="Rank the features of a small data set, as a first look.")
def demo() -> None:
    """Rank the 30 measurements of 569 tumours that come with scikit-learn.

    The diagnoses are not used.
    """
    from sklearn.datasets import load_breast_cancer

    from franet.cli._job import rank_table
    from franet.cli._screen import ProgressBar, show, warn

    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    click.echo(
        "Measurements of cell nuclei in 569 tumours; the diagnoses are not used."
    )
    with ProgressBar() as bar:
        summary, _ = rank_table(data.data, names, {}, top=10, listener=bar)
    warn(summary["warnings"])
    show(summary)
    click.echo("\nYour own table, with examples in rows and features in columns:")
    click.echo("  franet rank data.csv --top 16 --output ranking.csv")
