"""Trainings in processes of their own, killed at random moments and begun again until they come to their end."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

from tests.forked import Forked

LONGEST = 120.0  # seconds


def train(*arguments: object) -> Forked:
    """`ouzel train` with these arguments, begun."""
    return Forked("train", *arguments, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def train_to_the_end(*arguments: object) -> str:
    """`ouzel train` with these arguments; what it said beside its answer."""
    process = train(*arguments)
    _, said = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, said.decode()
    return said.decode()


def train_with_kills(model: Path, *arguments: object, kills: int, seed: int = 0) -> int:
    """Train into a model, and kill the training so many times while it learns; how many kills struck."""
    chance, struck = random.Random(seed), 0
    command = (*arguments, "--model", model, "--resume", model)
    for _ in range(kills):
        process = train(*command)
        before = model.stat().st_mtime_ns if model.exists() else 0
        end = time.monotonic() + LONGEST
        while process.poll() is None and time.monotonic() < end:
            if model.exists() and model.stat().st_mtime_ns != before:  # it has written a checkpoint
                break
            time.sleep(0.002)
        time.sleep(chance.random() * 0.1)
        struck += process.poll() is None
        process.kill()
        process.communicate()
    train_to_the_end(*command)
    return struck
