"""`ouzel vw`: the commands for a command line of Vowpal Wabbit, printed or run."""

import random
import re
from pathlib import Path

import pytest

from ouzel.cli.commands.vw import translated, written
from ouzel.cli.vowpal_wabbit import options

PAGE = Path(__file__).parents[3] / "docs" / "vowpal-wabbit.md"


@pytest.fixture
def stream(tmp_path):
    """Text of two namespaces whose product decides."""
    path, chance = tmp_path / "t.vw", random.Random(0)
    lines = []
    for _ in range(2000):
        a, b = chance.randrange(5), chance.randrange(5)
        lines.append(f"{1 if (a * b + a) % 3 == 0 else -1} |a u{a} |b v{b}\n")
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(
    ("given", "commands"),
    [
        (
            "-d train.vw -l 0.5 --loss_function logistic -b 22 -q ab --passes 1 -f model",
            ["ouzel train train.vw --model model --bits 22 --learning-rate 0.5 --loss logistic --cross 'a*:b*' "
             "--passes 1"],
        ),
        ("t.vw --oaa=3 -b18", ["ouzel train t.vw --bits 18 --task classification"]),
        ("t.vw --loss_function quantile --quantile_tau 0.3", ["ouzel train t.vw --loss 'quantile(tau=0.3)'"]),
        ("t.vw u.vw", ["ouzel train t.vw u.vw --loss squared"]),
        ("--loss_function hinge", ["ouzel train - --loss hinge"]),
        ("-d t.vw -i old -f new", ["ouzel train t.vw --model new --resume old"]),
        ("-d t.vw -i m -t", ["ouzel test m t.vw"]),
        ("-d t.vw -i m -t -p out.csv", ["ouzel predict m t.vw --output out.csv"]),
        ("-d t.txt --csv --csv_separator ; -i m -t", ["ouzel test m t.txt --format csv --delimiter ';'"]),
        ("-d t.vw -i m -t -p p.csv -r r.csv -a",
         ["ouzel predict m t.vw --explain 10 --output p.csv",
          "ouzel predict m t.vw --explain 10 --only margins --output r.csv"]),
        ("-d t.vw -i m -t -r out", ["ouzel predict m t.vw --only margins > out"]),
        ("-d t.vw --loss_function logistic --readable_model w.csv -f m",
         ["ouzel train t.vw --model m --loss logistic", "ouzel top m --all --output w.csv"]),
        ("t.vw --loss_function logistic --l1 1e-6",
         ["ouzel train t.vw --l1 1e-6 --loss logistic --learner adagrad"]),
        ("t.vw --loss_function logistic --ftrl --ftrl_alpha 0.1",
         ["ouzel train t.vw --loss logistic --learner ftrl-proximal --learning-rate 0.1"]),
        ("vw t.vw -f m --loss_function logistic", ["ouzel train t.vw --model m --loss logistic"]),
        ("--daemon --port 26542 -i m", ["ouzel serve --data served --model m --port 26542"]),
        ("--daemon -t -i m", ["ouzel serve --data served --model m"]),
        ("--daemon --loss_function logistic -b 20", ["ouzel serve --data served --bits 20 --loss logistic"]),
        ("t.vw --daemon --loss_function logistic -f m",
         ["ouzel train t.vw --model m --loss logistic", "ouzel serve --data served --model m"]),
        ("t.vw --loss_function logistic -q ab -q cd --sgd --adaptive",
         ["ouzel train t.vw --loss logistic --cross 'a*:b*' --cross 'c*:d*' --learner adagrad"]),
    ],
)  # fmt: skip
def test_a_command_line_of_vowpal_wabbit_becomes_commands(ouzel, given, commands):
    ran = ouzel("vw", *given.split())

    assert (ran.status, ran.err) == (0, "")
    assert [line for line in ran.out.splitlines() if not line.startswith("#")] == commands


