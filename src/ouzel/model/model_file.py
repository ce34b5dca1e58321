"""A safetensors file with JSON metadata and a digest, written and read: what stands in it is for `persistence` to say.

The header is written when the tensors behind it are, so that no array is in memory twice. The same arrays make the
same bytes: entries are in order, which those of the library are not.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load

from ouzel.errors import OuzelError
from ouzel.model.tensor_writer import Tensor
from ouzel.streams.sources.error_context import reason_of

FORMAT, WHOLE = 12, 11  # 10: rare features reached no further; 11: arrays were whole, names and notes in the metadata
KEY = "ouzel"  # under which the metadata lie
KINDS = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1"}
KNOWN_BY = 512  # bytes at the beginning of a file, which say what it is
VOWPAL_WABBIT = re.compile(rb"[\x06-\x10]\0\0\0\d+\.\d+\.\d+\0")  # the length of its version, and that
MAGIC = {
    "a table in Parquet": b"PAR1",
    "a table in Arrow": b"ARROW1",
    "a file packed with gzip": b"\x1f\x8b",
    "a file packed with xz": b"\xfd7zXZ",
    "a file packed with bzip2": b"BZh",
    "a file packed with Zstandard": b"\x28\xb5\x2f\xfd",
    "a zip archive": b"PK\x03\x04",
    "a pickle": b"\x80",
    "a database of SQLite": b"SQLite format 3",
}
"""What files are called that begin so."""
MAKES_ONE = "`ouzel train FILE --model MODEL` makes one"
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def write(file: BinaryIO, description: Mapping[str, Any], tensors: list[Tensor]) -> None:
    """Write a description and tensors: these behind room for the header, which is known afterwards."""
    described = json.dumps(description, ensure_ascii=False)
    most = 10 ** len(str(sum(tensor.size + (tensor.size >> 8) + 1024 for tensor in tensors)))
    room = len(_header(described, "0" * 64, [(tensor, most, most) for tensor in tensors]))
    digest = hashlib.sha256(described.encode())
    end, entries = 0, []
    file.seek(room)
    for tensor in tensors:
        start = end
        digest.update(tensor.name.encode())
        for part in tensor.parts():
            digest.update(part)
            end += file.write(part)
        entries.append((tensor, start, end))
    file.seek(0)
    file.write(_header(described, digest.hexdigest(), entries, room))


def _header(described: str, digest: str, places: Iterable[tuple[Tensor, int, int]], room: int = 0) -> bytes:
    """The beginning of a safetensors file; the library takes a copy of all, and an order by chance."""
    entries: dict[str, Any] = {"__metadata__": {KEY: described, "digest": digest}}
    for tensor, start, end in places:
        dtype = np.dtype(np.uint8) if tensor.packed else tensor.dtype
        shape = (end - start,) if tensor.packed else tensor.shape
        kind = f"{dtype.kind.upper()}{8 * dtype.itemsize}"
        entries[tensor.name] = {"dtype": kind, "shape": shape, "data_offsets": (start, end)}
    header = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * max(room - 8 - len(header), -len(header) % 8)  # the arrays are aligned
    return len(header).to_bytes(8, "little") + header


def read(path: Path, mapped: bool) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description and the tensors of a file of a format that this version knows, as sound as their digest says.

    Tensors that are `mapped` stay where they lie in the file.
    """
    return _checked(path, *_read(path, lambda file: _mapped(path) if mapped else _tensors(file, file.keys())))


