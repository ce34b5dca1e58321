"""The laws of learning, crossed with every learner of the catalogue.

`make test` runs them with the JIT on and with `NUMBA_DISABLE_JIT=1`. `test_planted_bugs` shows that each law can fail.
"""

from __future__ import annotations

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests.checks.laws import (
    LAWS,
    LAWS_OF_NUMBERS,
    LAWS_OF_TASKS,
    a_margin_told_by_learning_is_what_predicting_gives_just_before,
    blocks_of_any_size_and_single_examples_teach_the_same,
    names_where,
)
from tests.checks.merging_laws import MERGING_LAWS, MERGING_LAWS_OF_TASKS
from tests.checks.rounds_laws import ROUNDS_LAWS, ROUNDS_LAWS_OF_TASKS, one_worker_merged_onto_its_base_is_that_worker
from tests.checks.tasks import RANKING, SQUARED, others_of

pytestmark = pytest.mark.law

EXCEPT = {
    ("awm-nce", "exchanging_the_classes_changes_the_sign"): "which classes are drawn as noise goes by their order",
    ("auto", "weights_times_features_are_the_prediction"): "features are cut at three standard deviations, margins too",
    ("adagrad-block", "merging_does_not_go_by_the_numbers_of_features"): "features share blocks by their numbers",
    ("adagrad-block-rda", "merging_does_not_go_by_the_numbers_of_features"): "features share blocks by their numbers",
}
"""What a law does not hold for, and why."""

LAWS_OF_EACH_LOSS = (
    a_margin_told_by_learning_is_what_predicting_gives_just_before,
    blocks_of_any_size_and_single_examples_teach_the_same,
    one_worker_merged_onto_its_base_is_that_worker,
)
"""Of numbers by another loss than the squared one: the rest does not depend on it."""

LAWS_OF_OTHERS = {
    RANKING: (*LAWS_OF_TASKS, one_worker_merged_onto_its_base_is_that_worker),
    SQUARED: (*LAWS_OF_TASKS, *LAWS_OF_NUMBERS, *MERGING_LAWS_OF_TASKS, *ROUNDS_LAWS_OF_TASKS),
}

NO_PRIOR = "without a prior an example of a slope near 0 makes weights of any size"
EXCEPT_OF_TASKS = {
    ("ons-invariant", "numbers by squared", "what_was_learnt_is_known"): NO_PRIOR,
    ("ons-invariant", "numbers by poisson", "one_worker_merged_onto_its_base_is_that_worker"): NO_PRIOR,
}
"""What it does not hold for in a task other than classes."""


def _crossed():
    for name in catalogue.LEARNERS:
        for law in (*LAWS, *MERGING_LAWS, *ROUNDS_LAWS):
            reason = EXCEPT.get((name, law.__name__))
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            yield pytest.param(name, law, marks=marks, id=f"{name}-{law.__name__}")


@pytest.mark.parametrize(("name", "law"), list(_crossed()))
def test_law(name, law):
    law(name)


def _crossed_with_tasks():
    for name, learner in catalogue.LEARNERS.items():
        for task in others_of(learner):
            for law in LAWS_OF_OTHERS.get(task, LAWS_OF_EACH_LOSS):
                reason = EXCEPT.get((name, law.__name__)) or EXCEPT_OF_TASKS.get((name, task.name, law.__name__))
                marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
                yield pytest.param(name, law, task, marks=marks, id=f"{name}-{task.name}-{law.__name__}")


@pytest.mark.interpreted
@pytest.mark.parametrize(("name", "law", "task"), list(_crossed_with_tasks()))
def test_law_of_other_tasks(name, law, task):
    law(name, [task])


@pytest.mark.parametrize("name", names_where(lambda learner: learner.budgeted))
def test_a_budget_holds_for_each_class(name):
    rng = np.random.default_rng(0)
    rows = ({int(slot): 1.0 for slot in rng.integers(0, 5000, 5)} for _ in range(200))

    model = Model(name, budget=2048.0)
    for block in blocks_from((row, i % 2) for i, row in enumerate(rows)):
        model.learn(block)

    assert model.bytes_used <= 2048 * (2 if model.learner.multiclass else 1)
