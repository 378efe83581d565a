"""``franet doctor``: what is installed, what the machine offers, what is amiss."""

from __future__ import annotations

import os
import platform
import re
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import click

from franet import __version__
from franet.cli._options import AS_JSON, add
from franet.cli._screen import clean, show_json, size
from franet.exceptions import MissingExtraError

# Extras for those who work on franet.
_TOOLS = ("all", "bench", "check", "docs", "test")
_LABEL = 10
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)[^;>]*(?:>=\s*(?P<least>[\d.]+))?[^;]*"
    r"""(?:;.*extra\s*==\s*["'](?P<extra>[\w-]+))?"""
)
# What changes how franet works or looks.
_VARIABLES = (
    "FRANET_CACHE", "FRANET_DATA", "FRANET_DEBUG", "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES", "NO_COLOR", "FORCE_COLOR",
)  # fmt: skip


@click.command(short_help="Show what is installed and what this machine has.")
@add(AS_JSON)
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Show what franet finds on this machine, and what to do about what it lacks.

    The exit code is 1 where something that every ranking needs is amiss.
    """
    found = _examine()
    if as_json:
        show_json(found)
    else:
        click.echo("\n".join(_lines(found)))
    ctx.exit(1 if found["problems"] else 0)


def _examine() -> dict[str, Any]:
    """Return all that is shown, fit for JSON."""
    wanted = packages()
    problems = [
        f"{each.name} {each.found or 'is missing'}, but {each.least} or newer is "
        f"needed: pip install '{each.name}>={each.least}'"
        for each in wanted
        if not each.extra and each.is_lacking
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
    for look in (processor, blas, gpu, memory, caches):
        name = look.__name__
        # A broken installation is what this command is for: it shows all it can.
        try:
            found[name] = look()
        except Exception as err:
            found[name] = None
            problems.append(f"{name}: {type(err).__name__}: {err}")
    if found["caches"] and not found["caches"][0]["writable"]:
        problems.append(
            f"compiled kernels cannot be kept in {found['caches'][0]['path']}: set "
            "NUMBA_CACHE_DIR to a folder that can be written to"
        )
    set_ = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return {**found, "settings": set_, "problems": problems}


class Package(NamedTuple):
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
    def is_lacking(self) -> bool:
        """Whether none is installed, or one that will not do."""
        return self.found is None or is_old(self.found, self.least)


def packages(requires: list[str] | None = None) -> list[Package]:
    """Return what the metadata of franet ask for.

    Parameters
    ----------
    requires : list of str, optional
        Requirements as metadata have them; by default those of franet itself, none
        where it is only found on the path.
    """
    if requires is None:
        requires = []
        with suppress(metadata.PackageNotFoundError):
            requires = metadata.requires("franet") or []
    found = []
    for match in filter(None, map(_REQUIREMENT.match, requires)):
        name, least, extra = match.groups(default="")
        if name == "franet":  # an extra made of extras
            continue
        version = None
        with suppress(metadata.PackageNotFoundError):
            version = metadata.version(name)
        found.append(Package(name, extra, least, version))
    return found


def is_old(version: str, least: str) -> bool:
    """Return whether a version comes before another one.

    Examples
    --------
    >>> is_old("1.9.2", "1.26"), is_old("2.0.0rc1", "1.26"), is_old("1.26.0", "1.26")
    (True, False, False)
    """
    return _numbers(version) < _numbers(least)


def _numbers(version: str) -> list[int]:
    """Return the numbers of a release, without zeros at its end."""
    release = re.sub(r"(\.0+)*\.?$", "", re.findall(r"^[\d.]*", version)[0])
    return [int(part) for part in release.split(".") if part]


def _extras(wanted: list[Package]) -> list[dict[str, Any]]:
    """Return each extra: what it installs, what of it is missing, the remedy."""
    extras = []
    for extra in sorted({each.extra for each in wanted if each.extra} - {*_TOOLS}):
        members = [each for each in wanted if each.extra == extra]
        lacks = [each.name for each in members if each.is_lacking]
        extras.append(
            {
                "extra": extra,
                "packages": {each.name: each.found for each in members},
                "missing": lacks,
                "install": f"pip install 'franet[{extra}]'" if lacks else None,
            }
        )
    return extras


def processor() -> dict[str, Any]:
    """Return the system, its cores, and how many threads a fit takes."""
    from franet._common.threads import count_threads

    return {
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "threads": count_threads(None),
    }


def blas() -> list[dict[str, Any]]:
    """Return the BLAS libraries that NumPy and SciPy have loaded."""
    import numpy as np
    import scipy.linalg.blas
    from threadpoolctl import threadpool_info

    # They are loaded only when they are used.
    np.dot(np.ones(2), np.ones(2))
    scipy.linalg.blas.ddot(np.ones(2), np.ones(2))
    found = [
        {
            "library": pool["internal_api"],
            "version": pool.get("version") or "unknown",
            "threads": pool["num_threads"],
        }
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]
    return [pool for i, pool in enumerate(found) if pool not in found[:i]]


def gpu() -> dict[str, Any]:
    """Return what torch finds: its version, the devices, and a reason for none."""
    from franet.engine import device

    found: dict[str, Any] = {"torch": None, "devices": [], "reason": None}
    try:
        torch = device.load("A GPU")
    except MissingExtraError as err:
        return {**found, "reason": str(err)}
    except OSError as err:
        return {**found, "reason": f"torch is installed, but cannot be loaded: {err}"}
    found["torch"] = torch.__version__
    if not torch.cuda.is_available():
        return {**found, "reason": "torch finds no CUDA device"}
    for i in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(i)
        name = torch.cuda.get_device_name(i)
        found["devices"].append(
            {"device": f"cuda:{i}", "name": name, "free": free, "memory": total}
        )
    return found


def memory() -> dict[str, Any]:
    """Return how much memory is free."""
    from franet._common.memory import available_bytes

    return {"free": available_bytes()}


def caches() -> list[dict[str, Any]]:
    """Return the folders of compiled kernels and of data sets."""
    from franet.datasets import cache_folder

    return [
        {"what": "compiled kernels", **_folder(*_kernels())},
        {"what": "data sets", **_folder(cache_folder(), "*")},
    ]


def _kernels() -> tuple[Path, str]:
    """Return the folder in which numba keeps kernels, and which files they are."""
    import franet
    from franet.engine.kernels import extrema

    package = Path(franet.__file__).parent
    if hasattr(extrema, "_cache"):  # not with NUMBA_DISABLE_JIT
        place = Path(extrema._cache.cache_path)
        if package not in place.parents:
            return place.parent, "*/*.nb[ci]"
    return package, "**/*.nb[ci]"


def _folder(path: Path, pattern: str) -> dict[str, Any]:
    sizes = [each.stat().st_size for each in path.glob(pattern) if each.is_file()]
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    return {
        "path": str(path),
        "files": len(sizes),
        "bytes": sum(sizes),
        "writable": os.access(nearest, os.W_OK),
    }


def _lines(found: dict[str, Any]) -> list[str]:
    rows = [
        ("franet", f"{found['franet']}, Python {found['python']}"),
        ("", found["executable"]),
        ("packages", _versions(found["packages"])),
    ]
    if processor := found["processor"]:
        threads = f"{processor['threads']} of {processor['cores']} cores"
        rows += [("system", processor["system"]), ("threads", threads)]
    for pool in found["blas"] or []:
        told = f"{pool['library']} {pool['version']}, {pool['threads']} threads"
        rows.append(("BLAS", told))
    gpu = found["gpu"] or {"devices": [], "reason": None}
    for each in gpu["devices"]:
        free = f"{size(each['free'])} of {size(each['memory'])} free"
        told = f"{each['device']}: {each['name']}, {free} (torch {gpu['torch']})"
        rows.append(("GPU", told))
    if gpu["reason"]:
        rows.append(("GPU", f"none: {gpu['reason']}"))
    if memory := found["memory"]:
        rows.append(("memory", f"{size(memory['free'])} free"))
    for label, each in zip(("caches", ""), found["caches"] or [], strict=False):
        told = f"{each['what']}: {each['path']}, {each['files']:,} files"
        rows.append((label, f"{told}, {size(each['bytes'])}"))
    rows.append(("", ""))
    for i, each in enumerate(found["extras"]):
        told = each["install"] or _versions(each["packages"])
        rows.append(("" if i else "extras", f"{each['extra']:<{_LABEL}}{told}"))
    if found["settings"]:
        pairs = [f"{name}={value}" for name, value in found["settings"].items()]
        rows += [("", ""), ("settings", ", ".join(pairs))]
    lines = [f"{label:<{_LABEL}}{clean(text)}".rstrip() for label, text in rows]
    problems = [f"To do: {problem}" for problem in found["problems"]]
    return [*lines, "", *(problems or ["All is in place."])]


def _versions(packages: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {found or '—'}" for name, found in packages.items())
