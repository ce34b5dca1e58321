"""What the sketched Newton estimators say of their sketch, and that files keep which one it was."""

import numpy as np
import pytest

import ouzel

both = pytest.mark.parametrize("sketch", ["oja", "fd"])


def stretched(sketch, **settings):
    """A model of a stream that varies most along its third feature, then along its first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5)) * np.array([3.0, 1.0, 9.0, 1.0, 1.0])
    y = X @ rng.normal(size=5) > 0
    model = ouzel.SketchedNewtonClassifier(
        sketch=sketch,
        sketch_size=3,
        diagonal=False,
        fit_intercept=False,
        learning_rate=1e-8,
        standardize=False,
        **settings,
    )
    return model.fit(X, y), X


@both
def test_directions_and_eigenvalues_are_those_of_the_stream(sketch):
    model, _ = stretched(sketch)

    assert model.directions_.shape == (3, 6)
    np.testing.assert_allclose(model.directions_ @ model.directions_.T, np.eye(3), atol=1e-10)
    assert abs(model.directions_[0, 3]) > 0.99
    assert abs(model.directions_[1, 1]) > 0.95
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert model.eigenvalues_[0] / model.eigenvalues_[1] == pytest.approx(
        9.0, rel=0.35
    )  # both see a little less of it than there is


@both
def test_the_condition_number_is_that_of_the_metric(sketch):
    model, _ = stretched(sketch)

    assert model.condition_number_ == pytest.approx(1 + 20_000 * model.eigenvalues_[0] * 1e-8, rel=1e-6)


@both
def test_a_saved_model_keeps_its_sketch(sketch, tmp_path):
    model, X = stretched(sketch)
    model.save(tmp_path / "m")
    loaded = ouzel.load(tmp_path / "m")

    assert loaded.sketch == sketch
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.eigenvalues_, model.eigenvalues_)


def test_an_unknown_sketch_is_refused():
    with pytest.raises(ouzel.OuzelError, match="sketch must be one of 'oja', 'fd', 'rp'; got 'svd'"):
        ouzel.SketchedNewtonClassifier(sketch="svd").fit([[0.0], [1.0]], [0, 1])
