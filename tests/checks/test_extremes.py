"""No finite number, however large or small, makes a learner's state or its predictions anything but finite."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.model.model import Model
from tests.checks.extremes import LARGEST, ROWS, block_of, offences, ordinary, streams

ROOT = Path(__file__).parents[2]
LEARNERS = list(catalogue.LEARNERS)
every_learner = pytest.mark.parametrize("name", LEARNERS)


@every_learner
def test_nothing_finite_makes_a_learner_predict_or_keep_what_is_not(name):
    values = ("auto", False)  # as they are scaled, and as they are
    found = [
        (kind, offences(name, {"standardize": standardize}, block, classes))
        for (kind, block), classes, standardize in itertools.product(streams(), (2, 3), values)
    ]

    assert [offence for offence in found if offence[1]] == []


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("names", [LEARNERS[start : start + 8] for start in range(0, len(LEARNERS), 8)], ids="-".join)
def test_nor_does_it_under_any_loss_penalty_or_setting(names, thorough):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "tests.checks.extremes", *names, *(["--all"] if thorough else [])]

    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)

    assert found.stderr == ""
    assert found.stdout == ""


@pytest.mark.parametrize("standardize", ["auto", False])
@pytest.mark.parametrize(
    "name", [name for name in LEARNERS if name != "auto"]
)  # its values are relative to the largest
def test_learning_goes_on_after_a_row_too_large(name, standardize):
    if (name, standardize) == ("narow-full", "auto"):
        pytest.xfail("a row of sixes, as which it is seen, spoils the covariance, as one does without scales")
    rng = np.random.default_rng(2)
    values, labels = ordinary(rng)
    row = np.full((1, values.shape[1]), LARGEST)
    usual, absurd = block_of(values, labels, np.ones(ROWS)), block_of(row, np.zeros(1), np.ones(1))

    model = Model(name, classes=[0, 1], standardize=standardize)
    for block in (usual, absurd, usual, usual, usual):
        model.learn(block)

    assert np.mean((model.margins(usual) > 0) == (labels > 0)) > 0.7
