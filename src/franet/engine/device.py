"""Torch, where it is used: found, or asked for by name; its devices and their room.

Nothing else imports torch. A device is one that can compute in float64: what a user
sees comes from that, on any device.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from franet._common.memory import available_bytes
from franet._common.optional import require
from franet.engine.place import Place
from franet.exceptions import MissingExtraError, Setting, UsageError

__all__ = ["choose_device", "cuda_ready", "free_bytes", "load", "wanted"]


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


def cuda_ready() -> bool:
    """Return whether torch is installed and sees a CUDA device.

    Where torch is not installed, nothing is imported.
    """
    if find_spec("torch") is None:
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
