"""Contributions add up to the margin, by column, by value and by pair, and say what the model does."""

import numpy as np
import pytest

import ouzel
from ouzel.learners.auto import standardisation
from ouzel.model.answers import shown
from ouzel.model.contributions import ABSENT, AVERAGE, PAIRS, REST, by_column, explained, reasons
from ouzel.model.explainer import explainer_of
from ouzel.model.model import Model

pandas = pytest.importorskip("pandas")

CLOSE = 1e-4  # of 1 or the margin, which rounding may leave


def table(rows=400, seed=0):
    """Numbers, one of which bends, words that decide together, a rare word that decides, and a date."""
    rng = np.random.default_rng(seed)
    X = pandas.DataFrame(
        {
            "line": rng.normal(size=rows),
            "bend": rng.normal(size=rows) * 30.0 + 500.0,
            "city": rng.choice(["oslo", "rome", "bonn"], rows),
            "shop": rng.choice([f"s{k}" for k in range(40)], rows),
            "kind": rng.choice(["a", "b"], rows),
        }
    )
    both = (X["city"] == "oslo") == (X["kind"] == "a")
    score = X["line"] + np.abs(X["bend"] - 500.0) / 30.0 + 2.0 * both + 4.0 * (X["shop"] == "s7") - 2.0
    return X, (score + rng.normal(size=rows)).to_numpy()


def labels(score, classes):
    return np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def learnt(name, task, **settings):
    X, score = table()
    y = score if task == "numbers" else np.maximum(score, 0.0).round() if task == "counts" else labels(score, task)
    model = Model(name, **settings)
    for block in ouzel.blocks_from(X, y):
        model.learn(block)
    return model, next(iter(ouzel.blocks_from(X[:60], model=model)))


def check_sums(model, block, n=10):
    """Return the explanations of a block, whose lists add up to the margins."""
    found = list(explained(model, block, n))
    margins = np.atleast_2d(shown(model.classes, model.margins(block)).T).T
    for entries, row in zip(found, margins, strict=True):
        assert [entry["margin"] for entry in entries] == pytest.approx(row.tolist())
        for entry in entries:
            scale = max(1.0, abs(entry["margin"]))
            columns = sum(part["contribution"] for part in entry["columns"])
            assert columns == pytest.approx(entry["margin"], abs=1e-9 * scale)
            assert sum(part["contribution"] for part in entry["features"]) == pytest.approx(
                entry["margin"], abs=CLOSE * scale
            )
            pairs = [part["contribution"] for part in entry["features"] if part["name"] == PAIRS]
            assert sum(part["contribution"] for part in entry["pairs"]) == pytest.approx(sum(pairs), abs=CLOSE * scale)
            sizes = [abs(part["contribution"]) for part in entry["columns"] if part["name"] not in (REST, AVERAGE)]
            assert sizes == sorted(sizes, reverse=True)
            assert len(sizes) <= n
    return found


def gaps(model, block):
    """What is left of each margin before it is spread, beside the larger of 1 and the margin."""
    rows, margins = model.numbered_rows(block), np.atleast_2d(model.margins(block).T).T
    known = explainer_of(model, rows)
    found = []
    for row, own in enumerate(margins):
        here = slice(rows.offsets[row], rows.offsets[row + 1])
        gap = known.parts(rows.indices[here], rows.values[here], own).gap
        found.append(np.max(gap / np.maximum(1.0, np.abs(own))))
    return np.array(found)


OF_CLASSES = (
    *("ogd", "adagrad", "adagrad-rda", "ftrl-proximal", "arow", "perceptron", "cw"),
    *("ons", "son-oja", "metagrad", "awm", "truncation", "space-saving"),
)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", OF_CLASSES)
def test_contributions_by_any_learner_add_up_to_the_margins(name, classes):
    model, block = learnt(name, classes)

    check_sums(model, block)

    assert gaps(model, block).max() < 5e-3


@pytest.mark.parametrize("name", ["adagrad", "ons", "son-oja", "awm", "ftrl-proximal", "ogd"])
def test_contributions_to_numbers_by_any_learner_add_up_to_them(name):
    model, block = learnt(name, "numbers", loss="squared")

    check_sums(model, block)

    assert gaps(model, block).max() < 5e-3


TASKS = [
    *((classes, {"loss": loss}) for classes in (2, 3) for loss in ("logistic", "hinge")),
    *(("numbers", {"loss": loss}) for loss in ("squared", "absolute", "quantile(tau=0.9)")),
    ("counts", {"loss": "poisson"}),
    *((task, {"forms": "raw"}) for task in (2, 3)),
    ("numbers", {"forms": "raw", "loss": "squared"}),
    (2, {"intercept": False}),
    ("numbers", {"intercept": False, "loss": "squared"}),
]


