"""What franet finds on this machine: cores, BLAS, GPU, memory, caches."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

__all__ = ["blas", "caches", "gpu", "memory", "processor", "settings"]

# What changes how franet works or looks.
_VARIABLES = (
    "FRANET_CACHE", "FRANET_DATA", "FRANET_DEBUG", "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES", "NO_COLOR", "FORCE_COLOR",
)  # fmt: skip


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
    from franet.engine import device as _torch
    from franet.exceptions import MissingExtraError

    found: dict[str, Any] = {"torch": None, "devices": [], "reason": None}
    try:
        torch = _torch.load("A GPU")
    except MissingExtraError as err:
        return {**found, "reason": str(err)}
    except OSError as err:
        return {**found, "reason": f"torch is installed, but cannot be loaded: {err}"}
    found["torch"] = torch.__version__
    if not torch.cuda.is_available():
        found["reason"] = "torch finds no CUDA device"
        return found
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
    if not hasattr(extrema, "_cache"):  # NUMBA_DISABLE_JIT
        return package, "**/*.nb[ci]"
    place = Path(extrema._cache.cache_path)
    if package in place.parents:
        return package, "**/*.nb[ci]"
    return place.parent, "*/*.nb[ci]"


def _folder(path: Path, pattern: str) -> dict[str, Any]:
    sizes = [each.stat().st_size for each in path.glob(pattern) if each.is_file()]
    nearest = path
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    return {
        "path": str(path),
        "files": len(sizes),
        "bytes": sum(sizes),
        "writable": os.access(nearest, os.W_OK),
    }


def settings() -> dict[str, str]:
    """Return the environment variables that are set and matter."""
    return {name: os.environ[name] for name in _VARIABLES if name in os.environ}
