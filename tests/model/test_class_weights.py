"""Weights of classes are importances: given or balanced, to the bit, however a stream is cut, merged or resumed."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import progressive_validation
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests.checks.laws import assert_same

ROWS = 300
NAMES = np.array(["no", "yes", "maybe"])
LEARNERS = ("ogd", "adagrad", "arow", "ogd-multiclass")
GIVEN = {"yes": 5.0, "no": 0.25}


def examples(classes=2, seed=0):
    """Dictionaries of features and labels, classes in shares of 8, 2 and 1."""
    random = np.random.default_rng(seed)
    places = random.choice(classes, ROWS, p=np.array([8, 2, 1][:classes]) / sum([8, 2, 1][:classes]))
    features = random.standard_normal((ROWS, 4)).round(2) + 0.4 * places[:, None]
    return [
        ({f"f{k}": float(x) for k, x in enumerate(row)}, str(NAMES[p])) for row, p in zip(features, places, strict=True)
    ]


def balanced(labels, importances=None, kept=1.0, every=10**9):
    """The documented formula, in plain Python."""
    counts, found = {}, []
    for number, label in enumerate(labels, 1):
        importance = 1.0 if importances is None else float(importances[number - 1])
        if importance:
            counts[label] = counts.get(label, 0.0) + importance
        n, k = sum(counts.values()), len(counts)
        found.append(importance * (n + k) / (k * (counts.get(label, 0.0) + 1.0)) if importance else 0.0)
        if number % every == 0:
            counts = {name: kept * count for name, count in counts.items()}
    return np.array(found, np.float32)


def learnt(learner, data, weights=None, block_rows=64, **options):
    model = Model(learner, **options)
    for block in blocks_from(data, weights=weights, block_rows=block_rows):
        model.learn(block)
    return model


def same(one, other):
    """Whether two models have the same states, classes and moments to the bit, whatever weights their classes have."""
    other = copy.deepcopy(other)
    other.class_weight, other.preparation.class_weights = one.class_weight, one.preparation.class_weights
    assert_same(one, other)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_weight_is_an_importance_to_the_bit(learner, classes):
    data = examples(classes)
    weights = np.array([GIVEN.get(label, 1.0) for _, label in data], np.float32)

    same(learnt(learner, data, class_weight=GIVEN), learnt(learner, data, weights))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS)
def test_balanced_is_the_documented_formula_to_the_bit(learner, classes):
    data = examples(classes)
    weights = balanced([label for _, label in data])

    same(learnt(learner, data, class_weight="balanced"), learnt(learner, data, weights))
    assert not np.allclose(weights, 1.0)


@pytest.mark.parametrize("given", [GIVEN, "balanced"])
@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"forget": 50.0}])
def test_blocks_of_any_size_and_single_examples_give_the_same_bits(given, options):
    data = examples(3)
    weights = np.random.default_rng(1).integers(0, 4, ROWS).astype(np.float32)
    whole = learnt("adagrad", data, weights, class_weight=given, **options)
    cut = learnt("adagrad", data, weights, block_rows=7, class_weight=given, **options)
    online = ouzel.OnlineClassifier("adagrad", class_weight=given, **options)
    for (features, label), weight in zip(data, weights.tolist(), strict=True):
        online.learn_one(features, label, weight)

    assert_same(whole, cut)
    for model in (cut, online.model_):
        assert whole.preparation.class_weights.sums() == model.preparation.class_weights.sums()
    np.testing.assert_allclose(online.model_.weights(), whole.weights(), rtol=1e-6)


def test_counts_fade_with_what_a_model_forgets():
    data = examples(2)
    labels = [label for _, label in data]
    every = Model("adagrad", forget=50.0).preparation.every
    weights = balanced(labels, kept=2.0 ** (-every / 50.0), every=every)

    found = learnt("adagrad", data, class_weight="balanced", forget=50.0)
    expected = learnt("adagrad", data, weights, forget=50.0)
    np.testing.assert_allclose(found.weights(), expected.weights(), rtol=1e-4, atol=1e-6)
    assert found.preparation.class_weights.sums()[0] < 100.0


def test_balanced_weights_tend_to_ones_where_classes_take_turns():
    data = [({"x": 1.0}, "a" if k % 2 else "b") for k in range(2000)]
    model = learnt("ogd", data, class_weight="balanced")
    weights = model.preparation.class_weights

    found = [float(weights.weigh_one(model.classes, "ab"[k % 2], np.float32(1.0))) for k in range(2)]
    np.testing.assert_allclose(found, 1.0, atol=1e-3)


def test_balanced_weights_tend_to_scikit_learns():
    from sklearn.utils.class_weight import compute_class_weight

    labels = [str(label) for label in np.random.default_rng(0).choice(NAMES, 40_000, p=[0.7, 0.28, 0.02])]
    names = np.unique(labels)
    theirs = dict(zip(names, compute_class_weight("balanced", classes=names, y=labels), strict=True))
    model = learnt("ogd", [({"x": 1.0}, label) for label in labels], class_weight="balanced", block_rows=8192)

    for label, weight in theirs.items():
        found = model.preparation.class_weights.weigh_one(model.classes, label, np.float32(1.0))
        assert found == pytest.approx(weight, rel=0.01)


@pytest.mark.parametrize("given", [GIVEN, "balanced"])
def test_a_model_goes_on_from_its_file_to_the_same_bits(given, tmp_path):
    data = examples(3)
    half = learnt("adagrad", data[:150], class_weight=given)
    persistence.save(half, tmp_path / "half")
    again = persistence.load_model(tmp_path / "half")
    for block in blocks_from(data[150:], block_rows=64):
        again.learn(block)
    persistence.save(again, tmp_path / "resumed")
    persistence.save(learnt("adagrad", data, class_weight=given), tmp_path / "whole")

    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    assert ouzel.info(tmp_path / "whole").options["class_weight"] == given
    assert ouzel.load(tmp_path / "whole").class_weight == given


def test_a_model_without_weights_has_the_file_that_it_always_had(tmp_path):
    persistence.save(learnt("ogd", examples()), tmp_path / "m")

    assert b"class_weight" not in (tmp_path / "m").read_bytes()


def test_counts_of_merged_models_add_up_whatever_the_order_of_their_classes():
    one, two = examples(3, seed=1), [(x, y) for x, y in examples(3, seed=2) if y != "no"]
    both = ouzel.merge([learnt("adagrad", part, class_weight="balanced") for part in (one, two)])
    counts = dict(zip(both.classes.known, both.preparation.class_weights.sums()[1:], strict=True))
    labels = [label for _, label in one + two]

    assert counts == {label: labels.count(label) for label in set(labels)}
    assert both.preparation.class_weights.sums()[0] == len(labels)
    with pytest.raises(OuzelError, match="merge only with the same class_weight; these have balanced and None"):
        ouzel.merge([learnt("adagrad", one, class_weight="balanced"), learnt("adagrad", two)])


def test_a_copy_counts_by_itself():
    model = learnt("adagrad", examples(), class_weight="balanced")
    copied = model.preparation.copied()
    before = copied.class_weights.sums()
    for block in blocks_from(examples(seed=3)):
        model.learn(block)

    assert copied.class_weights.sums() == before != model.preparation.class_weights.sums()


def test_figures_are_not_weighted_by_classes():
    data = examples()
    plain = progressive_validation(Model("ogd"), blocks_from(data))
    weighed = progressive_validation(Model("ogd", class_weight={"yes": 4e-6, "no": 1e-6}), blocks_from(data))

    assert weighed.examples == plain.examples == ROWS
    assert weighed.mean_loss == pytest.approx(np.log(2.0), rel=1e-3)
    assert sum(map(sum, weighed.confusion)) == ROWS
    assert weighed.rare_share == plain.rare_share


def test_labels_of_files_and_words_of_python_are_one_class():
    numbers = [(x, 1 if y == "yes" else 0) for x, y in examples()]
    one, other = (learnt("ogd", numbers, class_weight={label: 5.0}) for label in (1, "1"))

    same(one, other)
    assert not np.array_equal(one.weights(), learnt("ogd", numbers).weights())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"yes": -1.0}, r"class_weight of 'yes' must be a number from 0 to 1e9; got -1.0"),
        ({"yes": float("nan")}, r"class_weight of 'yes' must be a number from 0 to 1e9; got nan"),
        ({("a", "b"): 1.0}, r"a label is text, a number, or true or false; got \('a', 'b'\)"),
        ("balance", r'class_weight must be "balanced" or a weight for each class; got \'balance\''),
        (5, r'class_weight must be "balanced" or a weight for each class; got 5'),
    ],
)
def test_what_is_no_weight_is_refused_in_one_line(given, said):
    with pytest.raises(OuzelError, match=said):
        Model("ogd", class_weight=given)


@pytest.mark.parametrize("options", [{"task": "regression"}, {"loss": "squared"}, {"task": "ranking"}])
def test_numbers_and_rankings_have_no_classes_to_weigh(options):
    with pytest.raises(OuzelError, match="has no classes; leave out class_weight='balanced'"):
        Model("ogd", class_weight="balanced", **options)


def test_a_weight_for_a_class_that_never_occurs_is_reported_at_the_end():
    data = examples()
    said = "class_weight: no example is of the class 'never'; the classes are 'no', 'yes'"
    with pytest.warns(UserWarning, match=said):
        ouzel.OnlineClassifier("ogd", class_weight={"never": 2.0}).fit([[0.0], [1.0]], ["no", "yes"])

    report = progressive_validation(Model("ogd", class_weight={"never": 2.0}), blocks_from(data))
    assert report.warnings == [said]


@pytest.mark.parametrize("counts", [[], [3.0, 1.0, 1.0, 1.0], [2.0, -1.0], None])
def test_counts_that_no_model_can_have_are_refused(counts, tmp_path):
    from ouzel.model.description import describe, model_of

    described = describe(learnt("ogd", examples(), class_weight="balanced"), {})
    described["names"] = []
    described["class_counts"] = counts
    if counts is None:
        del described["class_counts"]
    with pytest.raises(OuzelError, match="class_counts are"):
        model_of(described)
