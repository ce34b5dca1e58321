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

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ouzel import __version__
from ouzel.errors import ImportNeededError, OuzelError
from ouzel.files import as_path, write_atomically
from ouzel.layout import check_arrays, flat
from ouzel.learners.auto import standardisation
from ouzel.learners.protocol import Checked, State
from ouzel.model.description import describe, model_of
from ouzel.model.model import Model
from ouzel.model.model_file import FORMAT, UNREADABLE, WHOLE, read, read_bytes, read_some, write
from ouzel.model.tensor_reader import TensorReader, check_room
from ouzel.model.tensor_writer import Tensor, TensorWriter
from ouzel.ranges import Table, check_stored
from ouzel.streams.sources.error_context import reason_of

PICKLED = "a pickled model"  # as messages call it
BESIDE = "beside."  # before the names of arrays that are not of the model
LENGTHS, NAMES, NOTES = "names.lengths", "names.text", "notes"  # arrays: bytes of each name and 1, the names, JSON
MOST_NAMES, MOST_TEXT, MOST_NOTES = 1 << 21, 1 << 28, 1 << 20  # names; bytes of them, and of notes that are packed
FILE = {"version": str, "stored": Table}  # in the metadata beside the description

Built = TypeVar("Built")


class Stored(NamedTuple):
    """How a file stores a model."""

    format: int
    version: str | None  # of Ouzel; older formats do not say it
    reading: TensorReader

    def touched(self, layouts: Iterable[Any], slots: int) -> int | None:
        """How many of the slots are stored, at most of all states; None if arrays are whole."""
        most = 0
        for place, layout in enumerate(layouts):
            for name, part in flat(layout, f"state.{place}."):
                if part.shape and part.shape[0] == slots:
                    count = self.reading.count(name)
                    if count is None:
                        return None
                    most = max(most, count)
        return most


def save(
    model: Model,
    path: str | Path,
    notes: dict[str, Any] | None = None,
    beside: tuple[Any, Any] | None = None,
    whole: bool = False,
) -> None:
    """Write a model to one file. `notes` are JSON values that `load_notes` gives back: how the stream was read, say.

    `beside` is a NamedTuple of further arrays and its layout, which `load_parts` gives back. Arrays are stored `whole`
    for processes that map them. What reading would refuse is not written.
    """
    check_readable(model, path)
    described, tensors = _described(model, notes or {}, beside, whole)
    with write_atomically(path) as file:
        write(file, described, tensors)


def to_bytes(model: Model) -> bytes:
    """A model as the bytes of a file: what is pickled of it, as small as the file is."""
    check_readable(model)
    file = BytesIO()
    write(file, *_described(model, {}, None, False))
    return file.getvalue()


def from_bytes(data: bytes) -> Model:
    """The model that `to_bytes` wrote."""
    return _built(PICKLED, read_bytes(data, PICKLED), lambda model, notes, reading: model)


def _described(
    model: Model, notes: dict[str, Any], beside: tuple[Any, Any] | None, whole: bool
) -> tuple[dict[str, Any], list[Tensor]]:
    """The description and the tensors of a model's file."""
    described = describe(model, notes)
    writer = TensorWriter(whole or not _is_bounded(model))
    for layout, state, prefix in _states_of(model, beside):
        writer.add_state(layout, state, prefix)
    _add_names(writer, described.pop("names"))
    writer.add_text(NOTES, json.dumps(described.pop("notes"), ensure_ascii=False).encode(), MOST_NOTES)
    how, tensors = writer.finish()
    return {"format": FORMAT, "version": __version__, **described, "stored": how}, tensors


def _states_of(model: Model, beside: tuple[Any, Any] | None) -> Iterable[tuple[Any, Any, str]]:
    """The layouts, states and prefixes of all arrays of a file."""
    for place, (layout, state) in enumerate(zip(model.layouts(), model.states, strict=True)):
        yield layout, state, f"state.{place}."
    layouts = model.preparation.layouts(model.capacity)
    for name, part in model.preparation.arrays().items():
        yield layouts[name], part, f"{name}."
    if beside is not None:
        yield beside[1], beside[0], BESIDE


def _is_bounded(model: Model) -> bool:
    """Whether the ids of a model's features make as many slots as it has room for: names, numbers or columns."""
    space = model.space
    columns = (space.width or 0) * (2 if space.indicator else 1)  # what is missing of each stands behind them
    ids = max((space.highest or 0) + 1, columns, 1 << model.bits if space.named or not space.known else 0)
    return model.budgeted or model.dimension <= ids + 1


def _add_names(writer: TensorWriter, pairs: list[Any]) -> None:
    texts = [name.encode() for _, name in pairs]
    slots = np.array([feature + 1 for feature, _ in pairs], np.uint32)
    writer.add_rows(LENGTHS, slots, np.array([len(text) + 1 for text in texts], np.uint32))
    writer.add_text(NAMES, b"".join(texts), MOST_TEXT)


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


def check_readable(model: Model, path: str | Path = "model") -> None:
    """Refuse a model whose arrays would be refused when the file is read."""
    try:
        for layout, state, _ in _states_of(model, None):
            check_arrays(layout, dict(flat(state)))
        _check_parts(model, model.states)
    except OuzelError as error:
        raise OuzelError(
            f"{path}: not written, for it could not be read again: {error}; "
            "train again with a smaller step, or on standardized features"
        ) from None


