"""Which tests run in one process, so that two processes seldom compile the same kernels."""

import pytest

from tests.conftest import group_of


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("tests/a.py::test_law[son-oja-predicting_changes_nothing]", "newton.sketched_oja"),
        ("tests/a.py::test_law[adagrad-full-rda-predicting_changes_nothing]", "gradient.adagrad_full"),
        ("tests/a.py::test_checks[AROWClassifier()-check_dict_unchanged]", "gaussian.rule"),
        ("tests/a.py::test_checks[OnlineClassifier(budget='2KB',l2=None,learner='awm')-check_repr]", "budget.awm"),
        ("tests/b.py::test_commands[train damaged.arrow --learner ogd]", "tests/b.py"),
        ("tests/b.py::test_files[learners/budget/awm.py]", "tests/b.py"),
        ("tests/b.py::test_without_parameters", "tests/b.py"),
    ],
)
def test_tests_of_a_learner_stay_together_and_else_those_of_a_file(test, group):
    assert group_of(test) == group
