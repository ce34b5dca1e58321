"""The learners, as a list that a notebook shows as a table."""

from __future__ import annotations

from ouzel.evaluation.html_tables import Records
from ouzel.learners.catalogue import LEARNERS, Learner
from ouzel.learners.protocol import Multiclass
from ouzel.model.tasks.choose import learns_numbers
from ouzel.terms.losses import Logistic


def list_learners() -> Records:
    """Return all learners by name: a dictionary of name, summary and tasks for each, the default first.

    Learners that were registered are among them. docs/settings.md has the settings of each.

    Examples
    --------
    >>> import ouzel
    >>> [learner["name"] for learner in ouzel.list_learners()][:3]
    ['auto', 'ogd', 'adagrad']
    >>> ouzel.list_learners()[1]["tasks"]
    ['classification', 'regression', 'ranking']
    """
    return Records(
        {"name": learner.name, "summary": learner.summary, "tasks": _tasks_of(learner)} for learner in LEARNERS.values()
    )


def _tasks_of(learner: Learner) -> list[str]:
    ranks = not isinstance(learner.functions_for("ranking", Logistic()), Multiclass)
    return ["classification", *["regression"] * learns_numbers(learner), *["ranking"] * ranks]
