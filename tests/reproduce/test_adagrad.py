"""The AdaGrad paper's experiments run, in their small variants, and leave their files."""

import numpy as np
import pytest

from ouzel.streams.block import Block
from reproduce import find
from reproduce.adagrad.census import Tokens, block_of, product_table
from reproduce.adagrad.single_pass import best_pass, hold_out
from reproduce.writing import signed


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("adagrad-table-1", "rcv1_topics_sample.svm.xz"),
        ("adagrad-table-2", "mq2008.test.svm.xz"),
        ("adagrad-table-3", "mnist.train-images-idx3-ubyte.gz"),
        ("adagrad-table-4", "census-income.data.csv.xz"),
        ("adagrad-figure-7", "rcv1_topics_sample.svm.xz"),
    ],
)
def test_an_experiment_leaves_a_table_and_a_plot(name, needs, data, tmp_path):
    find(name).load()(data(needs).parent, tmp_path, quick=True)

    assert "| --" in (tmp_path / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def block_of_signs(n, seed):
    """One-feature examples whose feature is the label."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1.0, 1.0], n)
    indices = (labels > 0).astype(np.uint32)
    return Block(np.arange(n + 1).astype(np.uint64), indices, np.ones(n, np.float32), labels, np.ones(n, np.float32))


def test_the_held_out_part_and_the_rest_are_all_there_is():
    block = block_of_signs(40, seed=0)._replace(weights=np.arange(40).astype(np.float32))

    train, test = hold_out(block, 0.25, seed=1)

    assert (train.rows, test.rows) == (30, 10)
    assert sorted([*train.weights, *test.weights]) == list(range(40))


def test_the_best_pass_learns_what_can_be_learnt():
    train, test = hold_out(block_of_signs(400, seed=2), 0.25, seed=3)

    found = best_pass("adagrad-rda", train, test, [0.25, 1.0], l1=1e-3)

    assert found.test_error == 0.0
    assert found.mistakes <= 3
    assert found.nonzero == 1.0


def test_products_are_the_pairs_of_values_in_a_row():
    tokens = Tokens(np.array([[0, 2], [1, 2], [0, -1]], np.int32), np.array([1.0, -1.0, 1.0]))

    table = product_table(tokens)
    block = block_of(tokens, table)

    assert block.offsets.tolist() == [0, 3, 6, 7]
    assert set(block.indices[:3]) == {0, 2, table[0, 2]}
    assert table[0, 1] == -1


def test_differences_have_a_proper_minus():
    assert signed(-0.0104) == "\N{MINUS SIGN}0.010"
    assert signed(0.0104) == "+0.010"
