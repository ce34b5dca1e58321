"""The learner learns, its files are loaded, and the loss is of the numbers it says."""

import numpy as np
import own_learner  # noqa: F401 registers the learner
import pytest
from own_learner.log_cosh import LogCosh

import ouzel
from ouzel.extend import derivative, value


def examples(n=400):
    X = np.random.default_rng(1).standard_normal((n, 3)).astype(np.float32)
    return X, np.where(X @ [1.0, -2.0, 0.5] > 0.0, "wet", "dry")


def test_it_learns_and_its_files_are_loaded(tmp_path):
    X, y = examples()
    model = ouzel.OnlineClassifier("nlms", passes=3).fit(X, y)
    assert model.score(X, y) > 0.9

    model.save(tmp_path / "m")
    assert (ouzel.load(tmp_path / "m").predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("error", [-30.0, -0.1, 0.0, 2.0])
def test_the_slope_is_that_of_the_loss(error):
    step = 1e-6
    ahead, behind = (value(LogCosh(), error + sign * step, 0.0) for sign in (1, -1))
    assert derivative(LogCosh(), error, 0.0) == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)
    assert value(LogCosh(), error, 0.0) == pytest.approx(np.logaddexp(error, -error) - np.log(2.0))


def test_numbers_are_learnt_by_the_loss():
    X = examples()[0]
    report = ouzel.progressive_validation(
        ouzel.OnlineRegressor("adagrad", loss=LogCosh()), ouzel.blocks_from(X, X[:, 0] - X[:, 1])
    )
    assert report.rmse < 0.5
