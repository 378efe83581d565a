"""The group of commands, which tells every error in one line."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, NoReturn

import click

from franet.cli._words import one_line
from franet.exceptions import UsageError

__all__ = ["Group"]

_DATA, _USAGE, _INTERRUPTED = 1, 2, 130


class Group(click.Group):
    """A group whose errors are one line on stderr and an exit code.

    The code is 2 for usage, 1 for data and all else, 130 for Ctrl-C. With the
    environment variable ``FRANET_DEBUG`` set, the traceback comes first.
    """

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
            click.echo(f"error: {one_line(message)}", err=True)
            sys.exit(code)
        sys.exit(result if isinstance(result, int) else 0)


def _explain(err: Exception) -> tuple[str, int]:
    """Return the message and the exit code of an error."""
    if isinstance(err, click.Abort):
        return "interrupted", _INTERRUPTED
    if isinstance(err, click.UsageError):
        path = err.ctx.command_path if err.ctx else "franet"
        return f"{err.format_message()} (see '{path} --help')", _USAGE
    if isinstance(err, click.ClickException):
        return err.format_message(), _DATA
    # scikit-learn's error by its name: importing it takes a second.
    if isinstance(err, UsageError) or type(err).__name__ == "InvalidParameterError":
        return str(err), _USAGE
    if isinstance(err, MemoryError):
        return "not enough memory; use fewer features, or a sparse table", _DATA
    if isinstance(err, ValueError | ImportError | OSError):
        return str(err), _DATA
    name = type(err).__name__
    return f"unexpected {name}: {err} (FRANET_DEBUG=1 shows where)", _DATA
