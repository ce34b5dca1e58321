"""Mistakes that people make once: each is answered by a line that says what to do."""

import numpy as np
import pytest

ROWS = "diagnosis,x\n" + "".join(f"{'MB'[k % 2]},{k % 7}\n" for k in range(40))


@pytest.mark.parametrize(
    ("option", "here"),
    [
        *(("--lr", "called --learning-rate here"), ("--epochs", "called --passes here")),
        *(("--target", "called --label here"), ("--save", "called --model here"), ("--output", "called --model here")),
        *(("--verbose", "not needed here, for progress is shown"), ("--random-state", "called --seed here")),
        ("--n-jobs", "not needed here, for one core learns"),
    ],
)
def test_options_of_other_libraries_are_known(option, here, ouzel):
    said = ouzel("train", "a.csv", option, "1")

    assert said.status == 2
    assert said.err.startswith(f"ouzel: {option} is {here}")
    assert len(said.err.splitlines()) == 1


def test_what_another_program_calls_an_option_goes_by_the_command(ouzel):
    assert "--save is called --output here" in ouzel("predict", "m", "a.csv", "--save", "b").err


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_positive_label_that_no_example_has_is_an_error_with_the_labels_seen(ending, ouzel, tmp_path):
    text = ROWS if ending == "csv" else "".join(f'{{"diagnosis":"{"MB"[k % 2]}","x":{k}}}\n' for k in range(9))
    file, model = tmp_path / f"t.{ending}", tmp_path / "m.ouzel"
    file.write_text(text)
    given = ("--label", "diagnosis", "--learner", "ogd", "-m", model, "--label-positive")

    said = ouzel("train", file, *given, "Malignant")

    assert said.status == 2
    assert "no label is 'Malignant'; its labels are M, B; name it with" in said.err
    assert not model.exists()
    assert ouzel("train", file, *given, "M").status == 0


def test_a_positive_label_that_is_not_there_is_said_before_the_end_unless_it_may_be_rare(ouzel, tmp_path):
    (tmp_path / "t.svm").write_text("2 1:1\n3 1:2\n" * 500 + "1 1:1\n")
    (tmp_path / "rare.svm").write_text("0 1:1\n" * 1000 + "1 1:2\n")
    given = ("--learner", "ogd", "--label-positive", "1")

    late, rare = (ouzel("train", tmp_path / name, *given) for name in ("t.svm", "rare.svm"))
    absent = ouzel("train", tmp_path / "t.svm", *given[:3], "7").err

    assert (late.status, rare.status) == (0, 0)
    assert "so far" not in late.err.partition("examples")[0] + rare.err.partition("examples")[0]
    assert absent.index(
        "so far no label is '7'; its labels are 1, 2, 3; to name another, stop (Ctrl-C)"
    ) < absent.index("512")


def test_so_is_a_number_that_none_is(ouzel, tmp_path):
    (tmp_path / "t.svm").write_text("2 1:1\n3 1:2\n" * 4)

    said = ouzel("train", tmp_path / "t.svm", "--learner", "ogd", "--label-positive", "1")

    assert said.status == 2
    assert "no label is '1'; its labels are 2, 3" in said.err


def test_going_on_with_a_model_that_knows_the_positive_label_asks_nothing(ouzel, tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "b.csv").write_text("diagnosis,x\n" + "B,1\n" * 9)
    given = ("--label", "diagnosis", "--label-positive", "M", "--learner", "ogd", "-m", tmp_path / "m.ouzel")
    ouzel("train", tmp_path / "a.csv", *given)

    said = ouzel("train", tmp_path / "b.csv", "--resume", tmp_path / "m.ouzel", "-m", tmp_path / "m.ouzel")

    assert said.status == 0