def _check_parts(model: Model, states: list[State]) -> None:
    """Refuse arrays that are sound, each by itself, and contradict each other."""
    if model.preparation.features is not None:
        standardisation.check(model.preparation.features)
    model.preparation.check_columns()
    model.preparation.check_judging()
    for state in states if isinstance(model.module, Checked) else []:
        model.module.check(state, model.settings)


def load_model(path: str | Path) -> Model:
    """The model that `save` wrote."""
    return load_notes(path, analyses=True)[0]


def load_notes(path: str | Path, mapped: bool = False, analyses: bool = False) -> tuple[Model, dict[str, Any]]:
    """The model that `save` wrote, and the notes saved with it; the model within an analysis only if `analyses` count.

    `mapped`: arrays that are stored whole are those of the file, in memory once for all processes that map it, and
    copied where one writes to them. The file may be replaced or removed then, but not written to.
    """

    def build(model: Model, notes: dict[str, Any], _: TensorReader) -> tuple[Model, dict[str, Any]]:
        if "analysis" in notes and not analyses:
            raise OuzelError(f"holds {notes['analysis']}, which predicts nothing; `ouzel top` shows what it found")
        return model, notes

    return load_parts(path, build, mapped)


def load_description(path: str | Path) -> tuple[Model, dict[str, Any], Stored]:
    """A model without states and names, its notes, and how its file stores arrays, of which none is read."""
    described, tensors = read_some(as_path(path), (NOTES,))
    with _line_of(path):
        format, version = described["format"], described.get("version")
        reading = reading_of(described, tensors, named=False)
        return model_of(described), described["notes"], Stored(format, version, reading)


def is_whole(path: str | Path) -> bool:
    """Whether the arrays of a model file stand there as in memory, so that they can be mapped."""
    return not load_description(path)[2].reading.arrays - {LENGTHS, NAMES, NOTES}


def load_parts(
    path: str | Path,
    build: Callable[[Model, dict[str, Any], TensorReader], Built],
    mapped: bool = False,
) -> Built:
    """What is built of the model that `save` wrote, the notes saved with it, and the arrays of the file."""
    return _built(path, read(as_path(path), mapped), build)


def _built(
    path: str | Path,
    stored: tuple[dict[str, Any], dict[str, np.ndarray]],
    build: Callable[[Model, dict[str, Any], TensorReader], Built],
) -> Built:
    """What is built of the description and the tensors of a file."""
    described, tensors = stored
    with _line_of(path):
        parts = _rebuild(described, reading_of(described, tensors))
    try:
        return build(*parts)
    except MemoryError:
        raise OuzelError(f"{path}: its arrays are larger than the memory that is left") from None
    except OuzelError as error:
        raise OuzelError(f"{path}: {error}") from None


@contextmanager
def _line_of(path: str | Path) -> Iterator[None]:
    """What may be wrong with a file as one line."""
    try:
        yield
    except ImportNeededError as error:
        raise OuzelError(f"{path}: {error}") from None
    except MemoryError:
        raise OuzelError(f"{path}: its state is larger than the memory that is left") from None
    except (OuzelError, *UNREADABLE) as error:
        said = str(error) if isinstance(error, OuzelError) else reason_of(repr(error))
        raise OuzelError(f"{path}: not a model this version can use: {said}; train it again") from None


def reading_of(described: dict[str, Any], tensors: Mapping[str, np.ndarray], named: bool = True) -> TensorReader:
    """The tensors of a file; the description gets its notes and its names, and loses what is about the file."""
    if described.pop("format") == WHOLE:
        return TensorReader(tensors, {"lists": [], "tensors": {}})
    about = {name: described.pop(name) for name in FILE}
    check_stored(about, FILE, "what the file says of itself")
    if {"names", "notes"} & set(described):
        raise OuzelError("names and notes stand in the description, and are tensors of their own")
    reading = TensorReader(tensors, about["stored"])
    described["notes"] = json.loads(reading.text(NOTES, MOST_NOTES))
    described["names"] = _names_in(reading) if named else []
    return reading


def _rebuild(described: dict[str, Any], reading: TensorReader) -> tuple[Model, dict[str, Any], TensorReader]:
    """A model of checked parts: nothing is made, or taken for what it says it is, before it has been found sound."""
    model = model_of(described)
    layouts = {f"state.{place}.": layout for place, layout in enumerate(model.layouts())}
    model.preparation.scales |= model.preparation.automatic and "features.totals" in reading.names
    prepared = model.preparation.layouts(model.capacity)
    if "moments.sums" not in reading.names:  # a file of before there were any
        prepared.pop("moments", None)
    layouts |= {f"{name}.": layout for name, layout in prepared.items()}
    expected = {name for prefix, layout in layouts.items() for name, _ in flat(layout, prefix)}
    beside = {name for name in reading.names if name.startswith(BESIDE)}
    known = {*expected, LENGTHS, NAMES, NOTES} | (beside if "analysis" in described["notes"] else set())
    for name in reading.names - known:
        raise OuzelError(f"{name!r} is not an array of this learner")
    if not _is_bounded(model) and not expected.isdisjoint(reading.how):
        raise OuzelError(f"dimension is {model.dimension}, but the ids of its features make fewer slots")
    check_room(layouts.values())
    states = [reading.state(layout, prefix) for prefix, layout in layouts.items()]
    count = len(states) - len(prepared)
    model.preparation.begin(model.capacity)
    model.preparation.take(dict(zip(prepared, states[count:], strict=True)))
    del states[count:]
    _check_parts(model, states)
    model.take(states)
    return model, described["notes"], reading
