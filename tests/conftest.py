"""Settings and fixtures of the whole suite."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ouzel", deadline=None, derandomize=True)  # a first call compiles; a failure must repeat
settings.load_profile("ouzel")

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data():
    """`data(name)`: the path of a data set that lies beside the project; the test is skipped where it is absent."""

    def find(name: str) -> Path:
        if not (DATA / name).exists():
            pytest.skip(f"the data set {name} is not in {DATA}")
        return DATA / name

    return find
