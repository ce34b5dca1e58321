"""One estimator for every learner: settings by name, in scikit-learn's ways; answers that are the model's own."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ouzel
from ouzel.estimators.loading import from_model
from ouzel.learners import catalogue
from ouzel.model.tasks.choose import learns_numbers
from ouzel.terms.names import to_json

NUMERIC = [name for name, learner in catalogue.LEARNERS.items() if learns_numbers(learner)]


def stream(count=60, classes=2, seed=0):
    """Dense X (count, 4), and for each example the largest of its first columns."""
    X = np.random.default_rng(seed).normal(size=(count, 4)).round(3)
    return X, X[:, :classes].argmax(axis=1)


def test_settings_are_parameters_by_their_names():
    model = ouzel.OnlineClassifier("adagrad-rda", l1=1e-4)

    assert model.get_params()["l1"] == 1e-4
    assert "damping" not in model.get_params()
    assert clone(model).get_params() == model.get_params()
    assert model.clone({"l2": 1.0}).get_params() == {**model.get_params(), "l2": 1.0}
    assert repr(model) == "OnlineClassifier(l1=0.0001, learner='adagrad-rda')"


def test_another_learner_keeps_the_settings_it_has_and_drops_the_others():
    model = ouzel.OnlineClassifier("adagrad-rda", l1=1e-4, learning_rate=0.5)

    model.set_params(learner="unbounded", heap_size=9)
    assert model.get_params() == ouzel.OnlineClassifier("unbounded", learning_rate=0.5, heap_size=9).get_params()

    model = ouzel.OnlineClassifier("ogd", power=0.7, learning_rate=0.5).set_params(learner="awm", budget="1KB")
    assert model.get_params() == ouzel.OnlineClassifier("awm", learning_rate=0.5, budget="1KB").get_params()
    assert model.fit(*stream()).bytes_used_ == 1024


def test_a_setting_the_learner_does_not_have_is_refused_where_it_is_given_and_nothing_is_changed():
    with pytest.raises(ouzel.OuzelError, match=r"'awm' has no setting 'buget'. Did you mean 'budget'\? It has: loss, "):
        ouzel.OnlineClassifier("awm", buget="8KB")
    model = ouzel.OnlineClassifier("adagrad", l1=1e-4)
    before = model.get_params()

    with pytest.raises(ouzel.OuzelError, match=r"'ogd' has no setting 'l1'. It has: loss, learning_rate, power"):
        model.set_params(learner="ogd", l1=1e-3)

    assert model.get_params() == before


def test_none_is_the_learners_own_default():
    X, y = stream()
    model = ouzel.OnlineClassifier("adagrad", learning_rate=0.01).set_params(learning_rate=None)

    np.testing.assert_array_equal(model.fit(X, y).coef_, ouzel.OnlineClassifier("adagrad").fit(X, y).coef_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ouzel.OnlineClassifier("adagrid"), "Did you mean 'adagrad'"),
        (ouzel.OnlineClassifier(3), "there is no learner 3"),
        (ouzel.OnlineClassifier("ogd", learning_rate="fast"), "learning_rate of ogd must be a number"),
        (ouzel.OnlineClassifier("ogd", passes=0), "passes must be a whole number"),
        (ouzel.OnlineRegressor("arow"), "the learner arow tells classes apart; for numbers choose auto, ogd"),
        (ouzel.OnlineRegressor("ogd", loss="hinge"), "predicted by the loss squared, .*; got hinge"),
        (ouzel.OnlineRanker("awm-nce"), "a learner of two classes"),
    ],
)
def test_what_cannot_be_is_one_line_when_the_model_is_made(model, message):
    with pytest.raises(ouzel.OuzelError, match=message):
        model.fit(*stream())


@pytest.mark.parametrize("kind", [ouzel.OnlineRegressor, ouzel.OnlineRanker, ouzel.AdaGradRanker])
def test_words_where_numbers_are_wanted_are_one_line(kind):
    with pytest.raises(ouzel.OuzelError, match=r"^y must be numbers.*; got 'good'$"):
        kind().fit([[1.0], [2.0]], ["good", "bad"])


def test_a_grid_goes_over_learners_and_their_settings():
    X, y = stream(200)
    pipeline = make_pipeline(StandardScaler(), ouzel.OnlineClassifier("adagrad-rda", l1=1e-4))
    grid = {"onlineclassifier__learner": ["ogd", "adagrad"], "onlineclassifier__learning_rate": [1e-9, 0.5]}

    found = GridSearchCV(pipeline, grid, cv=2).fit(X, y)

    assert found.best_params_["onlineclassifier__learning_rate"] == 0.5
    assert found.best_score_ > 0.9


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", catalogue.LEARNERS)
def test_it_gives_what_the_model_gives_and_is_saved_to_the_bit(tmp_path, learner, classes):
    X, y = stream(classes=classes)
    declared = list(range(classes))
    model = ouzel.Model(learner, classes=declared)
    for block in ouzel.blocks_from(X, y):
        model.learn(block)

    estimator = ouzel.OnlineClassifier(learner).partial_fit(X, y, classes=declared)
    estimator.save(tmp_path / "m")
    loaded = ouzel.load(tmp_path / "m")

    np.testing.assert_array_equal(estimator.decision_function(X), model.margins(next(ouzel.blocks_from(X))))
    np.testing.assert_array_equal(loaded.decision_function(X), estimator.decision_function(X))
    assert to_json(loaded._resolved()) == to_json(model.settings)


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", NUMERIC)
def test_numbers_are_predicted_by_every_learner_of_one_state(learner):
    X, _ = stream(300)

    bounded = {"largest": 3.0} if learner == "ons-invariant" else {}  # which has no step size to hold it back

    model = ouzel.OnlineRegressor(learner, **bounded).fit(X, X[:, 0])

    assert model.score(X, X[:, 0]) > 0.3
    assert type(from_model(model.model_)).__name__.endswith("Regressor")


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("learner", "given"),
    [
        ("adagrad-eager", {"penalty": "l2-ball(radius=2)"}),
        ("adagrad-block", {"l2": 0.001, "block_size": 2}),
        ("auto", {"loss": "hinge", "derived_budget": "1MB"}),
        ("ogd", {"loss": "quantile(tau=0.9)"}),
        ("awm", {"sketch_seed": 3, "budget": "1KB"}),
        ("son-fd", {"bound": "project", "diagonal": "no", "largest": 5.0}),
    ],
)
def test_a_file_gives_the_settings_again(tmp_path, learner, given):
    X, y = stream()
    task = "regression" if "quantile" in str(given) else "classification"
    kind = ouzel.OnlineRegressor if task == "regression" else ouzel.OnlineClassifier
    model = kind(learner, seed=7, **given).fit(X, y)
    model.save(tmp_path / "m")

    loaded = ouzel.load(tmp_path / "m")

    assert to_json(loaded._new_model().settings) == to_json(model.model_.settings)
    if isinstance(loaded, kind):
        assert set(given) <= set(loaded.get_params())
    np.testing.assert_array_equal(loaded.partial_fit(X, y).predict(X), model.partial_fit(X, y).predict(X))


def test_a_ranking_of_any_binary_learner_is_saved_and_goes_on(tmp_path):
    X, y = stream(80)
    qid = np.arange(80) // 8
    whole = ouzel.OnlineRanker("son-oja", pairs=6, seed=2).fit(X, y, qid=qid)

    ouzel.OnlineRanker("son-oja", pairs=6, seed=2).fit(X[:40], y[:40], qid=qid[:40]).save(tmp_path / "m")
    loaded = ouzel.load(tmp_path / "m").partial_fit(X[40:], y[40:], qid=qid[40:])

    assert isinstance(loaded, ouzel.OnlineRanker)
    assert (loaded.pairs, loaded.learner) == (6, "son-oja")
    np.testing.assert_array_equal(loaded.coef_, whole.coef_)


@pytest.mark.parametrize("labels", [["b", "a"], ["b", "a", "c"]])
@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_single_examples_are_answered_as_many_are(learner, labels):
    X, y = stream(classes=len(labels))
    y = np.array(labels)[y]
    model = ouzel.OnlineClassifier(learner).partial_fit(X, y)
    rows = [dict(enumerate(row)) for row in [*X, np.zeros(4)]]

    one_by_one = [model.predict_one(row) for row in rows]
    shares = [model.predict_proba_one(row) for row in rows]

    assert one_by_one == model.predict([*X, np.zeros(4)]).tolist()
    assert [list(share) for share in shares] == [sorted(labels)] * len(rows)
    np.testing.assert_array_equal([list(share.values()) for share in shares], model.predict_proba([*X, np.zeros(4)]))


def test_a_tie_is_answered_alike_by_one_and_by_many():
    model = ouzel.OnlineClassifier("ogd", fit_intercept=False).partial_fit([[1.0], [-1.0]], ["b", "a"])

    assert model.predict_one({}) == model.predict([[0.0]])[0] == "a"


@pytest.mark.parametrize("ask", ["fit", "predict"])
def test_a_sparse_matrix_that_contradicts_itself_is_refused_before_anything_looks_at_it(ask):
    X, y = stream()
    model = ouzel.OnlineClassifier("adagrad").fit(sparse.csr_matrix(X), y)
    matrix = sparse.csr_matrix(X.astype(complex))
    matrix.indptr = matrix.indptr.astype(np.int64)
    matrix.indptr[-1] = 2**31  # in 32 bits it is below 0

    with pytest.raises(ouzel.OuzelError, match="sparse matrix: its offsets, ids and values are not of one length"):
        getattr(model, ask)(*((matrix, y) if ask == "fit" else (matrix,)))


def test_words_and_numbers_as_labels_of_one_array_are_refused_in_one_line():
    with pytest.raises(ouzel.OuzelError, match="labels: cannot be read"):
        ouzel.OnlineClassifier("adagrad").fit(np.eye(2), np.array(["a", 1], object))
