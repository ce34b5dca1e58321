"""The sketched Newton paper's experiments run, in their small variants, on streams that are what they say."""

import numpy as np
import pytest

from ouzel.sketches.spectral import sparse_frequent_directions
from ouzel.streams.block import Block
from ouzel.terms import losses
from reproduce import find
from reproduce.sketched_newton.figures import eigenvalue_error, source
from reproduce.sketched_newton.runs import Clipped, best_pass, one_pass, sketched
from reproduce.sketched_newton.sets import numbered


@pytest.mark.long
@pytest.mark.parametrize("name", ["figure-1", "figure-2", "figure-4", "table-2", "table-3", "table-4"])
def test_an_experiment_leaves_a_table_and_a_plot(name, data, tmp_path):
    find(f"son-{name}").load()(data("dna.tsv.xz").parent, tmp_path, quick=True)

    assert "| --" in (tmp_path / f"son-{name}.md").read_text()
    assert (tmp_path / f"son-{name}.png").stat().st_size > 5000


def test_a_stream_has_its_condition_number_and_keeps_its_labels():
    stream = source(0, examples=4000, features=20)
    squares = np.linalg.svd(stream.rows(50.0), compute_uv=False) ** 2 / 4000

    assert squares[0] / squares[-1] == pytest.approx(50.0, rel=0.2)
    assert (squares[10:] < 1.3).all()
    np.testing.assert_array_equal(stream.block(10.0).labels, stream.block(200.0).labels)
    assert abs(stream.labels.mean()) < 0.1


def test_what_was_sketched_is_worked_out_as_the_learner_does():
    """Frequent Directions lose nothing of fewer features than they have directions."""
    block = numbered(source(1, examples=60, features=12).block(10.0).slice(0, 60))
    found = one_pass("son-fd", 0.5, block, sketch_size=20)

    S = sparse_frequent_directions.matrix(found.model.states[0].sketch)[:, : found.model.dimension]
    vectors = sketched(block, found.margins, diagonal=True)

    np.testing.assert_allclose(S.T @ S, vectors.T @ vectors, atol=1e-6)


def test_the_best_pass_is_the_one_with_the_least_error():
    block = source(2, examples=300, features=12).block(10.0)
    errors = [one_pass("adagrad", step, block).error for step in (1e-3, 0.1, 100.0)]

    assert best_pass("adagrad", (1e-3, 0.1, 100.0), block).error == min(errors)


def test_a_clipped_prediction_has_the_slope_of_what_it_is_clipped_to():
    assert losses.derivative(Clipped(), 7.0, -1.0) == 2.0
    assert losses.derivative(Clipped(), 0.5, 1.0) == -0.5
    assert losses.value(Clipped(), -9.0, 1.0) == 2.0


def test_ojas_eigenvalues_come_nearer_as_examples_come_in():
    rows = source(3, examples=1500, features=12).rows(50.0)

    first, last = eigenvalue_error(rows, 3, [50, 1500])

    assert last < first / 2


def test_sets_are_numbered_without_gaps_and_zeros():
    values = np.array([1.0, 0.0, 2.0, 3.0], np.float32)
    block = Block(
        np.array([0, 2, 4], np.uint64), np.array([5, 7, 5, 9], np.uint32), values, np.ones(2), np.ones(2, np.float32)
    )

    found = numbered(block)

    assert found.offsets.tolist() == [0, 1, 3]
    assert found.indices.tolist() == [0, 0, 1]
    assert found.values.tolist() == [1.0, 2.0, 3.0]
