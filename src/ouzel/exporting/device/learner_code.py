"""Learners that learn on a device: which models, the constants of their code, and their states in C.

The code is beside this file, in files of C. A device has no index of the active set's ids and no bounds of its weights:
those are for speed, and are built again when a state comes back.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from ouzel.errors import OuzelError
from ouzel.exporting.device.literals import array, listed, number, single
from ouzel.learners.budget import awm
from ouzel.learners.budget.decaying_weights import LARGEST_CHANGE, SMALLEST_SCALE
from ouzel.learners.gradient import adagrad, ftrl_proximal
from ouzel.model.model import Model
from ouzel.sketches import active_set, top_k
from ouzel.terms import losses, schedules
from ouzel.terms.penalties.l1_and_l2 import L1, NoPenalty

SLOPES: dict[Any, str] = {
    losses.Logistic: """    double both = margin * target, part = OUZEL_EXP(-ouzel_size(both));
    return -target * (both > 0.0 ? part : 1.0) / (1.0 + part);""",
    losses.Hinge: "    return margin * target >= 1.0 ? 0.0 : -target;",
    losses.SmoothedHinge: """    double both = margin * target;
    return both >= 1.0 ? 0.0 : both > 0.0 ? -target * (1.0 - both) : -target;""",
    losses.SquaredHinge: """    double gap = 1.0 - margin * target;
    return -target * (gap > 0.0 ? gap : 0.0);""",
    losses.Squared: "    return margin - target;",
    losses.Absolute: "    return target > margin ? -1.0 : target < margin ? 1.0 : 0.0;",
    losses.Poisson: "    return OUZEL_EXP(margin < 30.0 ? margin : 30.0) - target;",
}
"""The derivative of each loss, as `terms/losses.py` has it."""
STEPS: dict[Any, str] = {
    schedules.InverseTime: "(OUZEL_RATE / (1.0 + OUZEL_L2_RATE * (seen)))",
    schedules.InverseRoot: "(OUZEL_RATE / OUZEL_SQRT(1.0 + (seen)))",
    schedules.Constant: "(OUZEL_RATE + 0.0 * (seen))",
}
"""The step size of each schedule, as `terms/schedules.py` has it."""


class Part(NamedTuple):
    """A learner that learns on a device."""

    module: Any
    code: str  # the file of its code
    constants: Callable[[Model], dict[str, str]]
    written: Callable[[Any, int], str]  # a state with so many slots as C
    dumped: Callable[[Model, int], np.dtype[Any]]  # what a device saves of a column
    resumed: Callable[[Model, np.ndarray], Any]  # a state of what it saved


def part_of(model: Model) -> Part | None:
    """The part of a learner that learns on a device; None where predictions need more than its state."""
    part = PARTS.get(model.learner.name)
    plain = part is not None and isinstance(model.states[0], part.module.State)
    return (
        part
        if plain and not (model.preparation.scales or model.preparation.places or model.task.joint or model.task.groups)
        else None
    )


def hindrance(model: Model) -> str | None:
    """Why a model cannot learn on a device; None if it can."""
    settings = cast(Any, model.settings)
    if part_of(model) is None:
        if model.learner.name not in PARTS:
            return f"of the learners {', '.join(PARTS)} learn on a device"
        preparation = model.preparation
        if preparation.scales or preparation.places:
            return "it scales features, and a device learns by values as they are: take --standardize no, and one scale"
        if model.task.numbers and model.scale_targets:
            return "it scales the numbers that it predicts, which a device does not: take --raw-targets"
        return f"{model.learner.name} learns there by its plain settings alone"
    if type(model.loss) not in SLOPES:
        return f"the loss {model.loss!r} is not written in C; take one such as logistic"
    if type(getattr(settings, "penalty", NoPenalty())) not in (NoPenalty, L1):
        return "of penalties a device knows l1 alone"
    if len(model.classes) == 1 or not (model.task.numbers or len(model.classes)):
        return "it has met one class alone"
    if model.forget or model.class_weight is not None:
        return "a device does not forget, and weighs all classes alike: leave out --half-life and --class-weight"
    return None


def slots_of(model: Model) -> int:
    """Slots of a device's table: of all ids that names can have, or that the model has learnt."""
    return max(model.dimension, (1 << model.bits) + 1 if has_names(model) else 0)


def has_names(model: Model) -> bool:
    """Whether ids are hashes of names, and not numbers of the stream's own or columns of an array."""
    return model.space.named and model.space.width is None


def columns_of(model: Model) -> list[int]:
    """The states of a model in the order in which their classes are shown."""
    return model.classes.order() if model.columns > 1 else [0]


def fingerprint(model: Model) -> int:
    """A number that differs between models: of the learner, settings, sizes, hash and classes."""
    about = [model.learner.name, repr(model.settings), model.bits, model.seed, model.intercept, slots_of(model)]
    return zlib.crc32(json.dumps([*about, list(map(repr, model.classes.in_order()))]).encode())


def constants_of(model: Model, part: Part) -> dict[str, str]:
    """The constants of a learner's code."""
    size = part.dumped(model, slots_of(model)).itemsize
    return part.constants(model) | {
        "FINGERPRINT": f"0x{fingerprint(model):08X}u",
        "DUMP_BYTES": str(16 + model.columns * size),
    }


