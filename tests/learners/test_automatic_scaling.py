"""By default a model scales features once rows have large values, whatever the blocks."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.exporting.export import export
from ouzel.learners.budget import scaled_columns
from ouzel.model.contributions import explained
from ouzel.model.model import Model
from ouzel.model.persistence import load_model, save

LEARNERS = ("adagrad", "arow", "son-oja", "ons", "awm", "hashing")
BUDGETED = ("awm", "hashing")


def stream(rows=300, begins=0, seed=1):
    """Rows of normal numbers, of which two columns are in other units from row `begins` on, and some of words."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    y = (X[:, 0] + X[:, 1] - 0.5 * X[:, 2] > 0.0).astype(int)
    X[begins:, 0] = 3e4 + 1e3 * X[begins:, 0]
    X[begins:, 1] *= 1e-3
    dictionaries = [{f"x{j}": float(x) for j, x in enumerate(row)} | {"word": f"w{k % 7}"} for k, row in enumerate(X)]
    return list(zip(dictionaries, y.tolist(), strict=True))


def learnt(learner, examples, size=1000, **how):
    """A model that learns examples in blocks of a size, and its margins before each."""
    model = Model(learner, classes=[0, 1], **how)
    margins = [model.learn(block).margins for block in ouzel.blocks_from(examples, block_rows=size)]
    return model, np.concatenate([part.reshape(len(part), -1)[:, -1] for part in margins])


def same(one, other):
    """Whether two models answer the same of new rows, to the bit."""
    (block,) = ouzel.blocks_from(stream(50, seed=2))
    return np.array_equal(one.margins(block), other.margins(block))


@pytest.mark.parametrize("begins", [0, 123])
@pytest.mark.parametrize("learner", LEARNERS)
def test_blocks_of_any_size_give_the_same_bits(learner, begins):
    examples = stream(begins=begins)
    whole, margins = learnt(learner, examples)
    for size in (1, 7, 123):
        parts, found = learnt(learner, examples, size)
        assert np.array_equal(margins, found)
        assert same(whole, parts)


