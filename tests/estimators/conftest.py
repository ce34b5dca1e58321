"""Which of the checks of scikit-learn and River are long: those that would check the same code again."""

import functools
from inspect import getattr_static
from types import FunctionType

import pytest

OF_THE_CLASS = ("param", "init", "clone", "repr", "doc", "tags", "default", "pickl", "train", "learn_one")
"""Parts of names of the checks that look at an estimator's own parameters, or let its learner learn."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check every estimator's parameters, but code that several share only in the first of them, unless all is run."""
    first: dict[frozenset, type] = {}
    for item in items:
        given = getattr(item, "callspec", None)
        check = given.params.get("check") if given else None
        if not callable(check):
            continue
        kind = type(given.params.get("estimator", given.params.get("model")))
        name = getattr(check, "func", check).__name__  # scikit-learn's are partial
        if first.setdefault(code_of(kind), kind) is not kind and not any(part in name for part in OF_THE_CLASS):
            item.add_marker(pytest.mark.long)


@functools.cache
def code_of(kind: type) -> frozenset:
    """What instances run, beside what is made of their parameters: functions and properties of the class by name."""
    found = {name: getattr_static(kind, name) for name in dir(kind) if not name.startswith("__")}
    return frozenset((name, part) for name, part in found.items() if isinstance(part, (FunctionType, property)))