def slope_of(model: Model) -> str:
    """The derivative of the loss as C."""
    return f"static inline double ouzel_slope(double margin, double target) {{\n{SLOPES[type(model.loss)]}\n}}\n"


def start_of(model: Model, part: Part) -> str:
    """The state of a model as C."""
    slots = slots_of(model)
    columns = ",\n".join(part.written(model.states[k], slots) for k in columns_of(model))
    return f"static const ouzel_state ouzel_start = {{{{\n{columns}\n}}}};\n"


def _sizes(state: Any) -> tuple[int, int, int]:
    depth = len(state.tables)
    return len(state.keys), len(active_set.counters(state)) // depth, depth


def _of_awm(model: Model) -> dict[str, str]:
    heap, width, depth = _sizes(model.states[0])
    settings = cast(Any, model.settings)
    return {
        "HEAP": f"{heap}u",
        "WIDTH": f"{width}u",
        "DEPTH": str(depth),
        "BUDGET": f"{sum(awm.bytes_used(cast(Any, model.states[k])) for k in columns_of(model))}u",
        "RATE": number(settings.learning_rate),
        "L2": number(settings.l2),
        "L2_RATE": number(settings.l2 * settings.learning_rate),
        "SMALLEST_SCALE": number(SMALLEST_SCALE),
        "LARGEST_CHANGE": number(LARGEST_CHANGE),
        "STEP(seen)": STEPS[type(settings.schedule)],
    }


def _written_awm(state: Any, slots: int) -> str:
    taken = int(state.taken[0])
    sketch = [array(state.keys[:taken]), array(state.weights[:taken]), array(active_set.counters(state))]
    least = max(0.0, float(state.bounds[-1]))
    rest = f"{number(state.scale[0])}, {number(state.scale[1])}, {taken}u, {single(least)}"
    return f"{{{{{', '.join(sketch)}}}, {rest}}}"


def _dumped_awm(model: Model, slots: int) -> np.dtype[Any]:
    heap, width, depth = _sizes(model.states[0])
    return np.dtype(
        [
            ("taken", "<u4"),
            ("keys", "<u4", (heap,)),
            ("heavy", "<f4", (heap,)),
            ("cells", "<f4", (width * depth,)),
            ("scale", "<f8", (2,)),
        ]
    )


def _resumed_awm(model: Model, column: np.ndarray) -> Any:
    state = awm.init(0, cast(Any, model.settings))
    if column["taken"] > len(state.keys):
        raise OuzelError(f"it has {column['taken']} ids in an active set of {len(state.keys)}")
    for key, weight in list(zip(column["keys"], column["heavy"], strict=True))[: int(column["taken"])]:
        top_k.insert(state, np.uint32(key), np.float32(weight))
    active_set.counters(state)[:] = column["cells"]
    state.scale[:] = column["scale"]
    return state


def _of_table(model: Model) -> dict[str, str]:
    return {"SLOTS": f"{slots_of(model)}u"}


def _of_adagrad(model: Model) -> dict[str, str]:
    settings = cast(Any, model.settings)
    penalty = {"L1": number(settings.penalty.l1)} if isinstance(settings.penalty, L1) else {}
    return (
        _of_table(model)
        | penalty
        | {
            "NUMBERS": str(cast(Any, model.states[0]).table.shape[1]),
            "RATE": single(settings.learning_rate),
            "DAMPING": single(settings.damping),
        }
    )


def _of_ftrl(model: Model) -> dict[str, str]:
    settings = cast(Any, model.settings)
    rates = {"RATE": settings.learning_rate, "DAMPING": settings.damping, "L1": settings.l1, "L2": settings.l2}
    return _of_table(model) | {name: number(value) for name, value in rates.items()}


def _written_table(state: Any, slots: int) -> str:
    seen = ", ".join(number(value) for value in state.seen)
    return f"{{{array(state.table[:slots])}, {f'{{{seen}}}' if len(state.seen) > 1 else seen}}}"


def _dumped_table(model: Model, slots: int) -> np.dtype[Any]:
    state: Any = model.states[0]
    table = (state.table.dtype.newbyteorder("<"), (slots, state.table.shape[1]))
    return np.dtype([("table", *table), ("seen", "<f8", (len(state.seen),))])


def _resumed_table(model: Model, column: np.ndarray) -> Any:
    state: Any = model.states[0]
    table, kept = np.zeros_like(state.table), min(len(column["table"]), len(state.table))
    table[:kept] = column["table"][:kept]
    return state._replace(table=table, seen=column["seen"].astype(state.seen.dtype))


def tables_of(model: Model) -> str:
    """The constants of a sketch's hash functions as C; nothing of learners that have none."""
    if not hasattr(model.states[0], "tables"):
        return ""
    rows = [listed([array(part) for part in row]) for row in cast(Any, model.states[0]).tables]
    return f"static const uint32_t ouzel_tables[{len(rows)}][4][256] = {listed(rows)};\n"


PARTS = {
    "awm": Part(awm, "awm.h", _of_awm, _written_awm, _dumped_awm, _resumed_awm),
    "adagrad": Part(adagrad, "adagrad.h", _of_adagrad, _written_table, _dumped_table, _resumed_table),
    "ftrl-proximal": Part(ftrl_proximal, "ftrl_proximal.h", _of_ftrl, _written_table, _dumped_table, _resumed_table),
}
"""The learners that learn on a device."""
