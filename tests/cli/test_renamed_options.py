"""Former names of options are accepted, hidden, and answered with one line that names the new one."""

import pickle
import re
from pathlib import Path

import pytest
import typer

import ouzel
from ouzel.cli.app import application
from ouzel.cli.commands_page import page
from ouzel.cli.renamed_options import REMOVED_IN, RENAMED
from ouzel.errors import OuzelError
from ouzel.flags import FLAGS, flag_of

COMMANDS = typer.main.get_command(application()).commands
OPTIONS = [(name, param) for name, command in COMMANDS.items() for param in command.params if param.opts[0][0] == "-"]
CASES = [
    (name, old, new)
    for old, renamed in RENAMED.items()
    for new in renamed
    for name, param in OPTIONS
    if new in param.opts
]


def parsed(name, *arguments):
    context = COMMANDS[name].make_context(name, [*arguments])
    return {key: value for key, value in context.params.items() if value not in (None, False)}


def test_every_former_name_has_a_command_that_accepts_it():
    assert {(old, new) for _, old, new in CASES} == {(old, new) for old, renamed in RENAMED.items() for new in renamed}


@pytest.mark.parametrize(("name", "old", "new"), CASES)
def test_a_former_name_means_the_new_one_and_says_so_in_one_line(name, old, new, capsys):
    param = next(param for command, param in OPTIONS if command == name and new in param.opts)
    value = [] if param.is_flag else ["7"]
    sources = ["a" for argument in COMMANDS[name].params if argument.param_type_name == "argument"]

    expected = parsed(name, *sources, new, *value)
    assert capsys.readouterr().err == ""
    given = parsed(name, *sources, old, *value)

    assert given == expected
    assert param.name in given
    assert (
        capsys.readouterr().err == f"ouzel: {old} is called {new} now; version {REMOVED_IN} will refuse the old name\n"
    )


def test_a_former_name_with_its_value_behind_a_sign_and_given_twice_is_accepted(capsys):
    given = parsed("train", "t.csv", "--keep=a", "--keep", "b", "--", "--keep")

    assert given["keep"] == ["a", "b"]
    assert given["files"] == ["t.csv", "--keep"]
    assert capsys.readouterr().err.count("\n") == 1


def test_a_former_name_that_is_a_value_stays_one(capsys):
    assert parsed("train", "t.csv", "--label", "--keep")["label"] == "--keep"
    assert capsys.readouterr().err == ""


def test_a_command_without_the_option_refuses_its_former_name(ouzel):
    ran = ouzel("top", "m", "--keep", "a")

    assert ran.status == 2
    assert ran.err.startswith("ouzel: No such option: --keep")
    assert ran.err.count("\n") == 1


def test_an_option_that_kept_its_name_is_not_renamed(capsys):
    assert parsed("send", "a.jsonl", "--to", "http://localhost:1")["to"] == "http://localhost:1"
    assert capsys.readouterr().err == ""


def test_no_help_has_a_former_name():
    pages = re.sub("--to (URL|http)", "", page())  # of `send`

    assert [old for old in RENAMED if re.search(rf"(?<![\w-]){old}(?![\w-])", pages)] == []


def test_a_former_name_trains_the_same_model(ouzel, small, tmp_path):
    new = ouzel("train", small, "--learner", "adagrad", "--half-life", 100, "--model", tmp_path / "new")
    old = ouzel("train", small, "--learner", "adagrad", "--forget", 100, "--model", tmp_path / "old")

    assert (new.status, old.status) == (0, 0)
    assert "--forget is called --half-life now" in old.err
    assert (tmp_path / "new").read_bytes() == (tmp_path / "old").read_bytes()


def test_commands_declare_the_flags_that_errors_name():
    found = {(name, param.name): param.opts[0] for name, param in OPTIONS if param.name in FLAGS}

    assert {key[1] for key in found} | {"limits"} == set(FLAGS)
    assert {key: opt for key, opt in found.items() if opt != flag_of(key[1])} == {}


def test_an_error_calls_a_keyword_by_its_flag_on_the_command_line():
    error = OuzelError("must be 1 or more; leave out", subject="within", keep=("a", "b"), limits={"line": "1MB"})

    assert error.on_command_line == "--join-window must be 1 or more; leave out --only-columns a,b --limit line=1MB"
    assert str(error) == "within must be 1 or more; leave out keep=('a', 'b'), limits={'line': '1MB'}"
    assert pickle.loads(pickle.dumps(error)).on_command_line == error.on_command_line


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--alarm", "2"], "--alarm must be a number from 0 to 0.5; got 2"),
        (["--holdout-every=1"], "--holdout-every must be 2 or more"),
        (["--learning-rate", "-1"], "--learning-rate of auto must be a number"),
        (["--loss", "hing"], "--loss must be one of"),
        (["--delimiter", "ab"], "--delimiter must be one ASCII character"),
        (["--on-error", "no"], "--on-error must be"),
        (["--set", "learning_rate=-1"], "learning_rate of auto must be a number"),
    ],
)
def test_an_error_calls_a_setting_as_it_was_typed(ouzel, small, given, said):
    assert ouzel("train", small, *given).err.startswith(f"ouzel: {said}")


def test_the_versions_that_accept_former_names_are_not_over():
    version = tuple(map(int, ouzel.__version__.split(".")[:3]))

    assert version < tuple(map(int, REMOVED_IN.split("."))), f"remove {Path('src/ouzel/cli/renamed_options.py')}"
