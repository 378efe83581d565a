"""Reads HDF5 files for another process, which must not die of a damaged one.

Run as a script. Each line of stdin is a request, each line of stdout the answer, both
as JSON; the first line says that it is ready.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import h5py

__all__ = ["Elsewhere", "look", "where_else"]

_ROOM = 1 << 26  # bytes that reading may take beside chunks
_WHOLE = 1 << 24  # bytes of a dataset that is read whole, or of a piece of it
_TIMES = 10  # a dataset is seldom so much larger than its file
_IDLE = 60  # seconds after which nobody is likely to ask again


class Elsewhere(Exception):
    """Values of a file lie in other files, or would be read through a link to one."""


def where_else(dataset: Any) -> str | None:
    """Return what to say of a dataset whose values lie in other files."""
    if dataset.is_virtual:
        return f"{dataset.name} is a virtual dataset, which reads other datasets"
    if dataset.external:
        return f"{dataset.name} keeps its values in another file (external storage)"
    return None


def look(
    path: str,
    inside: str | None,
    without: str,
    most: int,
    limit: Callable[[int], None] = lambda _: None,
) -> int:
    """Read what may do harm; return the bytes that datasets claim to hold.

    Parameters
    ----------
    path : str
        The file.
    inside : str or None
        The dataset or group that is read; "" is all of the file, and None only what
        is there, with its attributes.
    without : str
        A dataset or group that is not, and may hold what it likes.
    most : int
        Bytes of a chunk that may be read.
    limit : callable, optional
        Called with the bytes by which the process may grow from then on.

    Raises
    ------
    Elsewhere
        Where something in the file leads out of it, whether it will be read or not.
        It is raised before any dataset is read.
    """
    limit(_ROOM)
    found: list[Any] = []

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and (elsewhere := where_else(item)):
            raise Elsewhere(elsewhere)
        if name.partition("/")[0] == without:
            return
        for key, value in item.attrs.items():
            # What a name leads to was checked; old AnnData follows references.
            if isinstance(value, h5py.Reference) and value:
                if item.file[value].name is None:
                    raise Elsewhere(f"/{name} refers by {key!r} to what has no name")
        if isinstance(item, h5py.Dataset) and inside in ("", *_above(name)):
            found.append(item)

    with h5py.File(path, "r") as file:
        if (link := file.id.links.visit(_leads_out, info=True)) is not None:
            raise Elsewhere(f"/{link} is an external link to another file")
        dict(file.attrs)
        file.visititems(note)
        chunks = [_chunk_bytes(dataset) for dataset in found]
        # One that is packed, and one that is unpacked.
        limit(_ROOM + 2 * min(max(chunks, default=0), most))
        for dataset, chunk in zip(found, chunks, strict=True):
            if chunk <= most:
                _read(dataset, os.path.getsize(path))
        sizes = ((item.size or 0) * item.dtype.itemsize for item in found)
        return sum(map(max, sizes, chunks))


def _leads_out(name: bytes, link: Any) -> str | None:
    """Return the name of a link that leads out of its file; None for others."""
    inside = link.type in (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
    return None if inside else name.decode(errors="replace")


def _above(name: str) -> Iterator[str]:
    """Yield a name, and those of the groups that it is in."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def _chunk_bytes(dataset: Any) -> int:
    size: int = dataset.dtype.itemsize if dataset.chunks else 0
    for length in dataset.chunks or ():
        size *= length
    return size


def _read(dataset: Any, in_file: int) -> None:
    """Read what is small, texts, which lie elsewhere, and what cannot be so large.

    Of other datasets the index is looked at, and both ends are read.
    """
    size = (dataset.size or 0) * dataset.dtype.itemsize
    if size <= _WHOLE:
        dataset[()]
    elif dataset.dtype.hasobject or size > _TIMES * in_file:
        step = max(1, _WHOLE * len(dataset) // size)
        for at in range(0, len(dataset), step):
            dataset[at : at + step]
    else:
        if dataset.chunks:
            dataset.id.chunk_iter(lambda chunk: _check_chunk(chunk, in_file))
        dataset[(0,) * dataset.ndim], dataset[(-1,) * dataset.ndim]


def _check_chunk(chunk: Any, in_file: int) -> None:
    if chunk.byte_offset + chunk.size > in_file:
        raise OSError("a chunk lies beyond the end of the file")


def _limit_memory(room: int) -> None:
    """Let the process grow by so many bytes from now on, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        with open("/proc/self/statm") as file:
            now = int(file.read().split(maxsplit=1)[0]) * resource.getpagesize()
        limit = now + room if hard == resource.RLIM_INFINITY else min(now + room, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _answer(request: str) -> dict[str, Any]:
    try:
        return {"nbytes": look(**json.loads(request), limit=_limit_memory)}
    except Elsewhere as err:
        return {"elsewhere": str(err)[:500]}
    except Exception as err:
        return {"error": " ".join(str(err).split())[:200] or type(err).__name__}


def _alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks will end this process
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    _alarm(_IDLE)
    for request in sys.stdin:
        _alarm(0)
        sys.stdout.write(json.dumps(_answer(request)) + "\n")
        sys.stdout.flush()
        _alarm(_IDLE)


if __name__ == "__main__":
    main()
