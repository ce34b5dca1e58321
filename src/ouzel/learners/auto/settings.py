"""Settings of the default, whatever it learns."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ouzel.learners.shared_settings import Loss, Rate
from ouzel.terms.losses import Hinge, Logistic, SquaredHinge


class Settings(NamedTuple):
    loss: Loss = Logistic()
    second_loss: Annotated[Any, "of the second model, where pairs are ranked or classes learnt by another loss"] = (
        SquaredHinge()
    )
    third_loss: Annotated[Any, "of the third and fourth model, likewise"] = Hinge()
    learning_rate: Annotated[Rate, "multiplies the step sizes of the models of first order"] = 1.0
