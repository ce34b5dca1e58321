"""The ranker: pairs of groups in whatever pieces they come, saved and loaded."""

import numpy as np
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.streams.groups import whole_groups
from ouzel.streams.read import read


def queries(groups=60, size=8):
    """Groups whose relevance is a noisy linear score."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(groups * size, 6)).astype(np.float32)
    score = X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0]) + rng.normal(scale=0.3, size=len(X))
    return X, (score > 1).astype(int) + (score > 2.5), np.repeat(np.arange(groups), size)


@pytest.mark.parametrize("pairs", [0, 5])
def test_groups_in_pieces_saved_and_loaded_in_between_give_the_bits_of_one_fit(tmp_path, pairs):
    X, y, qid = queries()
    whole = ouzel.AdaGradRanker(pairs=pairs, seed=3).fit(X, y, qid=qid)

    piecewise = ouzel.AdaGradRanker(pairs=pairs, seed=3).partial_fit(X[:80], y[:80], qid=qid[:80])
    piecewise.save(tmp_path / "ranker.ouzel")
    piecewise = ouzel.load(tmp_path / "ranker.ouzel").partial_fit(X[80:], y[80:], qid=qid[80:])

    assert isinstance(piecewise, ouzel.AdaGradRanker)
    np.testing.assert_array_equal(whole.coef_, piecewise.coef_)


def test_it_ranks_and_says_by_what():
    X, y, qid = queries()
    model = ouzel.AdaGradRanker().fit(X[:240], y[:240], qid=qid[:240])

    assert model.score(X[240:], y[240:], qid=qid[240:]) > 0.9
    assert [feature for feature, _ in model.top_weights(3)] == [0, 1, 2]


def test_group_numbers_may_be_names_but_there_must_be_one_an_example():
    X, y, qid = queries(groups=4)
    by_name = ouzel.AdaGradRanker().fit(X, y, qid=[f"query {number}" for number in qid])

    np.testing.assert_array_equal(by_name.coef_, ouzel.AdaGradRanker().fit(X, y, qid=qid).coef_)
    with pytest.raises(ouzel.OuzelError, match="qid must name the group of each example"):
        by_name.fit(X, y, qid=[1, 2])
    with pytest.raises(ouzel.OuzelError, match="learns groups"):
        by_name.learn_one({"a": 1.0}, 1)


def test_blocks_are_cut_where_groups_end(tmp_path):
    lines = [f"{k % 3} qid:{k // 7} {k % 5 + 1}:{k + 1}\n" for k in range(70)]
    path = tmp_path / "groups.svm"
    path.write_text("".join(lines))
    whole = next(read(path))

    for size in (1, 5, 7, 30, 100):
        pieces = [whole.slice(start, min(start + size, 70)) for start in range(0, 70, size)]
        found = list(whole_groups(pieces))

        assert np.concatenate([block.labels for block in found]).tolist() == whole.labels.tolist()
        assert np.concatenate([block.values for block in found]).tolist() == whole.values.tolist()
        assert all(len(block.labels) % 7 == 0 for block in found)
        assert all(int(block.offsets[-1]) == len(block.indices) for block in found)


@pytest.mark.parametrize("y", [1.0, [1.0], [[1.0, 0.0]]])
def test_a_score_needs_a_relevance_of_each_example(y):
    X = np.eye(2)
    model = ouzel.OnlineRanker("adagrad").fit(X, [1.0, 0.0])

    with pytest.raises(ouzel.OuzelError, match="y has the relevance of each example, so 2 of them; got shape"):
        model.score(X, y)


def test_rows_of_a_group_that_are_scattered_are_reported_once(recwarn):
    X, y, _ = queries()
    ouzel.AdaGradRanker().fit(X, y, qid=np.arange(len(X)) // 8)
    assert not recwarn.list

    model = ouzel.AdaGradRanker()
    with pytest.warns(
        UserWarning, match="groups: row 61 belongs to the group of earlier rows, .*, sort the rows by group"
    ):
        model.fit(X, y, qid=np.arange(len(X)) % 60)
    model.partial_fit(X, y, qid=np.arange(len(X)) % 60)
    assert not [said for said in recwarn if "groups" in str(said.message)]


def test_training_on_a_table_reports_groups_that_are_scattered(tmp_path, capsys):
    rows = "".join(f"{k % 2},{k % 5},{k % 7}\n" for k in range(70))
    (tmp_path / "t.csv").write_text("y,group,x\n" + rows)

    assert run(["train", str(tmp_path / "t.csv"), "--label", "y", "--group", "group", "--task", "ranking"]) == 0
    assert "groups: row 6 belongs to the group of earlier rows" in " ".join("".join(capsys.readouterr()).split())
