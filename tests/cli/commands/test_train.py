"""`ouzel train`: its answer, its JSON, and models that go on where they stopped, to the bit."""

import bz2
import gzip
import json
import lzma
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
import zstandard

from ouzel.layout import flat
from ouzel.learners.catalogue import LEARNERS
from ouzel.model.model import Model
from ouzel.model.persistence import load_model, load_notes
from ouzel.streams.convert import convert
from ouzel.streams.read import read
from tests.cli.conftest import lines_of
from torture.killing import through_kills


def arrays(path):
    return [array.tobytes() for state in load_model(path).states for _, array in flat(state)]


def test_a_training_whose_model_could_not_be_read_again_ends_in_one_line(ouzel, small, tmp_path, monkeypatch):
    learn = Model.learn

    def spoilt(self, block, **how):
        outcome = learn(self, block, **how)
        self.states[0].table[0, 0] = np.nan
        return outcome

    monkeypatch.setattr(Model, "learn", spoilt)

    ran = ouzel("train", small, "--learner", "adagrad", "--model", tmp_path / "m")

    assert ran.status == 2
    assert "m: not written, for it could not be read again: table holds what is not a number" in ran.err
    assert not (tmp_path / "m").exists()


def test_the_steps_of_the_paper_learn_features_of_any_size(ouzel, tmp_path):
    path, model = tmp_path / "large.svm", tmp_path / "m"
    path.write_text("".join(f"{k % 2} 1:{1e5 + k % 7} 2:{3e5 * (k % 2)} 3:{k % 3}\n" for k in range(200)))
    own = ["--set", "by_mass=no", "--set", "diagonal=no"]

    for every in ("1", "4"):
        ran = ouzel("train", path, "--learner", "son-oja", *own, "--set", f"sketch_every={every}", "--model", model)
        assert ran.status == 0, ran.err
        found = ouzel("predict", model, path, "--only", "margins")
        assert found.status == 0, found.err
        assert np.isfinite(np.array(found.out.split(), float)).all()


def test_the_answer_names_the_figures_and_the_heaviest_features(ouzel, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("weather,label\n" + "sun,dry\ncloud,wet\n" * 40)

    ran = ouzel("train", path)

    assert ran.status == 0
    for part in ("error rate", "mean loss", "AUC", "examples     80", "features     2", "weather=sun", "speak for wet"):
        assert part in ran.out
    assert "error so far" in ran.err
    assert max(map(len, ran.out.splitlines() + ran.err.splitlines())) <= 80


def test_json_is_one_object_and_all_there_is(ouzel, small):
    ran = ouzel("train", small, "--json")

    needed = {"examples", "error_rate", "mean_loss", "seconds_reading", "seconds_learning", "learner", "settings"}
    assert needed | {"curve", "skipped", "seconds_compiling"} <= set(ran.json)
    assert ran.err == ""
    assert ran.json["curve"][-1]["error_rate"] == ran.json["error_rate"]


def test_the_figures_do_not_depend_on_the_format(ouzel, small, tmp_path):
    text = small.read_bytes()
    vw = b"".join(line.replace(b" ", b" | ", 1) for line in text.splitlines(keepends=True))
    files = {
        "a.svm.gz": gzip.compress(text),
        "a.svm.bz2": bz2.compress(text),
        "a.svm.xz": lzma.compress(text),
        "a.svm.zst": zstandard.compress(text),
        "no-suffix": text,
        "a.vw": vw,
    }
    expected = ouzel("train", small, "--json").json

    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        found = ouzel("train", tmp_path / name, "--json").json
        assert (found["error_rate"], found["mean_loss"]) == (expected["error_rate"], expected["mean_loss"]), name
    command = [sys.executable, "-m", "ouzel", "train", "-", "--json"]
    piped = json.loads(subprocess.run(command, input=text, capture_output=True, check=True).stdout)
    assert (piped["error_rate"], piped["mean_loss"]) == (expected["error_rate"], expected["mean_loss"])


def test_numbers_are_learnt_where_the_loss_says_so(ouzel, tmp_path):
    path = tmp_path / "numbers.svm"
    path.write_text("".join(f"{x / 10 + 1} 1:{x / 10}\n" for x in range(20)) * 20)

    ran = ouzel("train", path, "--loss", "squared", "--learner", "ogd", "--learning-rate", "0.2")

    assert ran.status == 0
    assert "rmse" in ran.out
    assert "error so far" not in ran.err


def test_settings_reach_the_learner(ouzel, small):
    arguments = [
        "--learner",
        "ogd",
        "--set",
        "power=0.25",
        "--learning-rate",
        "0.7",
        "--loss",
        "hinge",
        "--no-intercept",
    ]
    settings = ouzel("train", small, "--json", *arguments).json["settings"]

    assert settings == {"loss": "hinge", "learning_rate": 0.7, "power": 0.25}


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "arguments",
    [
        ["--learner", "son-oja", "--set", "bound=project", "--set", "diagonal=no", "--set", "largest=3"],
        ["--learner", "adagrad", "--loss", "quantile(tau=0.9)", "--l1", "1e-7", "--learning-rate", "0.123456789"],
        ["--learner", "adagrad-eager", "--set", "penalty=l2-ball(radius=2)", "--set", "dual_averaging=yes"],
        ["--learner", "adagrad-eager", "--set", "penalty=max-norm", "--l1", "0.001"],
        ["--learner", "narow", "--set", "bound=5", "--set", "full=yes"],
        ["--learner", "awm", "--budget", "2KB", "--set", "schedule=inverse-root"],
    ],
    ids=lambda arguments: arguments[1],
)
def test_settings_are_shown_as_they_may_be_given_again(ouzel, tmp_path, arguments):
    path = tmp_path / "two.svm"
    path.write_text("+1 1:1\n-1 2:1\n")
    first = ouzel("train", path, "--json", *arguments).json["settings"]
    _, heading, *lines = ouzel("train", path, *arguments).out.split("\n")
    more = takewhile(lambda line: "=" in (line.split() or [""])[0], lines)
    name, *shown = " ".join([heading, *more]).replace(", ", ",").split()

    again = ouzel("train", path, "--json", "--learner", name, *(x for pair in shown for x in ("--set", pair)))

    assert again.json["settings"] == first
    assert not [word for word in shown if word in ("bound=0", "bound=1", "diagonal=0", "diagonal=1")]


