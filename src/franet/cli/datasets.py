"""``franet datasets``: which benchmark data sets there are, and getting them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from franet.cli import _complete, _screen
from franet.cli._judging import parse_datasets
from franet.cli._options import AS_JSON, add, group
from franet.exceptions import DataError

datasets = group("datasets", "List and fetch the data sets of the paper.")


@datasets.command("list", short_help="List the data sets, and which are here.")
@add(AS_JSON)
def list_(as_json: bool) -> None:
    """List the data sets, and which of them are on this machine.

    They are looked for in the folder FRANET_DATA ("data"), then in the cache.
    """
    from franet.datasets import DATASETS, cache_folder, find

    rows: list[dict[str, Any]] = []
    shown, folders = [], set()
    for entry in DATASETS.values():
        place, where = "—", None
        if path := find(entry.name):
            place = "cache" if path.parent == cache_folder() else "data"
            where = str(path)
            folders.add(f"{place:<5} {_screen.clean(str(path.parent))}")
        rows.append({**asdict(entry), "in_paper": entry.in_paper, "path": where})
        shown.append(
            {
                "name": entry.name,
                "examples": f"{entry.n_examples:,}",
                "features": f"{entry.n_features:,}",
                "classes": entry.n_classes,
                "domain": entry.domain,
                "paper": "yes" if entry.in_paper else "no",
                "where": place,
            }
        )
    if as_json:
        document = {"format": "franet-datasets", "version": 1, "datasets": rows}
        _screen.show_json(document)
        return
    words = ("name", "domain", "paper", "where")
    _screen.print_table(_screen.open_console(), shown, words)
    here = sum(row["path"] is not None for row in rows)
    click.echo(f"\n{here} of {len(rows)} are on this machine.")
    for line in sorted(folders):
        click.echo(line)
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
    from franet.datasets import fetch as fetch_one

    code = 0
    for name in parse_datasets(",".join(names), paper=None):
        try:
            with _screen.ProgressBar(hidden=quiet) as bar, listening(bar):
                fetched = fetch_one(name)
        except DataError as err:
            code = 1
            _screen.tell("error", str(err))
            continue
        if not quiet:
            state = "downloaded" if fetched.downloaded else "here already"
            click.echo(f"{name}  {state}  {fetched.path}  sha256:{fetched.sha256}")
    ctx.exit(code)
