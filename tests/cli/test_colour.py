"""Colours: on a terminal, and where the user wants them."""

import os
import re
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="terminals are made here by pty")

COLOURS = ("NO_COLOR", "FORCE_COLOR", "TERM", "TTY_COMPATIBLE")


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)


def on_a_terminal(*words, **more):
    """Run a command on a terminal, and return what it shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "franet", *words],
        stdout=theirs,
        stderr=theirs,
        stdin=theirs,
        env={**os.environ, "TERM": "xterm", **more},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(ours)
    return shown.decode()


@pytest.mark.parametrize(
    ("more", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
@pytest.mark.parametrize("words", [("rank", "no.csv"), ("rank", "--no-such-option")])
def test_errors_on_a_terminal(words, more, coloured):
    shown = on_a_terminal(*words, **more)
    assert shown.startswith("\x1b[31m\x1b[1merror:\x1b[0m " if coloured else "error: ")
    assert ("\x1b" in shown) is coloured


def test_a_table_on_a_terminal():
    bold = "\x1b[1m"
    assert bold in on_a_terminal("datasets", "list", FRANET_CACHE="/nowhere")
    shown = on_a_terminal("datasets", "list", NO_COLOR="1")
    assert "lung_small" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("more", "terminal", "expected"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_who_gets_colours(monkeypatch, more, terminal, expected):
    from franet.cli._screen import has_colors

    for name, value in more.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert has_colors(sys.stderr) is expected


def test_progress_bar_without_colours(monkeypatch, capsys):
    from franet.cli import _screen

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(_screen, "_PATIENCE", 0.0)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    with _screen.ProgressBar() as bar:
        bar("similarities", 2, 10)
    shown = capsys.readouterr().err
    assert "similarities" in shown
    # Moves of the cursor end in other letters.
    assert re.findall(r"\x1b\[[\d;]*m", shown) == []
