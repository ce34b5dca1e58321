"""Streams of finite numbers as hostile as can be, and what must not come of them.

`python -m tests.checks.extremes LEARNER...` crosses learners with every loss and penalty and prints what is not finite;
`--all` takes every stream. It is meant for `NUMBA_DISABLE_JIT=1`, where nothing need be compiled for each of them.
"""

import itertools
import sys
import warnings
from collections.abc import Iterator

import numpy as np

from ouzel import OuzelError
from ouzel.layout import flat
from ouzel.learners import catalogue
from ouzel.learners.gradient import matrix_metric
from ouzel.model import room
from ouzel.model.model import Model
from ouzel.model.persistence import check_readable
from ouzel.streams.block import Block
from ouzel.terms.losses import LOSSES, REGRESSION, Poisson
from tests.checks.laws import arrays_of

LARGEST, SMALLEST = float(np.finfo(np.float32).max), 1e-45
FEATURES, ROWS, PIECE = 5, 40, 10

PENALTIES = (
    {},
    {"l1": 1e-3},
    {"l2": 1e-3},
    {"l1": 1e-3, "l2": 1e-3},
    {"penalty": "l2-norm", "l1": 1e-3},
    {"penalty": "max-norm", "l1": 1e-3},
    {"penalty": "l1-ball(radius=2)"},
    {"penalty": "l2-ball(radius=0.5)"},
    {"penalty": "box(low=-1,high=1)"},
)
"""Every kind of penalty, as settings of a model."""

VARIANTS = (
    {"damping": 0.0},
    {"damping": 1e-30},
    {"learning_rate": 1e6},
    {"bound": "clip", "largest": 1.0},
    {"bound": "project", "largest": 1.0},
    {"diagonal": False, "eta": 1.0},
    {"sketch_size": 1.0, "sketch_every": 2.0},
    {"by_mass": False},
    {"robust": True, "diagonal": False},
    {"by_mass": False, "diagonal": False},
    {"by_mass": False, "diagonal": False, "sketch_every": 4.0},
    {"p": 5.0},
    {"block_size": 2.0},
    {"averaging": 1.0},
    {"radius": 1.0},
    {"experts": 2.0},
    {"full": True, "largest": 2.0},
    {"cell_bits": 8.0, "l2": 1.0},
    {"per_feature": True},
    {"l1": 1.0, "l2": 1.0},
    {"dual_averaging": False, "adaptive": True},
    {"dual_averaging": True, "diagonal": False, "first_square": 1e-12},
    {"depth": 3.0},
    {"heap_size": 2.0},
    {"l2": 5.0, "schedule": "inverse-time", "learning_rate": 10.0},
)
"""Other settings that change the arithmetic; a learner is tried with those it has."""

WORST = ("mixture, weighted", "all powers", "one row of the largest, weighted", "flips, weighted")
"""The streams for settings in combination."""


