"""Help of commands: options under headings, with the kind of value that each takes; values of another kind."""

import re

import pytest
import typer

from ouzel.cli.app import COMMANDS as NAMES
from ouzel.cli.app import application
from ouzel.cli.command import FEW, HEADINGS
from ouzel.cli.parameters import kind_of

COMMANDS = typer.main.get_command(application()).commands


def options_of(name):
    shown = (parameter for parameter in COMMANDS[name].params if not getattr(parameter, "hidden", False))
    return {parameter.name: parameter for parameter in shown if parameter.param_type_name == "option"}


def panels_of(name):
    return {option: param.type_descriptor.parameter_info.panel for option, param in options_of(name).items()}


def test_help_of_train_stands_under_headings(ouzel):
    said = ouzel("train", "--help").out

    headings = [line.rstrip(":") for line in said.splitlines() if re.fullmatch(r"[A-Z].*:", line)]
    assert headings == ["Arguments", *(name for name in HEADINGS if name in panels_of("train").values()), "Options"]
    section = said.partition("\nLogs:\n")[2].partition("\n\n")[0]
    assert "--follow" in section
    assert "--learner " not in section


def test_the_page_of_commands_has_the_headings_of_their_help():
    from ouzel.cli.commands_page import page

    sections = {section.partition("\n")[0]: section for section in page().split("\n## ")}
    headings = [name for name in HEADINGS if name in panels_of("train").values()]

    assert set(sections) >= {f"ouzel {name}" for name in COMMANDS}
    assert re.findall(r"^\*\*(.*)\*\*$", sections["ouzel train"], re.MULTILINE) == ["Arguments", *headings, "Options"]
    assert re.findall(r"^\*\*(.*)\*\*$", sections["ouzel top"], re.MULTILINE) == ["Arguments", "Options"]


def test_what_is_a_commands_own_comes_first(ouzel):
    said = ouzel("explain", "--help").out

    assert said.index("\nOptions:") < said.index("--outlier CONDITION") < said.index("\nLearner:")


def test_a_few_options_are_one_list(ouzel):
    assert "Report:" not in ouzel("top", "--help").out


@pytest.mark.parametrize(("name", "own"), [("train", set()), ("convert", {"compression"}), ("serve", {"check"})])
def test_every_option_has_a_heading(name, own):
    assert {option for option, panel in panels_of(name).items() if not panel} == own


def test_all_headings_are_of_options_that_there_are():
    found = {name: panels_of(name) for name in COMMANDS}

    assert {panel for panels in found.values() for panel in panels.values() if panel} == set(HEADINGS)
    assert len(found["train"]) > FEW


@pytest.mark.parametrize("name", NAMES)
def test_every_option_and_argument_names_the_kind_of_value_that_it_takes(name, ouzel):
    said = ouzel(name, "--help").out

    assert not re.search(r"<(str|int|float|list)|\bTEXT\b", said)
    for param in COMMANDS[name].params:
        if not getattr(param, "is_flag", False):
            assert kind_of(param).name, param.name


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("train", "--learning-rate FLOAT"),
        ("train", "--bits INTEGER"),
        ("train", "--budget BYTES"),
        ("train", "--checkpoint-every INTEGER|DURATION"),
        ("train", "--on-error raise|skip"),
        ("top", "--sort importance|weight"),
        ("top", "-n INTEGER"),
        ("serve", "--snapshot-every SECONDS"),
        ("test", "--against MODEL"),
    ],
)
def test_the_help_shows_the_kinds_of_values(ouzel, command, shown):
    assert f" {shown} " in " ".join(ouzel(command, "--help").out.split())


@pytest.mark.parametrize("name", NAMES)
def test_h_is_the_beginning_of_help(ouzel, name):
    short, full = ouzel(name, "-h"), ouzel(name, "--help")
    assert (short.status, short.err) == (full.status, full.err) == (0, "")
    assert short.out.splitlines()[:3] == full.out.splitlines()[:3]
    assert len(short.out) <= len(full.out)
    assert ouzel("-h")[:3] == ouzel("--help")[:3] == ouzel()[:3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "f", "--bits", "many"], "--bits takes a whole number; got 'many'"),
        (["train", "f", "--bits", "2.5"], "--bits takes a whole number; got '2.5'"),
        (["train", "f", "--half-life", "long"], "--half-life takes a number; got 'long'"),
        (["serve", "--snapshot-every", "5m"], "--snapshot-every takes a number of seconds; got '5m'"),
        (["train", "f", "--task", "clasification"], "--task takes classification, regression, ranking; got "
         "'clasification'. Did you mean 'classification'?"),
        (["predict", "m", "f", "--only", "label"], "--only takes labels, margins, probabilities; got 'label'. "
         "Did you mean 'labels'?"),
        (["top", "m", "--sort", "name"], "--sort takes importance, weight; got 'name'"),
        (["top", "m", "-n", "x"], "-n takes a whole number; got 'x'"),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_one_line_with_the_option_and_what_it_takes(ouzel, arguments, said):
    ran = ouzel(*arguments)

    assert (ran.status, ran.out, ran.err) == (2, "", f"ouzel: {said}\n")