def test_the_curve_can_be_drawn(ouzel, small):
    for suffix, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        plot = small.with_name(f"curve.{suffix}")
        assert ouzel("train", small, "--plot", plot).status == 0
        assert plot.read_bytes().startswith(start)
    drawn = small.with_name("curve.svg").read_text()
    assert f"<!-- {small.name}, " in drawn  # its title, with how many examples there were


def test_held_out_examples_and_passes_are_shown(ouzel, small):
    ran = ouzel("train", small, "--holdout-every", "10", "--passes", "2")

    assert "held out 2" in ran.out
    assert "of 100 examples never learnt" in ran.out
    assert "by pass" in ran.out


def test_a_finished_model_learns_further_files(ouzel, tmp_path):
    lines = lines_of(600)
    for name, part in (("all", lines), ("a", lines[:250]), ("b", lines[250:])):
        (tmp_path / f"{name}.svm").write_text("".join(part))
    first, whole = tmp_path / "first", tmp_path / "whole"

    ouzel("train", tmp_path / "a.svm", "--model", first, "--learner", "ogd", "--learning-rate", "0.3")
    assert ouzel("train", tmp_path / "b.svm", "--resume", first, "--model", first).status == 0
    ouzel("train", tmp_path / "all.svm", "--model", whole, "--learner", "ogd", "--learning-rate", "0.3")

    assert arrays(first) == arrays(whole)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--loss", "hinge"], "--loss hinge contradicts"),
        (["--learner", "ogd"], "--learner ogd contradicts"),
        (["--learning-rate", "0.9"], "--learning-rate 0.9 contradicts"),
        (["--l1", "0.1"], "--l1 0.1 contradicts"),
        (["--no-intercept"], "contradicts"),
        (["--bits", "12"], "--bits 12 contradicts"),
        (["--seed", "3"], "--seed 3 contradicts"),
        (["--label", "y"], "--label y contradicts"),
    ],
)
def test_a_contradicting_flag_is_an_error(ouzel, small, tmp_path, flags, message):
    model = tmp_path / "m"
    ouzel("train", small, "--model", model, "--learner", "adagrad")
    before = model.read_bytes()

    ran = ouzel("train", small, "--resume", model, "--model", model, *flags)

    assert ran.status == 2
    assert message in ran.err
    assert model.read_bytes() == before


