"""`ouzel train --task ranking`: groups of svmlight text or of a table, learnt by pairs."""

import json
import subprocess
import sys

import numpy as np
import pytest

import ouzel as library
from ouzel.evaluation.ranking import average_precision, precision_at
from ouzel.model.persistence import load_model
from ouzel.model.tasks.ranking import groups_of
from ouzel.streams.groups import whole_groups
from ouzel.streams.sources import chunks

ADAGRAD = ("--task", "ranking", "--learner", "adagrad", "--loss", "hinge")


@pytest.fixture
def queries(tmp_path):
    """60 groups of 8 whose relevance is a noisy linear score: (X, relevance, group), and the file."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(480, 4)).round(3)
    score = X @ np.array([2.0, -1.0, 0.5, 0.0]) + rng.normal(scale=0.3, size=len(X))
    y, group = (score > 1).astype(int) + (score > 2.5), np.repeat(np.arange(60), 8)
    path = tmp_path / "ranked.svm"
    rows = (" ".join(f"{k + 1}:{x}" for k, x in enumerate(row)) for row in X)
    path.write_text("".join(f"{t} qid:{g} {row}\n" for t, g, row in zip(y, group, rows, strict=True)))
    return X, y, group, path


def test_it_learns_what_the_estimator_learns_and_counts_pairs(ouzel, queries, tmp_path):
    X, y, group, path = queries
    ran = ouzel("train", path, *ADAGRAD, "--model", tmp_path / "m", "--json")
    X1 = np.column_stack([np.zeros(len(X)), X]).astype(np.float32)  # ids of the file begin at 1
    estimator = library.AdaGradRanker().fit(X1, y, qid=group)

    pairs = sum(int((y[group == g][:, None] > y[group == g]).sum()) for g in range(60))
    assert (ran.json["examples"], ran.json["pairs"], ran.json["curve"][-1]["examples"]) == (480, pairs, pairs)
    assert ran.json["error_rate"] < 0.12
    np.testing.assert_array_equal(load_model(tmp_path / "m").weights()[0][1:6], estimator.coef_)
    titles, *rows = [line.split("\t") for line in ouzel("predict", tmp_path / "m", path).out.splitlines()]
    assert titles == ["row", "actual", "score"]
    np.testing.assert_allclose([float(row[2]) for row in rows], estimator.predict(X1), rtol=1e-4)


def test_where_the_text_is_cut_does_not_matter(ouzel, queries, monkeypatch):
    *_, path = queries
    whole = ouzel("train", path, *ADAGRAD, "--pairs", "5", "--json").json
    monkeypatch.setattr(chunks, "CHUNK", 700)

    assert ouzel("train", path, *ADAGRAD, "--pairs", "5", "--json").json["mean_loss"] == whole["mean_loss"]


def test_a_bad_line_loses_no_group_before_it_and_the_rest_follows(ouzel, queries, tmp_path):
    *_, path = queries
    text = path.read_text()
    ouzel("train", path, *ADAGRAD, "--model", tmp_path / "whole")
    lines = text.splitlines(keepends=True)
    path.write_text("".join([*lines[:300], "1 qid:99 1:x\n", *lines[300:]]))

    ran = ouzel("train", path, *ADAGRAD, "--model", tmp_path / "m")
    path.write_text(text)
    ouzel("train", path, "--model", tmp_path / "m", "--resume", tmp_path / "m")

    assert "m holds the first 296 examples" in ran.err
    assert np.array_equal(load_model(tmp_path / "m").weights(), load_model(tmp_path / "whole").weights())


def test_groups_may_be_a_column_or_a_file_of_sizes(ouzel, queries, tmp_path):
    X, y, group, path = queries
    table, plain, sizes = tmp_path / "t.csv", tmp_path / "plain.svm", tmp_path / "sizes"
    rows = zip(y, group, X.tolist(), strict=True)
    table.write_text("1,2,3,4,g,y\n" + "".join(",".join(map(str, [*x, f"q{g}", t])) + "\n" for t, g, x in rows))
    plain.write_text(
        "".join(line.split(" ")[0] + " " + line.split(" ", 2)[2] for line in path.read_text().splitlines(keepends=True))
    )
    sizes.write_text("8\n" * 60)

    wanted = ouzel("train", path, *ADAGRAD, "--json").json
    by_column = ouzel("train", table, *ADAGRAD, "--group", "g", "--json").json
    by_size = ouzel("train", plain, *ADAGRAD, "--query", sizes, "--json").json

    assert wanted["error_rate"] == by_column["error_rate"] == by_size["error_rate"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["FILE", "--task", "ranking"], "has no groups to rank within.*--group NAME"),
        (["FILE", "--task", "sorting"], "--task takes classification, regression, ranking"),
        (["FILE", "--task", "ranking", "--loss", "squared"], "a loss of classes, such as adagrad and hinge"),
        (["FILE", "--task", "ranking", "--learner", "awm-nce"], "a learner of two classes"),
        (["FILE", "--task", "ranking", "--holdout-every", "5"], "a ranking learns groups"),
    ],
)
def test_what_cannot_be_ranked_is_one_line(ouzel, small, arguments, message):
    import re

    ran = ouzel("train", *[small if argument == "FILE" else argument for argument in arguments])

    assert ran.status == 2
    assert re.search(message, ran.err)


def test_the_answer_speaks_of_pairs(ouzel, queries):
    *_, path = queries
    ran = ouzel("train", path, *ADAGRAD)

    assert "error rate   0." in ran.out
    assert ran.err.splitlines()[0].split()[0] == "pairs"
    command = [sys.executable, "-m", "ouzel", "train", "-", *ADAGRAD, "--json"]
    piped = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=True)
    assert json.loads(piped.stdout)["examples"] == 480


def test_the_ranks_are_those_of_scores_from_before_a_group_was_learnt(ouzel, queries):
    path = queries[-1]
    shown = ouzel("train", path, *ADAGRAD, "--json").json
    model = library.Model("adagrad", task="ranking", loss="hinge")
    found = []
    for block in whole_groups(library.read(path)):
        for here in groups_of(block.groups):
            part = block.slice(here.start, here.stop)
            if (part.labels > 0).any():
                scores, relevant = model.margins(part), part.labels > 0
                found.append([average_precision(scores, relevant), precision_at(5, scores, relevant)])
            model.learn(part)

    assert [shown["average_precision"], shown["precision_at_5"]] == pytest.approx(np.mean(found, axis=0))
    assert f"{shown['average_precision']:.4f}   at 1 " in ouzel("train", path, *ADAGRAD).out


def test_rankings_are_compared(ouzel, queries):
    path = queries[-1]
    shown = ouzel("compare", path, "--task", "ranking", "--learners", "ogd,adagrad", "--loss", "hinge", "--json").json
    alone = ouzel("train", path, *ADAGRAD, "--json").json

    assert [entry["learner"] for entry in shown] == ["ogd", "adagrad"]
    assert shown[1]["error_rate"] == alone["error_rate"]
    assert shown[1]["average_precision"] == alone["average_precision"]


def test_the_papers_rivals_of_adagrad_are_compared_by_ranking(ouzel, queries):
    shown = ouzel("compare", queries[-1], "--task", "ranking", "--learners", "adagrad-rda,pa1,arow,rda", "--json").json

    assert [entry["learner"] for entry in shown] == ["adagrad-rda", "pa1", "arow", "rda"]
    assert all(entry["error_rate"] < 0.2 for entry in shown)