@pytest.mark.parametrize("begins", [0, 57])
@pytest.mark.parametrize("learner", LEARNERS)
def test_single_examples_learn_and_predict_as_blocks_do(learner, begins):
    examples = stream(100, begins)
    _, margins = learnt(learner, examples)
    estimator = ouzel.OnlineClassifier(learner)
    estimator.partial_fit([examples[0][0]], [examples[0][1]], classes=[0, 1])
    for (x, y), margin in zip(examples[1:], margins[1:], strict=True):
        predicted = estimator.decision_function([x])
        found = estimator.predict_then_learn_one(x, y)
        assert float(np.ravel(predicted)[-1]) == pytest.approx(float(np.ravel(found)[-1]), abs=1e-12)
        assert float(np.ravel(found)[-1]) == pytest.approx(float(margin), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_goes_on_from_its_file_to_the_bit(learner, tmp_path):
    for begins in (0, 123):
        examples = stream(begins=begins)
        whole, _ = learnt(learner, examples)
        for stop in (50, 123, 200):
            part, _ = learnt(learner, examples[:stop])
            save(part, tmp_path / "m")
            again = load_model(tmp_path / "m")
            assert again.standardize == "auto"
            for block in ouzel.blocks_from(examples[stop:]):
                again.learn(block)
            assert same(whole, again)
            assert again.bytes_used == whole.bytes_used


@pytest.mark.parametrize("learner", LEARNERS)
def test_data_of_one_scale_are_learnt_as_by_the_paper_to_the_bit(learner, tmp_path):
    examples = stream(begins=300)
    (auto, margins), (plain, expected) = (learnt(learner, examples, standardize=how) for how in ("auto", False))
    assert np.array_equal(margins, expected)
    assert auto.bytes_used == plain.bytes_used
    assert not auto.preparation.scales
    assert not auto.preparation.places


@pytest.mark.parametrize("learner", ["adagrad", "arow", "awm"])
def test_scaling_that_begins_late_keeps_what_was_learnt(learner):
    examples = stream(600, begins=300)
    model, _ = learnt(learner, examples[:300])
    before = model.examples
    (row,) = ouzel.blocks_from(examples[:1])
    first = model.margins(row)
    late = copy.deepcopy(model)
    for block in ouzel.blocks_from(examples[300:301]):
        late.learn(block)
    assert late.examples == before + 1
    assert np.sign(late.margins(row)) == np.sign(first)


@pytest.mark.parametrize("learner", ["adagrad", "awm"])
def test_workers_merge_whichever_began_to_scale(learner):
    parts = [learnt(learner, stream(200, seed=seed))[0] for seed in (1, 2)]
    merged = ouzel.merge(parts)
    (block,) = ouzel.blocks_from(stream(100, seed=3))
    alone = [float(np.mean(part.answers(block).labels == block.labels)) for part in parts]
    assert float(np.mean(merged.answers(block).labels == block.labels)) >= min(alone) - 0.05
    assert merged.examples == 400


def test_one_worker_that_scales_is_enough_without_a_budget():
    small, large = learnt("adagrad", stream(100, begins=100))[0], learnt("adagrad", stream(100))[0]
    assert ouzel.merge([small, large]).preparation.scales
    assert ouzel.merge([large, small]).preparation.scales


def test_models_of_a_budget_merge_only_where_all_scale_or_none():
    small, large = learnt("awm", stream(100, begins=100))[0], learnt("awm", stream(100))[0]
    with pytest.raises(ouzel.OuzelError, match="merge where all of them scale columns, or none"):
        ouzel.merge([small, large])


@pytest.mark.parametrize("budget", [300, 1024, 8192, 65536])
@pytest.mark.parametrize("learner", ["awm", "wm", "hashing", "truncation", "count-min", "space-saving", "mission"])
def test_scales_stay_within_the_budget(learner, budget):
    model, _ = learnt(learner, stream(), budget=budget)
    plain, _ = learnt(learner, stream(), budget=budget, standardize=False)
    assert model.bytes_used <= max(budget, plain.bytes_used)
    if budget >= 1024:
        assert 0 < model.preparation.places <= scaled_columns.MOST


@pytest.mark.parametrize("begins", [0, 300])
@pytest.mark.parametrize("learner", ["adagrad", "arow", "awm"])
def test_weights_and_contributions_are_those_of_features_as_they_are(learner, begins):
    model, _ = learnt(learner, stream(begins=begins))
    (block,) = ouzel.blocks_from(stream(1, begins=begins, seed=5))

    ((why,),) = explained(model, block)

    assert why["margin"] == pytest.approx(float(np.ravel(model.margins(block))[-1]))
    assert why["remainder"] == pytest.approx(0.0, abs=0.05 * max(1.0, abs(why["margin"])))


@pytest.mark.parametrize("begins", [0, 300])
@pytest.mark.parametrize("learner", ["adagrad", "awm"])
def test_an_exported_model_predicts_the_same(learner, begins, tmp_path):
    pytest.importorskip("onnx")
    model, _ = learnt(learner, stream(begins=begins))
    export(model, tmp_path / "m.onnx")  # which compares its own answers with the model's
    export(model, tmp_path / "m.h")


def test_values_that_a_model_has_never_seen_are_cut_and_not_turned_round():
    X = np.random.default_rng(0).permutation(np.linspace(-3.0, 3.0, 400)).reshape(-1, 1)
    model = ouzel.OnlineRegressor("adagrad").fit(X, 2.0 * X[:, 0])

    at_five, at_limit, beyond = model.predict([[5.0], [6.0], [20.0]])

    assert at_five < at_limit
    assert beyond == pytest.approx(at_limit)


def counts(rows=2000, seed=0):
    """Texts of 30 words by how often each occurs, a few of which occur more than six times; and labels."""
    rng = np.random.default_rng(seed)
    examples = []
    for k in range(rows):
        words = rng.zipf(1.5, size=30) % 400
        repeats = np.where(rng.random(30) < 0.002, rng.integers(7, 20, size=30), rng.integers(1, 4, size=30))
        examples.append(({f"w{word}": float(n) for word, n in zip(words, repeats, strict=True)}, k % 2))
    return examples


@pytest.mark.parametrize("learner", ["adagrad", "awm", "son-oja"])
def test_counts_of_words_begin_nothing(learner):
    model, _ = learnt(learner, counts())
    plain, _ = learnt(learner, [({k: min(v, 6.0) for k, v in x.items()}, y) for x, y in counts()], standardize=False)

    assert not model.preparation.scales
    assert model.preparation.columns is None
    assert same(model, plain)


def test_a_stray_row_begins_nothing_and_a_change_of_units_does():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    X[1000] = 1e6
    strayed = ouzel.OnlineClassifier("adagrad")
    with pytest.warns(UserWarning, match="row 1001 has the value 1000000, over 1,000 times .* cuts it at 6"):
        strayed.fit(X, X[:, 0] > 0.0)
    X = np.random.default_rng(0).normal(size=(2000, 3))
    X[1500:, 1] = 1e3 + 1e2 * X[1500:, 1]
    changed = ouzel.OnlineClassifier("adagrad").fit(X, X[:, 0] > 0.0).model_

    assert not strayed.model_.preparation.scales
    assert changed.preparation.scales
    assert changed.preparation.features.totals[0] == 2000 - 1500 - 16  # the 17th of them begins


def test_rows_beyond_the_limit_are_counted_whatever_the_blocks(tmp_path):
    rng = np.random.default_rng(1)
    examples = [
        ({"x": float(8.0 * (rng.random() < 0.1 and k > 40)), "y": float(rng.normal())}, k % 2) for k in range(700)
    ]
    whole, _ = learnt("adagrad", examples)
    parts, _ = learnt("adagrad", examples, 7)
    save(learnt("adagrad", examples[:333], 50)[0], tmp_path / "m")
    resumed, singles = load_model(tmp_path / "m"), ouzel.OnlineClassifier("adagrad")
    for block in ouzel.blocks_from(examples[333:], block_rows=9):
        resumed.learn(block)
    for x, y in examples:
        singles.learn_one(x, y)

    counts = {model.preparation.surplus for model in (whole, parts, resumed, singles.model_)}
    assert len(counts) == 1
    assert not whole.preparation.scales
