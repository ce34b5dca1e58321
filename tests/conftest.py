"""Settings and fixtures of the whole suite."""

import functools
import gc
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ouzel import estimators
from ouzel.learners import catalogue

settings.register_profile("ouzel", deadline=None, derandomize=True)  # a first call compiles; a failure must repeat
settings.load_profile("ouzel")

WAITING = re.compile(
    r"tests/(streams/logs|service|distributed|regressions)/"
    r"|tests/(cli/test_reliability|cli/commands/test_train|kernels/test_jit|checks/test_pages)"
)
"""Files whose tests wait for processes or servers that they start, rather than compute."""

DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_configure(config: pytest.Config) -> None:
    """Have what libraries, examples and programs leave in the temporary folder go when the tests end.

    What failed tests leave in their own folders stays where pytest keeps it.
    """
    if hasattr(config, "workerinput"):
        return  # a process of pytest-xdist is given the folder by the one that starts it
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    scratch = tempfile.TemporaryDirectory(prefix="ouzel-", ignore_cleanup_errors=True)
    config.add_cleanup(scratch.cleanup)
    Path(scratch.name).chmod(0o755)  # some tests act as a user without rights
    os.environ["TMPDIR"] = tempfile.tempdir = scratch.name


def pytest_collection_finish() -> None:
    """Have the collector of garbage pass over what is there before the first test: modules, Numba's and the tests.

    Each of its rounds would take a second, and some checks of River ask for two.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep tests of one learner, else of one file, in one process: two would compile the same kernels at once.

    `--dist loadgroup` is meant for that, but pytest 9.2 ignores the names that pytest-xdist 3.8 gives groups by.
    """
    if config.getvalue("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByKernels(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            waits = node.gateway.id == "gw0"  # begins with tests that wait, the others with those that do not
            fitting = (group for group in self.workqueue if bool(WAITING.match(group)) == waits)
            self.workqueue.move_to_end(next(fitting, next(iter(self.workqueue))), last=False)
            super()._assign_work_unit(node)

    return ByKernels(config, log)


@functools.cache
def group_of(test: str) -> str:
    """The module of the last learner that parameters of a test name, by itself or by its estimator; else the file."""
    file, _, rest = test.partition("::")
    named = _learners().findall(rest.partition("[")[2])
    return _modules()[named[-1]] if named else file


@functools.cache
def _modules() -> dict[str, str]:
    """The modules of learners by the names of both learners and estimators."""
    found = {name: learner.module_name for name, learner in catalogue.LEARNERS.items()}
    kinds = [getattr(estimators, name) for name in estimators.__all__ if name[0].isupper()]
    return {kind.__name__: found[kind().learner] for kind in kinds} | found


@functools.cache
def _learners() -> re.Pattern[str]:
    """What finds the name of a learner, or the class of an estimator, among the parameters of a test."""
    names = sorted(_modules(), key=len, reverse=True)
    return re.compile(rf"(?:^|[-'])({'|'.join(map(re.escape, names))})(?!\w)")


@pytest.fixture(scope="session")
def data():
    """`data(name)`: the path of a data set that lies beside the project; the test is skipped where it is absent."""

    def find(name: str) -> Path:
        if not (DATA / name).exists():
            pytest.skip(f"the data set {name} is not in {DATA}")
        return DATA / name

    return find
