"""A model in one file: safetensors arrays with JSON metadata.

The file holds every setting and all of the state, so that learning k examples, saving, loading and learning the rest
gives the bits of learning them all at once, and the same run writes the same bytes. It is written beside its place,
synced and renamed: whatever happens, the place holds the old file or the new one, whole. A digest over everything
catches damage. Reading runs no code and trusts nothing: a file may have been made up, digest and all. Its description
is checked value by value (`ouzel.model.description`), its arrays against the layout of the learner's settings
(`ouzel.layout`), before a model is made of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open

from ouzel.errors import ImportNeededError, OuzelError
from ouzel.files import write_atomically
from ouzel.layout import flat, restored
from ouzel.learners.auto import standardisation
from ouzel.learners.protocol import Checked
from ouzel.model.description import describe, model_of
from ouzel.model.model import Model
from ouzel.streams.guard import reason_of

FORMAT = 12  # 9: heaps of budgeted learners lay flat; 10: rare features reached no further; 11: scales had no windows
FEATURES = "features."  # before the names of the arrays of their moments
KEY = "ouzel"  # under which the metadata lie
BESIDE = "beside."  # before the names of arrays that are not of the model
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)

Built = TypeVar("Built")


def save(
    model: Model, path: str | Path, notes: dict[str, Any] | None = None, beside: tuple[Any, ...] | None = None
) -> None:
    """Write a model to one file. `notes` are JSON values that `load_notes` gives back: how the stream was read, say.

    `beside` is a NamedTuple of further arrays, which `load_parts` gives back.
    """
    states = {f"state.{place}.": state for place, state in enumerate(model.states)}
    if model.preparation.features is not None:
        states[FEATURES] = model.preparation.features
    if beside is not None:
        states[BESIDE] = beside
    parts = [part for prefix, state in states.items() for part in flat(state, prefix)]
    parts.sort(key=lambda part: (-part[1].itemsize, part[0]))  # each array begins where its numbers are aligned
    arrays = {name: np.ascontiguousarray(array) for name, array in parts}
    described = json.dumps(_describe(model, notes or {}), ensure_ascii=False)
    with write_atomically(path) as file:
        file.write(_header(arrays, {KEY: described, "digest": _digest(described, arrays)}))
        for array in arrays.values():
            file.write(_bytes_of(array))


def _header(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """The beginning of a safetensors file of arrays; the library takes a copy of all, and an order by chance."""
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        kind = f"{array.dtype.kind.upper()}{8 * array.itemsize}"
        entries[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (start, end)}
    header = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # the arrays are aligned
    return len(header).to_bytes(8, "little") + header


def load_model(path: str | Path) -> Model:
    """The model that `save` wrote."""
    return load_notes(path)[0]


def load_notes(path: str | Path, mapped: bool = False) -> tuple[Model, dict[str, Any]]:
    """The model that `save` wrote, and the notes saved with it.

    `mapped`: the arrays are those of the file, in memory once for all processes that map it, and copied where one
    writes to them. The file may be replaced or removed then, but not written to.
    """
    return load_parts(path, lambda model, notes, arrays: (model, notes), mapped)


def load_parts(
    path: str | Path,
    build: Callable[[Model, dict[str, Any], dict[str, np.ndarray]], Built],
    mapped: bool = False,
) -> Built:
    """What is built of the model that `save` wrote, the notes saved with it, and the arrays beside it, by name."""
    path = Path(path)
    metadata, arrays = _read(path)
    if mapped:
        arrays = _mapped(path, arrays)
    try:
        described = json.loads(metadata[KEY])
        if described["format"] != FORMAT:
            raise OuzelError(
                f"is a model of format {reason_of(repr(described['format']))}, this version reads format {FORMAT}; "
                "use the version of Ouzel that wrote it"
            )
        if _digest(metadata[KEY], arrays) != metadata["digest"]:
            raise OuzelError("the model file is damaged (its digest does not match); copy or train it again")
    except OuzelError as error:
        raise OuzelError(f"{path}: {error}") from None
    except UNREADABLE as error:
        raise OuzelError(
            f"{path}: not a model this version can use ({reason_of(repr(error))}); train it again"
        ) from None
    try:
        del described["format"]
        parts = _rebuild(described, arrays)
    except ImportNeededError as error:
        raise OuzelError(f"{path}: {error}") from None
    except (OuzelError, *UNREADABLE) as error:
        said = str(error) if isinstance(error, OuzelError) else reason_of(repr(error))
        raise OuzelError(f"{path}: not a model this version can use: {said}; train it again") from None
    try:
        return build(*parts)
    except OuzelError as error:
        raise OuzelError(f"{path}: {error}") from None


def _describe(model: Model, notes: dict[str, Any]) -> dict[str, Any]:
    return {"format": FORMAT, **describe(model, notes)}


def _rebuild(
    described: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[Model, dict[str, Any], dict[str, np.ndarray]]:
    """A model of checked parts: nothing is made, or taken for what it says it is, before it has been found sound."""
    model = model_of(described)
    layouts = {f"state.{place}.": layout for place, layout in enumerate(model.layouts())}
    if model.preparation.standardizes:
        layouts[FEATURES] = model.preparation.layout(model.capacity)
    expected = {name for prefix, layout in layouts.items() for name, _ in flat(layout, prefix)}
    beside = {name: array for name, array in arrays.items() if name.startswith(BESIDE)}
    known = expected | (set(beside) if "analysis" in described["notes"] else set())
    for name in set(arrays) - known:
        raise OuzelError(f"{name!r} is not an array of this learner")
    states = [restored(layout, arrays, prefix) for prefix, layout in layouts.items()]
    if model.preparation.standardizes:
        model.preparation.features = states.pop()
        standardisation.check(model.preparation.features)
    for state in states if isinstance(model.module, Checked) else []:
        model.module.check(state, model.settings)
    model.take(states)
    return model, described["notes"], beside


def _read(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 not a dictionary
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
    return metadata, arrays


def _mapped(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a file that was read, where they lie in it; those that hold nothing, as they are."""
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(start - 8))
    found = {}
    for name, array in arrays.items():
        place = start + header[name]["data_offsets"][0]
        found[name] = np.asarray(np.memmap(path, array.dtype, "c", place, array.shape)) if array.size else array
    return found


def _digest(described: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(described.encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(_bytes_of(np.ascontiguousarray(arrays[name])))
    return digest.hexdigest()


def _bytes_of(array: np.ndarray) -> Any:
    """What an array holds, where it lies."""
    return array.data.cast("B") if array.size else b""
