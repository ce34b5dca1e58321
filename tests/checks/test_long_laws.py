"""The laws of bits on long streams, for every learner with stages; compiled, as it takes hours otherwise."""

from __future__ import annotations

import pytest

from ouzel.learners import catalogue
from tests.checks import planted_bugs
from tests.checks.laws import blocks_of_any_size_and_single_examples_teach_the_same
from tests.checks.long_laws import (
    LONG_LAWS,
    a_long_stream_teaches_the_same_bits_wherever_blocks_end,
    examples_of_importance_0_are_left_out_of_a_long_stream,
)
from tests.checks.tasks import OTHERS, RANKING, SQUARED, THREE, TWO
from tests.checks.test_planted_bugs import plant

STAGED = [
    *(("auto", task, {}) for task in (TWO, THREE, SQUARED)),
    *((name, TWO, {}) for name in ("son-oja", "son-fd", "son-rp", "sketched-adagrad", "awm")),
    *(("adagrad", TWO, more) for more in ({"standardize": True}, {"class_weight": "balanced"}, {"forget": 700.0})),
    ("adagrad", TWO, {"interval": 0.9}),
    ("adagrad", TWO, {"calibrate": True}),
    ("ogd", SQUARED, {}),
    ("ogd", SQUARED, {"interval": 0.9}),
]
"""Learners, tasks and settings with something that is done only after so many examples."""

REST = [
    *(("auto", task, {}) for task in OTHERS if task is not SQUARED),
    *((name, TWO, {}) for name in catalogue.LEARNERS if (name, TWO, {}) not in STAGED),
]
COUNTS_ALL = ("forget", "class_weight", "interval", "calibrate")
"""Settings that count examples of importance 0 as well."""


def _cases(cases, laws, *marks):
    for name, task, more in cases:
        for law in laws:
            all_count = set(more) & set(COUNTS_ALL) or task is RANKING
            if law is examples_of_importance_0_are_left_out_of_a_long_stream and all_count:
                continue
            said = "-".join([name, task.name, *more, law.__name__])
            yield pytest.param(name, law, task, more, marks=marks, id=said)


CASES = [*_cases(STAGED, LONG_LAWS), *_cases(REST, LONG_LAWS[:1], pytest.mark.long)]


@pytest.mark.parametrize(("name", "law", "task", "more"), CASES)
def test_long_law(name, law, task, more):
    law(name, task, **more)


@pytest.mark.parametrize(
    ("bug", "law"),
    [
        (planted_bugs.a_late_block_begins_by_forgetting, a_long_stream_teaches_the_same_bits_wherever_blocks_end),
        (planted_bugs.importance_0_is_learnt_late, examples_of_importance_0_are_left_out_of_a_long_stream),
    ],
    ids=lambda part: part.__name__,
)
def test_the_long_laws_find_bugs_that_the_short_ones_cannot(monkeypatch, bug, law):
    plant(monkeypatch, "ogd", bug)

    blocks_of_any_size_and_single_examples_teach_the_same("ogd")
    with pytest.raises(AssertionError):
        law("ogd")
