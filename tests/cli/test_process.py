"""The command as a process of its own: start-up, pipes, signals, progress."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "franet"]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.npy"
    base = np.random.default_rng(0).normal(size=(40, 5))
    np.save(path, np.repeat(base, 40, axis=1) + np.linspace(0, 1, 40)[:, None] * 0.1)
    return path


def test_help_loads_nothing_heavy():
    command = [sys.executable, "-X", "importtime", "-m", "franet", "--help"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0
    assert "Usage: franet" in run.stdout
    loaded = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    assert "franet.cli" in loaded
    assert not {"numpy", "scipy", "sklearn", "numba", "pandas", "polars"} & loaded
    # Of rich the smallest part, see franet/__init__.py.
    assert not {"rich.console", "rich.progress", "rich.table"} & loaded


def test_ranking_in_a_process(data):
    run = subprocess.run([*COMMAND, "rank", data], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "200 features × 40 examples" in run.stdout
    assert "\x1b" not in run.stdout + run.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_reader_that_goes_away(data, options):
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(
        [*COMMAND, "rank", str(data), "--top", "200", *options],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert run.returncode == 1
    assert [line for line in run.stderr.splitlines() if "warning:" not in line] == []


def test_screen_that_knows_only_ascii(data):
    run = subprocess.run(
        [*COMMAND, "rank", data],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert run.returncode == 0, run.stderr
    assert b"rank" in run.stdout


SLOW = """
import threading
import franet.io

def read_table(*args, **kwargs):
    print("ready", flush=True)
    threading.Event().wait()

franet.io.read_table = read_table
franet.cli.main(["rank", "data.csv"])
"""


def test_interrupt():
    process = subprocess.Popen(
        [sys.executable, "-c", "import franet.cli" + SLOW],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert err.strip() == "error: interrupted"
    assert out == ""


def test_progress_bar(monkeypatch, capsys):
    from franet.cli import _screen

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with _screen.ProgressBar() as bar:
        bar("similarities", 1, 10)
        assert bar._bar is None, "too early"
        monkeypatch.setattr(_screen, "_PATIENCE", 0.0)
        bar("similarities", 2, 10)
        bar("candidates", 3, 10)
        assert [task.description for task in bar._bar.tasks] == ["candidates"]
        assert bar._bar.tasks[0].completed == 3
    captured = capsys.readouterr()
    assert "candidates" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(("tty", "hidden"), [(False, False), (True, True)])
def test_no_progress_bar(monkeypatch, capsys, tty, hidden):
    from franet.cli import _screen

    monkeypatch.setattr(sys.stderr, "isatty", lambda: tty)
    monkeypatch.setattr(_screen, "_PATIENCE", 0.0)
    with _screen.ProgressBar(hidden) as bar:
        bar("similarities", 2, 10)
    assert capsys.readouterr().err == ""
