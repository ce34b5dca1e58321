"""The same examples through every entry point give the same digits, or one line that refuses them."""

import json
import warnings

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse as sparse

import ouzel
from ouzel.cli.app import run
from ouzel.sketches.hashing import feature_id

RNG = np.random.default_rng(3)
COUNT = 60
AGE, SCORE = RNG.integers(18, 90, COUNT), RNG.normal(size=COUNT).round(3) + 2.0005
JOB, ZIP = RNG.choice(["clerk", "smith", "NA"], COUNT), RNG.choice(["02139", "10001", "00012e77"], COUNT)
LABELS = np.where(AGE + 10 * SCORE + 20 * (JOB == "smith") + RNG.normal(size=COUNT) > 70, "yes", "no")
ROWS = [
    {
        "age": int(age),
        "job": None if job == "NA" else str(job),
        "score": None if k % 9 == 0 else float(score),
        "zip": str(z),
    }
    for k, (age, job, score, z) in enumerate(zip(AGE, JOB, SCORE, ZIP, strict=True))
]
X = np.abs(RNG.normal(size=(COUNT, 5))).round(3) + 0.0005
SHIFTED = sparse.csr_matrix(np.column_stack([np.zeros(COUNT), X]))  # column k is id k of the files
NAMED = ("csv", "tsv", "parquet", "jsonl", "vw", "pandas", "polars", "arrow", "rows")
NUMBERED = ("svm", "ids.vw", "sparse", "numbers")
ARRAYS = ("array", "columns")
FILES = {"csv": "t.csv", "tsv": "t.tsv", "parquet": "t.parquet", "jsonl": "t.jsonl", "vw": "t.vw"}
FILES |= {"svm": "t.svm", "ids.vw": "ids.vw"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the examples in every format."""
    path = tmp_path_factory.mktemp("entry_points")
    names = [*ROWS[0], "label"]
    cells = [[row[name] for name in ROWS[0]] + [label] for row, label in zip(ROWS, LABELS, strict=True)]
    for suffix, between in (("csv", ","), ("tsv", "\t")):
        lines = [between.join("" if cell is None else str(cell) for cell in row) for row in [names, *cells]]
        (path / f"t.{suffix}").write_text("\n".join(lines) + "\n")
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([dict(zip(names, r, strict=True)) for r in cells]), path / "t.parquet"
    )
    (path / "t.jsonl").write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in cells))
    (path / "t.vw").write_text(
        "".join(
            f"{label} | " + " ".join(map(as_vw, row.items())) + "\n" for row, label in zip(ROWS, LABELS, strict=True)
        )
    )
    pairs = [" ".join(f"{j + 1}:{x}" for j, x in enumerate(row)) for row in X]
    (path / "t.svm").write_text("".join(f"{label} {row}\n" for row, label in zip(pairs, LABELS, strict=True)))
    (path / "ids.vw").write_text("".join(f"{label} | {row}\n" for row, label in zip(pairs, LABELS, strict=True)))
    return path


def as_vw(feature):
    name, value = feature
    if value is None:
        return f"{name}=(missing)"  # of which there is none of itself: text has features, and no cells
    return f"{name}={value}" if isinstance(value, str) else f"{name}:{value}"


def data_of(form):
    """The examples in memory."""
    if form in ("pandas", "polars"):
        return pytest.importorskip(form).DataFrame(ROWS)
    return {
        "arrow": lambda: pyarrow.Table.from_pylist(ROWS),
        "rows": lambda: ROWS,
        "sparse": lambda: SHIFTED,
        "numbers": lambda: [{j + 1: x for j, x in enumerate(row)} for row in X.tolist()],
        "array": lambda: X,
        "columns": lambda: [dict(enumerate(row)) for row in X.tolist()],
    }[form]()


def new(weights=None):
    return ouzel.OnlineClassifier("adagrad", class_weight=weights)


def learnt_one_by_one(data, weights):
    model = new(weights)
    for row, label in zip(data, LABELS.tolist(), strict=True):
        model.learn_one(row, label)
    return model


def learnt_in_blocks(data, weights):
    model = new(weights)
    rows = isinstance(data, list)
    ouzel.progressive_validation(model, ouzel.blocks_from(data, LABELS.tolist(), block_rows=17 if not rows else 23))
    return model


def in_two(data, model):
    """`partial_fit` of two halves."""
    part = (lambda a, b: data[a:b]) if not isinstance(data, pyarrow.Table) else lambda a, b: data.slice(a, b - a)
    return model.partial_fit(part(0, 25), LABELS[:25]).partial_fit(part(25, COUNT), LABELS[25:])


def trained(form, entry, folder, tmp_path, weights=None):
    """A model of a form of the examples that came in by an entry point."""
    if form in FILES:
        pairs = [f"{label}={weight}" for label, weight in weights.items()] if isinstance(weights, dict) else [weights]
        flags = ["--class-weight", ",".join(pairs)] if weights is not None else []
        flags += ["--learner", "adagrad", "--model", str(tmp_path / "m"), "--json"]
        assert run(["train", str(folder / FILES[form]), *flags]) == 0
        return ouzel.load(tmp_path / "m")
    data = data_of(form)
    return {
        "learn_one": lambda: learnt_one_by_one(data, weights),
        "blocks": lambda: learnt_in_blocks(data, weights),
        "fit": lambda: new(weights).fit(data, LABELS),
        "partial_fit": lambda: in_two(data, new(weights)),
        "learn_many": lambda: new(weights).learn_many(data, LABELS),
    }[entry]()


TRAIN = [(form, "shell") for form in FILES]
TRAIN += [
    (form, entry) for form in ("pandas", "polars", "arrow") for entry in ("fit", "partial_fit", "learn_many", "blocks")
]
TRAIN += [(form, entry) for form in ("rows", "numbers") for entry in ("learn_one", "blocks")]
TRAIN += [(form, entry) for form in ("sparse", "array") for entry in ("fit", "partial_fit", "blocks")]
PREDICT = [(form, "shell") for form in FILES]
PREDICT += [(form, entry) for form in ("pandas", "polars", "arrow") for entry in ("predict", "many", "blocks")]
PREDICT += [(form, entry) for form in ("rows", "numbers", "columns") for entry in ("one", "blocks")]
PREDICT += [(form, entry) for form in ("sparse", "array") for entry in ("predict", "blocks")]


def predicted(model, form, entry, folder, tmp_path, capsys):
    """Probabilities (n,) of "yes"; an OuzelError with what the shell says if it refuses."""
    if entry == "shell":
        model.save(tmp_path / "p")
        capsys.readouterr()
        status = run(["predict", str(tmp_path / "p"), str(folder / FILES[form]), "--json"])
        said = capsys.readouterr()
        if status:
            raise ouzel.OuzelError(said.err)
        return np.array([json.loads(line)["probability"] for line in said.out.splitlines()])
    data = data_of(form)
    if entry == "predict":
        return model.predict_proba(data)[:, 1]
    if entry == "many":
        return model.predict_proba_many(data)["yes"].to_numpy()
    if entry == "one":
        return np.array([model.predict_proba_one(row)["yes"] for row in data])
    pairs = [(row, None) for row in data] if isinstance(data, list) else data
    answers = [model.model_.answers(block) for block in ouzel.blocks_from(pairs, model=model)]
    return np.concatenate([part.probabilities[:, 1] for part in answers])


def family(form):
    return next(forms for forms in (NAMED, NUMBERED, ARRAYS) if form in forms)


@pytest.fixture(scope="module")
def reference(folder, tmp_path_factory):
    """What the digits are, by the first form of each family."""
    found = {}
    for form, entry in (("pandas", "fit"), ("sparse", "fit"), ("array", "fit")):
        model = trained(form, entry, folder, tmp_path_factory.mktemp("m"))
        found[family(form)] = model.predict_proba(data_of(form))[:, 1]
    return found


@pytest.mark.parametrize(("form", "entry"), TRAIN)
def test_every_entry_to_train_and_to_predict_give_the_same_digits_or_refuse(
    form, entry, folder, tmp_path, capsys, reference
):
    model = trained(form, entry, folder, tmp_path)

    for other, way in PREDICT:
        if family(other) == family(form):
            np.testing.assert_array_equal(
                predicted(model, other, way, folder, tmp_path, capsys), reference[family(form)], f"{other} by {way}"
            )
            continue
        if family(form) == NUMBERED and other == "columns":
            continue  # whole numbers as keys are ids, whatever they are called
        with pytest.raises(ValueError, match=r"^[^\n]+\n?$"):  # in scikit-learn's words where it counts columns
            pytest.fail(f"{other} by {way}: {predicted(model, other, way, folder, tmp_path, capsys)[:3]}")


FIRST = {NAMED: ("pandas", "fit"), NUMBERED: ("sparse", "fit"), ARRAYS: ("array", "fit")}
WEIGHTS = {"balanced": "balanced", "given": {"yes": 5.0, "no": 0.25}}


@pytest.fixture(scope="module")
def weighed(folder, tmp_path_factory):
    """The digits with weights of classes, by family and kind of weights."""
    found = {}
    for forms, (form, entry) in FIRST.items():
        for kind, weights in WEIGHTS.items():
            model = trained(form, entry, folder, tmp_path_factory.mktemp("w"), weights)
            found[forms, kind] = model.predict_proba(data_of(form))[:, 1]
    return found


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(("form", "entry"), TRAIN)
def test_class_weights_are_the_same_at_every_entry_point(form, entry, kind, folder, tmp_path, reference, weighed):
    forms = family(form)
    model = trained(form, entry, folder, tmp_path, WEIGHTS[kind])

    found = model.predict_proba(data_of(FIRST[forms][0]))[:, 1]
    np.testing.assert_array_equal(found, weighed[forms, kind])
    assert not np.allclose(found, reference[forms])


def test_names_in_digits_are_one_feature_in_tables_objects_and_dictionaries(tmp_path):
    rows = [{"7": 2.5, "b": 1.0}, {"7": 1.5, "b": 3.0}]
    (tmp_path / "t.csv").write_text("label,7,b\n1,2.5,1\n0,1.5,3\n")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"label": 1 - k, **row}) + "\n" for k, row in enumerate(rows)))
    model = new().learn_one(rows[0], 1).learn_one(rows[1], 0)
    rows_and_labels = [(rows[0], 1), (rows[1], 0)]

    for stream in (
        ouzel.read(tmp_path / "t.csv"),
        ouzel.read(tmp_path / "t.jsonl"),
        ouzel.blocks_from(rows_and_labels),
    ):
        (block,) = stream
        assert sorted(set(block.indices.tolist())) == sorted({7, feature_id("b")})
        np.testing.assert_array_equal(
            model.model_.margins(block), [model.model_.margins_one(*model._slots.row(r))[0] for r in rows]
        )


def test_words_in_digits_of_a_text_are_names(tmp_path):
    (tmp_path / "t.csv").write_text("label,t\n1,in 2016\n")
    (tmp_path / "t.jsonl").write_text('{"label": 1, "t": "in 2016"}\n')
    expected = sorted(feature_id(word) for word in ("in", "2016"))

    for name in ("t.csv", "t.jsonl"):
        (block,) = ouzel.read(tmp_path / name, text="t")
        assert block.indices.tolist() == expected


def test_the_base_of_ids_is_never_guessed(tmp_path):
    (tmp_path / "one.svm").write_text("1 1:1 2:2\n0 2:1 3:1\n")
    (tmp_path / "zero.svm").write_text("1 0:1 1:2\n0 1:1 2:1\n")
    run(["train", str(tmp_path / "one.svm"), "--learner", "adagrad", "--model", str(tmp_path / "m"), "--json"])
    model = ouzel.load(tmp_path / "m")
    shifted = sparse.csr_matrix([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])

    assert model.n_features_in_ == 4
    with pytest.raises(ouzel.OuzelError, match=r"3 columns; .* from 1 to 3: give 4 .*zero_based=True, n_features=4"):
        model.predict(shifted)
    assert run(["predict", str(tmp_path / "m"), str(tmp_path / "zero.svm")]) == 2
    wide = sparse.csr_matrix([[0.0, 1.0, 2.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    np.testing.assert_array_equal(
        model.decision_function(wide), [float(m) for m in np.ravel(model.decision_function(wide.toarray()))]
    )
    with pytest.raises(ouzel.OuzelError, match="numbers in column 0"):
        model.predict(np.ones((2, 4)))


def test_missing_and_unknown_columns_are_named_in_a_warning_and_order_does_not_matter():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    model = new().fit(frame, LABELS)

    reordered = model.decision_function(frame[["zip", "score", "job", "age"]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(frame.drop("age").with_columns(more=polars.lit(1)))

    np.testing.assert_array_equal(reordered, model.decision_function(frame))
    assert [str(warning.message) for warning in caught] == [
        "table: columns more are not known to the model, and left out",
        "table: columns age are missing: their values count as absent",
    ]


def test_learners_that_keep_a_matrix_know_columns_by_place_and_name(tmp_path):
    frame = pyarrow.table({"a": X[:, 0], "b": X[:, 1]})
    model = ouzel.OnlineClassifier("arow-full").fit(frame, LABELS)
    model.save(tmp_path / "m")
    (tmp_path / "new.csv").write_text("b,a\n" + "".join(f"{b},{a}\n" for a, b in X[:, :2].tolist()))

    loaded = ouzel.load(tmp_path / "m")

    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    assert loaded.coef_.shape == (1, 2)
    assert [name for name, _ in loaded.top_weights(3) if name != "(intercept)"] != []
    labels = [loaded.predict_one({"b": b, "a": a, "c": 9.0}) for a, b in X[:, :2].tolist()]
    assert labels == model.predict(frame).tolist()
    assert run(["predict", str(tmp_path / "m"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "p.parquet")]) == 0
    assert pyarrow.parquet.read_table(tmp_path / "p.parquet")["label"].to_pylist() == labels


def test_numbers_by_name_have_weights_by_column():
    frame = pyarrow.table({"a": X[:, 0], "b": X[:, 1]})

    model = new().fit(frame, LABELS)

    assert model.coef_.tolist()[0] == [dict(model.top_weights(9))[name] for name in ("a", "b")]


def test_names_in_digits_mean_what_their_model_makes_of_them():
    array = new().fit(X, LABELS)
    columns = new().fit(pyarrow.table({"a": X[:, 0], "7": X[:, 1]}), LABELS)

    with pytest.raises(ouzel.OuzelError, match="5 columns without names, and this data has names"):
        array.predict_one({"3": 1.0})
    assert (
        columns.predict_proba_one({"a": X[0, 0], "7": X[0, 1]})["yes"]
        == columns.predict_proba(pyarrow.table({"a": X[:1, 0], "7": X[:1, 1]}))[0, 1]
    )


def test_a_pandas_column_of_words_and_other_values_is_that_of_json_lines(tmp_path):
    pandas = pytest.importorskip("pandas")
    mixed = [True, "yes", 2.0, None, " a "]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"x": value, "label": 1}) + "\n" for value in mixed))

    (block,) = ouzel.blocks_from(pandas.DataFrame({"x": pandas.Series(mixed, dtype=object)}))

    (expected,) = ouzel.read(tmp_path / "t.jsonl")
    assert block.indices.tolist() == expected.indices.tolist()
