"""Model files that lie: a sound one, changed at random, its digest made right again.

Run as a program it loads many such files, learns and predicts with those that load, and stops at the first that is
neither refused in one line nor a model that works: `python -m tests.forging adagrad 300 seed`. A crash of the process,
or its being killed by the alarm, is a find as well.
"""

import resource
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np

from ouzel.analytics.sketch import Analysis
from ouzel.errors import OuzelError
from ouzel.layout import flat
from ouzel.model import model_file, persistence, tensor_writer
from ouzel.model.description import describe
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from torture.forging import Parts, forged

LONGEST = 60  # seconds that a file may take
ROOM = 1 << 30  # bytes of address space beyond what a sound model takes
LARGEST = 1e30  # products of larger numbers may overflow, and their differences be no numbers


def parts_of(path):
    """The description and the arrays of a file, names and notes in the description, arrays as long as in memory."""
    model, notes = persistence.load_notes(path, analyses=True)
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
    parts = Parts.of(path)
    return parts.described, parts.arrays


def write_tensors(path, described, tensors):
    """A model file of such tensors, with the digest that makes it look sound."""
    _write(path, described, tensors, model_file.FORMAT)


def _write(path, described, arrays, format):
    found = Parts(described, {name: np.ascontiguousarray(array) for name, array in arrays.items()}, format)
    Path(path).write_bytes(found.forged())


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
    random, taken = Random(seed), 0
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
            parts = forged(Parts(described, arrays), random)
            writing(path, parts.described, parts.arrays)
            signal.alarm(LONGEST)
            same = parts.described.get("settings") == described["settings"]
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
