"""`ouzel vw`: the commands for a command line of Vowpal Wabbit, printed or run."""

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

import ouzel as library
from ouzel.cli.commands.vw import written
from ouzel.cli.vowpal_wabbit import by_name, options
from ouzel.cli.vowpal_wabbit_commands import translated
from ouzel.terms import losses

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
        ("t.vw --binary --learning_rate 2", ["ouzel train t.vw --learning-rate 2 --task classification"]),
        ("t.vw --classweight 1:2,-1:3 --loss_function logistic",
         ["ouzel train t.vw --loss logistic --task classification --class-weight 1=2,-1=3"]),
        ("t.vw --coin --loss_function logistic -l 3", ["ouzel train t.vw --loss logistic --learner coin-betting"]),
        ("t.vw --examples 9 --loss_function hinge",
         ["head -n 9 t.vw > t.first-9.vw", "ouzel train t.first-9.vw --loss hinge"]),
        ("t.vw --holdout_after 9 --loss_function hinge -f m -p p.txt",
         ["head -n 9 t.vw > t.first-9.vw", "tail -n +10 t.vw > t.after-9.vw",
          "ouzel train t.first-9.vw --model m --loss hinge", "ouzel test m t.after-9.vw",
          "ouzel predict m t.vw > p.txt"]),
        ("t.vw --holdout_after 9 --holdout_off", ["ouzel train t.vw --loss squared"]),
        ("t.vw --passes 2 --holdout_period 5", ["ouzel train t.vw --passes 2 --holdout-every 5 --loss squared"]),
        ("t.vw --holdout_period 5", ["ouzel train t.vw --loss squared"]),
        ("t.vw --passes 2 --holdout_period 5 --holdout_off", ["ouzel train t.vw --passes 2 --loss squared"]),
        ("-i m --audit_regressor w.csv -d t.vw", ["ouzel top m --all --output w.csv"]),
        ("-i m --no_stdin --readable_model w.csv", ["ouzel top m --all --output w.csv"]),
        (
            "-d t.txt --csv --loss_function hinge",
            ["ouzel train t.txt --format csv --label _label --ignore '_tag*' --loss hinge"],
        ),
        (
            "-d t.json --json --loss_function hinge",
            ["ouzel train t.json --format jsonl --label _label --id _tag --text _text --loss hinge"],
        ),
        ("--daemon --json", ["ouzel serve --data served --label _label --text _text --loss squared"]),
        ("-d t.json --json -t -i m", ["ouzel test m t.json --format jsonl"]),
        ("t.vw --keep ab --ignore c --loss_function hinge",
         ["ouzel train t.vw --loss hinge --ignore 'c*' --only-columns 'a*' --only-columns 'b*'"]),
        ("t.vw --ngram 2 --ngram a3 --skips a1 --loss_function hinge",
         ["ouzel train t.vw --loss hinge --ngrams 2 --ngrams 'a*=3+1'"]),
        ("t.vw --loss_function hinge -q ab ac -q ab",
         ["ouzel train t.vw --loss hinge --cross 'a*:b*' --cross 'a*:c*'"]),
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
        ("--bootstrap 5", "`--bootstrap 5` of Vowpal Wabbit is not here: one model is learnt"),
        ("--random_weights", "`--random_weights` of Vowpal Wabbit is not here: weights are learnt from 0"),
        ("-q aa", "`-q aa` of Vowpal Wabbit crosses features of a namespace with each other, too"),
        ("-q ::", "`-q ::` of Vowpal Wabbit crosses features of a namespace with each other, too"),
        ("--interactions aaa", "`--interactions aaa` of Vowpal Wabbit crosses features of a namespace"),
        ("--holdout_period 5", "`--holdout_period 5` of Vowpal Wabbit holds nothing out in one pass"),
        ("--passes 2", "the average loss of Vowpal Wabbit is over all passes"),
        ("--loss_function squared", "the mean squared loss of Vowpal Wabbit, of (prediction - label)^2, is twice"),
        ("-l 3", "`--learning-rate` of auto is 1 by default, and `-l` of Vowpal Wabbit 0.5"),
        ("--sgd --adaptive", "`--learning-rate` of adagrad is 0.25 by default, and `-l` of Vowpal Wabbit 0.5"),
        ("--ftrl", "the defaults of Vowpal Wabbit are `--learning-rate 0.005 --set damping=0.1`"),
        ("-i m", "a model learns no file twice, unless with `--relearn`"),
        ("--binary", "classes are learnt by the logistic loss"),
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


def test_what_changes_nothing_stands_apart_from_what_makes_another_model(ouzel):
    out = ouzel("vw", "t.vw", "-k", "--power_t", "1", "--quiet", "--loss_function", "hinge").out

    starts = [" ".join(line.split()[:3]) for line in out.splitlines()]
    assert starts == [
        "# another model:", "# `--power_t 1`", "# changes nothing:", "# `-k` of", "# `--quiet` of", "ouzel train t.vw",
    ]  # fmt: skip


