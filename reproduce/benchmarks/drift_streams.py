"""Streams that change: eight generators of River, each with an abrupt and a gradual change from one concept to another.

River joins the two concepts itself (`ConceptDriftStream`): an example is of the second with the probability
1 / (1 + exp(-4 (t - p) / w)) at time t, where p is the middle of the stream, and w the width of the change.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

EXAMPLES = 10_000
WIDTHS = {"abrupt": 50, "gradual": 2_000}  # examples; River's own sum overflows where a change is much shorter
SEED = 1
WINDOW = 250  # examples that an error is taken of

Pairs = list[tuple[dict[str, float], int]]


def concepts() -> dict[str, Callable[[], tuple[Any, Any]]]:
    """By the names of River's generators, what makes the stream before the change, and the one after it."""
    from river.datasets import synth

    return {
        "Agrawal": lambda: (
            synth.Agrawal(classification_function=0, seed=SEED),
            synth.Agrawal(classification_function=3, seed=SEED),
        ),
        "Hyperplane": lambda: (synth.Hyperplane(seed=1, n_features=10), synth.Hyperplane(seed=2, n_features=10)),
        "LEDDrift": lambda: (
            synth.LED(seed=SEED, noise_percentage=0.1, irrelevant_features=True),
            synth.LEDDrift(seed=SEED, noise_percentage=0.1, irrelevant_features=True, n_drift_features=7),
        ),
        "Mixed": lambda: (
            synth.Mixed(classification_function=0, seed=SEED),
            synth.Mixed(classification_function=1, seed=SEED),
        ),
        "RandomRBF": lambda: tuple(  # type: ignore[return-value, dict-item]
            synth.RandomRBF(seed_model=model, seed_sample=SEED, n_classes=2, n_features=10, n_centroids=20)
            for model in (1, 2)
        ),
        "SEA": lambda: (synth.SEA(variant=0, noise=0.1, seed=SEED), synth.SEA(variant=3, noise=0.1, seed=SEED)),
        "Sine": lambda: (
            synth.Sine(classification_function=0, seed=SEED),
            synth.Sine(classification_function=1, seed=SEED),
        ),
        "STAGGER": lambda: (
            synth.STAGGER(classification_function=0, seed=SEED),
            synth.STAGGER(classification_function=1, seed=SEED),
        ),
    }


def generate(name: str, change: str, examples: int = EXAMPLES) -> Pairs:
    """The examples of a stream: what a generator gives, columns of numbers by name, and a class."""
    from river.datasets import synth

    before, after = concepts()[name]()
    stream = synth.ConceptDriftStream(before, after, position=examples // 2, width=WIDTHS[change], seed=SEED)
    return [
        ({f"x{key}" if isinstance(key, int) else key: float(value) for key, value in x.items()}, int(y))
        for x, y in itertools.islice(iter(stream), examples)
    ]
