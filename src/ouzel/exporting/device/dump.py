"""States that come back from devices: the bytes that `save` of a header wrote, as a model that learns on.

They are three words that say whose state it is, the state, and a sum of all (FNV-1a, 32 bits), little-endian on any
device. Names, classes and moments of features are not on a device: those are of the model that the header was made of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from ouzel.errors import OuzelError
from ouzel.exporting.device import learner_code
from ouzel.layout import check_arrays, flat
from ouzel.learners.protocol import Checked, State
from ouzel.model.model import Model
from ouzel.model.room import make_room

MAGIC, VERSION, HEAD, SUM = 0x4C5A554F, 1, 12, 4
BASIS, PRIME = 2166136261, 16777619  # of FNV-1a


def resume(model: Model, path: str | Path) -> int:
    """Have the model learn on from what a device has learnt; return how many examples that were.

    `path` is a file of what `save` of the model's header wrote. OuzelError if it is not, or is damaged.
    """
    part = learner_code.part_of(model)
    hindrance = learner_code.hindrance(model)
    if part is None or hindrance:
        raise OuzelError(f"the model of a header that learns is wanted, and this one is none: {hindrance}")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise OuzelError(f"{path}: {error.strerror}") from None
    slots = learner_code.slots_of(model)
    kind = part.dumped(model, slots)
    _check(model, data, HEAD + model.columns * kind.itemsize + SUM, path)
    columns = np.frombuffer(data, kind, model.columns, HEAD)
    before = _learnt(model)
    _make_room(model, columns)
    try:
        states = _states(model, part, columns)
    except OuzelError as error:
        raise OuzelError(f"{path}: not a state that a device can have: {error}") from None
    model.take(states)
    more = max(0, round(_learnt(model) - before))
    model.examples += more
    if model.budgeted:
        model.names.restrict(np.concatenate([model.module.members(state) for state in model.states]) - 1)
    return more


def _states(model: Model, part: learner_code.Part, columns: np.ndarray) -> list[State]:
    """The states of a model by what a device has of its columns; OuzelError if there can be no such states."""
    found = dict(zip(learner_code.columns_of(model), (part.resumed(model, column) for column in columns), strict=True))
    states = [found.get(k, state) for k, state in enumerate(model.states)]
    for layout, state in zip(model.layouts(), states, strict=True):
        check_arrays(layout, dict(flat(state)))
        if isinstance(model.module, Checked):
            model.module.check(state, model.settings)
    return states


def _check(model: Model, data: bytes, size: int, path: str | Path) -> None:
    """Refuse bytes that are not a state of the model."""
    words = np.frombuffer(data[:HEAD], "<u4").tolist() if len(data) >= HEAD else []
    if words[:1] != [MAGIC]:
        raise OuzelError(f"{path}: not what a header of `ouzel export` saves: it begins otherwise")
    if words[1] != VERSION or words[2] != learner_code.fingerprint(model):
        raise OuzelError(f"{path}: the state of another model; give the one that the device's header was made of")
    if len(data) != size:
        raise OuzelError(f"{path}: has {len(data)} bytes, and a state of this model has {size}; read it again")
    if _sum(data[:-SUM]) != int.from_bytes(data[-SUM:], "little"):
        raise OuzelError(f"{path}: damaged on its way, as its sum says; read it again")


def _sum(data: bytes) -> int:
    """FNV-1a of bytes.

    >>> hex(_sum(b"a"))
    '0xe40c292c'
    """
    found = BASIS
    for byte in data:
        found = (found ^ byte) * PRIME & 0xFFFFFFFF
    return found


def _learnt(model: Model) -> float:
    """Examples that the states have learnt."""
    state: Any = model.states[0]
    return float(state.scale[1] if model.budgeted else state.seen[0])


def _make_room(model: Model, columns: np.ndarray) -> None:
    """Make room for ids that are new to the model, where a table has a row for each."""
    if not model.budgeted:
        used = np.flatnonzero(cast(Any, columns["table"]).any(axis=(0, 2)))
        if len(used) and used[-1]:
            make_room(model, int(used[-1]) - 1)
