"""The examples in the README and the documentation run, and say what they say."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_a_page_hold(page):
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)

    assert result.failed == 0


def test_the_readme_runs_as_it_stands(capsys):
    for code in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        exec(compile(code, "README.md", "exec"), {})

    assert "569 examples, error 0." in capsys.readouterr().out


def test_the_page_of_commands_says_what_their_help_says(tmp_path):
    page = tmp_path / "commands.md"
    command = [sys.executable, "-m", "typer", "ouzel.cli.app", "utils", "docs", "--name", "ouzel", "--output", page]
    subprocess.run(command, check=True, capture_output=True)

    assert (ROOT / "docs" / "commands.md").read_text() == page.read_text(), "run `make commands`"


def test_the_page_of_settings_says_what_is_declared():
    from ouzel.cli.settings_page import page

    assert (ROOT / "docs" / "settings.md").read_text() == page(), "run `make settings`"


def test_the_page_for_people_from_vowpal_wabbit_is_the_table_that_answers_them():
    from ouzel.cli.vowpal_wabbit import page

    assert (ROOT / "docs" / "vowpal-wabbit.md").read_text() == page(), "run `make vowpal-wabbit`"


def test_every_learner_has_a_card():
    from ouzel.learners.catalogue import LEARNERS

    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "learners.md").read_text(), re.MULTILINE)

    assert set(LEARNERS) - {name for heading in headings for name in heading.split(", ")} == set()
