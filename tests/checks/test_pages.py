"""The commands that stand in the documentation are ones that there are, and print what stands below them."""

import itertools
import os
import re
import runpy
import shlex
import subprocess
from pathlib import Path

import pytest
import typer

from ouzel.cli import samples
from tests.forked import program

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMAGES = sorted((ROOT / "docs" / "images").iterdir())
console = runpy.run_path(str(ROOT / "docs" / "console.py"))


LONG = {
    "gallery",  # draws a dozen pictures
    "multiclass",  # compares thirty learners
    "pmi",  # counts every pair of a corpus
    "deltoids",  # compares four learners in several budgets
    "device",  # compiles C and kernels of three learners
    "evaluation",  # tunes learners on random orders, and finds the best fixed weights
    "budgets",  # compares learners at every budget
    "sketched-newton",  # compiles every sketch, with and without a diagonal
    "own-learner",  # compiles a learner of its own
}
DEMONSTRATION = {
    *(f"{sample.loader}.csv" for sample in samples.SAMPLES),
    *(simulation.file for simulation in samples.SIMULATED),
}
WRITE = "ouzel demo --write samples"
FILE = re.compile(r"(?<![\w/.-])[\w/.-]*\w\.(?:csv|tsv|svm|jsonl|arrow|parquet|txt|tex|ouzel|xz|gz)\b")
WRITTEN = re.compile(
    r">>? *([\w/.-]+)|--(?:model|plot|table|save-best) +([\w/.-]+)|(?:ouzel convert|cp) \S+ ([\w/.-]+)|write\('(\S+)'\)"
)
INSTALLED = {"index"}  # whose commands are the program as it is installed; elsewhere it is forked, to start in a moment


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] * (page.stem in LONG), id=page.stem) for page in console["pages"]()],
)
def test_the_commands_of_a_page_print_what_it_says_and_draw_its_pictures(page, tmp_path):
    text = page.read_text()
    first = [] if page.stem in INSTALLED or not hasattr(os, "fork") else [program().parent]
    assert console["rerun"](text, tmp_path, *first) == text, "run `make pages`"
    drawn = {image.name for image in tmp_path.glob("*.png")}
    assert drawn <= set(re.findall(r"images/([\w-]+\.png)", text))
    assert drawn <= {image.name for image in IMAGES}


@pytest.mark.parametrize("page", console["pages"](), ids=lambda page: page.stem)
def test_commands_of_a_page_read_what_the_demonstration_or_an_earlier_command_wrote(page):
    known = set()
    blocks = console["BLOCK"].findall(page.read_text())
    for folded in (found["command"] for block in blocks for found in console["COMMAND"].finditer(block)):
        command = re.sub(r"(\\)?\n> ?", lambda end: " " if end[1] else "\n", folded)
        written = {name for match in WRITTEN.finditer(command) for name in match.groups() if name}
        read = {name for name in FILE.findall(command) if not name.startswith("absent")} - written
        assert read <= known, command
        known |= written | ({f"samples/{name}" for name in DEMONSTRATION} if WRITE in command else set())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_data_sets_of_a_page_are_ones_that_the_program_writes(page):
    shell = "".join(re.findall(r"^```(?:sh|console)\n.*?^```", page.read_text(), re.DOTALL | re.MULTILINE))

    assert not re.findall(r"(?<![\w/.-])data/[\w.-]+\.\w+", shell), "a folder that readers do not have"
    used = set(re.findall(r"samples/([\w.-]+)", shell))
    assert used <= DEMONSTRATION
    assert not used or WRITE in shell[: shell.index("samples/")]


@pytest.mark.long
def test_commands_of_the_readme_run_on_data_sets_that_the_program_writes(tmp_path):
    calls = [words for words in commands_of((ROOT / "README.md").read_text()) if "samples" in " ".join(words)]

    assert len(calls) >= 5
    for words in calls:
        subprocess.run([program(), *words[1:]], cwd=tmp_path, check=True, capture_output=True)


def test_every_picture_is_on_a_page_and_figures_of_papers_are_those_of_the_report():
    shown = {name for page in PAGES for name in re.findall(r"images/([\w-]+\.png)", page.read_text())}

    assert {image.name for image in IMAGES} == shown
    for image in IMAGES:
        report = ROOT / "reproduce" / "results" / image.name
        assert not report.exists() or report.read_bytes() == image.read_bytes(), f"copy {report} to docs/images"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_has_the_options_that_it_is_given(page):
    from ouzel.cli.app import application

    commands = typer.main.get_command(application()).commands
    for words in commands_of(page.read_text()):
        name, given = words[1], [word for word in words[2:] if re.match(r"--?[a-z]", word)]
        if name.startswith("-"):
            continue
        assert name in commands, words
        known = {option for param in commands[name].params for option in [*param.opts, *param.secondary_opts]} | {
            "--help"
        }
        assert {option.partition("=")[0] for option in given} <= known, words


def commands_of(text: str) -> list[list[str]]:
    """The words of each call of `ouzel` in the text's blocks of a shell, up to a pipe or a redirection."""
    fenced = re.findall(r"^``` *(\S*).*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    blocks = [block for language, block in fenced if language in {"sh", "console", ""}]
    lines = [line.removeprefix("$ ") for block in blocks for line in re.sub(r"\\\n(> )?", " ", block).splitlines()]
    calls = []
    for line in lines:
        if re.match(r"ouzel [a-z-]", line):
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            calls.append(list(itertools.takewhile(lambda word: not set(word) <= set("();<>|&"), lexer)))
    return calls
