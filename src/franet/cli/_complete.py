"""``franet completion``, and what a shell may put in where a command is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

import click

Complete = Callable[[click.Context, click.Parameter, str], list[str]]

# Nothing is completed in a bare zsh until somebody asks for it.
_LOADED = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }"
# The mark \b keeps the lines below it as they are.
_HELP = """\
Print the script for SHELL, which completes commands, options and their values.

\b
To have it in every shell, once:
  bash   franet completion bash >> ~/.bashrc
  zsh    franet completion zsh >> ~/.zshrc
  fish   franet completion fish > ~/.config/fish/completions/franet.fish
"""


def one_of(*values: str) -> Complete:
    """Return what completes one of some values."""
    return _complete(lambda: values)


def _complete(names: Callable[[], Iterable[str]]) -> Complete:
    """Return what completes the last of several names with commas between them."""

    def complete(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
        before, comma, last = typed.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def _names_in(module: str, attribute: str, *more: str) -> Complete:
    """Return what completes names that a module knows, loaded when they are needed."""
    return _complete(lambda: [*more, *getattr(import_module(module), attribute)])


rankers = _names_in("franet.rankers", "NAMES", "all")
datasets = _names_in("franet.datasets", "DATASETS", "all")
measures = _names_in("franet.evaluation.measures", "MEASURES")


@click.command(
    help=_HELP, short_help="Print the script that lets a shell complete commands."
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script for SHELL, installed here or not."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    found = kind(ctx.find_root().command, {}, "franet", "_FRANET_COMPLETE")
    script = found.source_template % found.source_vars()
    if shell == "zsh":
        # The first line has to stay the first, for scripts in a folder of fpath.
        first, _, rest = script.partition("\n")
        script = f"{first}\n{_LOADED}\n{rest}"
    click.echo(script)
