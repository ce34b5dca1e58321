"""Learners of other libraries stand in comparisons beside Ouzel's."""

import numpy as np
import pytest

import ouzel
from ouzel.comparison.contestant import Contestant, enter


class Remembers:
    """River's protocol: predicts the label that it has seen last."""

    def __init__(self):
        self.last, self.seen = None, []

    def predict_one(self, x):
        return self.last

    def learn_one(self, x, y):
        self.last = y
        self.seen.append((x, y))


class Means:
    """scikit-learn's protocol, for numbers."""

    def partial_fit(self, X, y):
        self.total, self.count = getattr(self, "total", 0.0) + y.sum(), getattr(self, "count", 0) + len(y)
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.total / self.count)


class MeansRegressor(Means):
    pass


def days(labels):
    return ouzel.blocks_from([({"sun": float(k), "city": "Rome"}, label) for k, label in enumerate(labels)])


def test_every_example_is_predicted_before_it_is_learnt_and_features_have_their_names():
    own = Remembers()
    found = ouzel.compare([own, "ogd"], days(["dry", "dry", "wet", "wet", "dry"]))

    (row, _) = found.to_json()
    assert (row["learner"], row["error_rate"]) == ("Remembers", 3 / 5)  # the first, and two changes
    assert own.seen == []  # it is copied
    assert found.entries[0].model.own.seen[2] == ({"sun": 2.0, "city=Rome": 1.0}, "wet")


def test_rivers_classifiers_are_told_truth_values():
    model = Contestant(enter(Remembers()))
    for block in days([-1, 1, 1, -1]):
        learnt = model.learn(block)

    assert [label for _, label in model.own.seen] == [False, True, True, False]
    assert learnt.losses.tolist() == [1.0, 1.0, 0.0, 1.0]


def test_numbers_are_predicted_by_regressors():
    found = ouzel.compare([MeansRegressor()], days([1.5, 3.5, 2.5]))

    assert found.entries[0].scores.rmse == pytest.approx(np.sqrt((1.5**2 + 2.0**2 + 0.0) / 3))


def test_learners_of_scikit_learn_take_part_in_orders_and_new_classes():
    from sklearn.naive_bayes import BernoulliNB

    pairs = [({f"w{k % 3}": 1.0}, "abc"[k % 3]) for k in range(60)]
    found = ouzel.compare(["ogd", BernoulliNB()], ouzel.blocks_from(pairs), shuffles=2, bits=8)

    assert [row["learner"] for row in found.to_json()] == ["ogd", "BernoulliNB"]
    assert found.to_json()[1]["error"]["mean"] < 0.4
    with pytest.raises(ouzel.OuzelError, match="BernoulliNB: takes no class that comes late, as 'c' does"):
        ouzel.compare(BernoulliNB(), [*ouzel.blocks_from(pairs[:2]), *ouzel.blocks_from(pairs[2:])])


def test_the_best_may_be_another_librarys():
    found = ouzel.compare([Remembers()], days(["dry"] * 9))

    assert isinstance(found.best, Remembers)


def test_rivers_own_learners_are_run():
    linear_model = pytest.importorskip("river.linear_model")
    pairs = [({"sun": 1.0}, True), ({"rain": 1.0}, False)] * 50

    found = ouzel.compare([linear_model.LogisticRegression(), linear_model.Perceptron()], ouzel.blocks_from(pairs))

    assert all(row["error_rate"] < 0.1 for row in found.to_json())


def test_what_is_not_a_learner_is_one_line():
    with pytest.raises(ouzel.OuzelError, match="3 cannot be made without arguments"):
        ouzel.compare([3], days(["dry"]))
    with pytest.raises(ouzel.OuzelError, match="it has neither learn_one nor partial_fit"):
        ouzel.compare([dict], days(["dry"]))
    with pytest.raises(ouzel.OuzelError, match="MeansRegressor learn numbers, and the others classes"):
        ouzel.compare([MeansRegressor(), "ogd"], days(["dry"]))
    with pytest.raises(
        ouzel.OuzelError, match=r"Means: cannot learn this stream \(.*\); if it wants no words as labels"
    ):
        ouzel.compare([Means()], days(["dry"]))


@pytest.mark.interpreted
def test_any_setting_has_a_grid():
    found = ouzel.compare(
        "ogd,son-oja", days(["dry", "wet"] * 20), grid={"sketch_size": [2, 4], "loss": ["logistic", "hinge"]}
    )

    assert [(row["learner"], row["varied"]) for row in found.to_json()] == [
        ("ogd", {"loss": "logistic"}),
        ("ogd", {"loss": "hinge"}),
        *(("son-oja", {"sketch_size": size, "loss": loss}) for size in (2, 4) for loss in ("logistic", "hinge")),
    ]
    assert found.table.titles[:3] == ["learner", "loss", "sketch_size"]
    with pytest.raises(ouzel.OuzelError, match="none of ogd has a setting 'sketch_size'"):
        ouzel.compare("ogd", days(["dry"]), grid={"sketch_size": [2]})


def test_one_that_is_no_better_than_a_constant_is_warned_of():
    class Contrary:
        def predict_one(self, x):
            return int(x["x"] <= 0.0)

        def learn_one(self, x, y):
            pass

    numbers = np.random.default_rng(0).normal(size=300)
    found = ouzel.compare([Contrary()], ouzel.blocks_from([({"x": x}, int(x > 0.0)) for x in numbers]))

    (entry,) = found.to_json()
    assert "no better than a constant" in entry["warnings"][0]