@pytest.mark.parametrize(
    ("given", "remark"),
    [
        ("--nn 5", "`--nn 5` of Vowpal Wabbit is not here: models are linear"),
        ("--quiet", "`--quiet` of Vowpal Wabbit is not needed here"),
        ("-kc", "`-c` of Vowpal Wabbit is `--cache DIR` here"),
        ("--power_t 0.5", "`--power_t 0.5` of Vowpal Wabbit is not here"),
        ("--initial_t 1", "`--initial_t 1` of Vowpal Wabbit is not here"),
        ("--quantile_tau 0.3", "`--quantile_tau 0.3` of Vowpal Wabbit counts with `--loss_function quantile` alone"),
        ("--passes 3", "with 3 passes Vowpal Wabbit holds out every tenth example"),
        ("--daemon", "`--daemon` of Vowpal Wabbit is `ouzel serve` here"),
        ("", "the squared loss is the default of Vowpal Wabbit"),
        ("-p p.txt", "predictions are those of the learnt model"),
        ("--OjaNewton --l1 1", "`--l1` is left out: son-oja has no such setting"),
    ],
)
def test_what_has_no_equivalent_or_is_not_needed_is_one_line(ouzel, given, remark):
    lines = ouzel("vw", "t.vw", *given.split()).out.splitlines()

    assert sum(line.startswith(f"# {remark}") for line in lines) == 1
    assert any(line.startswith("ouzel train t.vw") for line in lines)


def test_a_line_that_holds_nothing_out_is_not_told_how_to():
    assert not any("tenth" in remark for remark in translated(["t.vw", "--passes", "3", "--holdout_off"]).remarks)


@pytest.mark.parametrize("option", options(), ids=lambda option: option.names[0])
def test_every_option_of_the_table_becomes_an_argument_a_command_or_a_remark(option):
    sample = next(iter(option.values), {"namespaces": "ab", "namespace": "a"}.get(option.type, "2"))
    plain = translated(["-d", "t.vw", "-i", "m"])
    for name in option.names:
        given = [*option.when.split(), name, *([sample] if option.argument else [])]
        found = translated(["-d", "t.vw", "-i", "m", *given])

        assert found.commands != plain.commands or found.remarks
        assert all("\n" not in remark for remark in found.remarks)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--los_function logistic", "`--los_function` is not in the table of options of Vowpal Wabbit; leave it out. "
         "Did you mean '--loss_function'?"),
        ("-b many", "`-b many` of Vowpal Wabbit takes a whole number; got 'many'"),
        ("t.vw -f", "`-f` of Vowpal Wabbit takes MODEL, which is missing; it is `--model MODEL` here"),
        ("t.vw --nn", "`--nn` of Vowpal Wabbit is not here: models are linear"),
        ("--noconstant=1", "`--noconstant` of Vowpal Wabbit takes no value; got '1'"),
        ("-t t.vw", "`-t` of Vowpal Wabbit needs a model, with `-i MODEL`"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(ouzel, given, said):
    ran = ouzel("vw", *given.split())

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"ouzel: {said}")
    assert ran.err.count("\n") == 1


def test_settings_are_left_out_where_nothing_is_learnt(ouzel):
    out = ouzel("vw", "t.vw", "-t", "-i", "m", "--loss_function", "logistic", "-b", "20").out

    assert out == "# --bits, --loss left out: the model was learnt with its own\nouzel test m t.vw\n"


def test_with_run_the_commands_are_run(ouzel, stream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["-d", "t.vw", "--loss_function", "logistic", "-q", "ab", "-f", "m", "-p", "p.txt", "--quiet"]

    ran = ouzel("vw", "--run", *options)

    assert ran.status == 0
    assert "ouzel train t.vw --model m --loss logistic --cross 'a*:b*'" in ran.err.splitlines()
    assert "error rate" in ran.out
    assert len((tmp_path / "p.txt").read_text().splitlines()) == 2001
    assert ouzel("info", "m", "--json").json["derived"]["crosses"] == ["a*:b*"]


def test_a_command_that_fails_ends_a_run_with_its_status(ouzel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    ran = ouzel("vw", "-d", "absent.vw", "-p", "p.csv", "--run")

    assert ran.status == 2
    assert ran.err.endswith("ouzel: absent.vw: there is no such file\n")


def test_what_runs_learns_as_well_as_vowpal_wabbit(ouzel, stream):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    options = ["--loss_function", "logistic", "-q", "ab", "-l", "0.5"]
    learner = vowpalwabbit.Workspace(" ".join([*options, "--quiet", "-d", str(stream)]))
    theirs = learner.get_sum_loss() / learner.get_weighted_examples()
    (command,) = translated([*options, str(stream)]).commands

    assert ouzel(*command, "--json").json["log_loss"] < 1.1 * theirs, written(command)


def test_the_page_for_people_from_vowpal_wabbit_shows_what_is_printed(ouzel):
    (block,) = re.findall(r"^```text\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands = block.removeprefix("$ ouzel ").split("$ ouzel ")

    assert len(commands) == 2
    for command in commands:
        words, _, printed = command.partition("\n")
        assert ouzel(*words.split()).out == printed
