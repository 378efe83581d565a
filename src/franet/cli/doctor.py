"""``franet doctor``: what is installed, what the machine offers, what is amiss."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from franet import __version__

__all__ = ["doctor"]

# Extras for those who work on franet.
_TOOLS = ("all", "bench", "check", "docs", "test")
_LABEL = 10


@click.command(short_help="Show what is installed and what this machine has.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Show what franet finds on this machine, and what to do about what it lacks.

    The exit code is 1 where something that every ranking needs is amiss.
    """
    found = _examine()
    if as_json:
        click.echo(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        for line in _lines(found):
            click.echo(line)
    ctx.exit(1 if found["problems"] else 0)


def _examine() -> dict[str, Any]:
    """Return all that is shown, fit for JSON."""
    import sys

    from franet.cli import _machine
    from franet.cli._packages import packages

    wanted = packages()
    problems = [
        f"{each.name} {each.found or 'is missing'}, but {each.least} or newer is "
        f"needed: pip install '{each.name}>={each.least}'"
        for each in wanted
        if not each.extra and (each.found is None or each.too_old)
    ]
    if not wanted:
        problems.append("franet is not installed, only found: pip install it")
    found: dict[str, Any] = {
        "format": "franet-doctor",
        "version": 1,
        "franet": __version__,
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "packages": {each.name: each.found for each in wanted if not each.extra},
        "extras": _extras(wanted),
    }
    parts: dict[str, Callable[[], Any]] = {
        "processor": _machine.processor,
        "blas": _machine.blas,
        "gpu": _machine.gpu,
        "memory": _machine.memory,
        "caches": _machine.caches,
    }
    for name, look in parts.items():
        # A broken installation is what this command is for: it tells all it can.
        try:
            found[name] = look()
        except Exception as err:
            found[name] = None
            problems.append(f"{name}: {type(err).__name__}: {err}")
    found["settings"] = _machine.settings()
    found["problems"] = problems + _unwritable(found["caches"])
    return found


def _unwritable(caches: Any) -> list[str]:
    """Return what to do where kernels would be compiled again and again."""
    if not caches or caches[0]["writable"]:
        return []
    return [
        f"compiled kernels cannot be kept in {caches[0]['path']}: set NUMBA_CACHE_DIR "
        "to a folder that can be written to"
    ]


def _extras(wanted: list[Any]) -> list[dict[str, Any]]:
    """Return each extra: what it installs, what of it is missing, the remedy."""
    names = {each.extra for each in wanted if each.extra} - {*_TOOLS}
    extras = []
    for extra in sorted(names):
        members = [each for each in wanted if each.extra == extra]
        lacks = [each.name for each in members if each.found is None or each.too_old]
        extras.append(
            {
                "extra": extra,
                "packages": {each.name: each.found for each in members},
                "missing": lacks,
                "install": f"pip install 'franet[{extra}]'" if lacks else None,
            }
        )
    return extras


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [
        _line("franet", f"{found['franet']}, Python {found['python']}"),
        _line("", found["executable"]),
        _line("packages", _versions(found["packages"])),
    ]
    lines += [*_machine_lines(found), "", *_extra_lines(found["extras"])]
    if found["settings"]:
        pairs = [f"{name}={value}" for name, value in found["settings"].items()]
        lines += ["", _line("settings", ", ".join(pairs))]
    lines.append("")
    lines += [f"To do: {problem}" for problem in found["problems"]]
    return lines + ["All is in place."] * (not found["problems"])


def _machine_lines(found: dict[str, Any]) -> list[str]:
    from franet.cli._screen import size

    lines = []
    if processor := found["processor"]:
        lines += [
            _line("system", processor["system"]),
            _line("threads", f"{processor['threads']} of {processor['cores']} cores"),
        ]
    for pool in found["blas"] or []:
        told = f"{pool['library']} {pool['version']}, {pool['threads']} threads"
        lines.append(_line("BLAS", told))
    if gpu := found["gpu"]:
        lines += [
            _line(
                "GPU",
                f"{each['device']}: {each['name']}, {size(each['free'])} of "
                f"{size(each['memory'])} free (torch {gpu['torch']})",
            )
            for each in gpu["devices"]
        ] or [_line("GPU", f"none: {gpu['reason']}")]
    if memory := found["memory"]:
        lines.append(_line("memory", f"{size(memory['free'])} free"))
    for label, each in zip(("caches", ""), found["caches"] or [], strict=False):
        told = f"{each['what']}: {each['path']}, {each['files']:,} files"
        lines.append(_line(label, f"{told}, {size(each['bytes'])}"))
    return lines


def _extra_lines(extras: list[dict[str, Any]]) -> list[str]:
    lines = []
    for i, each in enumerate(extras):
        told = each["install"] or _versions(each["packages"])
        label = "extras" if i == 0 else ""
        lines.append(_line(label, f"{each['extra']:<{_LABEL}}{told}"))
    return lines


def _versions(packages: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {found or '—'}" for name, found in packages.items())


def _line(label: str, text: str) -> str:
    from franet.cli._words import clean

    return f"{label:<{_LABEL}}{clean(text)}"
