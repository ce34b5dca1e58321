"""Settings and fixtures of the whole suite."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from ouzel.learners import catalogue

settings.register_profile("ouzel", deadline=None, derandomize=True)  # a first call compiles; a failure must repeat
settings.load_profile("ouzel")

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests of one learner, else of one file, in one process: two would compile the same kernels at once."""
    for item in items:
        given = getattr(item, "callspec", None)
        learners = map(_learner_of, given.params.values() if given else ())
        group = next((name for name in learners if name), item.nodeid.split("::")[0])
        item.add_marker(pytest.mark.xdist_group(group))


def _learner_of(value: Any) -> str:
    """The module of the learner that a parameter of a test names or holds, if it does."""
    if isinstance(value, str) and value in catalogue.LEARNERS:
        return catalogue.LEARNERS[value].module_name
    if isinstance(value, ModuleType) and value.__name__.startswith("ouzel.learners."):
        return value.__name__.removeprefix("ouzel.learners.")
    name = getattr(value, "learner", None)  # of an estimator
    return _learner_of(name) if isinstance(name, str) else ""


@pytest.fixture(scope="session")
def data():
    """`data(name)`: the path of a data set that lies beside the project; the test is skipped where it is absent."""

    def find(name: str) -> Path:
        if not (DATA / name).exists():
            pytest.skip(f"the data set {name} is not in {DATA}")
        return DATA / name

    return find
