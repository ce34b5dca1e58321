"""Streams of extreme numbers through every learner, loss and penalty: predictions and states stay finite."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

import numpy as np

from torture.learners import chosen, settings_of, switches_of
from torture.targets.base import Target, check_finite, check_margins
from torture.verdicts import Failure

CLASS_LOSSES = ("hinge", "logistic", "smoothed-hinge", "squared-hinge")
NUMBER_LOSSES = ("squared", "absolute", "quantile", "poisson")
LARGE = (1.0, 1e10, 1e19, 1e25, 1e30, 1e37, 3e38, -3e38, 3.4028235e38)
SMALL = (1.0, 1e-10, 1e-20, 1e-38, 1e-42, 1e-45, -1e-45)
PLAIN = (1.0, -1.0, 0.5, 2.0, -3.0)
IMPORTANCES = (1.0, 1.0, 1.0, 0.0, 1e9, 1e-9, 2.0)


class Numbers(Target):
    name = "numbers"
    weight = 0.15
    share = 8.0
    about = "extreme values through learners, losses and penalties"
    breeding = 0.0
    patience = 300.0  # kernels compile

    def prepare(self) -> None:
        self.warm()

    def warm(self) -> None:
        warm_catalogue()

    def make(self, random: Random) -> bytes:
        learner = random.choice(chosen())
        spec: dict[str, Any] = {"learner": learner, "loss": None, "penalty": None, "seed": random.getrandbits(32)}
        if random.random() < 0.25:
            spec["loss"] = random.choice((*CLASS_LOSSES, *NUMBER_LOSSES))
        if random.random() < 0.15:
            spec["penalty"] = random.choice(("elastic-net", "l2-ball", "max-norm", "l1-ball", "l2-norm"))
        spec["switches"] = {name: random.random() < 0.5 for name in switches_of(learner) if random.random() < 0.5}
        spec["classes"] = random.choice((2, 2, 3))
        spec["values"] = random.choice(("large", "small", "mixed", "mixed", "plain", "one outlier"))
        return json.dumps(spec).encode()

    def mutate(self, data: bytes, random: Random) -> bytes:
        return self.make(random)

    def run(self, data: bytes, random: Random) -> str:
        import ouzel

        spec = json.loads(data)
        random = Random(spec["seed"])
        settings: dict[str, Any] = settings_of(spec["learner"])
        settings |= {name: spec[name] for name in ("loss", "penalty") if spec[name]} | spec.get("switches", {})
        if spec["penalty"] in ("elastic-net", "max-norm", "l2-norm"):
            settings["l1"] = random.choice((1e-4, 1.0, 1e10))
        model = ouzel.Model(spec["learner"], **settings)
        limits = [np.isfinite(array).all() for array in _floats(model.states)]
        blocks = list(stream(spec, model.task, random))
        for block in blocks:
            check_margins("a margin of learning", model.learn(block).margins, data.decode())
            check_finite("a margin of predicting", model.margins(block), data.decode())
        for array, finite in zip(_floats(model.states), limits, strict=False):
            if np.isnan(array).any() or (finite and not np.isfinite(array).all()):
                raise Failure("nan", f"a state of {spec['learner']}", data.decode())
        _check_file(model, data.decode())
        for column in model.top(10):
            check_finite("a weight of the top", [weight for _, weight in column], data.decode())
        return f"{spec['learner']} {spec['loss']} {spec['penalty']}"


def _check_file(model: Any, data: str) -> None:
    """A model that has learnt finite numbers is written to a file that can be read."""
    from ouzel.errors import OuzelError
    from ouzel.model import persistence

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model"
        try:
            persistence.save(model, path)
            persistence.load_model(path)
        except OuzelError as error:
            raise Failure("nan", f"the file of a {model.learner.name}: {error}", data) from None


@cache
def warm_catalogue() -> None:
    """Load, or compile, the kernels of all learners."""
    for learner in chosen():
        for classes in (2, 3):
            spec = {"learner": learner, "loss": None, "penalty": None, "seed": 1, "classes": classes, "values": "plain"}
            with suppress(Exception):
                Numbers().run(json.dumps(spec).encode(), Random(0))


def stream(spec: dict[str, Any], task: str, random: Random) -> Any:
    """Blocks of a few examples, all of whose values are finite in 32 bits."""
    from ouzel.streams.block import Block

    palette = {"large": LARGE, "small": SMALL, "plain": PLAIN, "one outlier": PLAIN}.get(spec["values"], LARGE + SMALL)
    features = random.choice((1, 2, 4))
    rows = random.choice((3, 8, 30))
    outlier = random.randrange(rows)
    made = 0
    while made < rows:
        count = min(random.choice((1, 3, 30)), rows - made)
        indices, values, offsets = [], [], [0]
        for row in range(made, made + count):
            for feature in range(features):
                if random.random() < 0.7:
                    indices.append(feature)
                    extreme = spec["values"] == "one outlier" and row == outlier
                    values.append(random.choice(LARGE) if extreme else random.choice(palette) * random.choice((1, -1)))
            offsets.append(len(indices))
        if task == "regression":
            labels = [
                random.choice((0.0, 1.0, 5.0, *((1e10, 1e30, 3e38) if spec["values"] == "large" else ())))
                for _ in range(count)
            ]
        else:
            labels = [float(random.randrange(spec["classes"])) for _ in range(count)]
        weights = [random.choice(IMPORTANCES) for _ in range(count)]
        yield Block(
            np.array(offsets, np.uint64),
            np.array(indices, np.uint32),
            np.array(values, np.float32),
            np.array(labels, np.float64),
            np.array(weights, np.float32),
        )
        made += count


def _floats(states: Any) -> list[np.ndarray]:
    """The arrays of floats within some states."""
    found: list[np.ndarray] = []
    for state in states:
        if isinstance(state, (tuple, list)):
            found += _floats(state)
        elif np.asarray(state).dtype.kind == "f":
            found.append(np.asarray(state))
    return found
