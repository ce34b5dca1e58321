"""The command line, run within the process of the tests."""

import json
from typing import NamedTuple

import numpy as np
import pytest

from ouzel.cli.app import run
from tests.printed import converted


class Ran(NamedTuple):
    """What a command left."""

    status: int
    out: str
    err: str
    command: str

    @property
    def json(self):
        """What was printed with --json, which is of the types of the command."""
        found = json.loads(self.out)
        converted(self.command, found)
        return found


@pytest.fixture
def ouzel(capsys):
    """`ouzel(*arguments)`: run the command line."""

    def call(*arguments):
        status = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err, str(next(iter(arguments), "")))

    return call


def lines_of(count, seed=0):
    """Lines of svmlight text: labels -1 and +1, six features."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((count, 6))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.standard_normal(count) > 0, 1, -1)
    return [
        f"{label:+d} " + " ".join(f"{j + 1}:{x:.4f}" for j, x in enumerate(row)) + "\n"
        for row, label in zip(X, y, strict=True)
    ]


@pytest.fixture
def small(tmp_path):
    """A small svmlight file."""
    path = tmp_path / "small.svm"
    path.write_text("".join(lines_of(1000)))
    return path
