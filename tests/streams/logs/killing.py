"""Trainings in processes of their own, some of them killed at random moments and begun again."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from tests.forked import Forked
from torture.killing import LONGEST, through_kills


def train(*arguments: object, said: int = subprocess.PIPE) -> Forked:
    """`ouzel train` with these arguments, begun."""
    return Forked("train", *arguments, "--json", stdout=said, stderr=said)


def train_to_the_end(*arguments: object) -> str:
    """`ouzel train` with these arguments; what it said beside its answer."""
    process = train(*arguments)
    _, said = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, said.decode()
    return said.decode()


def train_with_kills(model: Path, *arguments: object, kills: int, seed: int = 0) -> int:
    """Train into a model, and kill the training so many times while it learns; how many kills struck."""
    chance = random.Random(seed)
    command = (*arguments, "--model", model, "--resume", model)
    pauses = (chance.random() * 0.1 for _ in range(kills))
    struck = through_kills(lambda: train(*command, said=subprocess.DEVNULL), model, pauses)
    train_to_the_end(*command)
    return struck
