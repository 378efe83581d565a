"""Where a fit runs: what the parameter `backend` names, and torch devices.

Nothing else imports torch. A device is one that can compute in float64: what a user
sees comes from that, on any device.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from franet._common.memory import available_bytes
from franet._common.optional import require
from franet.exceptions import MissingExtraError, Setting, UsageError

# Torch devices, and those that need no word before them. "cpu" is not among these,
# because the cores of this machine are faster by NumPy.
_DEVICE = re.compile(r"(cuda|mps|xpu)(:\d+)?|torch:.*", re.DOTALL)
_AUTO = Setting("backend", "auto")
# What drivers of NVIDIA (also under WSL and on Jetson) and AMD leave in the file system.
_DRIVERS = (
    "/proc/driver/nvidia", "/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg",
    "/dev/nvhost-gpu", "/dev/nvgpu", "/dev/kfd",
)  # fmt: skip
_CHOICES = {
    "numpy": "'numpy' (the cores of this machine)",
    "torch": "'torch', a torch device such as 'cuda:1'",
    "dask": "'dask', a Dask client or the address of its scheduler",
}


@dataclass(frozen=True)
class Place:
    """Where a fit runs.

    Attributes
    ----------
    kind : {"auto", "numpy", "torch", "dask"}
        What computes.
    device : str or None
        The torch device, where one is named.
    scheduler : str, distributed.Client or None
        The Dask cluster, where one is named.
    given : Setting
        What the user set, for messages.
    """

    kind: str
    device: str | None = None
    scheduler: Any = None
    given: Setting = _AUTO


@dataclass(frozen=True)
class EngineTask:
    """What an engine is opened for.

    Attributes
    ----------
    place : Place
        Where it runs.
    X : object
        The table as the user has given it.
    table : ndarray, sparse array, CodedTable or Columns
        The same, checked.
    names : sequence of str or None
        The names of its columns.
    options : dict
        How features are compared: `similarity`, `p`, `variant` and `pairwise`, as
        :func:`franet.pairs.similarity.open_source` takes them.
    settings : dataclass
        What is searched for; a checkpoint is of one search only. What the search needs
        depends on its `n_thresholds`; `max_memory` are the bytes that may be used.
    n_threads : int
        Number of threads.
    checkpoint : path-like or None
        The folder of the checkpoint.
    """

    place: Place
    X: Any
    table: Any
    names: Any
    options: dict[str, Any]
    settings: Any
    n_threads: int
    checkpoint: Any


def parse_place(backend: Any, kinds: tuple[str, ...]) -> Place:
    """Return the place that `backend` names.

    Parameters
    ----------
    backend : str or distributed.Client
        ``"auto"``, one of `kinds`, a torch device (``"cuda"``, ``"cuda:1"``,
        ``"torch:cpu"``), a Dask client or the address of a scheduler.
    kinds : tuple of str
        Which of ``"numpy"``, ``"torch"`` and ``"dask"`` the estimator can run on.

    Examples
    --------
    >>> place = parse_place("cuda:1", ("numpy", "torch"))
    >>> place.kind, place.device
    ('torch', 'cuda:1')
    """
    given = Setting("backend", backend)
    is_text = isinstance(backend, str)
    if is_text and backend in ("auto", *kinds):
        return Place(backend, given=given)
    if "torch" in kinds and is_text and _DEVICE.fullmatch(backend):
        return Place("torch", backend.removeprefix("torch:"), given=given)
    if "dask" in kinds and (not is_text or "://" in backend):
        return Place("dask", scheduler=backend, given=given)
    known = ", ".join(_CHOICES[kind] for kind in kinds)
    raise UsageError(
        "{} cannot be used here;", given, known, remedy="choose 'auto', {1}."
    )


def portable(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a file can hold them: of a Dask client its address."""
    client = state.get("backend")
    address = getattr(getattr(client, "scheduler", None), "address", None)
    return dict(state) if address is None else {**state, "backend": address}


def load(what: str = "The torch backend") -> Any:
    """Return the module torch.

    Parameters
    ----------
    what : str
        What needs it, as the start of a sentence.

    Raises
    ------
    MissingExtraError
        If torch is not installed; the message says how to install it.
    """
    return require("torch", what, "torch")


def _has_driver() -> bool:
    """Return whether there may be a driver that CUDA, or ROCm, could use."""
    if sys.platform != "linux" or "torch" in sys.modules:
        return True
    return any(map(os.path.exists, _DRIVERS))


def cuda_ready() -> bool:
    """Return whether torch is installed and sees a CUDA device.

    Where torch is not installed, or there is no driver, nothing is imported: that takes
    seconds.
    """
    if find_spec("torch") is None or not _has_driver():
        return False
    try:
        return bool(load().cuda.is_available())
    except (MissingExtraError, OSError):
        return False  # installed but broken: no reason to fail for who did not ask


def wanted(place: Place, *, pays: bool = True) -> bool:
    """Return whether torch is to compute.

    Parameters
    ----------
    place : Place
        What the user asked for.
    pays : bool
        Whether ``"auto"`` takes a CUDA device where there is one.
    """
    if place.kind == "auto":
        return pays and cuda_ready()
    return place.kind == "torch"


def choose_device(device: Any = None, dtype: str = "float64") -> Any:
    """Return a torch device that works.

    Parameters
    ----------
    device : str, torch.device or None
        Such as ``"cpu"``, ``"cuda"`` or ``"cuda:1"``; None: CUDA where it is, or else
        the CPU.
    dtype : str
        What it must compute in.

    Returns
    -------
    torch.device

    Raises
    ------
    UsageError
        If there is no such device, or if it cannot compute in `dtype`.
    """
    torch = load()
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise _unusable(device, "there is no such device") from None
    # Said here, because what torch says of both is long.
    if found.type == "mps" and dtype == "float64":
        raise _unusable(device, "it has no float64")
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        seen = torch.cuda.device_count() or "no"
        raise _unusable(device, f"torch {torch.__version__} sees {seen} CUDA device(s)")
    try:
        torch.zeros(1, dtype=getattr(torch, dtype), device=found).sum().item()
    except (AssertionError, RuntimeError, TypeError) as err:
        raise _unusable(device, str(err).partition("\n")[0]) from err
    return found


def _unusable(device: Any, reason: str) -> UsageError:
    return UsageError(
        "The torch device {!r} cannot be used ({}).",
        str(device),
        reason,
        Setting("backend", "numpy"),
        remedy="Set {2} or 'auto'.",
    )


def free_bytes(device: Any) -> int:
    """Return the memory that is left on a torch device.

    On CUDA it is what the driver has left and what torch holds without using it; other
    programs may take of the former at any time. Leave some of it: products need room
    of their own. On the CPU it is that of the machine.
    """
    torch = load()
    if device.type != "cuda":
        return available_bytes()
    idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + idle)
