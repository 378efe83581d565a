"""Which packages franet asks for, and which of them are installed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata

__all__ = ["Package", "is_old", "packages"]

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?:\[[^]]*\])?(?P<limits>[^;]*)(?:;(?P<marker>.*))?"
)
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_LEAST = re.compile(r">=\s*([\d.]+)")


@dataclass(frozen=True)
class Package:
    """A package that franet asks for.

    Attributes
    ----------
    name : str
        Its name on the index.
    extra : str
        The extra that installs it; "" for those that are always there.
    least : str
        The oldest version that will do; "" where any will.
    found : str or None
        The version that is installed, None where none is.
    """

    name: str
    extra: str
    least: str
    found: str | None

    @property
    def too_old(self) -> bool:
        """Whether one is installed that will not do."""
        return self.found is not None and is_old(self.found, self.least)


def packages(requires: list[str] | None = None) -> list[Package]:
    """Return what the metadata of franet ask for.

    Parameters
    ----------
    requires : list of str, optional
        Requirements as metadata have them; by default those of franet itself, none
        where it is only found on the path.
    """
    if requires is None:
        try:
            requires = metadata.requires("franet") or []
        except metadata.PackageNotFoundError:
            requires = []
    found = []
    for line in requires:
        match = _REQUIREMENT.match(line)
        if match is None or match["name"] == "franet":  # an extra made of extras
            continue
        extra = _EXTRA.search(match["marker"] or "")
        least = _LEAST.search(match["limits"])
        found.append(
            Package(
                match["name"],
                extra[1] if extra else "",
                least[1] if least else "",
                _installed(match["name"]),
            )
        )
    return found


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def is_old(version: str, least: str) -> bool:
    """Return whether a version comes before another one.

    Examples
    --------
    >>> is_old("1.9.2", "1.26"), is_old("2.0.0rc1", "1.26"), is_old("1.26.0", "1.26")
    (True, False, False)
    """
    return _numbers(version) < _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a release, without zeros at its end."""
    start = re.match(r"[\d.]*", version)
    found = [int(part) for part in (start[0] if start else "").split(".") if part]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)
