"""Check that all places that name a version name the same: ``release.py v0.1.0``.

The version is set in ``src/franet/_common/version.py`` alone. CITATION.cff and the
recipe cannot read it there, so they are held to it, and the changelog must have its
section.
Without an argument the changelog may still say "Unreleased".
"""

from __future__ import annotations

import re
import sys

from dist import ROOT, version


def problems(tag: str | None, root=ROOT) -> list[str]:
    """Return what does not fit, a sentence each."""
    wanted = version()
    found = []
    if tag is not None and tag != f"v{wanted}":
        found.append(f"The tag is {tag}, but franet.__version__ is {wanted}.")
    for name, pattern in {
        "CITATION.cff": r"^version: (\S+)$",
        "recipe/recipe.yaml": r'^  version: "(\S+)"$',
    }.items():
        text = (root / name).read_text(encoding="utf-8")
        says = re.findall(pattern, text, re.MULTILINE)
        if says != [wanted]:
            found.append(f"{name} says {says}, but franet.__version__ is {wanted}.")
    if tag is not None:
        text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
        if f"## [{wanted}]" not in text:
            found.append(f"CHANGELOG.md has no section [{wanted}].")
    return found


if __name__ == "__main__":
    wrong = problems(sys.argv[1] if len(sys.argv) > 1 else None)
    print("\n".join(wrong) or f"All say {version()}.")
    sys.exit(bool(wrong))