def test_an_agreeing_flag_is_fine(ouzel, small, tmp_path):
    model = tmp_path / "m"
    ouzel("train", small, "--model", model, "--learner", "adagrad", "--loss", "logistic", "--learning-rate", "0.5")

    flags = ["--loss", "logistic", "--learning-rate", "0.5", "--learner", "adagrad", "--bits", "18"]
    assert ouzel("train", small, "--resume", model, "--model", model, *flags).status == 0


def test_a_checkpoint_that_is_not_there_yet_is_a_fresh_start(ouzel, small, tmp_path):
    model = tmp_path / "m"

    ran = ouzel("train", small, "--resume", model, "--model", model)

    assert ran.status == 0
    assert "beginning a new model" in ran.err


def test_a_finished_run_is_not_run_twice_by_its_own_command(ouzel, small, tmp_path):
    model = tmp_path / "m"
    command = ["train", small, "--model", model, "--checkpoint-every", "300", "--resume", model]
    first = ouzel(*command, "--json")
    before = model.read_bytes()

    again = ouzel(*command, "--json")

    assert model.read_bytes() == before
    assert again.json["error_rate"] == first.json["error_rate"]


def test_how_columns_are_read_is_remembered(ouzel, tmp_path):
    path = tmp_path / "income.csv"
    path.write_text("age,work,income\n" + "30,office,high\n20,farm,low\n" * 30)
    model = tmp_path / "m"
    ouzel("train", path, "--label", "income", "--label-positive", "high", "--ignore", "age", "--model", model)

    assert load_notes(model)[1]["reading"]["label"] == "income"
    assert ouzel("train", path, "--resume", model, "--model", model).status == 0
    assert ouzel("predict", model, path, "--only", "labels").out.split() == ["1", "-1"] * 30


def test_a_file_may_lack_a_column_that_its_model_ignores(ouzel, tmp_path):
    rows = "30,office,high\n20,farm,low\n" * 30
    (tmp_path / "income.csv").write_text(f"age,work,income\n{rows}")
    (tmp_path / "without.csv").write_text("work,income\n" + rows.replace("30,", "").replace("20,", ""))
    model = tmp_path / "m"
    ouzel("train", tmp_path / "income.csv", "--label", "income", "--ignore", "age", "--model", model)

    misspelt = ouzel(
        "train", tmp_path / "income.csv", "--label", "income", "--ignore", "aeg", "--model", tmp_path / "n"
    )
    assert "has no column 'aeg'" in misspelt.err
    assert ouzel("test", model, tmp_path / "without.csv").status == 0
    assert ouzel("train", tmp_path / "without.csv", "--resume", model, "--model", model).status == 0


