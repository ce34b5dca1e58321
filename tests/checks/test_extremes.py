"""No finite number, however large or small, makes a learner's state or its predictions anything but finite."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.model.model import Model
from tests.checks.extremes import LARGEST, ROWS, block_of, numbers, offences, ordinary, streams

ROOT = Path(__file__).parents[2]
NOT_YET = ("auto", "unbounded", *(name for name in catalogue.LEARNERS if catalogue.find(name).budgeted))
"""Learners that are not held to this yet."""

LEARNERS = [name for name in catalogue.LEARNERS if name not in NOT_YET]
every_learner = pytest.mark.parametrize("name", LEARNERS)


@every_learner
def test_nothing_finite_makes_a_learner_predict_or_keep_what_is_not(name):
    found = [(kind, offences(name, {}, block, classes)) for kind, block in streams() for classes in (2, 3)]

    assert [offence for offence in found if offence[1]] == []


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("names", [LEARNERS[start : start + 8] for start in range(0, len(LEARNERS), 8)], ids="-".join)
def test_nor_does_it_under_any_loss_penalty_or_setting(names, thorough):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "tests.checks.extremes", *names, *(["--all"] if thorough else [])]

    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)

    assert found.stderr == ""
    assert found.stdout == ""


@every_learner
def test_an_example_of_importance_0_changes_nothing(name):
    rng = np.random.default_rng(1)
    values, labels = ordinary(rng)
    importances = rng.choice([0.0, 0.5, 1.0, 2.0], ROWS)
    importances[:5] = 0.0, 1.0, 0.0, 0.0, 1.0
    labels[:5] = 0.0, 0.0, 1.0, 1.0, 1.0
    heard = importances > 0.0

    every, those_heard = Model(name, classes=[0, 1]), Model(name, classes=[0, 1])
    every.learn(block_of(values, labels, importances))
    those_heard.learn(block_of(values[heard], labels[heard], importances[heard]))

    assert every.examples == ROWS
    for one, other in zip(numbers(every), numbers(those_heard), strict=True):
        np.testing.assert_array_equal(one, other)


@every_learner
def test_learning_goes_on_after_a_row_too_large(name):
    rng = np.random.default_rng(2)
    values, labels = ordinary(rng)
    row = np.full((1, values.shape[1]), LARGEST)
    before, after = block_of(values, labels, np.ones(ROWS)), block_of(row, np.zeros(1), np.ones(1))

    model = Model(name, classes=[0, 1])
    for block in (before, after, before, before, before):
        model.learn(block)

    assert np.mean((model.margins(before) > 0) == (labels > 0)) > 0.7
