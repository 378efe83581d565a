"""Options that the commands share which judge rankers: evaluate and bench."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from franet.cli import _complete
from franet.cli._paths import Writes

# An option whose default is part of its help.
shown = partial(click.option, show_default=True)
positive = partial(shown, type=click.IntRange(min=1))
writes = partial(click.option, metavar="FILE", type=Writes(path_type=Path))

rankers = partial(
    shown,
    "--rankers",
    metavar="SPECS",
    shell_complete=_complete.rankers,
    help="Rankers with commas between them, or all. With parameters: "
    "frane:variant=reference:n_thresholds=50",
)
folds = partial(
    shown,
    "--folds",
    metavar="paper|N",
    help="The partition of the paper, or a number of shuffled folds.",
)
repeats = positive(
    "--repeats", default=1, help="Repetitions of --folds N, with other shuffles."
)
n_features = shown(
    "--n-features",
    default="powers",
    metavar="powers|16,64",
    help="At how many features rankings are judged; powers: 1, 2, 4, … and all.",
)
at = positive("--at", default=16, help="How many features the results are shown for.")
measure = shown(
    "--measure",
    default="rmae",
    shell_complete=_complete.measures,
    help="The measure to show.",
)
seed = shown(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    help="The seed of --folds N, and of rankers that have none.",
)
force = click.option("--force", is_flag=True, help="Replace files that exist.")
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document."
)
quiet = partial(click.option, "--quiet", is_flag=True)
