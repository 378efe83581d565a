"""A table to rank, and commands as a user types them."""

from __future__ import annotations

import json
from inspect import signature

import numpy as np
from click.testing import CliRunner

from franet.cli import main

rng = np.random.default_rng(0)
BASE = rng.normal(size=(60, 4))
# Three groups of alike features, and one feature that is like no other.
X = np.column_stack(
    [BASE[:, [0, 0, 0, 1, 1, 1, 2, 2, 2]] + 0.3 * rng.normal(size=(60, 9)), BASE[:, 3]]
)
NAMES = [f"g{j}" for j in range(10)]


def save(path, X=X, names=NAMES):
    lines = [",".join(names)] + [",".join(map(repr, row)) for row in X.tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path


# Before click 8.2 what goes to stderr was put into stdout, unless told otherwise.
APART = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}


def run(*args, **kwargs):
    return CliRunner(**APART).invoke(main, [str(arg) for arg in args], **kwargs)


def rank(*args, **kwargs):
    """Rank as in the paper."""
    return run("rank", *args, "--ranker", "frane", **kwargs)


def read(data, *options):
    """Return the JSON document of a ranking."""
    result = run("rank", data, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def fails(*args, code):
    """Run a command that must fail, and return its one line."""
    result = run(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    return lines[0]