@pytest.mark.parametrize("option", options(), ids=lambda option: option.all_names[0])
def test_every_option_of_the_table_becomes_an_argument_a_command_a_line_or_a_reason(option):
    samples = {
        "letters": "a", "namespaces": "ab", "pair": "ab", "triple": "abc", "names": "a|b", "weights": "1:2",
    }  # fmt: skip
    sample = next(iter(option.values), samples.get(option.type, "2"))
    line = ["-d", "t.vw", "-i", "m"]
    plain = translated(line)
    for name in option.all_names:
        other = option.when.split()
        takes = by_name()[other[0]].argument_of(other[0]) if other else ""
        given = [*other, *(["2"] if takes and len(other) == 1 else []), name]
        found = translated([*line, *given, *([sample] if option.argument_of(name) else [])])

        assert found.refused or found.commands != plain.commands or len(found.remarks) > len(plain.remarks)
        assert bool(found.refused) == (option.meaning == "kind")
        assert all("\n" not in line for line in [*found.remarks, *found.refused])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--los_function logistic", "`--los_function` is not in the table of options of Vowpal Wabbit; leave it out. "
         "Did you mean '--loss_function'?"),
        ("-b many", "`-b many` of Vowpal Wabbit takes a whole number; got 'many'"),
        ("t.vw -f", "`-f` of Vowpal Wabbit takes MODEL, which is missing; it is `--model MODEL` here"),
        ("t.vw --nn 5", "`--nn 5` of Vowpal Wabbit is not here: models are linear"),
        ("--multilabel_oaa 10 t.vw", "`--multilabel_oaa 10` of Vowpal Wabbit is another kind of model"),
        ("--lda 10 --lda_alpha 1 t.vw", "`--lda 10 --lda_alpha 1` of Vowpal Wabbit is another kind of model: topics"),
        ("--bootstrapp 3 t.vw", "`--bootstrapp` is not in the table of options of Vowpal Wabbit; leave it out. "
         "Did you mean '--bootstrap'?"),
        ("--boot 3 t.vw", "`--boot` is not in the table of options of Vowpal Wabbit; leave it out\n"),
        ("-q t.vw", "`-q t.vw` of Vowpal Wabbit takes the first letters of two namespaces, such as ab; got 't.vw'"),
        ("t.vw.gz --examples 9", "`--examples` and `--holdout_after` of Vowpal Wabbit cut one file of text that is "
         "not packed; got t.vw.gz: cut it first, and leave them out"),
        ("--no_stdin", "`--no_stdin` of Vowpal Wabbit leaves nothing to learn from; name a file with `-d FILE`"),
        ("'t.vw -f m", "\"'t.vw -f m\" is not a command line: no closing quotation"),
        ("--noconstant=1", "`--noconstant` of Vowpal Wabbit takes no value; got '1'"),
        ("-t t.vw", "`-t` of Vowpal Wabbit needs a model, with `-i MODEL`"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(ouzel, given, said):
    ran = ouzel("vw", *([given] if "'" in given else given.split()))

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"ouzel: {said}")
    assert ran.err.count("\n") == 1


def test_each_unknown_option_and_each_other_kind_of_model_is_a_line(ouzel):
    ran = ouzel("vw", "t.vw", "--foo", "1", "--bfgs", "--mem", "7", "--bar=2", "--search", "3", "--bootstrap", "4")

    assert (ran.status, ran.out) == (2, "")
    assert [line.split("`")[1] for line in ran.err.splitlines()] == ["--foo", "--bfgs --mem 7", "--bar", "--search 3"]


@pytest.mark.parametrize(
    "words",
    [
        ["vw -d t.vw -q ab --loss_function logistic"],
        ["vw", "-d", "t.vw", "-q", "ab", "--loss_function", "logistic"],
        ["  -d 't.vw' -qab --loss_function=logistic"],
    ],
)
def test_a_command_line_may_be_quoted(ouzel, words):
    assert ouzel("vw", *words).out == "ouzel train t.vw --loss logistic --cross 'a*:b*'\n"


def test_a_file_whose_name_has_blanks_is_no_quoted_command_line(ouzel, tmp_path):
    (tmp_path / "my data.vw").touch()

    assert ouzel("vw", tmp_path / "my data.vw").out.endswith(f"train '{tmp_path / 'my data.vw'}' --loss squared\n")


def test_letters_of_an_option_are_not_options_of_ours(ouzel):
    assert "--cross 'a*:h*'" in ouzel("vw", "t.vw", "-qah").out
    assert ouzel("vw", "-h").out == ouzel("vw", "--help").out == ouzel("vw", "--run", "vw --help").out