@pytest.mark.parametrize(("task", "settings"), TASKS)
def test_contributions_by_auto_add_up_whatever_is_predicted(task, settings):
    model, block = learnt("auto", task, **settings)

    found = check_sums(model, block)

    assert gaps(model, block).max() < 1e-4
    sizes = [
        sum(abs(part["contribution"]) for part in entry["columns"][:-1]) / max(1.0, abs(entry["margin"]))
        for entries in found
        for entry in entries
    ]
    assert np.median(sizes) < 4.0 or task in ("numbers", "counts")


def test_scores_of_groups_to_rank_add_up():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(400, 4)), np.repeat(np.arange(40), 10)
    ranker = ouzel.OnlineRanker().fit(X, X[:, 0] > 0.3, qid=groups)

    found = ranker.explain(X)

    np.testing.assert_allclose(found.sum(axis=1), ranker.predict(X), rtol=1e-6)
    assert found.columns[-1] == AVERAGE


def test_recalibrated_margins_are_those_that_add_up():
    X, score = table()
    model = ouzel.OnlineClassifier(calibrate=True).fit(X, labels(score, 2))

    found = model.explain(X)

    np.testing.assert_allclose(found.sum(axis=1), model.decision_function(X), rtol=1e-9)


def test_a_column_is_what_the_table_calls_one():
    X, score = table()
    X["when"] = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(np.arange(len(X)), "h")
    X.loc[::7, "line"] = np.nan
    X["note"] = np.where(score > 0.0, "very good day", "bad")
    model = ouzel.OnlineClassifier(text=["note"], dates=["when"], crosses=["city*kind"], ngrams={"note": 2})

    found = model.fit(X, labels(score, 2)).explain(X)

    assert list(found.columns) == [*X.columns, AVERAGE]
    assert {name for name, _ in model.column_importance()} == set(X.columns)
    assert found[AVERAGE].nunique() == 1
    np.testing.assert_allclose(found.sum(axis=1), model.decision_function(X), rtol=1e-9)


def test_several_classes_have_two_levels_of_columns():
    X, score = table()
    model = ouzel.OnlineClassifier().fit(X, np.array(["x", "y", "z"])[labels(score, 3)])

    found = model.explain(X)

    for k, label in enumerate(model.classes_):
        assert list(found[label].columns) == [*X.columns, AVERAGE]
        np.testing.assert_allclose(found[label].sum(axis=1), model.decision_function(X)[:, k], rtol=1e-9)


def test_numbers_are_explained_in_their_own_unit():
    X = np.random.default_rng(2).normal(size=(80, 4))
    estimator = ouzel.OnlineRegressor("adagrad").fit(X, 5000.0 + 300.0 * X[:, 0])
    x = {k: float(value) for k, value in enumerate(X[0])}

    (why,) = estimator.explain_one(x)

    assert why["class"] is None
    assert sum(f["contribution"] for f in why["columns"]) == pytest.approx(estimator.predict_one(x), rel=1e-5)


def test_a_model_that_knows_no_class_explains_nothing():
    (block,) = ouzel.blocks_from(np.ones((2, 3)))

    assert list(explained(Model("ogd"), block)) == [[], []]


def test_the_average_example_has_the_mean_margin_of_the_examples_learnt():
    X, score = table()
    model = Model("ogd", standardize=False)
    for block in ouzel.blocks_from(X, labels(score, 2)):
        model.learn(block)
    (block,) = ouzel.blocks_from(X, model=model)

    found = by_column(model, block)

    assert found.average[0, 0] == pytest.approx(shown(model.classes, model.margins(block)).mean(), rel=1e-4)


def test_a_feature_at_its_usual_value_adds_nothing():
    X = np.random.default_rng(2).normal(size=(300, 4)) + np.array([0.0, 1000.0, 0.0, 0.0])
    estimator = ouzel.AutoRateClassifier(forms="raw").fit(X, (X[:, 0] > 0.2).astype(int))

    (why,) = estimator.explain_one(dict(enumerate(X.mean(axis=0))))

    *columns, average = why["columns"]
    assert max(abs(column["contribution"]) for column in columns) < 1e-3
    assert average["contribution"] == pytest.approx(why["margin"], abs=1e-3)


def test_an_absent_feature_takes_away_what_it_usually_adds():
    model = ouzel.OnlineClassifier("adagrad")
    for word, spam in [("free", True), ("hello", False)] * 20:
        model.learn_one({word: 1.0}, spam)

    (why,) = model.explain_one({"free": 1.0})

    added = {feature["name"]: feature for feature in why["features"]}
    assert added["hello"]["value"] == 0.0
    assert added["hello"]["contribution"] == pytest.approx(-added["hello"]["weight"] / 2)
    assert added["free"]["contribution"] == pytest.approx(added["free"]["weight"] / 2)


