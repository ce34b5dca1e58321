"""Classes among labels are those that NumPy finds, and what scikit-learn has to say of them is said."""

import numpy as np
import pytest

import ouzel
from ouzel.estimators.classifier import _classes_of


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 3, 2],
        [-5.0, 7.0, -5.0],
        [True, False, True],
        ["b", "a", "b"],
        [1e9, 0.0],
        [2**62, 1],
        list(range(40)) * 3,
        np.array([200, 3, 200], np.uint8),
        np.array([1.5, 1.5], np.float32).round(),
    ],
)
def test_classes_and_their_places_are_those_of_numpy(labels):
    labels = np.asarray(labels)
    values, places = _classes_of(labels)
    expected, others = np.unique(labels, return_inverse=True)

    assert values.dtype == expected.dtype
    assert values.tolist() == expected.tolist()
    assert places.tolist() == others.tolist()


@pytest.mark.parametrize("labels", [[0.5, 1.0, 2.0], [1.0, 2.25, 1e9]])
def test_numbers_that_are_no_classes_are_refused(labels):
    with pytest.raises(ValueError, match="continuous"):
        ouzel.AdaGradClassifier().fit(np.eye(3), labels)


@pytest.mark.parametrize("labels", [[1, "yes", 2.5], [0, "one"], [True, "x"]])
def test_labels_of_several_types_are_the_same_everywhere(labels):
    model = ouzel.OnlineClassifier("adagrad")
    for k in range(60):
        model.learn_one({str(k % len(labels)): 1.0}, labels[k % len(labels)])
    for place, label in enumerate(labels):
        example = {str(place): 1.0}
        assert model.predict_one(example) == label
        assert model.predict([example])[0] == label
        assert label in model.predict_proba_one(example)
        assert label in model.classes_.tolist()
        assert type(model.predict([example])[0]) is type(label)
    assert {entry["class"] for entry in model.explain_one(example)} <= set(model.classes_.tolist())
