"""The command line: ``franet rank`` and ``evaluate`` for files, ``demo`` to begin with.

Nothing heavy is imported before a command runs, so that help comes at once.
"""

from __future__ import annotations

import click

from franet import __version__
from franet.cli._complete import completion
from franet.cli._errors import Group
from franet.cli.bench import bench
from franet.cli.datasets import datasets
from franet.cli.doctor import doctor
from franet.cli.evaluate import evaluate
from franet.cli.panel import panel
from franet.cli.prune import prune
from franet.cli.rank import demo, rank

__all__ = ["main"]

_START = """\
franet finds the few columns of a table that represent the rest. It needs no labels.

A first look, on data that are already here:
  franet demo
Your own table, with examples in rows and features in columns:
  franet rank data.csv --output ranking.csv

Commands:
{commands}

The options of a command: franet rank --help"""


@click.group(
    "franet",
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.version_option(__version__, prog_name="franet")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Rank the features of tables without labels, by Cover, FRANe and others."""
    if ctx.invoked_subcommand is None:
        lines = [
            f"  {name:<11} {command.get_short_help_str(limit=70)}"
            for name, command in main.commands.items()
        ]
        click.echo(_START.format(commands="\n".join(lines)))


for command in (
    demo,
    rank,
    prune,
    panel,
    evaluate,
    bench,
    datasets,
    doctor,
    completion,
):
    main.add_command(command)
