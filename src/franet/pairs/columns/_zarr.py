"""Checks of zarr metadata: only codecs and types that run no code are decoded."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from franet.exceptions import DataError

_DOCUMENTS = frozenset({".zarray", ".zgroup", ".zmetadata", "zarr.json"})
_TEXT = frozenset({"vlen-utf8", "vlen-bytes"})
# Codecs of numcodecs that turn bytes or numbers into bytes or numbers.
_PLAIN = frozenset({
    "adler32", "astype", "bitround", "blosc", "bz2", "crc32", "crc32c", "delta",
    "fixedscaleoffset", "fletcher32", "gzip", "jenkins_lookup3", "lz4", "lzma",
    "packbits", "quantize", "shuffle", "zlib", "zstd",
})  # fmt: skip
_CODECS = {
    2: _PLAIN | _TEXT,
    3: _TEXT | {f"numcodecs.{name}" for name in _PLAIN} | {
        "blosc", "bytes", "crc32c", "endian", "gzip", "sharding_indexed", "transpose",
        "zstd",
    },
}  # fmt: skip
_FIXED = re.compile(r"[<>|=]?[biufcmMSUV]\d+(\[\w+\])?")  # as NumPy writes types
_NUMBER = re.compile(r"[<>|=]?[biuf]\d+|bool|u?int(8|16|32|64)|float(16|32|64)")
_OBJECT = re.compile(r"\|?O\d*")
# As zarr 3 writes them, and raw bits.
_NAMED = re.compile(
    r"bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)|r\d+|raw_bytes|string|"
    r"bytes|fixed_length_utf32|null_terminated_bytes|variable_length_(bytes|utf8)|"
    r"numpy\.(datetime|timedelta)64|struct(ured)?"
)
_TYPES = ("dtype", "astype", "encode_dtype", "decode_dtype")  # settings of codecs


def check_folder(path: Path) -> None:
    """Check every metadata document of a zarr folder before zarr opens it.

    Parameters
    ----------
    path : Path
        The folder.

    Raises
    ------
    DataError
        Where a document names a codec or a type that is not known to be harmless,
        where a link or a name leads out of the folder, and where the folder holds
        something that is neither a file nor a folder.
    """
    root = os.path.realpath(path)
    folders = [str(path)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    target = os.path.realpath(entry.path)
                    if os.path.commonpath([root, target]) != root:
                        raise DataError(
                            f"{entry.path}: is a link that leads out of the zarr "
                            "folder; copy its target into the folder"
                        )
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file() and not entry.is_dir():
                    raise DataError(
                        f"{entry.path}: is neither a file nor a folder; write the zarr "
                        "folder again"
                    )
                # Some file systems ignore the case of letters.
                elif entry.name.lower() in _DOCUMENTS:
                    _check(entry.path, json.loads(Path(entry.path).read_bytes()))


def check_arrays(where: str, item: Any) -> None:
    """Check an opened zarr array, or all arrays of a group, before they are read.

    Parameters
    ----------
    where : str
        How messages name it.
    item : zarr.Array or zarr.Group
        The array or group.
    """
    if hasattr(item, "shape"):
        _check(where, item.metadata.to_dict())
        return
    for name, child in item.members():
        check_arrays(f"{where}: {name}", child)


def _check(where: str, document: Any) -> None:
    """Check one document, and those that a consolidated one holds."""
    if not isinstance(document, dict):
        raise DataError(f"{where}: is damaged: zarr metadata is a JSON object")
    filters = document.get("filters") or []
    codecs = {2: [*filters, document.get("compressor")], 3: document.get("codecs", [])}
    for version, found in codecs.items():
        for codec in found:
            if codec is not None:
                _check_codec(where, codec, version)
    if "dtype" in document:
        texts = any(codec["id"] in _TEXT for codec in filters)
        _check_type(where, document["dtype"], texts)
    if "data_type" in document:
        _check_named_type(where, document["data_type"])
    for holder in (document, document.get("consolidated_metadata") or {}):
        for name, inner in (holder.get("metadata") or {}).items():
            if ".." in name.replace("\\", "/").split("/") or name.startswith("/"):
                raise DataError(f"{where}: the name {name!r} leads out of the folder")
            _check(f"{where}: {name}", inner)


def _check_codec(where: str, codec: Any, version: int) -> None:
    name = codec.get("id" if version == 2 else "name")
    settings = codec if version == 2 else codec.get("configuration") or {}
    bare = str(name).removeprefix("numcodecs.")
    if name not in _CODECS[version] or settings.get("id", bare) != bare:
        raise DataError(
            f"{where}: names the codec {name!r}, which is not among those that only "
            "decode numbers and text; write the array again, with blosc, gzip or zstd"
        )
    for key in _TYPES:
        if not _NUMBER.fullmatch(str(settings.get(key) or "f8")):
            raise _refused_type(where, settings[key])
    # Those inside a codec that stores several chunks in a file.
    for key in ("codecs", "index_codecs"):
        for inner in settings.get(key) or ():
            _check_codec(where, inner, version)


def _check_type(where: str, kind: Any, texts: bool) -> None:
    """Check a type of zarr 2; objects are allowed only if they are texts."""
    if isinstance(kind, list):
        for _, inner, *_ in kind:
            _check_type(where, inner, False)
    elif not _FIXED.fullmatch(str(kind)):
        if not (texts and _OBJECT.fullmatch(str(kind))):
            raise _refused_type(where, kind)


def _check_named_type(where: str, kind: Any) -> None:
    """Check a type of zarr 3."""
    name = kind.get("name") if isinstance(kind, dict) else kind
    if not _NAMED.fullmatch(str(name)):
        raise _refused_type(where, name)
    settings = (kind.get("configuration") if isinstance(kind, dict) else None) or {}
    for field in settings.get("fields", ()):
        _check_named_type(
            where, field["data_type"] if isinstance(field, dict) else field[1]
        )


def _refused_type(where: str, kind: Any) -> DataError:
    return DataError(
        f"{where}: holds values of type {kind!r}, which are neither numbers nor text; "
        "write the array again with a numeric type"
    )
