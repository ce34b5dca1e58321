"""The task of a model, chosen once."""

from __future__ import annotations

import reprlib
from math import inf
from typing import Any

from ouzel.errors import OuzelError
from ouzel.learners.catalogue import LEARNERS, Learner
from ouzel.learners.protocol import Multiclass
from ouzel.model.tasks.task import Task
from ouzel.terms.losses import LOSSES, REGRESSION, Hinge, Squared
from ouzel.terms.names import name_of

OF_CLASSES = tuple(type(loss) for loss in LOSSES.values() if not isinstance(loss, REGRESSION))
TASKS = ("classification", "regression", "ranking")


def learns_numbers(learner: Learner) -> bool:
    """Whether a learner predicts numbers, by a loss of them.

    >>> from ouzel.learners.catalogue import find
    >>> learns_numbers(find("ogd")), learns_numbers(find("arow"))
    (True, False)
    """
    return "loss" in learner.settings._fields and not isinstance(
        learner.functions_for("regression", Squared()), Multiclass
    )


def settings_for(
    task: str | None, learner: Learner, given: dict[str, Any], scale_targets: bool = True
) -> dict[str, Any]:
    """The settings given, with a loss of numbers where numbers are to be predicted and none was given.

    How large those are is not known where they are not scaled.
    """
    fields = learner.settings._fields
    if task == "regression" and given.get("loss") is None and learns_numbers(learner):
        given = {**given, "loss": "squared"}
    return given if scale_targets or "largest" not in fields else {"largest": inf, **given}


def choose_task(
    name: str | None,
    learner: Learner,
    settings: Any,
    pairs: int = 0,
    classes: Any = None,
    *,
    scale_targets: bool = True,
    intercept: bool = True,
    class_weight: Any = None,
) -> Task:
    """The task of a name, by default that which the loss is for, or an error if the learner or its loss cannot do it.

    >>> from ouzel.learners.catalogue import find
    >>> ogd = find("ogd")
    >>> choose_task(None, ogd, ogd.settings()).name
    'classification'
    """
    loss = getattr(settings, "loss", Hinge())
    name = name or ("regression" if isinstance(loss, REGRESSION) else "classification")
    if classes is not None and name in ("regression", "ranking"):
        raise OuzelError(
            f"a {name} by the loss {name_of(loss)} has no classes; leave out classes={reprlib.repr(classes)}"
        )
    if class_weight is not None and name in ("regression", "ranking"):
        raise OuzelError(f"a {name} by the loss {name_of(loss)} has no classes; leave out", class_weight=class_weight)
    multiclass = isinstance(learner.functions_for(name, loss), Multiclass)
    if name == "classification":
        from ouzel.model.tasks.classification import OneAgainstRest
        from ouzel.model.tasks.shared_state import SharedState

        return SharedState(loss) if multiclass else OneAgainstRest(loss)
    if name == "regression":
        if multiclass:
            fitting = [known for known, other in LEARNERS.items() if learns_numbers(other)]
            raise OuzelError(f"the learner {learner.name} tells classes apart; for numbers choose {', '.join(fitting)}")
        if isinstance(loss, OF_CLASSES):
            fitting = [known for known, other in LOSSES.items() if isinstance(other, REGRESSION)]
            raise OuzelError(f"numbers are predicted by the loss {', '.join(fitting)}; got {name_of(loss)}")
        from ouzel.model.tasks.regression import Regression

        return Regression(loss, scale_targets, intercept)
    if name == "ranking":
        if isinstance(loss, REGRESSION) or (multiclass and learner.budgeted):
            raise OuzelError(
                "ranking takes a learner of two classes and a loss of classes, such as adagrad and hinge; "
                f"got {learner.name} and {name_of(loss)}"
            )
        from ouzel.model.tasks.ranking import Ranking

        return Ranking(loss, pairs)
    raise OuzelError(f"must be one of {', '.join(map(repr, TASKS))}; got {name!r}", subject="task")
