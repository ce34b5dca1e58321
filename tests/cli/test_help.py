"""Help of commands with many options says under headings what they are about."""

import re

import pytest
import typer

from ouzel.cli.app import application
from ouzel.cli.panels import FEW, OF_SERVE, PANELS, panels_of

COMMANDS = typer.main.get_command(application()).commands


def options_of(name):
    shown = (parameter for parameter in COMMANDS[name].params if not getattr(parameter, "hidden", False))
    return {parameter.name for parameter in shown if parameter.param_type_name == "option"}


def test_help_of_train_stands_under_headings(ouzel):
    told = ouzel("train", "--help").out

    headings = [line.rstrip(":") for line in told.splitlines() if re.fullmatch(r"[A-Z].*:", line)]
    assert headings == ["Arguments", *PANELS, "Options"]
    section = told.partition("\nLogs:\n")[2].partition("\n\n")[0]
    assert "--follow" in section
    assert "--learner " not in section


def test_the_page_of_commands_has_the_headings_of_their_help():
    from ouzel.cli.commands_page import page

    sections = {section.partition("\n")[0]: section for section in page().split("\n## ")}

    assert set(sections) >= {f"ouzel {name}" for name in COMMANDS}
    assert re.findall("^### (.*)$", sections["ouzel train"], re.MULTILINE) == ["Arguments", *PANELS, "Options"]
    assert re.findall("^### (.*)$", sections["ouzel top"], re.MULTILINE) == ["Arguments", "Options"]


def test_what_is_a_commands_own_comes_first(ouzel):
    told = ouzel("explain", "--help").out

    assert told.index("\nOptions:") < told.index("--outlier CONDITION") < told.index("\nLearner:")


def test_a_few_options_are_one_list(ouzel):
    assert "Report:" not in ouzel("top", "--help").out


@pytest.mark.parametrize("name", ["train", "convert"])
def test_every_option_has_a_heading(name):
    own = {"compression"}

    assert options_of(name) - set(panels_of(PANELS)) - own == set()


def test_every_option_of_serve_has_a_heading_and_all_headings_are_of_options_that_there_are():
    known = set().union(*(options_of(name) for name in COMMANDS))

    assert options_of("serve") - set(panels_of(OF_SERVE)) <= {"check"}
    assert (set(panels_of(PANELS)) | set(panels_of(OF_SERVE))) - known == set()
    assert len(options_of("train")) > FEW
