"""Model files that lie: a sound one, changed at random, its digest made right again.

Run as a program it loads many such files, learns and predicts with those that load, and stops at the first that is
neither refused in one line nor a model that works: `python tests/forging.py adagrad 300 seed`. A crash of the process,
or its being killed by the alarm, is a find as well.
"""

import copy
import json
import resource
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from safetensors import numpy as safetensors
from safetensors import safe_open

from ouzel.analytics.sketch import Analysis
from ouzel.errors import OuzelError
from ouzel.layout import flat
from ouzel.model import model_file, persistence, tensor_writer
from ouzel.model.description import describe
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

LONGEST = 60  # seconds that a file may take
ROOM = 1 << 30  # bytes of address space beyond what a sound model takes
VALUES = (np.nan, np.inf, -np.inf, -1, 0, 1, 2, 0.5, 2**31, 2**40, 2**70, 1e300, "", "x", "\ud800", None, True)
LISTS = ([], [1], [[1]], {}, {"term": "Hinge"}, {"term": "Popen"})
LARGEST = 1e30  # products of larger numbers may overflow, and their differences be no numbers
NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-300, 2.5, 1e9)
WHOLE = (0, 1, 2, 63, 64, 2**15, 2**16 - 1, 2**31, 2**32 - 1, 2**63 - 1)


def parts_of(path):
    """The description and the arrays of a file, names and notes in the description, arrays as long as in memory."""
    model, notes = persistence.load_notes(path)
    states = {f"state.{place}.": state for place, state in enumerate(model.states)}
    states |= {f"{name}.": part for name, part in model.preparation.arrays().items()}
    if "analysis" in notes:
        kind = next(kind for kind in Analysis.__subclasses__() if kind.kind == notes["analysis"])
        states[persistence.BESIDE] = kind.load(path).side
    described = {"format": model_file.WHOLE, **describe(model, notes)}
    return described, {name: array.copy() for prefix, state in states.items() for name, array in flat(state, prefix)}


def write(path, described, arrays):
    """A model file of these parts, with the digest that makes it look sound: of the format whose arrays are whole."""
    _write(path, described, {name: np.ascontiguousarray(array) for name, array in arrays.items()}, model_file.WHOLE)


def tensors_of(path):
    """The description and the tensors of a file, as they stand there."""
    with safe_open(path, framework="np") as file:
        described = json.loads(file.metadata()[model_file.KEY])
        return described, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def write_tensors(path, described, tensors):
    """A model file of such tensors, with the digest that makes it look sound."""
    _write(path, described, {name: np.ascontiguousarray(array) for name, array in tensors.items()}, model_file.FORMAT)


def _write(path, described, arrays, format):
    text = json.dumps(described)
    metadata = {model_file.KEY: text, "digest": model_file.digest_of(text, arrays, format)}
    Path(path).write_bytes(safetensors.save(arrays, metadata))


def forged(described, arrays, random):
    """The same parts with a random change or a few."""
    described, arrays = copy.deepcopy(described), {name: array.copy() for name, array in arrays.items()}
    for _ in range(random.integers(1, 4)):
        if random.random() < 0.4:
            _change_description(described, random)
        else:
            _change_arrays(arrays, random)
    return described, arrays


def _change_description(value, random):
    """Replace a value somewhere in a tree of JSON values; seldom take one out, or put one in."""
    while isinstance(value, (dict, list)) and len(value):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = keys[random.integers(len(keys))]
        if isinstance(value[key], (dict, list)) and len(value[key]) and random.random() < 0.8:
            value = value[key]
            continue
        if isinstance(value, dict) and random.random() < 0.05:
            del value[key]
        elif isinstance(value, dict) and random.random() < 0.05:
            value["more"] = 1
        else:
            choices = VALUES + LISTS
            value[key] = copy.deepcopy(choices[random.integers(len(choices))])
        return


