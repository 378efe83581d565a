"""``franet datasets``: which benchmark data sets there are, and getting them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from franet.cli import _complete
from franet.cli._terminal import clean, open_console, plain_table, print_whole, tell


@click.group(
    invoke_without_command=True, short_help="List and fetch the data sets of the paper."
)
@click.pass_context
def datasets(ctx: click.Context) -> None:
    """List and fetch the data sets of the paper."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@datasets.command("list", short_help="List the data sets, and which are here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_(as_json: bool) -> None:
    """List the data sets, and which of them are on this machine.

    They are looked for in the folder FRANET_DATA ("data"), then in the cache.
    """
    from franet.cli._screen import show_json
    from franet.datasets import DATASETS, find

    rows: list[dict[str, Any]] = []
    for entry in DATASETS.values():
        path = find(entry.name)
        where = None if path is None else str(path)
        rows.append({**asdict(entry), "in_paper": entry.in_paper, "path": where})
    if as_json:
        show_json({"format": "franet-datasets", "version": 1, "datasets": rows})
        return
    _show(rows)
    here = sum(row["path"] is not None for row in rows)
    click.echo(f"\n{here} of {len(rows)} are on this machine.")
    for where, folder in sorted({_place(row) for row in rows if row["path"]}):
        click.echo(f"{where:<5} {clean(folder)}")
    if here < len(rows):
        click.echo("To get the others: franet datasets fetch all")


@datasets.command(short_help="Download data sets that are not here.")
@click.argument(
    "names", nargs=-1, metavar="NAMES...|all", shell_complete=_complete.datasets
)
@click.option("--quiet", is_flag=True, help="No progress, and no lines but errors.")
@click.pass_context
def fetch(ctx: click.Context, names: tuple[str, ...], quiet: bool) -> None:
    """Download the data sets NAMES, or all, into the cache.

    What is here already is checked, and not downloaded again. The folder of the cache
    is FRANET_CACHE, if that is set.
    """
    from franet._common.progress import listening
    from franet.cli._screen import ProgressBar
    from franet.datasets import fetch as fetch_one
    from franet.exceptions import DataError

    failed = 0
    for name in _chosen(names):
        try:
            with ProgressBar(hidden=quiet) as bar, listening(bar):
                fetched = fetch_one(name)
        except DataError as err:
            failed += 1
            tell("error", str(err))
            continue
        if not quiet:
            state = "downloaded" if fetched.downloaded else "here already"
            click.echo(f"{name}  {state}  {fetched.path}  sha256:{fetched.sha256}")
    ctx.exit(1 if failed else 0)


def _chosen(names: tuple[str, ...]) -> list[str]:
    """Return the names to fetch, each once, or raise before any is fetched."""
    from franet.datasets import DATASETS, get

    if not names:
        raise click.UsageError("Name the data sets to fetch, or say all.")
    if any(name.lower() == "all" for name in names):
        return list(DATASETS)
    return list(dict.fromkeys(get(name).name for name in names))


def _place(row: dict[str, Any]) -> tuple[str, str]:
    """Return whether the file is in FRANET_DATA or in the cache, and its folder."""
    from franet.datasets import cache_folder

    folder = Path(row["path"]).parent
    return "cache" if folder == cache_folder() else "data", str(folder)


def _show(rows: list[dict[str, Any]]) -> None:
    table = plain_table()
    table.add_column("name", style="bold", no_wrap=True)
    for title in ("examples", "features", "classes"):
        table.add_column(title, justify="right")
    for title in ("domain", "paper", "where"):
        table.add_column(title)
    for row in rows:
        table.add_row(
            row["name"],
            f"{row['n_examples']:,}",
            f"{row['n_features']:,}",
            str(row["n_classes"]),
            row["domain"],
            "yes" if row["in_paper"] else "no",
            _place(row)[0] if row["path"] else "—",
        )
    print_whole(open_console(), table)
