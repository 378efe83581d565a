"""How much of each part is run: the only difference between the two forms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Numbers of cases.

    Attributes
    ----------
    fuzz : int
        Damaged files of each format.
    kills : int
        Kills of each command.
    fits : int
        Fits in threads, all at the same time.
    commands : int
        Commands at the same time.
    minutes : float
        How long the soak takes.
    """

    fuzz: int
    kills: int
    fits: int
    commands: int
    minutes: float


SHORT = Sizes(fuzz=100, kills=1, fits=40, commands=2, minutes=0.05)
LONG = Sizes(fuzz=100_000, kills=100, fits=1000, commands=12, minutes=120.0)


@dataclass(frozen=True)
class Row:
    """A line of the table: how many cases, how many of them ended badly.

    Attributes
    ----------
    part : str
        The part of the suite.
    what : str
        What was tried.
    cases : int
        How often.
    bad : int
        How often it went wrong.
    note : str
        What else was seen.
    findings : tuple of str
        What went wrong, for the reader of the log.
    """

    part: str
    what: str
    cases: int
    bad: int
    note: str
    findings: tuple[str, ...] = ()
