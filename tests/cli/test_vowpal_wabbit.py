"""Options of Vowpal Wabbit are answered in Ouzel's words."""

import re

import pytest

from ouzel.cli.app import COMMANDS
from ouzel.cli.vowpal_wabbit import FLAGS
from ouzel.learners.catalogue import LEARNERS

NAMES = [(name, flag) for flag in FLAGS for name in flag.names]


@pytest.mark.parametrize(("name", "flag"), NAMES, ids=[name for name, _ in NAMES])
def test_an_option_of_vowpal_wabbit_is_answered_in_one_line(ouzel, small, name, flag):
    ran = ouzel("train", small, name, *(["9"] if flag.takes else []))

    assert ran.status == 2
    assert ran.out == ""
    assert ran.err == f"ouzel: `{name}{' 9' if flag.takes else ''}` of Vowpal Wabbit {flag.here}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "a.vw", "-q", "ab"], "`-q ab` of Vowpal Wabbit is `--cross` here, with whole names or patterns"),
        (["train", "a.vw", "-b18"], "`-b18` of Vowpal Wabbit is `--bits BITS` here"),
        (["predict", "m", "--oaa=3"], "`--oaa=3` of Vowpal Wabbit is what labels say here"),
        (["-d", "a.vw", "-f", "m"], "`-d a.vw` of Vowpal Wabbit is the file's name alone here"),
        (["train", "a.vw", "--passes", "2", "-c"], "`-c` of Vowpal Wabbit is `--cache DIR` here"),
    ],
)
def test_the_option_is_named_as_it_was_given(ouzel, arguments, said):
    assert ouzel(*arguments).err.startswith(f"ouzel: {said}")


def test_an_option_of_nobody_is_answered_as_ever(ouzel):
    assert ouzel("train", "a.vw", "--xyzzy").err == "ouzel: No such option: --xyzzy; see `ouzel train --help`\n"


def test_what_the_answers_name_is_there(ouzel):
    known = set()
    for command in COMMANDS:
        known |= set(re.findall(r"--?[a-z][a-z-]*", ouzel(command, "--help").out))
    for flag in FLAGS:
        for said in re.findall(r"`([^`]*)`", flag.here):
            options = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", said)
            assert set(options) <= known, said
            learner = re.search(r"--learner (\S+)", said)
            assert learner is None or learner[1] in LEARNERS, said
