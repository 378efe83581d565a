"""The reliability suite in its long form.

    make reliability
    PYTHONPATH=tests python -m reliability [PART[:WHAT,…] …] [--short] [--write]

Without a part all of them run: hours. Each row is printed, and kept in
benchmarks/results/reliability.json beside those of other parts; `--write` then writes
the table of docs/reliability.md from there.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path

from reliability.plan import LONG, SHORT, Row, Sizes

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "reliability.json"
PAGE = ROOT / "docs" / "reliability.md"
PARTS = ("fuzz", "parameters", "hostile", "kills", "limits", "together", "soak")
_BEGIN, _END = "<!-- table: begin -->\n", "<!-- table: end -->\n"


def rows_of(part: str, sizes: Sizes, chosen: list[str]) -> Iterator[Row]:
    """Run a part, or what is chosen of it."""
    run: Callable[..., Iterator[Row]] = import_module(f"reliability.{part}").run
    return run(sizes, chosen) if chosen else run(sizes)


def keep(row: Row) -> None:
    """Put a row in the place of the one that was there."""
    RESULTS.touch()
    with RESULTS.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # parts may run at the same time
        kept = json.loads(file.read() or "[]")
        new = asdict(row) | {"findings": list(row.findings[:20])}
        place = row.part, row.what
        kept = [old for old in kept if (old["part"], old["what"]) != place]
        kept.append(new)
        kept.sort(key=lambda old: PARTS.index(old["part"]))
        file.seek(0)
        file.write(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        file.truncate()


def table() -> str:
    """Return the rows that are kept as a table."""
    lines = ["| part | what | cases | wrong | seen |", "|---|---|---:|---:|---|"]
    for row in json.loads(RESULTS.read_text("utf-8")):
        counts = f"{row['cases']:,}", f"{row['bad']:,}"
        cells = row["part"], row["what"], *counts, row["note"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(page: str) -> str:
    """Return the page with the table of the rows that are kept."""
    before, _, rest = page.partition(_BEGIN)
    return before + _BEGIN + table() + _END + rest.partition(_END)[2]


def main() -> int:
    """Run what is asked for; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--short", action="store_true", help="few cases of all")
    parser.add_argument("--cases", type=int, help="damaged files of each format")
    parser.add_argument("--kills", type=int, help="kills of each command")
    parser.add_argument("--minutes", type=float, help="how long the soak takes")
    parser.add_argument("--write", action="store_true", help="write the page")
    arguments = parser.parse_args()
    sizes = SHORT if arguments.short else LONG
    given = {
        "fuzz": arguments.cases,
        "kills": arguments.kills,
        "minutes": arguments.minutes,
    }
    sizes = replace(sizes, **{k: v for k, v in given.items() if v is not None})
    bad = 0
    parts = arguments.parts or ([] if arguments.write else PARTS)
    for wanted in parts:
        part, _, chosen = wanted.partition(":")
        for row in rows_of(part, sizes, [word for word in chosen.split(",") if word]):
            print(f"{row.part} {row.what}: {row.cases:,} cases, {row.bad} wrong")  # noqa: T201
            print(f"  {row.note}", *row.findings[:20], sep="\n  ", flush=True)  # noqa: T201
            bad += row.bad
            if not arguments.short:
                keep(row)
    if arguments.write:
        PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
