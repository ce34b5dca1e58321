"""Command lines of Vowpal Wabbit become commands that run, or end with status 2 and the reason."""

import random
import shlex
from pathlib import Path

import pytest

from ouzel.cli.vowpal_wabbit import by_name
from ouzel.cli.vowpal_wabbit_arguments import parsed

LINES = [
    line
    for line in Path(__file__).with_name("vowpal_wabbit_lines.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
TRANSLATED = [line for line in LINES if not line.startswith("!")]
REFUSED = [line.removeprefix("! ") for line in LINES if line.startswith("!")]
ROWS = 24
NAMESPACES = "TfabcM"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The folder of the files that the lines read."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(3)

    def write(name, label):
        rows = [
            f"{label(k)} |f v:{chance.random():.3f} c{k % 3} "
            + " ".join(
                f"|{letter} {letter}{chance.randrange(4)} z{k % 3}:{chance.random():.2f}" for letter in NAMESPACES
            )
            for k in range(ROWS)
        ]
        Path(name).write_text("\n".join(rows) + "\n")

    write("numbers.vw", lambda k: f"{k % 3 + 0.25 * (k % 2)}")
    write("zero_one.vw", lambda k: int(k % 3 == 0))
    write("signs.vw", lambda k: 1 if k % 3 else -1)
    write("classes.vw", lambda k: 1 + k % 3)
    write("named.vw", lambda k: ["det", "noun", "verb"][k % 3])
    write("counts.vw", lambda k: k % 4)
    write("unlabelled.vw", lambda k: "" if k % 4 == 0 else k % 3)
    Path("objects.json").write_text(
        "".join(f'{{"_label": {k % 2}, "f": {{"a": {k % 5}, "b": "w{k % 3}"}}, "g": {k % 7}}}\n' for k in range(ROWS))
    )
    Path("table.csv").write_text("_label,a,b\n" + "".join(f"{k % 2},{k % 5},w{k % 3}\n" for k in range(ROWS)))
    return tmp_path


def test_there_are_enough_lines_and_they_have_all_options_that_are_translated_but_those_of_services():
    given = {entry.option.here for line in TRANSLATED for entry in parsed(shlex.split(line))}
    services = {"--daemon", "--port"}

    assert len(TRANSLATED) >= 150
    assert {option.here for name, option in by_name().items() if option.meaning == "translated"} - given == {
        by_name()[name].here for name in services
    } | {by_name()["--csv_header"].here}


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "options",
    [
        "--ftrl --ftrl_alpha 0.1 --ftrl_beta 1 --loss_function logistic",
        "--ftrl --ftrl_alpha 0.1 --ftrl_beta 1 --loss_function logistic --l1 0.5 --l2 0.3 --noconstant",
        "--adaptive -l 0.3 --loss_function logistic",
    ],
)
def test_learners_that_are_the_same_predict_as_vowpal_wabbit_does(ouzel, files, options):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    learner = vowpalwabbit.Workspace(f"--quiet -d signs.vw {options}")
    theirs = [learner.predict(line.partition(" ")[2]) for line in Path("signs.vw").read_text().splitlines()]

    ouzel("vw", "--run", "-d", "signs.vw", "-f", "m", "-r", "margins.csv", *options.split())

    ours = [float(line.rpartition(",")[2]) for line in Path("margins.csv").read_text().splitlines()[1:]]
    assert len(ours) == ROWS
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-5)  # Vowpal Wabbit keeps weights in single precision


@pytest.mark.interpreted
def test_lines_of_vowpal_wabbit_run(ouzel, files):
    failed = {}
    for line in TRANSLATED:
        ran = ouzel("vw", "--run", *shlex.split(line))
        if ran.status or "Traceback" in ran.err:
            failed[line] = ran.err.splitlines()[-1]

    assert failed == {}


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_of_another_kind_of_model_ends_with_status_2_and_the_reason(ouzel, line):
    ran = ouzel("vw", "--run", *shlex.split(line))

    assert (ran.status, ran.out) == (2, "")
    assert all(message.startswith("ouzel: `-") and "of Vowpal Wabbit" in message for message in ran.err.splitlines())
