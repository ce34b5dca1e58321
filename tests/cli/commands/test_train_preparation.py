"""`--standardize` and `--half-life` on the command line: kept in the file, and agreed with when going on."""

import pytest


def test_a_column_in_other_units_is_learnt_alike_with_standardize(ouzel, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("y,a,b\n" + "".join(f"{k % 2},{1e6 + 1e3 * (k % 2) + k % 7},{k % 5}\n" for k in range(400)))
    arguments = ["train", path, "--label", "y", "--learner", "ogd", "--json"]

    plain, *scaled = (
        ouzel(*arguments, *more).json
        for more in (["--standardize", "no"], [], ["--standardize"], ["--standardize=auto"])
    )

    assert max(report["error_rate"] for report in scaled) <= 0.05 < plain["error_rate"]


def test_an_option_without_its_word_does_not_take_the_file_that_follows(ouzel, small, tmp_path):
    ran = [ouzel("train", *given, "--learner", "ogd", "--json").json for given in (["--standardize", small], [small])]

    assert ran[0]["examples"] == ran[1]["examples"] > 0


def test_a_model_goes_on_standardising_and_forgetting_without_being_told_again(ouzel, small, tmp_path):
    out, flags = tmp_path / "m", ["--standardize", "--half-life", 100]
    ouzel("train", small, "--learner", "adagrad", "--model", out, *flags)

    again = ouzel("train", small, "--resume", out, "--relearn", "--model", tmp_path / "n")
    same = ouzel("train", small, "--resume", out, "--relearn", "--model", tmp_path / "o", *flags)

    assert again.status == same.status == 0
    assert (tmp_path / "n").read_bytes() == (tmp_path / "o").read_bytes()
    assert ouzel("predict", out, small).status == 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ["--standardize"],
            "^ouzel: --standardize yes contradicts .*, which was trained with --standardize auto; leave the",
        ),
        (["--half-life", 7], "--half-life 7 contradicts .*, which was trained without --half-life"),
    ],
)
def test_a_flag_that_the_model_was_not_learnt_with_is_refused(ouzel, small, tmp_path, flags, said):
    import re

    ouzel("train", small, "--learner", "ogd", "--model", tmp_path / "m")
    ran = ouzel("train", small, "--resume", tmp_path / "m", *flags)

    assert ran.status == 2
    assert re.search(said, " ".join(ran.err.split()))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--learner", "awm", "--standardize"], "awm keeps to a byte budget"),
        (["--learner", "perceptron", "--half-life", 100], "perceptron has nothing that could be forgotten by half"),
        (["--learner", "ogd", "--half-life", -1], "--half-life must be a number from 0"),
        (["--learner", "auto", "--half-life", 0.001], "--half-life must be 1 example or more"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(ouzel, small, flags, said):
    ran = ouzel("train", small, *flags)

    assert ran.status == 2
    assert said in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


def test_learners_are_compared_on_standardised_features(ouzel, small):
    ran = ouzel("compare", small, "--learners", "ogd,adagrad", "--standardize", "--half-life", 500, "--json")

    assert ran.status == 0
