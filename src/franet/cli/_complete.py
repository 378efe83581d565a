"""What a shell may put in where a command is typed. Nothing heavy is loaded before."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

__all__ = ["datasets", "measures", "one_of", "rankers"]

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def one_of(*values: str) -> Complete:
    """Return what completes one of some values."""
    return _complete(lambda: values)


def _complete(names: Callable[[], Iterable[str]]) -> Complete:
    """Return what completes the last of several names with commas between them."""

    def complete(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
        before, comma, last = typed.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def _rankers() -> list[str]:
    from franet.rankers import NAMES

    return ["all", *NAMES]


def _datasets() -> list[str]:
    from franet.datasets import DATASETS

    return ["all", *DATASETS]


def _measures() -> list[str]:
    from franet.evaluation.measures import MEASURES

    return [*MEASURES]


rankers = _complete(_rankers)
datasets = _complete(_datasets)
measures = _complete(_measures)
