"""Every learner with each of its settings at each end of its range: prints those that do not stay finite.

Run with NUMBA_DISABLE_JIT=1: the arithmetic is that of the kernels, and nothing waits for a compiler.
"""

import sys
import warnings
from math import inf, nextafter

import numpy as np

from ouzel.learners.catalogue import LEARNERS
from ouzel.model.model import Model
from ouzel.ranges import Choice, declared
from ouzel.streams.block import Block

MANY = 50  # of what only memory bounds
COSTLY = {"sketch_size": 40, "block_size": 20, "noise": 100}  # what large values of do is take time
NEEDED = {("ons-invariant", "curvature"): {"eta": 0.1}}  # one of the two is above 0
NEEDED |= {("bear", "budget"): {"history": 1.0}}  # more pairs take more bytes
NEWTON = ("ons", "ons-invariant", "son-oja", "son-fd", "son-rp", "sketched-adagrad")
NEEDED |= {(name, "from_theory"): {"largest": 1.0} for name in NEWTON}
NEEDED |= {
    (f"adagrad-{kind}", "from_domain"): {"penalty": "l2-ball(radius=1)"}
    for kind in ("eager", "eager-rda", "full", "full-rda")
}
NEEDED |= {("wm", "epsilon"): {"l2": 1.0, "delta": 0.5, "features": 10.0}}


def stream(rows=12, features=5, seed=0):
    """Examples of two classes, sparse, with values of different sizes."""
    rng = np.random.default_rng(seed)
    offsets = np.arange(0, 3 * rows + 1, 3).astype(np.uint64)
    indices = np.concatenate([np.sort(rng.choice(features, 3, replace=False)) for _ in range(rows)]).astype(np.uint32)
    values = (rng.normal(size=3 * rows) * 10.0 ** rng.integers(-2, 3, 3 * rows)).astype(np.float32)
    return Block(offsets, indices, values, rng.integers(0, 2, rows).astype(np.float64), np.ones(rows, np.float32))


def ends(setting, takes):
    """The first and last value that a range takes, or all words of a choice."""
    if isinstance(takes, Choice):
        return list(takes.words)
    low = nextafter(takes.low, inf) if takes.above else takes.low
    high = nextafter(takes.high, -inf) if takes.below else takes.high
    return [low, MANY if takes.each else COSTLY.get(setting, high)]


def arrays_of(state):
    return [array for part in state for array in (arrays_of(part) if isinstance(part, tuple) else [part])]


def outcome(name, setting, value, block):
    """What is wrong with a learner so set, or nothing."""
    model = Model(name, **{setting: value, **NEEDED.get((name, setting), {})})
    try:
        model.learn(block)
        margins = model.margins(block)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not np.isfinite(margins).all():
        return f"margins {margins[~np.isfinite(margins)][:3]}"
    nan = [array for array in arrays_of(model.states[0]) if array.dtype.kind == "f" and np.isnan(array).any()]
    return "NaN in the state" if nan else ""


def main():
    warnings.simplefilter("ignore")
    block = stream()
    for name in sys.argv[1:] or LEARNERS:
        settings = declared(LEARNERS[name].settings)
        for setting, declaration in settings.items():
            for value in ends(setting, declaration.takes) if declaration.takes else []:
                wrong = outcome(name, setting, value, block)
                if wrong:
                    print(f"{name} {setting}={value}: {wrong}", flush=True)
        if "penalty" in settings:
            for setting in ("l1", "l2"):
                for value in (1e-30, 1e9):
                    wrong = outcome(name, setting, value, block) if _takes(name, setting, value) else ""
                    if wrong:
                        print(f"{name} {setting}={value}: {wrong}", flush=True)


def _takes(name, setting, value):
    """Whether a learner has a form for this penalty."""
    try:
        return bool(Model(name, **{setting: value}))
    except ValueError:
        return False


if __name__ == "__main__":
    main()
