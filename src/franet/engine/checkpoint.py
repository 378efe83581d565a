"""A fit that can be stopped and resumed: the passes that are done, in a folder."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.files import atomic_write, lock_file
from franet._common.version import __version__
from franet.exceptions import DataError, Setting

if TYPE_CHECKING:
    from franet.engine.passes import Pass, State
    from franet.pairs.tiles import PairSource

_KIND = "franet checkpoint"
# Raised when what a pass leaves behind changes its form.
_FORMAT = 2
# Settings that may change: no pass depends on them, or only some of the last ones.
_FREE = ("max_memory", "random", "max_edges")
# Another machine may round in another way: by this share of the largest number.
_ROUNDED = 1e-9
_ABOUT, _TABLE, _LOCK = "about.json", "table.npy", "lock"
# What atomic_write leaves behind where the process is killed.
_DRAFT = re.compile(r"\.franet-[0-9a-f]+\.tmp")
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


@contextmanager
def open_checkpoint(
    path: str | os.PathLike[str] | None, source: PairSource, settings: Any
) -> Iterator[Checkpoint | None]:
    """Give the checkpoint in a folder, in use until the end; None without a folder.

    Parameters
    ----------
    path : path-like or None
        A folder; made if it is not there. The folder above it must be.
    source : PairSource
        The similarity of the features.
    settings : dataclass
        What is asked for; its fields are compared.
    """
    if path is None:
        yield None
        return
    folder = Path(path)
    with ExitStack() as stack:
        try:
            folder.mkdir(exist_ok=True)
            if _found(folder) is None and not _is_blank(folder):
                raise _refused(folder, "is a folder that holds no checkpoint")
            stack.callback(os.close, lock_file(folder / _LOCK))
        except BlockingIOError:
            raise _refused(
                folder,
                "is in use by another fit, in this process or another one",
                "Wait until it has ended, or name another folder.",
            ) from None
        except OSError as err:
            # Where the file system has no locks, two fits at the same time do no harm:
            # they make the same files, each at once.
            if err.errno not in _NO_LOCKS:
                why = f"cannot be used as a folder: {err.strerror or err}"
                raise _refused(folder, why) from None
        yield Checkpoint(folder, source, settings)


def _is_blank(folder: Path) -> bool:
    """Return whether there is no more than what a kill leaves of a new checkpoint."""
    return all(
        _DRAFT.fullmatch(path.name) or (path.name == _LOCK and not path.stat().st_size)
        for path in folder.iterdir()
    )


def _found(folder: Path) -> dict[str, Any] | None:
    """Return what a folder says that it is; None where it is no checkpoint."""
    try:
        found = json.loads((folder / _ABOUT).read_text())
        return dict(found) if found["kind"] == _KIND else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _refused(folder: Path, why: str, fix: str = "Name another folder.") -> DataError:
    return DataError("{} {}.", Setting("checkpoint", str(folder)), why, remedy=fix)


class Checkpoint:
    """The passes of one fit that are done.

    What follows a pass depends on the passes before it and on the parameters. So a fit
    that is begun again asks for the same passes in the same order, and gets those
    that are done from files. A pass that is asked for with other arguments than its
    file has, because of another function or seed, is made anew.

    Parameters
    ----------
    folder : Path
        The folder, as :func:`open_checkpoint` has checked and locked it.
    source, settings : PairSource, dataclass
        As there.
    """

    def __init__(self, folder: Path, source: PairSource, settings: Any) -> None:
        self.folder = folder
        self._done = 0
        self._about = _describe(source, settings)
        found = _found(folder)
        if found is None:
            # The first file marks the folder, so that a kill after it does no harm.
            self._write()
        else:
            self._check(found)
        table, probe = folder / _TABLE, _probe(source)
        if not table.exists() and not any(folder.glob("*.npz")):
            with atomic_write(table, mode="wb", force=True) as file:
                np.save(file, probe)
            return
        known = self._read(_TABLE, np.load)
        if known.shape != probe.shape or not _alike(known, probe):
            raise _refused(folder, "belongs to another table")

    def _write(self) -> None:
        with atomic_write(self.folder / _ABOUT, force=True) as file:
            file.write(json.dumps(self._about, indent=1))

    def _check(self, found: dict[str, Any]) -> None:
        for name, value in self._about.items():
            if found.get(name) != value:
                other = "another fit"
                if name == "block":  # on a device, tiles are as large as it allows
                    other += ", maybe with other memory"
                why = f"belongs to {other}: its {name} was {found.get(name)!r}, this"
                raise _refused(self.folder, f"{why} one's is {value!r}")
        self._about = found

    def _damaged(self, why: str) -> DataError:
        fix = "Name another folder, or delete this one to begin anew."
        return _refused(self.folder, f"is damaged: {why}", fix)

    def _read(self, name: str, read: Callable[[Path], Any]) -> Any:
        try:
            return read(self.folder / name)
        except Exception:  # whatever NumPy meets in a damaged file
            raise self._damaged(f"{name} cannot be read") from None

    def least(self, name: str, value: int) -> int:
        """Return the smallest value that a number had in any fit of the folder.

        For what follows the memory at hand, and passes depend on. With more memory all
        that is done can be taken; with less, passes that differ are made anew.
        """
        known = self._about.get(name)
        if known is None or value < known:
            self._about[name] = known = value
            self._write()
        return int(known)

    def remember(
        self,
        what: Pass,
        chosen: NDArray[np.bool_] | None,
        compute: Callable[[], State],
    ) -> State:
        """Return the state after the next pass, from its file if it is done.

        Parameters
        ----------
        what : Pass
            What is computed.
        chosen : ndarray of bool or None
            The tiles that are visited; None is all.
        compute : callable
            Makes the pass.
        """
        self._done += 1
        name = f"{self._done:05d}.npz"
        digest = _digest(what) + _digest(chosen)
        if (self.folder / name).exists():
            known = self._read(name, _load)
            if known.get("place") != self._done:
                raise self._damaged(f"{name} is of another pass")
            if known["digest"] == digest:
                return dict(known["state"])
        state = compute()
        about = {"stage": what.stage, "place": self._done, "digest": digest}
        arrays: dict[str, Any] = dict(_flat({**about, "state": state}))
        with atomic_write(self.folder / name, mode="wb", force=True) as file:
            np.savez(file, **arrays)
        return state


def _describe(source: PairSource, settings: Any) -> dict[str, Any]:
    """Return what all passes of a fit depend on, besides the table, as JSON has it."""
    names = [field.name for field in fields(settings) if field.name not in _FREE]
    about = {
        "kind": _KIND,
        "format": _FORMAT,
        "version": __version__,
        "source": source.name,
        "n": source.n,
        "error": source.error,
        "top": source.top,
        "block": source.block,
        "settings": {name: getattr(settings, name) for name in names},
    }
    return dict(json.loads(json.dumps(about, default=_plain)))


def _plain(value: Any) -> Any:
    """Return a value that JSON has no form for as a number or a text."""
    if isinstance(value, np.generic):
        return value.item()
    if callable(value):
        # Its name alone; the passes tell what else there is to it.
        return getattr(value, "__qualname__", type(value).__qualname__)
    return repr(value)


def _alike(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return whether numbers are the same up to rounding."""
    scale = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return np.allclose(a, b, rtol=0.0, atol=_ROUNDED * scale)


def _digest(value: Any) -> str:
    """Return a digest of an argument of a pass, or of the pass with its arguments."""
    if is_dataclass(value):
        parts = [_digest(getattr(value, field.name)) for field in fields(value)]
        text = " ".join([type(value).__name__, *parts])
        return hashlib.sha256(text.encode()).hexdigest()
    if value is None:
        return "none"
    # A number is an array too: whether it is one of NumPy's does not matter.
    array = np.ascontiguousarray(value)
    found = hashlib.sha256(f"{array.dtype.str} {np.shape(value)} ".encode())
    found.update(array.data)
    return found.hexdigest()


def _probe(source: PairSource) -> NDArray[np.float64]:
    """Return a number for each block that any change of its features would change."""
    grid, weights = source.grid(), np.cos(np.arange(source.block))
    sums = []
    for i in range(grid.n_blocks):
        for j in {i, (i + 1) % grid.n_blocks}:
            tile = grid.tile(i, j)
            a, b = tile.shape
            D = np.asarray(source.exact_tile(tile.i, tile.j), np.float64)[:a, :b]
            if tile.is_diagonal:
                D = D - np.diag(np.diag(D))
            sums.append(weights[:a] @ D @ weights[:b])
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
    return state
