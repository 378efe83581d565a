"""``franet completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["completion"]

_SHELLS = ("bash", "zsh", "fish")
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


@click.command(
    help=_HELP, short_help="Print the script that lets a shell complete commands."
)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script for SHELL."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click cannot complete in {shell}.")
    click.echo(_script(kind(ctx.find_root().command, {}, "franet", "_FRANET_COMPLETE")))


def _script(shell: Any) -> str:
    """Return the script, without asking whether that shell is installed here."""
    script = str(shell.source_template % shell.source_vars())
    if shell.name == "zsh":
        # Nothing is completed in a bare zsh until somebody asks for it. The first line
        # has to stay the first, for scripts in a folder of fpath.
        first, _, rest = script.partition("\n")
        script = f"{first}\n{_LOADED}\n{rest}"
    return script
