"""What docs/developer/style.md asks of every file, checked."""

import ast
import graphlib
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "ouzel"
FILES = sorted(PACKAGE.rglob("*.py"))
EXPERIMENTS = sorted((ROOT / "reproduce").rglob("*.py"))  # beside the package, over its rooms
LONGEST = 300  # lines
LONGER = {  # kernels, and readers of formats, tables and logs
    "kernels": 500,
    "learners/auto": 500,
    "streams/kernels": 500,
    "streams/formats": 500,
    "streams/tables": 500,
    "streams/logs": 500,
}

ROOMS = [
    ["deferred", "flags", "numerals", "schemas"],
    ["errors"],
    ["extras", "ranges"],
    ["kernels", "layout", "files"],
    ["terms", "plotting"],
    ["sketches"],
    ["learners", "streams"],
    ["model"],
    ["evaluation"],
    ["estimators", "training"],
    ["analytics", "service", "distributed", "exporting"],
    ["comparison"],
    ["reproduce"],
    ["cli"],
]
"""From the ground up; rooms of a line do not know of each other."""

STREAMS = [
    {"kernels", "sources"},
    {"tables", "interactions"},
    {"formats"},
    {"logs"},
]
"""Folders of `streams`, from the ground up; folders of a line do not know of each other."""

IMPORTING = {"import_module", "__import__", "deferred"}

CATALOGUES = {
    "__init__.py",  # of public names
    "cli/app.py",  # of commands, and packages of users
    "comparison/grid.py",  # learners of other libraries
    "deferred.py",
    "extras.py",
    "learners/auto/classification.py",
    "learners/budget/extensions.py",
    "learners/catalogue.py",
    "learners/gradient/adagrad_multiclass.py",
    "learners/gradient/metagrad.py",
    "learners/gradient/sketched_adagrad.py",
    "learners/newton/sketched_fd.py",
    "learners/newton/sketched_oja.py",
    "learners/plugins.py",  # packages of users
    "streams/formats/catalogue.py",
    "streams/sources/databases.py",  # drivers
    "streams/sources/addresses.py",
}
"""Files that import modules by names that they compute."""

EXCUSED: set[tuple[str, str]] = set()

APART = {"checks", "oracles", "regressions", "reproduce", "torture"}
"""Folders of tests that are of no package: laws, slow twins, what broke once, and what lies beside `src`."""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE if path in FILES else ROOT).parts[0].removesuffix(".py")


