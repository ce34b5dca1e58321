"""Model files as parts, and back: forged so that the digest is right.

Arrays are those of the file: whole ones, rows and their lists, packed bytes.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from safetensors import numpy as safetensors
from safetensors import safe_open

from ouzel.model import model_file
from torture import mutation

Arrays = dict[str, np.ndarray]

NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 255, 65537, 2**20, 2**31 - 1, 2**31, 2**32, 2**40, 2**63, 2**64, -(2**31), 10**30,
    0.5, -0.5, 1e-45, 1e-320, 1e39, 1e308, -1e308, math.inf, -math.inf, math.nan,
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    None, True, False, "", "x", "nan", "a" * 5000, "\0", "\ud800", "../../etc/passwd", [], {}, [1], ["a", "b"], [[]],
    {"a": 1}, {"term": "Hinge"}, {"term": "Popen"},
    "torture.trap:spring", "hinge", "ogd", "awm", "son-fd", "adagrad-multiclass", "ons", "regression", "ranking",
    [0, 1, 2, 3], [-1, 1], ["a", "a"], list(range(300)),
)  # fmt: skip


@dataclass
class Parts:
    """A model file: its description (JSON) and its arrays, of a format, the newest by default."""

    described: Any
    arrays: Arrays
    format: int = model_file.FORMAT

    @classmethod
    def of(cls, path: Any) -> Parts:
        """The parts of a file."""
        with safe_open(path, framework="np") as file:
            metadata = file.metadata()
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 no dictionary
        text = metadata[model_file.KEY]
        if model_file.digest_of(text, arrays, model_file.FORMAT) != metadata["digest"]:
            raise RuntimeError("the recipe of a model file's digest has changed: bring torture/forging.py up to date")
        return cls(json.loads(text), arrays)

    def forged(self) -> bytes:
        """The file, its digest made anew."""
        described = json.dumps(self.described)
        digest = model_file.digest_of(described, self.arrays, self.format)
        return bytes(safetensors.save(self.arrays, {model_file.KEY: described, "digest": digest}))


def forged(parts: Parts, random: Random) -> Parts:
    """The same parts with a few changes."""
    found = copy.deepcopy(parts)
    forge(found, random)
    return found


def forge(parts: Parts, random: Random) -> None:
    """Change a few things in a model."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if not parts.arrays or random.random() < 0.55:
            forge_metadata(parts.described, random)
        else:
            forge_array(parts.arrays, random)


def forge_metadata(described: Any, random: Random) -> None:
    """Replace, remove or add one value somewhere in the JSON."""
    places = list(_places(described))
    if not places:
        return
    holder, key = random.choice(places)
    value = holder[key]
    some = random.random()
    if some < 0.08:
        del holder[key]
    elif some < 0.14 and isinstance(holder, list):
        holder.insert(key, value)
    elif some < 0.2 and isinstance(holder, dict):
        holder[random.choice(("x", "", "loss", "kind", "notes"))] = copy.deepcopy(random.choice(OTHERS))
    elif isinstance(value, str) and some < 0.5:
        text = mutation.mutate(value.encode("utf-8", "surrogatepass"), random, (), mutation.TEXT)
        holder[key] = text.decode("utf-8", "replace")[:2000]
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and some < 0.85:
        near = (value + 1, value - 1, value * 2, -value)
        holder[key] = random.choice(NUMBERS) if random.random() < 0.7 else random.choice(near)
    else:
        holder[key] = copy.deepcopy(random.choice((*NUMBERS, *OTHERS)))


def forge_array(arrays: Arrays, random: Random) -> None:
    """Change an array: elements, shape, type, or whether it is there at all."""
    name = random.choice(sorted(arrays))
    array = arrays[name].copy()
    some = random.random()
    if some < 0.65 and array.size:
        flat = array.reshape(-1)
        for _ in range(random.choice((1, 1, 3, array.size))):
            flat[random.randrange(flat.size)] = _element(array.dtype, random)
    elif some < 0.75 and array.size:
        raw = bytearray(array.tobytes())
        for _ in range(random.choice((1, 4))):
            mutation.flip(raw, random)
        array = np.frombuffer(bytes(raw), array.dtype).reshape(array.shape)
    elif some < 0.85:
        array = np.resize(array, random.choice(((0,), (1,), (array.size + 1,), (1, array.size), (2, 2), ())))
    elif some < 0.92:
        with np.errstate(all="ignore"):
            array = array.astype(random.choice((np.float64, np.float32, np.int8, np.int64, np.uint32, np.float16)))
    elif some < 0.96:
        del arrays[name]
        return
    else:
        name = random.choice((name + "x", "state.9.table", ""))
    arrays[name] = np.ascontiguousarray(array)


def _element(kind: np.dtype[Any], random: Random) -> Any:
    """An extreme element of a type."""
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return kind.type(random.choice((math.nan, math.inf, -math.inf, 3e38, -3e38, 1e-45, -1.0, 0.0, 1e308)))
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        wanted = random.choice((0, 1, 2, 63, 64, 1000, limits.max, limits.max - 1, limits.min, limits.max // 2))
        return kind.type(min(max(wanted, int(limits.min)), int(limits.max)))
    return random.random() < 0.5


def _places(described: Any) -> Iterator[tuple[Any, Any]]:
    """Where each value within a JSON value stands, however deep."""
    holders = [described]
    while holders:
        holder = holders.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], (dict, list)):
                holders.append(holder[key])
