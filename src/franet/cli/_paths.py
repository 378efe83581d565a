"""What a command reads and writes: no output may be one of its inputs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from franet._common.files import is_inside, is_same_file
from franet.exceptions import UsageError

# Among what commands and their group share: the options of the command that runs.
KNOWN = "franet.options"
# An option or argument, and a path that it names.
Named = tuple[str, Path]


class Reads(click.Path):
    """A file or folder that a command reads."""

    def files(self, path: Any) -> list[Path]:
        """Return what is read."""
        return [Path(path)]


class WordOrFile(Reads):
    """One of some words, or a file that a command reads.

    Parameters
    ----------
    words : list of str
        The words.
    line : str
        What a line of the file looks like, for messages.
    """

    def __init__(self, words: list[str], line: str) -> None:
        super().__init__()
        self._words, self._line = words, line

    def convert(self, value: Any, *where: Any) -> Any:
        """Return the word as text, or the path."""
        if isinstance(value, Path) or value in self._words:
            return value
        if not os.path.exists(value):
            self.fail(
                f"{value!r} is neither {' nor '.join(self._words)} nor a file; give "
                f"one of these words, or a csv or tsv file with lines '{self._line}'",
                *where,
            )
        return Path(value)

    def files(self, path: Any) -> list[Path]:
        """Return what is read."""
        return [path] if isinstance(path, Path) else []

    def shell_complete(self, *where: Any) -> list[CompletionItem]:
        """Return words that begin as what is typed, and let a shell add files."""
        words = [word for word in self._words if word.startswith(where[-1])]
        return [*map(CompletionItem, words), *super().shell_complete(*where)]


class ReadsResults(Reads):
    """The folder of results of a benchmark, where other files may lie, too."""

    def files(self, path: Any) -> list[Path]:
        """Return what is read."""
        return results_files(Path(path))


class Writes(click.Path):
    """A file or folder that a command writes."""


class Command(click.Command):
    """A command that refuses outputs which are inputs, before any work.

    What it reads is declared by the type `Reads` of an option or argument, what it
    writes by `Writes`.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Check the paths, then run the command."""
        ctx.meta[KNOWN] = {each.name: each.opts[0] for each in self.params}
        inputs: list[Named] = []
        outputs: list[Named] = []
        for parameter in self.params:
            path, label = ctx.params.get(str(parameter.name)), _label(parameter)
            if path is not None and isinstance(parameter.type, Reads):
                inputs += [(label, file) for file in parameter.type.files(path)]
            elif path is not None and isinstance(parameter.type, Writes):
                outputs.append((label, Path(path)))
        check_paths(inputs, outputs)
        if ctx.params.get("force") and not outputs:
            known = [_label(p) for p in self.params if isinstance(p.type, Writes)]
            raise UsageError(
                f"--force replaces files, and none is written; name one by "
                f"{' or '.join(known)}, or leave it out"
            )
        return super().invoke(ctx)


def check_paths(inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """Raise where an output is an input, lies inside one, or is another output.

    Links are followed; hard links to one file are that file.

    Parameters
    ----------
    inputs, outputs : sequence of (str, Path)
        The option or argument that names a path, and the path.

    Raises
    ------
    UsageError
        The message names both.
    """
    pairs = [(*pair, ", which is read") for pair in product(outputs, inputs)]
    pairs += [(*pair, "") for pair in permutations(reversed(outputs), 2)]
    for (option, path), (other, known), why in pairs:
        words = f"{other} ({known}){why}"
        if is_same_file(path, known):
            raise UsageError(
                f"{option} {path}: is the same file as {words}; name another file"
            )
        if is_inside(path, known):
            raise UsageError(
                f"{option} {path}: lies inside {words}; name a file elsewhere"
            )


def results_files(folder: Path) -> list[Path]:
    """Return the files of a folder of results of a benchmark."""
    from franet.evaluation.store import FILES

    return [folder / name for name in FILES]


def _label(parameter: click.Parameter) -> str:
    """Return an option or argument as a user writes it."""
    is_option = isinstance(parameter, click.Option)
    return parameter.opts[0] if is_option else parameter.human_readable_name
