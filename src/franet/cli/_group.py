"""The group of commands, which tells every error in one line."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, NoReturn

import click

from franet.cli._terminal import tell
from franet.exceptions import BackendError, MissingExtraError, UsageError

__all__ = ["Group"]

_DATA, _USAGE, _INTERRUPTED = 1, 2, 130


class Group(click.Group):
    """A group whose errors are one line on stderr and an exit code.

    The code is 2 for usage, 1 for data and all else, 130 for Ctrl-C. With the
    environment variable ``FRANET_DEBUG`` set, the traceback comes first.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)

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
    """Tell whether a library did not find the memory to be loaded."""
    if isinstance(err, MissingExtraError) or os.name != "posix":
        return False
    import resource

    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    kinds = (ImportError, SystemError)
    return limited and (isinstance(err, kinds) or "shared object" in str(err))


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
    if isinstance(err, RuntimeError) and "cannot cache function" in str(err):
        return (
            "there is no folder for compiled kernels; set NUMBA_CACHE_DIR to one that "
            "can be written to"
        ), _DATA
    if isinstance(err, MemoryError):
        return (
            "not enough memory; use fewer features or examples, or a sparse table"
        ), _DATA
    if _cannot_load(err):
        return "not enough memory to load the program; see ulimit -v", _DATA
    if isinstance(err, ValueError | ImportError | OSError | BackendError):
        return str(err), _DATA
    name = type(err).__name__
    return f"unexpected {name}: {err} (FRANET_DEBUG=1 shows where)", _DATA