def called(node: ast.AST) -> str:
    """The last name of the function that a node calls, "" if it calls none."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def imported_modules(tree: ast.Module) -> Iterator[str]:
    """The modules, and the names in them, that a file imports anywhere, be it by `import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Call) and called(node) in IMPORTING:
            yield from (given.value for given in node.args if isinstance(given, ast.Constant))


def imported(tree: ast.Module) -> set[str]:
    """The rooms that a file imports anywhere."""
    return {name.split(".")[1] for name in imported_modules(tree) if name.startswith("ouzel.")}


LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def offences(path: Path) -> Iterator[str]:
    """What is wrong with a file."""
    tree, room = ast.parse(path.read_text()), room_of(path)
    allowed = {other for other in LEVEL if room not in LEVEL or LEVEL[other] < LEVEL[room]} | {room, "__init__"}
    allowed |= {other for here, other in EXCUSED if here == room}
    longest = LONGER.get(path.parent.relative_to(ROOT).as_posix().removeprefix("src/ouzel/"), LONGEST)
    if len(path.read_text().splitlines()) > longest:
        yield "is too long"
    if not ast.get_docstring(tree):
        yield "has no docstring"
    if above := imported(tree) - allowed - {"__version__"}:
        yield f"imports {above}"


# One test for all files, not one for each: to begin and report a thousand tests takes longer than what they check.


def test_files_are_short_documented_and_import_only_rooms_below_their_own():
    assert {path: found for path in FILES + EXPERIMENTS if (found := list(offences(path)))} == {}


def test_the_package_knows_of_the_experiments_in_their_command_alone():
    imports = re.compile(r"^\s*(?:from|import) reproduce\b", re.MULTILINE)
    found = {path.relative_to(PACKAGE).as_posix() for path in FILES if imports.search(path.read_text())}

    assert found == {"cli/commands/reproduce.py", "cli/experiments.py"}


def test_numba_and_llvm_are_imported_by_kernels_and_the_instructions_of_the_default_alone():
    imports = re.compile(r"^\s*(from|import) (numba|llvmlite)\b", re.MULTILINE)
    found = {path.relative_to(PACKAGE) for path in FILES if imports.search(path.read_text())}

    assert {place for place in found if place.parts[0] != "kernels"} <= {Path("learners/auto/simd.py")}


def test_no_files_import_each_other_in_a_circle():
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES}
    imports = {name: set(imported_modules(ast.parse(path.read_text()))) & set(names) for name, path in names.items()}

    list(graphlib.TopologicalSorter(imports).static_order())  # raises a CycleError that names the files


def parts_of_streams() -> dict[str, set[str]]:
    """Map each folder of `streams`, and each file directly in it, to those of the others that it imports.

    The catalogue of formats counts as a file of its own: it knows no module, and options take names from it.
    """

    def part(names: list[str]) -> str:
        return ".".join(names[2:4] if names[2:4] == ["formats", "catalogue"] else names[2:3])

    found: dict[str, set[str]] = {}
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES}
    for name, path in modules.items():
        if name.startswith("ouzel.streams.") and path.name != "__init__.py":
            imports = [other.split(".") for other in imported_modules(ast.parse(path.read_text())) if other in modules]
            others = {part(other) for other in imports if other[:2] == ["ouzel", "streams"]}
            found.setdefault(part(name.split(".")), set()).update(others - {part(name.split("."))})
    return found


def test_data_goes_one_way_through_the_folders_of_streams():
    imports = parts_of_streams()
    folders = {path.parent.name for path in (PACKAGE / "streams").glob("*/__init__.py")}

    list(graphlib.TopologicalSorter(imports).static_order())  # raises a CycleError that names the folders
    assert set().union(*STREAMS) == folders
    for level, names in enumerate(STREAMS):
        for name in names:
            assert imports[name] & folders <= set().union(*STREAMS[:level]), name


def modules_of(*arguments: object) -> set[str]:
    """The modules that `ouzel` has loaded when it ends."""
    program = (
        "import sys; from ouzel.cli.app import run; run(sys.argv[1:]); print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    words = [sys.executable, "-c", program, *map(str, arguments)]
    return set(subprocess.run(words, capture_output=True, text=True, check=True).stderr.splitlines())


NOT_OF_A_SMALL_TRAINING = (
    "ouzel.analytics",
    "ouzel.comparison",
    "ouzel.distributed",
    "ouzel.estimators",
    "ouzel.exporting",
    "ouzel.learners.auto.regression",
    "ouzel.learners.auto.several_classes",
    "ouzel.learners.budget",
    "ouzel.learners.gains",  # of workers
    "ouzel.learners.gaussian",
    "ouzel.learners.gradient",
    "ouzel.learners.margin",
    "ouzel.learners.newton",
    "ouzel.model.merge",
    "ouzel.model.persistence",
    "ouzel.model.slot_map",
    "ouzel.model.tensor_writer",
    "ouzel.plotting",
    "ouzel.reproduce",
    "ouzel.service",
    "ouzel.streams.block_cache",
    "ouzel.streams.convert",
    "ouzel.streams.groups",
    "ouzel.streams.interactions",
    "ouzel.streams.logs",
    "ouzel.streams.sources.databases",
    "ouzel.terms.penalties",
    "ouzel.training.log_records",
    "ouzel.training.resumed_session",
    "ouzel.training.resumed_stream",
    "ouzel.training.source_records",
    "fsspec",
    "matplotlib",
    "pandas",
    "rich",  # only a terminal needs it
    "scipy.sparse",
    "sklearn",
)
"""Packages and modules that a training on 30 rows of CSV does without."""


def test_a_training_on_a_small_table_loads_nothing_that_it_does_without(tmp_path):
    path = tmp_path / "t.csv"
    rows = (f"{k % 7},w{k % 3},2026-11-{k % 28 + 1:02},{k % 2}\n" for k in range(30))
    path.write_text("a,b,day,y\n" + "".join(rows))
    loaded = modules_of("train", path, "--label", "y")

    spared = {f"{name}." for name in NOT_OF_A_SMALL_TRAINING}
    assert {name for name in loaded if f"{name}.".startswith(tuple(spared))} == set()
    assert len([name for name in loaded if name.split(".")[0] == "ouzel"]) < 140


def test_a_training_on_a_table_of_numbers_does_without_the_functions_of_arrow(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m"
    path.write_text("a,b,y\n" + "".join(f"{k % 7},{k / 3},{'ny'[k % 2]}\n" for k in range(30)))

    assert "pyarrow.compute" not in modules_of("train", path, "--label", "y", "--model", model)
    assert "pyarrow.compute" not in modules_of("predict", model, path)


def test_help_loads_no_command_and_no_compiler():
    loaded = modules_of("--help")

    assert {name for name in loaded if name.startswith("ouzel.cli.commands")} == set()
    assert loaded & {"numba", "numpy", "pyarrow", "rich"} == set()


def test_what_is_deferred_exists():
    """Its name is text, which no checker of types reads."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in FILES}
    calls = [node for path in FILES for node in ast.walk(ast.parse(path.read_text())) if called(node) == "deferred"]
    deferred = {node.args[0].value for node in calls}

    others = {name for name in deferred - names if name.split(".")[0] == PACKAGE.name or find_spec(name) is None}
    assert others == set()


def test_a_module_imported_by_its_name_is_imported():
    hidden = ast.parse(
        'def plot():\n    import_module("ouzel.plotting.axes").save()\nimportlib.import_module("ouzel.cli")'
    )

    assert set(imported_modules(hidden)) == {"ouzel.plotting.axes", "ouzel.cli"}
    assert imported(hidden) == {"plotting", "cli"}


def test_catalogues_alone_import_modules_by_names_that_they_compute():
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if called(node) in IMPORTING and not all(isinstance(given, ast.Constant) for given in node.args)
    }

    assert found <= CATALOGUES


@pytest.mark.parametrize("program", ["import ouzel", "import ouzel.cli.app", "import ouzel.training.session"])
def test_what_is_not_used_is_not_loaded(program):
    heavy = ["sklearn", "pyarrow", "matplotlib", "distributed", "dask", "ray", "confluent_kafka", "nats", "redis"]
    heavy += ["numba", "scipy"] if "training" not in program else []
    heavy += ["starlette", "uvicorn", "msgspec", "prometheus_client", "structlog", "httpx", "onnx"]
    loaded = f"{program}; import sys; print([name for name in {heavy} if name in sys.modules])"

    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def test_reference_catalogue_and_exports_agree():
    import ouzel
    import ouzel.estimators
    from ouzel.estimators.named import Named
    from ouzel.learners.catalogue import LEARNERS

    rooms = sorted((PACKAGE.parents[1] / "docs" / "reference").glob("*.md"))
    pages = [name for room in rooms for name in re.findall(r"^::: (\S+)$", room.read_text(), re.MULTILINE)]
    public = {name: getattr(ouzel, name) for name in ouzel.__all__ if name != "__version__"}
    named = [kind for kind in public.values() if isinstance(kind, type) and issubclass(kind, Named)]
    served = [name for kind in named for name in (kind.learners or {(): kind.learner}).values()]

    assert len(pages) == len(set(pages))
    assert len(ouzel.__all__) == len(set(ouzel.__all__))
    shown = {name for name, found in public.items() if {found.__module__, f"{found.__module__}.{name}"} & set(pages)}
    assert set(public) - shown == set(), "public, but not in docs/reference"
    homes = {home for found in public.values() for home in (found.__module__, f"{found.__module__}.{found.__name__}")}
    assert set(pages) - homes == {"ouzel.extend", "ouzel.streams.options", "ouzel.streams.logs.reading"}, (
        "of docs/reference, but nothing is public"
    )
    assert [name for name in ouzel.__all__ if name in ouzel.estimators.__all__] == [
        name for name in public if name.endswith(("Classifier", "Regressor", "Ranker"))
    ]
    assert set(ouzel.estimators.__all__) <= set(public)
    assert set(served) <= set(LEARNERS)


def test_public_names_stand_in_a_readers_order():
    import ouzel

    kinds = [name for name in ouzel.__all__ if name.endswith("Classifier")]

    assert ouzel.__all__[:5] == ["OnlineClassifier", "OnlineRegressor", "OnlineRanker", "load", "read"]
    assert kinds[1:4] == ["AutoRateClassifier", "OnlineGradientClassifier", "AdaGradClassifier"]
    families = [ouzel._HOME[name] for name in kinds]
    assert len([a for a, b in itertools.pairwise(families) if a != b]) == len(set(families)) - 1  # each stands together


def test_what_a_task_is_made_of_is_asked_of_the_task_and_not_decided_again():
    said = re.compile(r"task\s*(?:==|!=|in)\s*[\"'(]")
    rooms = [path for path in FILES if room_of(path) in {"model", "estimators", "evaluation", "training", "plotting"}]
    found = [str(path.relative_to(PACKAGE)) for path in rooms if said.search(path.read_text())]

    assert set(found) <= {"model/tasks/choose.py", "evaluation/report.py", "training/session.py"}


def imported_at_once(path: Path) -> set[str]:
    """The packages that a file imports at its top."""
    found = [node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [alias.name for node in found if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in found if isinstance(node, ast.ImportFrom) and node.module]
    return {name.split(".")[0] for name in names}


def test_files_of_tests_are_collected_without_optional_packages():
    optional = {"river", "pandas", "polars", "cvxpy", "vowpalwabbit"}
    files = sorted(Path(__file__).parents[1].rglob("*.py"))

    assert {path: found for path in files if (found := imported_at_once(path) & optional)} == {}


def test_tests_lie_as_what_they_test_does():
    """A folder of tests is a folder of the package, and `test_Z.py` stands where a module or a package Z does."""
    folder = ROOT / "tests"
    files = [path.relative_to(folder) for path in folder.rglob("*.py")]
    files = [path for path in files if path.parts[0] not in APART]
    packages = {path.relative_to(PACKAGE) for path in [PACKAGE, *PACKAGE.rglob("*")] if path.is_dir()}
    homes = {path.relative_to(PACKAGE) for path in FILES}
    homes |= packages | {package / package.name for package in packages}  # of a package: beside it, or in it
    names = {home.stem for home in homes}
    tests = {path: path.with_name(path.name.removeprefix("test_")) for path in files if path.stem.startswith("test_")}

    assert {path.parent for path in files} <= packages
    assert [path for path, of in tests.items() if of.stem in names and not {of, of.with_suffix("")} & homes] == []


def test_what_a_stream_knows_is_an_attribute_that_every_stream_has():
    """`BlockStream` says which; nothing looks one up by its name, and no stream passes on whatever it is not."""
    probing = re.compile(r"\b(?:get|has)attr\(\s*(?:\w+\.)*_?(?:stream|blocks|items|files|source)\s*,")
    rooms = {"streams", "training", "evaluation", "analytics", "distributed", "cli", "comparison"}
    files = [path for path in FILES if path.relative_to(PACKAGE).parts[0] in rooms]
    passing_on = [path for path in files if "def __getattr__" in path.read_text()]
    found = [path for path in files if probing.search(path.read_text())]

    assert (found, passing_on) == ([], [])