def test_a_service_that_is_to_learn_nothing_is_told_what_it_does(ouzel):
    out = ouzel("vw", "--daemon", "-t", "-i", "m").out

    assert "# `-t` of Vowpal Wabbit is not here: a service learns the examples that are sent to be learnt" in out


@pytest.mark.parametrize(
    "options",
    [
        "-q ab", "-q aa", "-q a:", "-q ab -q ac", "-q ab ac", "--cubic abc", "--cubic aab", "--interactions aaa",
        "--interactions abc", "--ignore ab", "--ignore a -q ab", "--keep ab", "--keep a --keep c", "--ngram 2",
        "--ngram 3", "--ngram 2 --skips 1", "--ngram 3 --skips 2", "--ngram a2", "--ngram a2 --skips a1",
        "--ngram a2 b3", "--ngram 2 --skips b1", "--experimental_full_name_interactions a|b", r"-q a\x62",
    ],
)  # fmt: skip
def test_a_line_has_as_many_features_as_in_vowpal_wabbit(tmp_path, options):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    text = "1 |a x y x2 |b z w v:2 |c u"
    path = tmp_path / "t.vw"
    path.write_text(f"{text}\n")
    theirs = vowpalwabbit.Workspace(f"--quiet --noconstant {options}")
    example = theirs.example(text)
    theirs.learn(example)
    (command,) = translated([str(path), "--noconstant", *options.split()]).commands
    keywords = {"--ignore": "ignore", "--only-columns": "keep", "--cross": "crosses", "--ngrams": "ngrams"}
    reading = {keyword: [] for keyword in keywords.values()}
    for name, value in pairwise(command):
        if name in keywords:
            reading[keywords[name]].append(value)
    skips = int(command[command.index("--skips") + 1]) if "--skips" in command else 0

    block = next(library.read(path, **{name: values for name, values in reading.items() if values}, skips=skips))

    assert block.nonzeros == example.get_feature_number()


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


@pytest.mark.parametrize(
    ("options", "label", "loss", "unit"),
    [
        ("--loss_function squared", 3, losses.Squared(), 2),
        ("--loss_function logistic", 1, losses.Logistic(), 1),
        ("--loss_function hinge", -1, losses.Hinge(), 1),
        ("--loss_function quantile --quantile_tau 0.3", 2, losses.Quantile(0.3), 1),
        ("--loss_function quantile --quantile_tau 0.3", -2, losses.Quantile(0.3), 1),
    ],
)
def test_the_units_of_losses_are_those_that_are_said(tmp_path, options, label, loss, unit):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    path = tmp_path / "one.vw"
    path.write_text(f"{label} |a x\n")
    learner = vowpalwabbit.Workspace(f"--quiet -d {path} {options}")

    assert learner.get_sum_loss() == pytest.approx(unit * losses.value(loss, 0.0, float(label)), rel=1e-6)
    assert any("is twice the one here" in note for note in translated([str(path), *options.split()]).notes) == (
        unit == 2
    )


def test_a_file_is_cut_where_vowpal_wabbit_holds_out_what_comes_after(ouzel, stream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    ran = ouzel("vw", "--run", "-d", "t.vw", "--holdout_after", "1500", "--loss_function", "logistic", "-q", "ab")

    assert ran.status == 0
    assert len((tmp_path / "t.first-1500.vw").read_text().splitlines()) == 1500
    assert (tmp_path / "t.vw").read_text().endswith((tmp_path / "t.after-1500.vw").read_text())
    assert ouzel("info", "model.ouzel", "--json").json["examples"] == 1500
    assert re.search(r"^ +500  examples", ran.out, re.MULTILINE)


def test_the_page_for_people_from_vowpal_wabbit_shows_what_is_printed(ouzel):
    (block,) = re.findall(r"^```text\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands = block.removeprefix("$ ouzel ").split("$ ouzel ")

    assert len(commands) == 2
    for command in commands:
        words, _, printed = command.partition("\n")
        assert ouzel(*words.split()).out == printed


@pytest.mark.parametrize(
    ("option", "text", "features"),
    [
        ("--csv", "_label,_tag,a\n1,t1,2\n-1,t2,1\n", {"a"}),
        ("--csv", "_label,a\n1,2\n-1,1\n", {"a"}),
        (
            "--json",
            '{"_label":1,"_tag":"t1","u":{"a":2}}\n{"_label":-1,"_text":"x y","u":{"a":1}}\n',
            {"u.a", "x", "y"},
        ),
    ],
)
def test_tags_of_objects_and_tables_are_no_features(ouzel, tmp_path, monkeypatch, option, text, features):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").write_text(text)

    assert ouzel("vw", "--run", "-d", "t", option, "--sgd", "--loss_function", "logistic", "-f", "m").status == 0

    (of_class,) = ouzel("top", "m", "--json").json
    assert {name for name, _ in of_class["features"]} - {"(intercept)"} == features
