"""What continuous integration and builds do beside the tests."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import ouzel

ROOT = Path(__file__).parents[2]
RUN = ROOT / ".ci" / "run"
MAKE = """#!/bin/sh
case $* in .venv/*) exit 0;; esac
cat src/ouzel/__pycache__/kernel.nbc 2>/dev/null || echo none
echo compiled > src/ouzel/__pycache__/kernel.nbc
touch -d '15 days ago' src/ouzel/__pycache__/forgotten.nbc
ls -d src/ouzel/moved 2>/dev/null
mkdir -p src/ouzel/moved/__pycache__
touch src/ouzel/moved/__pycache__/kernel.nbc src/ouzel/moved/__init__.py
exit $STATUS
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_kernels_of_one_checkout_serve_the_next_whether_tests_pass_or_not(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "make").write_text(MAKE)
    (tmp_path / "bin" / "apt-get").write_text("#!/bin/sh\nexit 1\n")  # nothing can be installed
    for program in (tmp_path / "bin").iterdir():
        program.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    def run(checkout: str, status: int) -> tuple[int, str]:
        (tmp_path / checkout / ".ci").mkdir(parents=True)
        (tmp_path / checkout / "src" / "ouzel" / "__pycache__").mkdir(parents=True)
        (tmp_path / checkout / "src" / "ouzel" / "__init__.py").touch()
        shutil.copy(RUN, tmp_path / checkout / ".ci" / "run")
        command = [tmp_path / checkout / ".ci" / "run"]
        ran = subprocess.run(command, env={**environment, "STATUS": str(status)}, stdout=subprocess.PIPE, text=True)
        return ran.returncode, ran.stdout.strip()

    assert run("first", 3) == (3, "none")
    assert run("second", 0) == (0, "compiled")
    full = f"case $* in *-x*-C*) exit 2;; esac; exec {shutil.which('tar')} $*"  # as on a full disk
    (tmp_path / "bin" / "tar").write_text(f"#!/bin/sh\n{full}\n")
    (tmp_path / "bin" / "tar").chmod(0o755)
    assert run("third", 0) == (0, "compiled")
    kept = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("ouzel-kernels*/**/*") if path.is_file()}
    assert kept == {f"ouzel-kernels/src/ouzel/{folder}__pycache__/kernel.nbc" for folder in ("", "moved/")}


def test_one_version_stands_wherever_the_program_is_named():
    written = {
        "pyproject.toml": r'^version = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "mkdocs.yml": r"^copyright: Ouzel (.+)$",
        "docs/cite.md": r"^  version = \{(.+)\},$",
    }

    found = {name: re.findall(rule, (ROOT / name).read_text(), re.MULTILINE) for name, rule in written.items()}

    assert found == {name: [ouzel.__version__] for name in written}


def test_what_a_package_index_shows_links_to_no_file_of_the_checkout():
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]
    shown = (ROOT / "README.md").read_text()
    assert "](docs/images/" in shown

    for change in hook["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(change["pattern"], change["replacement"], shown)

    assert re.findall(r"\]\((?!https?:)[^)]*\)", shown) == []
    assert "all extras" in shown


def test_make_test_runs_every_test_that_is_to_run_without_the_jit():
    """Their marks leave some of them out of the run with the JIT."""
    given = re.search(r"^INTERPRETED := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    folders = [ROOT / word for word in given[1].replace("\\", " ").split()]
    marked = re.compile(r"^(?:@|pytestmark = )pytest\.mark\.(?:law|interpreted)\b", re.MULTILINE)
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if marked.search(path.read_text())]

    assert len(files) > 10
    assert [path for path in files if not {path, *path.parents} & set(folders)] == []


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_and_a_workflow_may_read_and_no_more(path):
    text = path.read_text()
    used = re.findall(r"uses: (.*)", text)

    assert used
    assert [line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d.*", line)] == []
    assert "\npermissions:\n  contents: read\n" in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_the_changelog_is_one_that_programs_read():
    """Keep a Changelog: versions, their dates, and six kinds of changes, of which each is an item of a list."""
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    headings = [line for line in lines if line.startswith("#")]
    versions = [line for line in headings if line.startswith("## ")]
    start = lines.index(versions[0])

    assert headings[0] == "# Changelog"
    assert versions[0] == "## [Unreleased]"
    assert [v for v in versions[1:] if not re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", v)] == []
    kinds = {"### Added", "### Changed", "### Deprecated", "### Removed", "### Fixed", "### Security"}
    assert set(headings[1:]) - set(versions) <= kinds
    other = [line for line in lines[start:] if line and not line.startswith(("#", "- ", "  ", "["))]
    assert other == []