def _change_arrays(arrays, random):
    if not arrays:
        return  # all were taken out before
    name = list(arrays)[random.integers(len(arrays))]
    array = arrays[name]
    how = random.integers(12)
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays[name + "x"] = array
    elif how == 2:
        arrays[name] = array.reshape(-1)[: array.size // 2]
    elif how == 3:
        arrays[name] = array.astype(np.float64 if array.dtype == np.float32 else np.float32)
    elif array.size and how == 4:
        arrays[name] = random.permutation(array)
    elif array.size and how == 5:
        arrays[name] = np.roll(array, 1)
    elif array.size:
        flat = array.reshape(-1)
        places = random.integers(0, min(array.size, 40) if how < 9 else array.size, random.integers(1, 4))
        if how < 10:
            choices = NUMBERS if array.dtype.kind == "f" else WHOLE
            values = np.array([choices[random.integers(len(choices))] for _ in places])
            flat[places] = values if array.dtype.kind == "f" else values.astype(np.uint64).astype(array.dtype)
        else:
            flat.view(np.uint8).reshape(-1)[places] ^= random.integers(1, 256, len(places)).astype(np.uint8)


def examples(count, seed=0):
    """Pairs of a few features and a label."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(count, 30))
    return [
        ({f"f{j}": float(row[j]) for j in random.choice(30, 5, replace=False)}, "yes" if row[0] + row[1] > 0 else "no")
        for row in features
    ]


def floats(state):
    """The arrays of a state that hold numbers with a fraction, but for bounds, which may be infinite, and scratch."""
    return [(name, array) for name, array in flat(state) if array.dtype.kind == "f" and name != "bounds"]


def learn(model, pairs):
    """Let a model learn examples; return it."""
    for block in blocks_from(pairs, bits=model.bits, seed=model.seed):
        model.learn(block)
    return model


def attack(name, count, seed):
    """Load `count` forged files of a learner; return how many were taken for sound."""
    random, taken = np.random.default_rng(seed), 0
    small = {"budget": 1024.0} if name in ("awm", "wm", "count-min", "space-saving", "awm-nce") else {}
    sound = learn(Model(name, bits=8, **small), examples(60))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m")
        persistence.save(sound, path, {"reading": {"label": "y", "text": ["body"]}})
        learn(persistence.load_model(path), examples(20)).margins(next(blocks_from(examples(20), bits=8)))
        kinds = [(parts_of(path), write), (tensors_of(path), write_tensors)]
        with as_rows():
            persistence.save(sound, path, {"reading": {"label": "y", "text": ["body"]}})
        kinds.append((tensors_of(path), write_tensors))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number in range(count):
            (described, arrays), writing = kinds[number % len(kinds)]
            changed, parts = forged(described, arrays, random)
            writing(path, changed, parts)
            signal.alarm(LONGEST)
            same = changed.get("settings") == described["settings"]  # others may be steps that no number survives
            taken += _works(path, same, f"{name}, file {number} of seed {seed}")
            signal.alarm(0)
    return taken


@contextmanager
def as_rows():
    """Write files whose tensors are rows, and not packed: changes of theirs are changes of numbers."""
    packed = tensor_writer._packed
    tensor_writer._packed = lambda tensor: tensor
    try:
        yield
    finally:
        tensor_writer._packed = packed


def _works(path, same, what):
    try:
        model = persistence.load_model(path)
    except OuzelError as error:
        said = str(error)
    else:
        said = ""
    assert not said or (said.startswith(f"{path}: ") and "\n" not in said and "MemoryError" not in said), (what, said)
    if said:
        return False
    ordinary = same and all(
        np.abs(array).max(initial=0.0) < LARGEST for state in model.states for _, array in floats(state)
    )
    try:
        learn(model, examples(20, seed=1))
        margins = model.margins(next(blocks_from(examples(20), bits=model.bits, seed=model.seed)))
    except OuzelError:  # the labels are not numbers, or of a class that the file does not know
        return True
    assert not (ordinary and np.isnan(margins).any()), what
    return True


if __name__ == "__main__":
    print(attack(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