def read_bytes(data: bytes, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The same of the bytes of a file, which messages call by a name."""
    try:
        tensors = load(data)
        metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        return _checked(name, metadata, {key: array.copy() for key, array in tensors.items()})
    except (SafetensorError, *UNREADABLE) as error:
        if isinstance(error, OuzelError):
            raise
        raise OuzelError(f"{name}: is none, or was cut short ({error})") from None


def _checked(
    path: Path | str, metadata: Mapping[str, str], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    described = _described(path, metadata)
    if digest_of(metadata[KEY], tensors, described["format"]) != metadata.get("digest"):
        raise OuzelError(f"{path}: the model file is damaged (its digest does not match); copy or train it again")
    return described, tensors


def read_some(path: Path, names: Iterable[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description of a file, and those of these tensors that it has; nothing else is read, nor the digest checked.

    What is wrong with it is an OuzelError, as of `read`.
    """
    metadata, tensors = _read(path, lambda file: _tensors(file, set(names) & set(file.keys())))
    return _described(path, metadata), tensors


def _described(path: Path | str, metadata: Mapping[str, str]) -> dict[str, Any]:
    try:
        described: dict[str, Any] = json.loads(metadata[KEY])
        if described["format"] not in (FORMAT, WHOLE):
            raise OuzelError(
                f"{path}: is a model of format {reason_of(repr(described['format']))}, this version reads formats "
                f"{WHOLE} and {FORMAT}; use the version of Ouzel that wrote it"
            )
    except UNREADABLE as error:
        if isinstance(error, OuzelError):
            raise
        raise OuzelError(
            f"{path}: not a model this version can use ({reason_of(repr(error))}); train it again"
        ) from None
    return described


def _read(
    path: Path, tensors_of: Callable[[Any], dict[str, np.ndarray]]
) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """The metadata of a file, and tensors of it."""
    tensors: dict[str, np.ndarray] = {}
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            if KEY in metadata:
                tensors = tensors_of(file)
    except FileNotFoundError:
        raise OuzelError(f"{path}: there is no such model file; `ouzel train … --model {path}` makes one") from None
    except OSError as error:
        if Path(path).is_dir():
            raise OuzelError(f"{path}: a folder, not a model file; of a service's, name a snapshot in it") from None
        raise OuzelError(f"{path}: cannot be read ({error.strerror or error})") from None
    except MemoryError:
        raise OuzelError(f"{path}: is larger than the memory that is left") from None
    except (SafetensorError, *UNREADABLE) as error:
        raise OuzelError(f"{path}: {_kind_of(path) or f'not a model file, or one cut short ({error})'}") from None
    if KEY not in metadata:
        raise OuzelError(f"{path}: a safetensors file, but not one that Ouzel wrote")
    return metadata, tensors


def _kind_of(path: Path) -> str | None:
    """What a file is that is no model of Ouzel, with what to do; None if it is not known."""
    with path.open("rb") as file:
        start = file.read(KNOWN_BY)
    if VOWPAL_WABBIT.match(start):
        return (
            "a model of Vowpal Wabbit, which Ouzel does not read; learn its data anew (`ouzel vw` translates commands)"
        )
    magic = next((name for name, known in MAGIC.items() if start.startswith(known)), None)
    if magic is not None:
        return f"{magic}, not a model; {MAKES_ONE}"
    if start and not any(byte < 9 or 13 < byte < 32 for byte in start):
        return f"text, as examples are, not a model; {MAKES_ONE}"
    return None


def _tensors(file: Any, names: Iterable[str]) -> dict[str, np.ndarray]:
    return {name: file.get_tensor(name) for name in names}


def _mapped(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file whose header the library has checked, where they lie in it."""
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(start - 8))
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            dtype, shape = KINDS[entry["dtype"]], tuple(entry["shape"])
            place = start + entry["data_offsets"][0]
            empty = 0 in shape
            found[name] = np.empty(shape, dtype) if empty else np.asarray(np.memmap(path, dtype, "c", place, shape))
    return found


def digest_of(described: str, tensors: Mapping[str, np.ndarray], format: int = FORMAT) -> str:
    """The digest of a description and of the tensors of a file, in their order there."""
    digest = hashlib.sha256(described.encode())
    for name in sorted(tensors, key=lambda name: (0 if format == WHOLE else -tensors[name].itemsize, name)):
        digest.update(name.encode())
        array = np.ascontiguousarray(tensors[name])
        digest.update(array.data.cast("B") if array.size else b"")
    return digest.hexdigest()
