"""A fit that can be stopped and resumed: the passes that are done, in a folder."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet import __version__
from franet.exceptions import DataError
from franet.io._write import atomic_write

if TYPE_CHECKING:
    from franet.engine.tiles import PairSource
    from franet.search import Settings

__all__ = ["Checkpoint"]

_KIND = "franet checkpoint"
# Raised when what a pass leaves behind changes its form.
_FORMAT = 1
# Settings on which no pass depends.
_FREE = ("max_memory", "random", "max_edges")


class Checkpoint:
    """The passes of one fit that are done.

    What follows a pass depends on the passes before it and on nothing else. So a fit
    that is begun again asks for the same passes in the same order, and gets those
    that are done from files.

    Parameters
    ----------
    path : path-like
        A folder; made if it is not there. The folder above it must be.
    source : PairSource
        The similarity of the features.
    settings : Settings
        What is asked for.
    """

    def __init__(
        self, path: str | os.PathLike[str], source: PairSource, settings: Settings
    ) -> None:
        self.folder = Path(path)
        self._done = 0
        about = self._about(source, settings)
        probe = _probe(source)
        try:
            self.folder.mkdir(exist_ok=True)
            present = any(self.folder.iterdir())
        except OSError as err:
            raise DataError(
                f"checkpoint={str(path)!r} cannot be used as a folder: "
                f"{err.strerror or err}. Name another one."
            ) from None
        if present:
            self._check(about, probe)
            return
        with atomic_write(self.folder / "table.npy", mode="wb") as file:
            np.save(file, probe)
        # Last: without it there is no checkpoint.
        with atomic_write(self.folder / "about.json") as file:
            json.dump(about, file, indent=1)

    def _about(self, source: PairSource, settings: Settings) -> dict[str, Any]:
        """Return what the passes of a fit depend on, besides the table."""
        chosen = {k: v for k, v in asdict(settings).items() if k not in _FREE}
        # A function is known by its name only.
        named = {k: getattr(v, "__qualname__", v) for k, v in chosen.items()}
        return {
            "kind": _KIND,
            "format": _FORMAT,
            "version": __version__,
            "source": type(source).__name__,
            "n": source.n,
            "block": source.block,
            "error": source.error,
            "top": source.top,
            "settings": named,
        }

    def _check(self, about: dict[str, Any], probe: NDArray[np.float64]) -> None:
        try:
            found = json.loads((self.folder / "about.json").read_text())
            kind = found["kind"]
        except (OSError, ValueError, TypeError, KeyError):
            kind = None
        if kind != _KIND:
            raise self._refused("is a folder that holds no checkpoint")
        for name, value in about.items():
            if found.get(name) != value:
                raise self._refused(
                    f"belongs to another fit: its {name} was {found.get(name)!r}, "
                    f"this one's is {value!r}"
                )
        known = self._read("table.npy", np.load)
        # Another machine may round in another way.
        if known.shape != probe.shape or not np.allclose(known, probe, 0.0, 1e-6):
            raise self._refused("belongs to another table")

    def _refused(self, why: str) -> DataError:
        return DataError(
            f"checkpoint={str(self.folder)!r} {why}. Name another folder, or delete "
            "this one to begin anew."
        )

    def _read(self, name: str, read: Callable[[Path], Any]) -> Any:
        try:
            return read(self.folder / name)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise self._refused(f"is damaged: {name} cannot be read") from None

    def remember(self, stage: str, compute: Callable[[], Any]) -> Any:
        """Return the outcome of the next pass, from its file if it is done."""
        self._done += 1
        name = f"{self._done:05d}.npz"
        if (self.folder / name).exists():
            state = self._read(name, _load)
            if state.pop("stage") != stage:
                raise self._refused(f"is damaged: {name} is of another pass")
            return state["state"]
        state = compute()
        with atomic_write(self.folder / name, mode="wb") as file:
            arrays: dict[str, Any] = dict(_flat({"stage": stage, "state": state}))
            np.savez(file, **arrays)
        return state


def _probe(source: PairSource) -> NDArray[np.float64]:
    """Return a number for each block that any change of its features would change."""
    n_blocks = -(-source.n // source.block)
    weights = np.cos(np.arange(source.block))
    sums = []
    for i in range(n_blocks):
        for j in {i, (i + 1) % n_blocks}:
            D = np.asarray(source.exact_tile(min(i, j), max(i, j)), np.float64)
            if i == j:
                D = D - np.diag(np.diag(D))
            width = min(source.block, source.n - max(i, j) * source.block)
            height = min(source.block, source.n - min(i, j) * source.block)
            sums.append(weights[:height] @ D[:height, :width] @ weights[:width])
    return np.array(sums)


def _flat(state: Any, at: str = "") -> list[tuple[str, NDArray[Any]]]:
    """Return the arrays of a state under the path to each; None has a path alone."""
    if isinstance(state, dict):
        return [pair for k, v in state.items() for pair in _flat(v, f"{at}/{k}")]
    if state is None:
        return [(f"{at}?", np.empty(0))]
    # A tensor on a device comes to memory first.
    return [(at, np.asarray(state.cpu() if hasattr(state, "cpu") else state))]


def _load(path: Path) -> dict[str, Any]:
    state: dict[str, Any] = {}
    # Opened here, because NumPy leaves a damaged file open.
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        for at in file.files:
            *parents, name = at.removesuffix("?").strip("/").split("/")
            place = state
            for parent in parents:
                place = place.setdefault(parent, {})
            place[name] = None if at.endswith("?") else file[at]
    return {"stage": str(state["stage"]), "state": state["state"]}
