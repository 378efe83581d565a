"""Errors and warnings in the words of a shell, and the group that shows errors."""

from __future__ import annotations

import json
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from franet.cli._options import OPTIONS
from franet.cli._paths import KNOWN
from franet.cli._screen import tell
from franet.exceptions import Column, Message, MissingExtraError, Setting, UsageError
from franet.rankers import RANKERS

_DATA, _USAGE, _INTERRUPTED = 1, 2, 130
# The options of rank, by the parameters they set.
_ALL = {**OPTIONS, "settings": "--set", "ranker": "--ranker"}
# Parameters by what options call them.
_ALIASES = {
    "measures": ["measure"],
    "n_features_to_select": ["top", "genes"],
    "random_state": ["seed"],
}
_NAMES = "franet.names"  # of the columns, among what commands and the group share


def name_columns(names: Sequence[str] | None) -> None:
    """Let errors of the command that runs name columns."""
    click.get_current_context().meta[_NAMES] = names


def in_words(message: object) -> str:
    """Return the text of an error or a warning, its fields as a user types them.

    Examples
    --------
    >>> in_words(UsageError("Set {}.", Setting("tie_break", "denser")))
    'Set --tie-break denser.'
    >>> in_words(UsageError("{} is out.", Setting("p", 3, ranker="FRANe")))
    '--ranker frane --set p=3 is out.'
    """
    return message.render(_write) if isinstance(message, Message) else str(message)


def _write(field: Setting | Column) -> str:
    ctx = click.get_current_context(silent=True)
    meta = ctx.meta if ctx else {}
    if isinstance(field, Column):
        names, j = meta.get(_NAMES), field.position
        return str(Column(j, names[j]) if names and j < len(names) else field)
    known, name, value = meta.get(KNOWN, _ALL), field.parameter, field.value
    names = [name, *_ALIASES.get(name, ())]
    option = next((known[each] for each in names if each in known), None)
    # Other commands than rank have few options for rankers.
    if not (option or "settings" in known) or (field.ranker and "ranker" not in known):
        return str(field)
    text = option or f"--set {name}"
    if option and isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    if option and value is not ...:
        text += f" {shlex.quote(str(value))}"
    elif value is not ...:
        is_text = isinstance(value, str)
        text += f"={value if is_text else json.dumps(value, default=str)}"
    rankers = {kind: name for name, (_, kind) in RANKERS.items()}
    return f"--ranker {rankers[field.ranker]} {text}" if field.ranker else text


class Group(click.Group):
    """A group whose errors are one line on stderr and an exit code.

    The code is 2 for usage, 1 for data and all else, 130 for Ctrl-C. With the
    environment variable ``FRANET_DEBUG`` set, the traceback comes first.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its errors get the words of the shell."""
        try:
            return super().invoke(ctx)
        except Message as err:
            raise type(err)(in_words(err)) from err

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and leave the process with its exit code."""
        kwargs["standalone_mode"] = False
        try:
            result = super().main(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has gone. Python flushes stdout once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(_DATA)
        except Exception as err:
            if os.environ.get("FRANET_DEBUG"):
                traceback.print_exc()
            message, code = _explain(err)
            tell("error", message)
            sys.exit(code)
        sys.exit(result if isinstance(result, int) else 0)


def _cannot_load(err: Exception) -> bool:
    """Return whether a library did not find the memory to be loaded."""
    if isinstance(err, MissingExtraError) or os.name != "posix":
        return False
    import resource

    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    # The error of a shared library has no number, unlike one of a file.
    unloaded = type(err) is OSError and err.errno is None
    return limited and (unloaded or isinstance(err, ImportError | SystemError))


def _cannot_cache(err: Exception) -> bool:
    """Return whether numba has no folder for compiled kernels."""
    *_, (last, _) = traceback.walk_tb(err.__traceback__)
    return last.f_globals["__name__"] == "numba.core.caching"


def _explain(err: Exception) -> tuple[str, int]:
    """Return the message and the exit code of an error."""
    if isinstance(err, click.Abort):
        return "interrupted", _INTERRUPTED
    if isinstance(err, click.UsageError):
        path = err.ctx.command_path if err.ctx else "franet"
        return f"{err.format_message()} (see '{path} --help')", _USAGE
    if isinstance(err, UsageError):
        return str(err), _USAGE
    if isinstance(err, click.ClickException):
        message = err.format_message()
    elif isinstance(err, RuntimeError) and _cannot_cache(err):
        message = (
            "there is no folder for compiled kernels; set NUMBA_CACHE_DIR to one that "
            "can be written to"
        )
    elif isinstance(err, MemoryError):
        message = "not enough memory; use fewer features or examples, or a sparse table"
    elif _cannot_load(err):
        message = "not enough memory to load the program; see ulimit -v"
    elif isinstance(err, Message | ValueError | ImportError | OSError):
        message = str(err)
    else:
        name = type(err).__name__
        message = f"unexpected {name}: {err} (FRANET_DEBUG=1 shows where)"
    return message, _DATA
