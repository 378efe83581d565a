"""``franet completion``: the scripts, and what the shells are given."""

import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from cli.commands import fails, run
from franet.cli import main


def offers(*words):
    """Return what a shell is given for the last of some words."""
    line = {
        "COMP_WORDS": " ".join(["franet", *words]),
        "COMP_CWORD": str(len(words)),
        "_FRANET_COMPLETE": "bash_complete",
    }
    result = CliRunner().invoke(main, [], prog_name="franet", env=line)
    return [each.partition(",")[2] for each in result.stdout.split()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["do"], ["doctor"]),
        (["rank", "--simil"], ["--similarity"]),
        (["rank", "t.csv", "--similarity", "sp"], ["spearman"]),
        (["rank", "t.csv", "--top", "a"], ["auto"]),
        (["rank", "t.csv", "--backend", "cu"], ["cuda"]),
        (["rank", "t.csv", "--ranker", "facil"], ["facility-location"]),
        (["evaluate", "t.csv", "--rankers", "cover,fra"], ["cover,frane"]),
        (["evaluate", "t.csv", "--measure", "rmae_sh"], ["rmae_shared"]),
        (["bench", "run", "--datasets", "ORL,coil"], []),
        (["bench", "run", "--datasets", "ORL,COIL"], ["ORL,COIL20"]),
        (["datasets", "fetch", "ORL", "Ya"], ["Yale"]),
        (["completion", "z"], ["zsh"]),
    ],
)
def test_values_that_are_known(words, found):
    assert offers(*words) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script(shell):
    result = run("completion", shell)
    assert result.exit_code == 0, result.output
    assert f"_FRANET_COMPLETE={shell}_complete" in result.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    read = subprocess.run([shell, "-n"], input=result.stdout, text=True)
    assert read.returncode == 0


def test_bare_zsh_loads_its_completion():
    script = run("completion", "zsh").stdout
    assert script.startswith("#compdef franet\n(( $+functions[compdef] )) ||")
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    said = subprocess.run(
        ["zsh", "-f", "-c", script], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")


def test_in_bash(tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = tmp_path / "franet.bash"
    script.write_text(run("completion", "bash").stdout, encoding="utf-8")
    (tmp_path / "franet").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m franet "$@"\n', encoding="utf-8"
    )
    (tmp_path / "franet").chmod(0o755)
    typed = "COMP_WORDS=(franet rank t.csv --variant r); COMP_CWORD=4"
    done = subprocess.run(
        ["bash", "-c", f'. {script}; {typed}; _franet_completion franet; '
         'echo "${COMPREPLY[*]}"'],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout == "reference\n", done.stderr


def test_unknown_shell():
    assert "'bash', 'zsh', 'fish'" in fails("completion", "tcsh", code=2)


def test_no_shell():
    said = fails("completion", code=2)
    assert "Choose from: bash, zsh, fish (see" in said


def test_the_help_shows_a_command_for_each_shell():
    lines = [line.strip() for line in run("completion", "--help").stdout.splitlines()]
    assert "zsh    franet completion zsh >> ~/.zshrc" in lines
