"""What docs/developer/style.md asks of every file, checked."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "ouzel"
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 300  # lines

ROOMS = [
    ["errors", "numerals"],
    ["ranges"],
    ["kernels", "layout", "files"],
    ["terms"],
    ["sketches"],
    ["learners", "streams"],
    ["model"],
    ["evaluation"],
    ["estimators", "training"],
    ["analytics"],
    ["plotting"],
    ["reproduce"],
    ["cli"],
]
"""From the ground up; rooms of a line do not know of each other."""

EXCUSED: set[tuple[str, str]] = set()


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" if node.module == "ouzel" else node.module for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("ouzel.")}
    return found


LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_is_short_documented_and_imports_only_rooms_below_its_own(path):
    room = room_of(path)
    allowed = {other for other in LEVEL if room not in LEVEL or LEVEL[other] < LEVEL[room]} | {room, "__init__"}
    allowed |= {other for here, other in EXCUSED if here == room}

    assert len(path.read_text().splitlines()) <= LONGEST
    assert ast.get_docstring(ast.parse(path.read_text()))
    assert imported(path) - allowed - {"__version__"} == set()


@pytest.mark.parametrize("program", ["import ouzel", "import ouzel.cli.app"])
def test_what_is_not_used_is_not_loaded(program):
    heavy = ["numba", "sklearn", "scipy", "pyarrow", "matplotlib"]
    loaded = f"{program}; import sys; print([name for name in {heavy} if name in sys.modules])"

    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def test_every_public_name_is_in_the_reference():
    import ouzel

    reference = (PACKAGE.parents[1] / "docs" / "reference.md").read_text()
    homes = {getattr(ouzel, name).__module__ for name in ouzel.__all__ if name != "__version__"}

    assert [home for home in sorted(homes) if home not in reference] == []


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.rglob("*.py")), ids=lambda path: path.name)
def test_a_file_of_tests_is_collected_without_optional_packages(path):
    found = [node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [alias.name for node in found if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in found if isinstance(node, ast.ImportFrom) and node.module]

    assert {name.split(".")[0] for name in names} & {"river", "pandas", "polars", "cvxpy", "vowpalwabbit"} == set()