def ordinary(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Dense examples (n, features) and their classes."""
    values = rng.normal(size=(ROWS, FEATURES))
    return values, (values.sum(axis=1) > 0).astype(float)


def one_row(rng: np.random.Generator, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Ordinary examples, and in their midst one of that size with the wrong label."""
    values, labels = ordinary(rng)
    values[ROWS // 2] = size
    labels[ROWS // 2] = 0.0
    return values, labels


def powers(rng: np.random.Generator, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of either sign whose exponents are spread evenly."""
    values = rng.choice([-1.0, 1.0], (ROWS, FEATURES)) * 10.0 ** rng.uniform(low, high, (ROWS, FEATURES))
    return values, rng.integers(0, 2, ROWS).astype(float)


def streams() -> Iterator[tuple[str, Block]]:
    """Hostile streams of two classes by name, with importances from 0 to 1e9."""
    rng = np.random.default_rng(0)
    mixture = rng.choice([0.0, SMALLEST, 1e-30, -1e-19, 1.0, -1e12, 1e19, -1e30, LARGEST, -LARGEST], (ROWS, FEATURES))
    five = 1e25 * np.array([[1, 0], [1, 1], [-1, 1], [1, -1], [0, 1]])
    flips = np.tile(ordinary(rng)[0][:1], (ROWS, 1))
    given = {
        "ordinary": ordinary(rng),
        "huge": powers(rng, 19.0, 38.5),
        "at the root of the largest": powers(rng, 18.9, 19.6),
        "squares of the smallest": powers(rng, -24.0, -18.0),
        "denormal": powers(rng, -45.0, -37.0),
        "all powers": powers(rng, -45.0, 38.5),
        "mixture": (mixture, rng.integers(0, 2, ROWS).astype(float)),
        "the largest": (LARGEST * rng.choice([-1.0, 1.0], (ROWS, FEATURES)), np.arange(ROWS) % 2.0),
        "five": (np.pad(np.tile(five, (ROWS // 5, 1)), ((0, 0), (0, 3))), np.tile([0.0, 1, 0, 1, 0], ROWS // 5)),
        "one row of the largest": one_row(rng, LARGEST),
        "one row of 1e16": one_row(rng, 1e16),
        "one denormal row": one_row(rng, SMALLEST),
        "flips": (flips, np.arange(ROWS) % 2.0),
        "flips of 1e19": (1e19 * flips, np.arange(ROWS) % 2.0),
        "very right": (np.tile([[3000.0, 0, 0, 0, 0], [1600.0, 1, 0, 0, 0]], (ROWS // 2, 1)), np.ones(ROWS)),
    }
    weights = {"": np.ones(ROWS), ", weighted": np.resize([1.0, 0.0, 1e9, 1e-9, 1.0, 1e9, 1e-30], ROWS)}
    for (name, (values, labels)), (how, importances) in itertools.product(given.items(), weights.items()):
        yield name + how, block_of(values, labels, importances)


def block_of(values: np.ndarray, labels: np.ndarray, importances: np.ndarray) -> Block:
    """Dense examples as a block: zeros are left out."""
    present = values != 0.0
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.uint64)
    with np.errstate(over="ignore"):
        kept = np.nan_to_num(values[present].astype(np.float32))
    return Block(offsets, np.nonzero(present)[1].astype(np.uint32), kept, labels, importances.astype(np.float32))


def settings_of(name: str) -> Iterator[dict]:
    """Every loss with every penalty, and every variant, that the learner takes; the defaults first."""
    fields = catalogue.find(name).settings._fields
    losses = [{"loss": loss} for loss in LOSSES] if "loss" in fields else [{}]
    penalties = PENALTIES if "penalty" in fields else ({},)
    variants = [variant for variant in VARIANTS if set(variant) <= set(fields)]
    if name.startswith("sop"):  # its damping is above 0
        variants = [variant for variant in variants if variant != {"damping": 0.0}]
    found = [{}, *(loss | penalty for loss, penalty in itertools.product(losses, penalties))]
    found += [variant | penalty for variant, penalty in itertools.product(variants, penalties)]
    for settings in found:
        try:
            Model(name, **settings)
        except OuzelError:
            continue
        yield settings


def unsound(model: Model) -> list[str]:
    """What in a model is not finite, though its layout says that it is."""
    parts = [part for layout in model.layouts() for _, part in flat(layout) if not part.scratch]
    held = zip(arrays_of(model), parts, strict=True)
    kept = all(np.isfinite(array).all() if part.finite else not np.isnan(array).any() for array, part in held)
    found = [] if kept else ["state"]
    if not model.budgeted and not np.isfinite(model.weights()).all():
        found.append("weights")
    return found


def unreadable(model: Model) -> list[str]:
    """What reading a model's file would refuse."""
    try:
        check_readable(model)
    except OuzelError as error:
        return [str(error)]
    return []


def offences(name: str, settings: dict, block: Block, classes: int = 2) -> list[str]:
    """What is not finite while and after a model learns the block in pieces; it must be able to go on."""
    model = Model(name, **settings)
    if classes > 2:
        block = block._replace(labels=np.arange(block.rows) % classes + 0.0)
    if isinstance(model.loss, REGRESSION):
        low = 0.0 if isinstance(model.loss, Poisson) else -1.0
        block = block._replace(labels=np.where(block.labels > 0.0, 3e38, low))
    for start in range(0, block.rows, PIECE):
        learnt = model.learn(block.slice(start, min(start + PIECE, block.rows)))
        found = unsound(model)
        known = slice(None) if start else slice(classes, None)  # a class not seen yet has minus infinity
        if not np.isfinite(learnt.margins[known]).all() or not np.isfinite(learnt.losses[known]).all():
            found.append("margins or losses while learning")
        if not np.isfinite(model.margins(block)).all():
            found.append("margins")
        if found:
            return found
    return unreadable(model)


def cases(name: str, thorough: bool) -> Iterator[tuple[dict, str, Block, int]]:
    """Settings, streams and numbers of classes; fewer streams where it is not thorough, or settings are combined."""
    everything = dict(streams())
    for settings in settings_of(name):
        alone = not set(settings) - {"loss"} or not set(settings) - {"penalty", "l1", "l2"}
        fewer = WORST if thorough or alone else WORST[:1]
        for kind in everything if thorough and alone else fewer:
            for classes in (2, 3) if thorough and alone else (2,):
                yield {**settings, "standardize": False}, kind, everything[kind], classes  # values as they are


def main(names: list[str]) -> None:
    """Print every offence."""
    room.SMALLEST_TABLE, matrix_metric.MOST_SWEEPS = 8, 30
    thorough = "--all" in names
    for name in (name for name in names if name != "--all"):
        for settings, kind, block, classes in cases(name, thorough):
            try:
                found = offences(name, settings, block, classes)
            except Exception as error:
                found = [repr(error)]
            if found:
                print(f"{name} {settings} on {kind}, {classes} classes: {', '.join(found)}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    main(sys.argv[1:])
