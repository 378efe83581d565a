"""Benchmarks in parts, whose tables are stored in one Markdown file.

A script with a part measured anew leaves the other parts of its file as they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from field import folder

Table = tuple[list[str], list[list[Any]]]
Parts = Mapping[str, Callable[[Any], Table]]


def parser(description: str | None, parts: Parts) -> argparse.ArgumentParser:
    """Return what reads the options that all of these scripts have."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--parts", nargs="+", choices=[*parts], default=[*parts])
    found.add_argument("--folder", type=Path, default=folder())
    return found


def stored(out: Path) -> dict[str, str]:
    """Return the parts that are stored."""
    if not out.exists():
        return {}
    texts = out.read_text("utf-8").split("\n## ")[1:]
    return {text.partition("\n")[0]: text.partition("\n")[2].strip() for text in texts}


def as_text(note: str, table: Table) -> str:
    """Return a table in Markdown, with what it shows."""
    head, rows = table
    lines = [head, ["---"] * len(head), *rows]
    body = "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)
    return f"{note}\n\n{body}"


def run(
    out: Path, title: str, parts: Parts, notes: Mapping[str, str], given: Any
) -> None:
    """Measure parts, print them, and store each when it is there."""
    for name in given.parts:
        print(f"\n{name}")
        table = parts[name](given)
        texts = {**stored(out), name: as_text(notes[name], table)}
        script = f"benchmarks/{out.stem}.py"
        head = f"# {title}\n\nPrinted by `{script}`.\n"
        found = [f"\n## {each}\n\n{texts[each]}\n" for each in parts if each in texts]
        out.write_text(head + "".join(found), "utf-8")
