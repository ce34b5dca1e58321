"""Every learner of the catalogue is what the protocols say."""

from types import SimpleNamespace

import pytest

from ouzel.learners.catalogue import LEARNERS
from ouzel.learners.protocol import Budgeted, ChosenByState, Learner, Multiclass, Weighted
from ouzel.model.settings import resolve_settings
from ouzel.terms.losses import Logistic


def with_rows_of(module, classes, settings):
    """The functions of a module, those for single rows from where states of so many classes have theirs."""
    rule = module.rule_of(module.init(4, classes, settings))
    return SimpleNamespace(**{**vars(module), "learn_row": rule.learn_row, "predict_row": rule.predict_row})


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_has_the_functions_of_its_protocols(name):
    entry = LEARNERS[name]
    module = entry.functions_for("classification", Logistic())

    if isinstance(module, ChosenByState):
        settings = resolve_settings(entry, {})
        assert all(isinstance(with_rows_of(module, classes, settings), Learner) for classes in (2, 3))
    else:
        assert isinstance(module, Learner)
    assert isinstance(module, Budgeted if entry.budgeted else Weighted)
    assert isinstance(module, Multiclass) == entry.multiclass
