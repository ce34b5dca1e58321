"""A model in one file: safetensors arrays with JSON metadata.

The file holds every setting and all of the state, so that learning k examples, saving, loading and learning the rest
gives the bits of learning them all at once, and the same run writes the same bytes. Of a table of which little was
touched it holds that little, compressed (`ouzel.model.tensor_writer`). It is written beside its place, synced and
renamed: whatever happens, the place holds the old file or the new one, whole. A digest over everything catches damage.
Reading runs no code and trusts nothing: a file may have been made up, digest and all. Its description is checked value
by value (`ouzel.model.description`), what is stored of its arrays against the layout of the learner's settings
(`ouzel.layout`), before a model is made of them. A file stands for no more slots than the ids of its features make, and
for no more memory than the machine has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open

from ouzel import __version__
from ouzel.errors import ImportNeededError, OuzelError
from ouzel.files import write_atomically
from ouzel.layout import flat
from ouzel.learners.auto import standardisation
from ouzel.learners.protocol import Checked
from ouzel.model.description import describe, model_of
from ouzel.model.model import Model
from ouzel.model.tensor_reader import TensorReader, check_room
from ouzel.model.tensor_writer import Tensor, TensorWriter
from ouzel.rules import check, table, text
from ouzel.streams.guard import reason_of

FORMAT, WHOLE = 12, 11  # 10: rare features reached no further; 11: arrays were whole, names and notes in the metadata
FEATURES = "features."  # before the names of the arrays of their moments
KEY = "ouzel"  # under which the metadata lie
BESIDE = "beside."  # before the names of arrays that are not of the model
LENGTHS, NAMES, NOTES = "names.lengths", "names.text", "notes"  # arrays: bytes of each name and 1, the names, JSON
MOST_NAMES, MOST_TEXT, MOST_NOTES = 1 << 21, 1 << 28, 1 << 20  # names; bytes of them, and of notes that are packed
FILE = {"version": text, "stored": table}  # in the metadata beside the description
KINDS = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1"}
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)

Built = TypeVar("Built")


def save(
    model: Model,
    path: str | Path,
    notes: dict[str, Any] | None = None,
    beside: tuple[Any, Any] | None = None,
    whole: bool = False,
) -> None:
    """Write a model to one file. `notes` are JSON values that `load_notes` gives back: how the stream was read, say.

    `beside` is a NamedTuple of further arrays and its layout, which `load_parts` gives back. Arrays are stored `whole`
    for processes that map them.
    """
    described = describe(model, notes or {})
    writer = TensorWriter(whole or not _is_bounded(model))
    for layout, state, prefix in _states_of(model, beside):
        writer.add_state(layout, state, prefix)
    _add_names(writer, described.pop("names"))
    writer.add_text(NOTES, json.dumps(described.pop("notes"), ensure_ascii=False), MOST_NOTES)
    how, tensors = writer.finish()
    described = {"format": FORMAT, "version": __version__, **described, "stored": how}
    with write_atomically(path) as file:
        _write(file, json.dumps(described, ensure_ascii=False), tensors)


def _states_of(model: Model, beside: tuple[Any, Any] | None) -> Iterable[tuple[Any, Any, str]]:
    """The layouts, states and prefixes of all arrays of a file."""
    for place, (layout, state) in enumerate(zip(model.layouts(), model.states, strict=True)):
        yield layout, state, f"state.{place}."
    if model.preparation.features is not None:
        yield model.preparation.layout(model.capacity), model.preparation.features, FEATURES
    if beside is not None:
        yield beside[1], beside[0], BESIDE


def _is_bounded(model: Model) -> bool:
    """Whether the ids of a model's features make as many slots as it has room for: names, numbers or columns."""
    space = model.space
    ids = max((space.highest or 0) + 1, space.width or 0, 1 << model.bits if space.named or not space.known else 0)
    return model.budgeted or model.dimension <= ids + 1


def _add_names(writer: TensorWriter, pairs: list[Any]) -> None:
    texts = [name.encode() for _, name in pairs]
    slots = np.array([feature + 1 for feature, _ in pairs], np.uint32)
    writer.add_rows(LENGTHS, slots, np.array([len(text) + 1 for text in texts], np.uint32))
    writer.add_array(NAMES, np.frombuffer(b"".join(texts), np.uint8))


def _names_in(reading: TensorReader) -> list[Any]:
    """The pairs of id and name of a file."""
    slots, lengths = reading.rows(LENGTHS, np.uint32, MOST_NAMES)
    slots, lengths = slots[lengths > 0], lengths[lengths > 0].astype(np.int64) - 1
    ends = np.cumsum(lengths)
    size = int(ends[-1]) if len(ends) else 0
    if size > MOST_TEXT:
        raise OuzelError(f"{NAMES} are {size} bytes, more than there can be")
    data = reading.array(NAMES, (size,), np.uint8)
    if data.shape != (size,) or data.dtype != np.uint8:
        raise OuzelError(f"{NAMES} are {data.dtype} {data.shape}, but there are {size} bytes")
    whole = data.tobytes()
    return [
        [slot - 1, whole[end - length : end].decode()]
        for slot, length, end in zip(slots.tolist(), lengths.tolist(), ends.tolist(), strict=True)
    ]


def _write(file: BinaryIO, described: str, tensors: list[Tensor]) -> None:
    """Write the tensors behind room for the header, which is known when they are written, and then that."""
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


def load_model(path: str | Path) -> Model:
    """The model that `save` wrote."""
    return load_notes(path)[0]