def test_a_comparison_refuses_it_too(ouzel, tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    given = ("--label", "diagnosis", "--label-positive", "Malignant")

    assert "no label is 'Malignant'" in ouzel("compare", tmp_path / "t.csv", "--learners", "ogd", *given).err


def test_many_numbers_are_classes_only_if_they_are_asked_for(ouzel, tmp_path):
    labels = np.random.default_rng(0).integers(25, 346, 442)
    (tmp_path / "t.csv").write_text("y,x\n" + "".join(f"{label},{k % 7}\n" for k, label in enumerate(labels)))
    given = ("train", tmp_path / "t.csv", "--learner", "ogd", "--loss", "logistic", "--bits", "6")

    said = ouzel(*given)

    assert said.status == 2
    assert "different numbers in 442 examples; is this the label? --max-classes 1000 learns so many classes" in said.err
    assert "--loss squared predicts numbers" in said.err
    assert ouzel(*given, "--max-classes", "1000").status == 0


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        *((b"label,x\n1,2\n", "text, as examples are"), (b'{"a": 1}\n', "text, as examples are")),
        *((b"PAR1" + bytes(40), "a table in Parquet"), (b"\x1f\x8b" + bytes(40), "a file packed with gzip")),
        (b"\x80\x05\x95" + bytes(40), "a pickle"),
        (b"\x07\x00\x00\x009.11.9\x00\x01" + bytes(40), "a model of Vowpal Wabbit, which Ouzel does not read"),
    ],
)
def test_a_file_of_another_kind_given_as_a_model_is_recognised(content, kind, ouzel, tmp_path):
    (tmp_path / "t").write_bytes(content)

    for command in (("predict", tmp_path / "t", tmp_path / "t"), ("top", tmp_path / "t"), ("info", tmp_path / "t")):
        said = ouzel(*command)
        assert said.status == 2
        assert f"{kind}" in said.err
        assert len(said.err.splitlines()) == 1


def test_a_printed_probability_says_of_which_class_it_is(ouzel, tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    ouzel("train", tmp_path / "t.csv", "--label", "diagnosis", "--learner", "ogd", "-m", tmp_path / "m.ouzel")

    said = ouzel("predict", tmp_path / "m.ouzel", tmp_path / "t.csv", "--label", "diagnosis")

    assert said.out.splitlines()[0] == "row\tactual\tlabel\tmargin\tprobability of M"


@pytest.mark.parametrize("command", ["train", "predict", "compare", "serve"])
def test_the_short_help_lists_a_dozen_options_and_says_how_to_see_all(command, ouzel):
    short, long = ouzel(command, "-h").out, ouzel(command, "--help").out

    options = [line for line in short.splitlines() if line.lstrip().startswith("-")]
    assert 3 <= len(options) <= 14
    assert f"options: ouzel {command} --help" in short
    assert len(long) > 2 * len(short)


def test_a_command_of_few_options_has_one_help(ouzel):
    assert ouzel("top", "-h").out == ouzel("top", "--help").out


def test_a_training_of_several_passes_on_a_rare_class_says_what_they_may_do(ouzel, tmp_path):
    rows = "".join(f"{int(k % 50 == 0)},{k % 7},{k % 11}\n" for k in range(400))
    (tmp_path / "t.csv").write_text("label,a,b\n" + rows)

    said = ouzel("train", tmp_path / "t.csv", "--label", "label", "--learner", "ogd", "--passes", "2")

    assert "warning: class 1 is rare (0.02 of the examples)" in said.out


def test_labels_that_a_resumed_model_did_not_have_are_named(ouzel, tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "b.csv").write_text(ROWS.replace("M,", "1,").replace("B,", "0,"))
    model = tmp_path / "m.ouzel"
    ouzel("train", tmp_path / "a.csv", "--label", "diagnosis", "--learner", "ogd", "-m", model)

    known, other = (
        ouzel("train", tmp_path / name, "--resume", model, "-m", tmp_path / "new.ouzel") for name in ("a.csv", "b.csv")
    )

    assert "new to the model" not in known.err
    assert "the label 1 is new to the model, which has M, B: learnt as one more class" in other.err
    assert "the label 0 is new" in other.err


def test_many_labels_that_are_new_are_named_once(ouzel, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n2 1:2\n" * 4)
    (tmp_path / "b.svm").write_text("".join(f"{k} 1:{k}\n" for k in range(3, 40)))
    ouzel("train", tmp_path / "a.svm", "--learner", "ogd", "-m", tmp_path / "m")

    said = ouzel("train", tmp_path / "b.svm", "--resume", tmp_path / "m", "-m", tmp_path / "m").err

    assert 1 <= said.count("new to the model, which has 1, 2") <= 4


def test_of_a_single_class_weights_speak_for_nothing(ouzel, tmp_path):
    (tmp_path / "one.svm").write_text("1 1:1\n1 2:1\n" * 4)
    (tmp_path / "two.svm").write_text("1 1:1\n2 2:1\n" * 4)

    one, two = (ouzel("train", tmp_path / name, "--learner", "ogd").out for name in ("one.svm", "two.svm"))

    assert "1 alone: nothing to learn" in one
    assert "speak for" not in one
    assert "(positive weights speak for 2)" in two