def test_killed_at_any_moment_it_goes_on_to_the_same_bits(tmp_path):
    """Killed again and again at different moments, the run ends as one that never was."""
    path, model, whole = tmp_path / "big.svm", tmp_path / "m", tmp_path / "whole"
    path.write_text("".join(lines_of(4000)) * 10)
    command = [sys.executable, "-m", "ouzel", "train", str(path), "--json", "--passes", "2", "--holdout-every", "50"]
    command += ["--interval", ".9", "--interval-by", "1", "--calibrate", "--alarm", ".01", "--alarm-inputs"]
    subprocess.run([*command, "--model", str(whole)], check=True, stdout=subprocess.DEVNULL)
    resumed = [*command, "--model", str(model), "--checkpoint-every", "2000", "--resume", str(model)]

    def begin():
        return subprocess.Popen(resumed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    kills = through_kills(begin, model, (0.0, 0.004, 0.01, 0.03))
    done = subprocess.run(resumed, check=True, capture_output=True, text=True)

    assert kills >= 2
    assert arrays(model) == arrays(whole)
    assert load_notes(model)[1]["run"]["progress"] == load_notes(whole)[1]["run"]["progress"]
    assert '"examples": 39200' in done.stdout


def test_help_is_quick_and_imports_nothing_heavy():
    code = (
        "import sys; from ouzel.cli.app import run; status = run(['train', '--help']);"
        "heavy = {'numba', 'numpy', 'sklearn', 'matplotlib', 'pyarrow', 'rich'} & set(sys.modules);"
        "sys.exit(status or (f'imported {heavy}' if heavy else 0))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr
    assert "Example: ouzel train" in ran.stdout


@pytest.mark.parametrize("format", ["svm", "csv", "parquet", "arrow"])
def test_a_training_imports_nothing_that_it_does_not_use(format, small, tmp_path):
    """Pandas least of all, which PyArrow would import to hand out numbers; nor pydantic for a whole number."""
    path = small if format == "svm" else tmp_path / f"t.{format}"
    if format == "csv":
        path.write_text("label,age,city\n" + "1,30,Rome\n0,31,Oslo\n" * 20)
    elif format != "svm":
        convert(read(small), path)
    code = (
        "import sys; from ouzel.cli.app import run;"
        f"status = run(['train', {str(path)!r}, '--learner', 'adagrad', '--bits', '18']);"
        "unused = {'pydantic', 'pandas', 'scipy.linalg', 'sklearn', 'matplotlib', 'ouzel.cli.commands.serve'};"
        "unused &= set(sys.modules); sys.exit(status or (f'imported {unused}' if unused else 0))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("learner", ["auto", "auto --loss squared", "adagrad", "son-oja", "awm --budget 8KB"])
def test_a_second_run_compiles_nothing(learner, tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m"
    table.write_text("label,age,city\n" + "1,30,Rome\n0,31,Oslo\n2,40,Bern\n" * 20)
    learner = ["--learner", *learner.split()]
    commands = [["train", table, *learner, "--model", model], ["predict", model, table], ["top", model]]
    code = (
        "import sys; from numba.core import event; import json\n"
        "class Listener(event.Listener):\n"
        "    def on_start(self, event): print('COMPILING', event.data['dispatcher'].py_func.__qualname__)\n"
        "    def on_end(self, event): pass\n"
        "event.register('numba:compile', Listener())\n"
        "from ouzel.cli.app import run\n"
        "sys.exit(max(run(command) for command in json.loads(sys.argv[1])))"
    )

    def ran():
        model.unlink(missing_ok=True)
        given = json.dumps([list(map(str, command)) for command in commands])
        return subprocess.run([sys.executable, "-c", code, given], capture_output=True, text=True, check=True).stdout

    ran()
    assert "COMPILING" not in ran()


def test_a_closed_pipe_is_no_error(small):
    command = f"{sys.executable} -m ouzel train {small} --model {small.parent}/m --json > /dev/null;"
    command += f" {sys.executable} -m ouzel predict {small.parent}/m {small} {small} {small} {small} | head -1"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True)

    assert ran.stdout == "row\tactual\tlabel\tmargin\tprobability of 1\n"
    assert ran.stderr == ""


def test_ctrl_c_waits_for_the_block_and_keeps_what_was_learnt(tmp_path):
    lines = lines_of(3000)
    (tmp_path / "all.svm").write_text("".join(lines))
    model, whole = tmp_path / "m", tmp_path / "whole"
    command = [sys.executable, "-m", "ouzel", "train", "--learner", "ogd", "--model"]
    ran = subprocess.Popen([*command, model, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    ran.stdin.write("".join(lines[:700]).encode())
    while ran.stderr.readline().split()[:1] != [b"512"]:
        pass
    ran.send_signal(signal.SIGINT)
    _, err = ran.communicate(timeout=60)
    (tmp_path / "rest.svm").write_text("".join(lines[700:]))
    subprocess.run([*command, model, tmp_path / "rest.svm", "--resume", model], check=True, capture_output=True)
    subprocess.run([*command, whole, tmp_path / "all.svm"], check=True, capture_output=True)

    assert ran.returncode == 130
    assert b"stopped; " in err
    assert b"holds the first 700 examples" in err
    assert arrays(model) == arrays(whole)


def test_an_interruption_says_what_is_on_disk(ouzel, small, tmp_path, monkeypatch):
    from ouzel.model.model import Model

    learn, learnt = Model.learn, []

    def interrupted(self, block, **how):
        learnt.append(block.rows)
        if sum(learnt) > 500:
            raise KeyboardInterrupt
        return learn(self, block, **how)

    monkeypatch.setattr(Model, "learn", interrupted)
    ran = ouzel("train", small, "--model", tmp_path / "m", "--checkpoint-every", "200")

    assert ran.status == 130
    assert "m holds the first 400 examples" in ran.err
    assert load_model(tmp_path / "m").examples == 400
    assert not list(Path(tmp_path).glob("*.partial"))


def test_without_a_command_the_help_is_shown(ouzel):
    ran = ouzel()

    assert (ran.status, ran.err) == (0, "")
    assert "Train a model on a stream in one pass." in ran.out
    assert "..." not in ran.out.split("Commands:")[1]


def test_learners_are_listed_and_their_settings_told(ouzel, small):
    names = [line.split()[0] for line in ouzel("learners").out.splitlines() if line[0] != " "]
    settings = [line.split()[1] for line in ouzel("learners", "son-oja").out.splitlines() if "--set" in line]

    assert names == list(LEARNERS)
    for shown in ("learners",), ("learners", "wm"), ("learners", "adagrad-eager"):
        assert max(map(len, ouzel(*shown).out.splitlines())) <= 80
    assert "a whole number from 0 to 4,096" in ouzel("learners", "son-oja").out
    assert ouzel("learners", "son-oja", "--json").json["ranges"]["bound"]["takes"] == "one of clip, project"
    given = [part for setting in settings for part in ("--set", setting)]
    trained = ouzel("train", small, "--learner", "son-oja", *given, "--json").json
    assert trained["settings"] == {**ouzel("learners", "son-oja", "--json").json["settings"], "largest": "inf"}


def test_a_closed_pipe_is_told_by_the_status(small):
    command = f"({sys.executable} -m ouzel train --help; echo $? >&2) | true"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True)

    assert ran.stderr in ("141\n", "0\n")  # the latter if all was written before the pipe closed


def test_arrow_reading_ahead_does_not_abort_the_end_of_a_command(tmp_path):
    path = tmp_path / "big.csv"
    path.write_text("a,b\n" + "1,2\n" * 2_000_000)
    ran = subprocess.run([sys.executable, "-m", "ouzel", "train", path], capture_output=True, text=True)

    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1


def test_many_classes_fit_the_screen(ouzel, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,y\n" + "".join(f"word-{k % 30},class-{k % 30}\n" for k in range(90)))

    lines = ouzel("train", path, "--learner", "arow").out.splitlines()

    assert max(map(len, lines)) <= 80
    assert [line.strip() for line in lines if "more:" in line] == ["… and of 10 more: ouzel top MODEL"]


def test_divergence_is_said_beside_the_baseline(ouzel, tmp_path):
    path = tmp_path / "numbers.svm"
    path.write_text("".join(f"{40 + k % 7} 1:{30 + k % 5} 2:{k % 11}\n" for k in range(300)))
    arguments = ["train", path, "--learner", "ogd", "--loss", "squared", "--standardize", "no"]

    shown, answer = ouzel(*arguments), ouzel(*arguments, "--json").json

    assert shown.status == 0
    assert " ".join(shown.out.split()).endswith("try a smaller learning rate, or the learner auto")
    assert "always predicting the mean so far" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    assert answer["baseline"] < 4
    assert len(answer["warnings"]) == 1


def test_labels_that_are_numbers_are_predicted_and_the_line_says_how_to_have_classes(ouzel, tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("price,size\n" + "".join(f"{100.5 + 3 * k},{k}\n" for k in range(60)))

    ran = ouzel("train", path, "--label", "price", "--learner", "ogd", "--model", tmp_path / "m")
    assert "labels are numbers (such as 100.5)" in ran.err
    assert "--loss logistic" in ran.err
    assert "rmse" in ran.out

    forced = ouzel("train", path, "--label", "price", "--learner", "ogd", "--loss", "logistic", "--json")
    assert len(forced.json["classes"]) == 60


def test_so_many_classes_may_be_asked_for(ouzel, tmp_path):
    path, out = tmp_path / "words.csv", tmp_path / "m"
    path.write_text("y,x\n" + "".join(f"word-{k % 3},{k}\n" for k in range(30)))
    arguments = ["train", path, "--label", "y", "--learner", "perceptron", "--model", out]

    refused, asked = (ouzel(*arguments, "--max-classes", most) for most in (2, 3))

    assert refused.status == 2
    assert "label 'word-2' would be class number 3; is this the label?" in refused.err
    assert "say --max-classes 10000" in refused.err
    assert asked.status == 0
    assert ouzel(*arguments, "--max-classes", 10_001).status == 2


def test_labels_that_come_late_change_the_figures_and_nothing_that_is_learnt(ouzel, small, tmp_path):
    models = [tmp_path / name for name in ("at-once", "late")]
    at_once, late = (
        json.loads(ouzel("train", small, "--json", "--model", model, "--delay", delay).out)
        for model, delay in zip(models, (0, 100), strict=True)
    )

    assert late["examples"] == at_once["examples"]
    assert late["mean_loss"] != at_once["mean_loss"]
    assert arrays(models[0]) == arrays(models[1])
    refused = ouzel("train", small, "--delay", 5, "--model", tmp_path / "m", "--checkpoint-every", 100)
    assert refused.status == 2
    assert "--delay is for one run over files" in refused.err