def load_notes(path: str | Path, mapped: bool = False) -> tuple[Model, dict[str, Any]]:
    """The model that `save` wrote, and the notes saved with it.

    `mapped`: arrays that are stored whole are those of the file, in memory once for all processes that map it, and
    copied where one writes to them. The file may be replaced or removed then, but not written to.
    """
    return load_parts(path, lambda model, notes, reading: (model, notes), mapped)


def load_parts(
    path: str | Path,
    build: Callable[[Model, dict[str, Any], TensorReader], Built],
    mapped: bool = False,
) -> Built:
    """What is built of the model that `save` wrote, the notes saved with it, and the arrays of the file."""
    path = Path(path)
    metadata, tensors = _read(path, mapped)
    try:
        described = json.loads(metadata[KEY])
        if described["format"] not in (FORMAT, WHOLE):
            raise OuzelError(
                f"is a model of format {reason_of(repr(described['format']))}, this version reads formats {WHOLE} and "
                f"{FORMAT}; use the version of Ouzel that wrote it"
            )
        if _digest(metadata[KEY], tensors, described["format"]) != metadata["digest"]:
            raise OuzelError("the model file is damaged (its digest does not match); copy or train it again")
    except OuzelError as error:
        raise OuzelError(f"{path}: {error}") from None
    except UNREADABLE as error:
        raise OuzelError(
            f"{path}: not a model this version can use ({reason_of(repr(error))}); train it again"
        ) from None
    try:
        reading = reading_of(described, tensors)
        parts = _rebuild(described, reading)
    except ImportNeededError as error:
        raise OuzelError(f"{path}: {error}") from None
    except MemoryError:
        raise OuzelError(f"{path}: its state is larger than the memory that is left") from None
    except (OuzelError, *UNREADABLE) as error:
        said = str(error) if isinstance(error, OuzelError) else reason_of(repr(error))
        raise OuzelError(f"{path}: not a model this version can use: {said}; train it again") from None
    try:
        return build(*parts)
    except MemoryError:
        raise OuzelError(f"{path}: its arrays are larger than the memory that is left") from None
    except OuzelError as error:
        raise OuzelError(f"{path}: {error}") from None


def reading_of(described: dict[str, Any], tensors: Mapping[str, np.ndarray]) -> TensorReader:
    """The tensors of a file; the description gets its names and notes, and loses what is about the file."""
    if described.pop("format") == WHOLE:
        return TensorReader(tensors, {"lists": [], "tensors": {}})
    check({"version": described.pop("version", None), "stored": described.get("stored")}, FILE)
    reading = TensorReader(tensors, described.pop("stored"))
    described["notes"] = json.loads(reading.text(NOTES, MOST_NOTES))
    described["names"] = _names_in(reading)
    return reading


def _rebuild(described: dict[str, Any], reading: TensorReader) -> tuple[Model, dict[str, Any], TensorReader]:
    """A model of checked parts: nothing is made, or taken for what it says it is, before it has been found sound."""
    model = model_of(described)
    layouts = {f"state.{place}.": layout for place, layout in enumerate(model.layouts())}
    if model.preparation.standardizes:
        layouts[FEATURES] = model.preparation.layout(model.capacity)
    expected = {name for prefix, layout in layouts.items() for name, _ in flat(layout, prefix)}
    beside = {name for name in reading.names if name.startswith(BESIDE)}
    known = {*expected, LENGTHS, NAMES, NOTES} | (beside if "analysis" in described["notes"] else set())
    for name in reading.names - known:
        raise OuzelError(f"{name!r} is not an array of this learner")
    if not _is_bounded(model) and not expected.isdisjoint(reading.how):
        raise OuzelError(f"dimension is {model.dimension}, but the ids of its features make fewer slots")
    check_room(layouts.values())
    states = [reading.state(layout, prefix) for prefix, layout in layouts.items()]
    if model.preparation.standardizes:
        model.preparation.features = states.pop()
        standardisation.check(model.preparation.features)
    for state in states if isinstance(model.module, Checked) else []:
        model.module.check(state, model.settings)
    model.take(states)
    return model, described["notes"], reading


def _read(path: Path, mapped: bool) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    metadata: dict[str, str] = {}
    tensors: dict[str, np.ndarray] = {}
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            if KEY in metadata and not mapped:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 not a dictionary
        if KEY in metadata and mapped:
            tensors = _mapped(path)
    except FileNotFoundError:
        raise OuzelError(f"{path}: there is no such model file; `ouzel train … --model {path}` makes one") from None
    except OSError as error:
        raise OuzelError(f"{path}: cannot be read ({error.strerror or error})") from None
    except MemoryError:
        raise OuzelError(f"{path}: is larger than the memory that is left") from None
    except (SafetensorError, *UNREADABLE) as error:
        raise OuzelError(f"{path}: not a model file, or one cut short ({error})") from None
    if KEY not in metadata:
        raise OuzelError(f"{path}: a safetensors file, but not one that Ouzel wrote")
    return metadata, tensors


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


def _digest(described: str, tensors: Mapping[str, np.ndarray], format: int = FORMAT) -> str:
    """The digest of a description and of the tensors of a file, in their order there."""
    digest = hashlib.sha256(described.encode())
    for name in sorted(tensors, key=lambda name: (0 if format == WHOLE else -tensors[name].itemsize, name)):
        digest.update(name.encode())
        array = np.ascontiguousarray(tensors[name])
        digest.update(array.data.cast("B") if array.size else b"")
    return digest.hexdigest()
