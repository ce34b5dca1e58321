"""The commands that stand in the documentation are ones that there are, and print what stands below them."""

import itertools
import os
import re
import runpy
import shlex
from pathlib import Path

import pytest
import typer

from tests.forked import program

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMAGES = sorted((ROOT / "docs" / "images").iterdir())
console = runpy.run_path(str(ROOT / "docs" / "console.py"))


LONG = {
    "gallery",  # draws a dozen pictures
    "multiclass",  # compares thirty learners
    "pmi",  # counts every pair of a corpus
    "clicks",  # goes over 130,000 answers seven times
}
INSTALLED = {"index"}  # whose commands are the program as it is installed; elsewhere it is forked, to start in a moment


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] * (page.stem in LONG), id=page.stem) for page in console["pages"]()],
)
def test_the_commands_of_a_page_print_what_it_says_and_draw_its_pictures(page, tmp_path):
    text = page.read_text()
    absent = sorted(name for name in console["data_sets"](text) if not (console["DATA"] / name).exists())
    if absent:
        pytest.skip(f"{', '.join(absent)} is not in {console['DATA']}")

    first = [] if page.stem in INSTALLED or not hasattr(os, "fork") else [program().parent]
    assert console["rerun"](text, tmp_path, *first) == text, "run `make pages`"
    drawn = {image.name for image in tmp_path.glob("*.png")}
    assert drawn <= set(re.findall(r"images/([\w-]+\.png)", text))
    assert drawn <= {image.name for image in IMAGES}


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
    blocks = re.findall(r"^```(?:sh|console)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for block in blocks for line in re.sub(r"\\\n(> )?", " ", block).splitlines()]
    calls = []
    for line in lines:
        if re.match(r"ouzel [a-z-]", line):
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            calls.append(list(itertools.takewhile(lambda word: not set(word) <= set("();<>|&"), lexer)))
    return calls
