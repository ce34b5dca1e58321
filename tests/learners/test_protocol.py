"""Every learner of the catalogue is what the protocols say."""

import pytest

from ouzel.learners.catalogue import LEARNERS
from ouzel.learners.protocol import Budgeted, Learner, Multiclass, Weighted
from ouzel.terms.losses import Logistic


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_has_the_functions_of_its_protocols(name):
    entry = LEARNERS[name]
    module = entry.functions_for("classification", Logistic())

    assert isinstance(module, Learner)
    assert isinstance(module, Budgeted if entry.budgeted else Weighted)
    assert isinstance(module, Multiclass) == entry.multiclass