def test_a_word_adds_what_it_is_and_what_the_absent_words_would_have_been():
    X, score = table()
    model = ouzel.OnlineClassifier("adagrad").fit(X, labels(score, 2))

    (why,) = model.explain_one(X.iloc[0].to_dict())

    by_name = {column["name"]: column for column in why["columns"]}
    values = {feature["name"]: feature["contribution"] for feature in why["features"]}
    assert by_name["city"]["value"] == X["city"][0]
    assert by_name["city"]["contribution"] == values[f"city={X['city'][0]}"]


def test_words_of_a_text_have_a_row_each_and_absent_ones_one_for_all():
    X = pandas.DataFrame({"note": ["good day", "bad day", "good night", "bad night"] * 50})
    model = ouzel.OnlineClassifier("adagrad", text=["note"]).fit(X, [1, 0, 1, 0] * 50)

    (why,) = model.explain_one({"note": "good day"})

    names = [feature["name"] for feature in why["features"]]
    assert {"good", "day", f"note {ABSENT}"} <= set(names)
    assert [column["name"] for column in why["columns"]] == ["note", AVERAGE]
    assert why["columns"][0]["value"] == "good day" or why["columns"][0]["value"] == "day good"


@pytest.mark.filterwarnings("ignore:no better than a constant")
def test_rows_beyond_those_listed_are_summed_up():
    X = np.random.default_rng(0).random((200, 100))
    estimator = ouzel.OnlineClassifier("ogd").fit(X, (X[:, 0] > 0.5).astype(int))

    (why,), (longer,) = estimator.explain_one({3: 0.5}), estimator.explain_one({3: 0.5}, n=30)

    assert [column["name"] for column in why["columns"]][-2:] == [REST, AVERAGE]
    assert (len(why["columns"]), len(longer["columns"])) == (12, 32)
    assert why["columns"][:10] == longer["columns"][:10]
    assert why["remainder"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("learner", ["ogd", "awm", "auto"])
def test_a_feature_that_the_model_does_not_know_adds_nothing(learner):
    estimator = ouzel.OnlineClassifier(learner)
    for k in range(80):
        estimator.learn_one({"a": 1.0, "b": k / 20}, k % 2 == 0)

    (why,) = estimator.explain_one({"a": 1.0, "unknown": 7.0})

    assert sum(column["contribution"] for column in why["columns"]) == pytest.approx(why["margin"])
    assert "unknown" not in {column["name"] for column in why["columns"]} or learner == "awm"


def test_words_that_decide_together_are_a_pair():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"job": rng.choice(["clerk", "cook"], 3000), "city": rng.choice(["oslo", "rome"], 3000)})
    model = ouzel.OnlineClassifier().fit(X, (X["job"] == "clerk") != (X["city"] == "rome"))

    (why,) = model.explain_one({"job": "clerk", "city": "oslo"})

    ((pair, _), *_) = model.pair_importance()
    assert pair == "city × job"
    assert why["pairs"][0]["name"] == "city × job"
    assert why["pairs"][0]["contribution"] > 0.5 * (why["margin"] - why["columns"][-1]["contribution"])


def test_what_follows_a_learnt_example_is_explained_by_it():
    model = ouzel.OnlineClassifier()
    for k in range(100):
        model.learn_one({"a": float(k % 7), "b": float(k % 5)}, k % 7 > 3)
        (why,) = model.explain_one({"a": 3.0, "b": 1.0})
        assert sum(column["contribution"] for column in why["columns"]) == pytest.approx(why["margin"])


def test_a_saved_model_explains_the_same(tmp_path):
    X, score = table()
    model = ouzel.OnlineClassifier().fit(X, labels(score, 2))
    model.explain(X)
    model.save(tmp_path / "m.ouzel")

    pandas.testing.assert_frame_equal(ouzel.load(tmp_path / "m.ouzel").explain(X), model.explain(X))


def test_debug_one_is_a_table_of_text():
    X, score = table()
    model = ouzel.OnlineClassifier().fit(X, labels(score, 2))

    first, heading, *rows = model.debug_one(X.iloc[0].to_dict()).splitlines()

    assert first.startswith("1, margin ")
    assert heading.split() == ["Name", "Value", "Contribution"]
    assert len(rows) == 6
    assert len({len(row) for row in rows}) == 1


CUTTING = [
    ("auto", {"forms": "raw"}),
    ("auto", {"forms": "raw", "loss": "hinge"}),
    ("auto", {"forms": "raw", "loss": "squared"}),
    ("arow", {"standardize": True}),
    ("adagrad", {"loss": "squared", "standardize": True}),
    ("son-oja", {"standardize": False}),
]


