"""Ask whether installed packages have known flaws; without a network, say so and go on.

``python .ci/audit.py`` runs pip-audit in the environment of this Python. It fails where
a flaw is known, and only there: a check that cannot be made stops no one's work.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

COMMAND = ["-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
SECONDS = 120


def audit() -> dict[str, Any] | str:
    """Return what pip-audit found, or why it found nothing."""
    try:
        done = subprocess.run(
            [sys.executable, *COMMAND, "--timeout", "10", "--skip-editable"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} s"
    try:
        found = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines() or ["no output"]
        return lines[-1][:300]
    skipped = [each for each in found["dependencies"] if "skip_reason" in each]
    if len(skipped) == len(found["dependencies"]):
        return skipped[0]["skip_reason"] if skipped else "no package is installed"
    return found


def flaws(found: dict[str, Any]) -> list[str]:
    """Return a line for each known flaw."""
    return [
        f"{package['name']} {package['version']}: {flaw['id']}, mended in "
        f"{', '.join(flaw['fix_versions']) or 'no version yet'}"
        for package in found["dependencies"]
        for flaw in package.get("vulns", [])
    ]


def main() -> int:
    """Print what was found, and return the exit code."""
    found = audit()
    if isinstance(found, str):
        print(f"pip-audit could not ask, so nothing is known: {found}")
        return 0
    known = flaws(found)
    asked = sum("vulns" in package for package in found["dependencies"])
    print("\n".join([*known, f"pip-audit: {asked} packages, {len(known)} known flaws"]))
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
