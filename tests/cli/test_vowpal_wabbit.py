"""Options of Vowpal Wabbit are answered in Ouzel's words."""

import re

import pytest

from ouzel.cli.app import COMMANDS
from ouzel.cli.renamed_options import ELSEWHERE, RENAMED
from ouzel.cli.vowpal_wabbit import MEANINGS, TYPES, by_name, find, options
from ouzel.errors import OuzelError
from ouzel.learners.catalogue import LEARNERS
from ouzel.model.settings import CALLED, OTHER_NAMES

SHARED = {"--l1", "--l2", "--passes", "--skips", "--ignore", "--top", "--json", "--id", "--epsilon", "--help", "-h"}
SHARED |= {*RENAMED, *ELSEWHERE}
"""Names that `ouzel train` has, too, or answers as those of Python."""
NAMES = [(name, option) for option in options() for name in option.all_names]
FOREIGN = [
    (name, option)
    for name, option in NAMES
    if name not in SHARED and name.lstrip("-").replace("-", "_") not in {*CALLED, *OTHER_NAMES}
]
SAMPLES = {
    "letters": "a",
    "namespaces": "ab",
    "pair": "ab",
    "triple": "abc",
    "names": "user|item",
    "weights": "1:2",
}
"""An argument of each type that is not a number."""


@pytest.mark.parametrize(("name", "option"), FOREIGN, ids=[name for name, _ in FOREIGN])
def test_an_option_of_vowpal_wabbit_is_answered_in_one_line(ouzel, small, name, option):
    takes = option.argument_of(name)

    ran = ouzel("train", small, name, *(["9"] if takes else []))

    assert ran.status == 2
    assert ran.out == ""
    assert ran.err == f"ouzel: `{name}{' 9' if takes else ''}` of Vowpal Wabbit {option.here}\n"


def test_every_option_of_vowpal_wabbit_is_in_the_table_and_takes_a_value_where_it_does_there():
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    groups = vowpalwabbit.Workspace("--quiet").get_config(filtered_enabled_reductions_only=False)
    theirs = [option for parts in groups.values() for _, group in parts for option in group]

    assert len(theirs) > 400
    for option in theirs:
        names = [f"--{option.name}", *([f"-{option.short_name}"] if option.short_name else [])]
        for name in names:
            ours = find(name)
            assert ours is not None, name
            assert bool(ours.argument_of(name)) != isinstance(option.default_value, bool), name


def test_lists_of_vowpal_wabbit_take_all_words_up_to_the_next_option():
    assert {name for name, option in by_name().items() if option.many and option.meaning == "translated"} >= {
        "-q", "--interactions", "--cubic", "--ignore", "--keep", "--ngram", "--skips", "--classweight",
    }  # fmt: skip


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
    hyphens = ouzel("train", "a.vw", "--loss-function", "logistic").err
    assert hyphens == "ouzel: `--loss-function logistic` of Vowpal Wabbit is `--loss LOSS` here\n"
    assert ouzel("train", "a.vw", "--xyzzy").err == "ouzel: No such option: --xyzzy; see `ouzel train --help`\n"


def test_what_the_answers_name_is_there(ouzel):
    known = set()
    for command in COMMANDS:
        known |= set(re.findall(r"--?[a-z][a-z0-9-]*", ouzel(command, "--help").out))
    for option in options():
        for said in re.findall(r"`([^`]*)`", option.here):
            flags = re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", said)
            assert set(flags) <= known, said
            learner = re.search(r"--learner (\S+)", said)
            assert learner is None or learner[1] in LEARNERS, said


def test_every_option_is_in_the_table_once():
    names = [name for name, _ in NAMES]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("option", options(), ids=lambda option: option.all_names[0])
def test_what_an_option_becomes_are_arguments_of_the_command_that_it_names(ouzel, option):
    takes = next(iter(option.values), SAMPLES.get(option.type, "2")) if option.names and option.argument else ""

    assert option.type in TYPES
    assert option.meaning in MEANINGS
    assert option.command in (*COMMANDS, "lines")
    if option.meaning in ("model", "kind"):
        with pytest.raises(OuzelError, match="of Vowpal Wabbit"):
            option.translated(takes)
        return
    arguments = option.translated(takes)
    if option.command == "lines":
        return
    known = re.findall(r"--?[a-z][a-z0-9-]*", ouzel(option.command, "--help").out)
    assert {part for part in arguments if part.startswith("-")} <= set(known)
    assert not any("{}" in part for part in arguments)


@pytest.mark.parametrize(
    "option", [option for option in options() if option.when], ids=lambda option: option.all_names[0]
)
def test_an_option_that_counts_only_with_another_names_one_of_the_table(option):
    name, _, value = option.when.partition(" ")

    other = find(name)
    assert other is not None
    assert not value or value in other.values


@pytest.mark.parametrize(
    ("name", "value", "arguments"),
    [
        ("-q", "ab", ["--cross", "a*:b*"]),
        ("--cubic", "a:c", ["--cross", "a*:*:c*"]),
        ("--ngram", "2", ["--ngrams", "2"]),
        ("--ngram", "t3", ["--ngrams", "t*=3"]),
        ("--ngram", "_3", ["--ngrams", "_*=3"]),
        ("--interactions", "ab[", ["--cross", "a*:b*:[[]*"]),
        ("--interactions", "aab", ["--cross", "a*:a*:b*", "--cross", "a:a:b"]),
        ("-q", "a:", ["--cross", "a*:*", "--cross", "a:a"]),
        ("-q", r"\x61b", ["--cross", "a*:b*"]),
        ("--experimental_full_name_interactions", "user|item", ["--cross", "user*item"]),
        ("--ignore", "ab", ["--ignore", "a*", "--ignore", "b*"]),
        ("--classweight", "1:2,-1:.5", ["--task", "classification", "--class-weight", "1=2,-1=.5"]),
        ("--coin", "", ["--learner", "coin-betting"]),
        ("--loss_function", "classic", ["--loss", "squared"]),
        ("--quantile_tau", "0.3", ["--loss", "quantile(tau=0.3)"]),
        ("--ftrl_beta", "0.5", ["--set", "damping=0.5"]),
        ("--noconstant", "", ["--no-intercept"]),
        ("-c", "", []),
    ],
)
def test_an_option_becomes_arguments_here(name, value, arguments):
    assert find(name).translated(value) == arguments


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("-q", "abc", "`-q abc` of Vowpal Wabbit takes the first letters of two namespaces, such as ab; got 'abc'"),
        (
            "--classweight",
            "2",
            "`--classweight 2` of Vowpal Wabbit takes classes and their weights, such as 1:2,-1:0.5",
        ),
        ("--nn", "5", "`--nn 5` of Vowpal Wabbit is not here: models are linear; begin with"),
        ("-b", "many", "`-b many` of Vowpal Wabbit takes a whole number; got 'many'"),
        ("--ngram", "ab", "`--ngram ab` of Vowpal Wabbit takes a number of words, such as 2, or a2 of one namespace;"),
        ("-f", "", "`-f` of Vowpal Wabbit takes MODEL, which is missing; it is `--model MODEL` here"),
        (
            "--loss_function",
            "expectile",
            "`--loss_function expectile` of Vowpal Wabbit is not here; use one of squared,",
        ),
    ],
)
def test_an_option_that_cannot_be_translated_is_answered_in_one_line(name, value, said):
    with pytest.raises(OuzelError) as refused:
        find(name).translated(value)

    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)