@pytest.mark.parametrize("value", [50.0, 1e9])
@pytest.mark.parametrize(("learner", "how"), CUTTING)
def test_a_value_that_a_learner_cuts_contributes_what_the_cut_one_does(learner, how, value):
    X = np.random.default_rng(2).normal(size=(400, 4))
    model = Model(learner, **how)
    for block in ouzel.blocks_from(X, X[:, 0] * 40.0 + 7.0 if "squared" in how.values() else (X[:, 0] > 0.2)):
        model.learn(block)
    stray = X[:1].copy()
    stray[0, 0] = value
    (block,) = ouzel.blocks_from(stray)

    (why,) = next(explained(model, block))

    found, cut = {feature["name"]: feature for feature in why["features"]}, np.abs(X[:, 0]).max()
    if model.scales is not None:
        cut = X[:, 0].mean() + (3.0 * X[:, 0].std() if value < 1e3 else 0.0)  # so far off that it counts as the mean
    mean = 0.0 if model.scales is None else X[:, 0].mean()
    if "0" in found:
        assert found["0"]["value"] == value
        assert found["0"]["contribution"] == pytest.approx((cut - mean) * found["0"]["weight"], rel=0.05, abs=1e-6)


def test_what_is_seen_of_values_is_what_a_row_of_its_own_makes_of_them():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5.0, 2.0, 300), rng.lognormal(size=300), (rng.random(300) < 0.2) * rng.random(300)])
    model = Model("arow", standardize=True)
    for block in ouzel.blocks_from(X, X[:, 0] > 5.0):
        model.learn(block)
    slots, values = np.repeat([1, 2, 3], 6), np.tile([-1e9, -40.0, 0.2, 1.0, 90.0, 1e9], 3).astype(np.float32)

    found = standardisation.standardised(model.preparation.features, slots, values.astype(float), True)

    for k, (slot, value) in enumerate(zip(slots.tolist(), values, strict=True)):
        row = np.array([0, slot], np.uint32), np.array([1.0, value], np.float32)
        seen = dict(zip(*(part.tolist() for part in model.preparation.one(*row, None)), strict=True))
        assert found[k] == pytest.approx(seen.get(slot, 0.0), rel=1e-5)


def test_numbers_and_dates_are_shown_as_they_were_given():
    start = pandas.Timestamp("2024-01-01")
    stream = [
        {"rate": (0.1, 1.095, 2.5)[k % 3], "when": start + pandas.Timedelta(hours=k), "word": "ab"[k % 2]}
        for k in range(300)
    ]
    labels = [k % 24 > 12 for k in range(300)]
    one = ouzel.OnlineClassifier()
    for example, label in zip(stream, labels, strict=True):
        one.learn_one(example, label)
    for model in (one, ouzel.OnlineClassifier().fit(pandas.DataFrame(stream), labels)):
        (why,) = model.explain_one(stream[25] | {"rate": 1.095})
        values = {column["name"]: column["value"] for column in why["columns"]}
        assert values["rate"] == 1.095
        assert values["when"] == "2024-01-02T01"
        assert {row["name"]: row["value"] for row in why["features"]}["rate"] == 1.095
        assert {column["name"]: column["value"] for column in model.explain_one(stream[24])[0]["columns"]}["when"] == (
            "2024-01-02"
        )


def test_rows_that_are_no_feature_have_no_weight():
    X = pandas.DataFrame({"a": [0.0, 1.0, 2.0, 3.0] * 100, "b": [0.0, 1.0] * 200})
    (why,) = ouzel.OnlineClassifier().fit(X, [0, 0, 1, 1] * 100).explain_one({"a": 1.0, "b": 1.0}, n=1)
    assert [(row["value"], row["weight"]) for row in why["features"] if row["name"].startswith("(")] == [
        (None, None)
    ] * (len(why["features"]) - 1)


def test_a_date_is_one_of_the_reasons():
    start = pandas.Timestamp("2024-01-01")
    X = pandas.DataFrame({"when": [start + pandas.Timedelta(hours=k) for k in range(400)], "x": [0.5, 1.5] * 200})
    model = ouzel.OnlineClassifier().fit(X, [k % 24 > 12 for k in range(400)])
    block = next(iter(ouzel.blocks_from(X[:50], [0] * 50, model=model)))
    contributions = model.explain(X[:50])
    for row, entries in enumerate(reasons(model.model_, block, 5)):
        assert {entry["name"] for entry in entries} <= {"when", "x", "(average example)"}
        added = {entry["name"]: entry["contribution"] for entry in entries}
        assert added["when"] == pytest.approx(contributions["when"][row])
