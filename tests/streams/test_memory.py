"""What lies in memory has the features that files have, and nothing that is not a number enters."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse as sparse

import ouzel
from ouzel.errors import DataError, OuzelError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.memory import blocks_from, to_block
from ouzel.streams.read import read

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

FRAME = pd.DataFrame(
    {
        "number": [1.5, None, 3.0],
        "word": ["x", None, " z "],
        "kind": pd.Categorical(["a", None, "b"]),
        "truth": pd.array([True, None, False], dtype="boolean"),
        "whole": pd.array([1, None, 3], dtype="Int64"),
    }
)


def rows_of(blocks):
    for block in blocks:
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            yield dict(zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True))


def test_tables_of_every_library_have_the_features_of_a_file(tmp_path):
    FRAME.assign(y=1).to_parquet(tmp_path / "frame.parquet")
    expected = list(rows_of(read(tmp_path / "frame.parquet")))

    assert [len(row) for row in expected] == [5, 5, 5]
    for table in (FRAME, pl.from_pandas(FRAME), pyarrow.table(FRAME), pyarrow.table(FRAME).to_batches()[0]):
        assert list(rows_of(blocks_from(table))) == expected


def test_an_index_is_no_feature(tmp_path):
    chosen = FRAME.iloc[[2, 0]]
    named = chosen.set_index(pd.Index(["r1", "r2"], name="row"))
    chosen.assign(y=1).to_parquet(tmp_path / "chosen.parquet")

    expected = list(rows_of(blocks_from(FRAME)))

    for blocks in (blocks_from(chosen), blocks_from(named), read(tmp_path / "chosen.parquet")):
        assert list(rows_of(blocks)) == [expected[2], expected[0]]


def test_members_of_objects_are_columns():
    frame = pl.DataFrame({"s": [{"p": 2, "q": "z"}]})

    assert list(rows_of(blocks_from(frame))) == list(rows_of(blocks_from([({"s.p": 2, "s.q": "z"}, None)])))


def test_columns_of_dictionaries_are_known_in_the_order_in_which_they_come():
    names = [f"column{k}" for k in range(50)]

    (block,) = ouzel.blocks_from([(dict.fromkeys(names, 1), 1), ({"last": 2}, 0)], categorical=["all"])

    assert [*block.space.kinds] == [*names, "last"]


@pytest.mark.parametrize(
    "labels",
    [
        ["x", None, "y"],
        pd.Series(["x", np.nan, "y"], dtype=object),
        pd.Series(["x", None, "y"], dtype="string"),
        pd.Series(pd.Categorical(["x", None, "y"])),
    ],
)
def test_labels_may_be_missing(labels):
    block = next(blocks_from(FRAME, labels))

    assert block.label_names == ["x", "y"]
    np.testing.assert_array_equal(block.labels, [0, np.nan, 1])


def test_labels_and_weights_go_with_the_rows_before_a_bad_one():
    frame = pd.DataFrame({"number": [1.0, np.inf]})
    blocks = blocks_from(frame, [1, 0], weights=[2, 3])

    block = next(blocks)

    assert (block.labels.tolist(), block.weights.tolist(), len(block.offsets)) == ([1.0], [2.0], 2)
    with pytest.raises(DataError, match="row 2, column 'number': found inf"):
        next(blocks)


def test_weights_may_lie_beside_pairs():
    rows = [({"a": 1}, 1), ({"a": 2}, 0)]

    assert next(blocks_from(rows, weights=[3, 4])).weights.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    "data", [np.eye(2), FRAME[:2], [({"a": 1.0}, 1), ({"a": 1.0}, 0)]], ids=["array", "frame", "pairs"]
)
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_no_importance_are_refused(data, weight):
    labels = None if isinstance(data, list) else [1, 0]

    with pytest.raises(DataError, match="example 1: its weight is"):
        next(blocks_from(data, labels, weights=[1.0, weight]))


@pytest.mark.parametrize(
    ("data", "labels", "says"),
    [
        (np.eye(3), [1], "there are 3 examples but 1 labels"),
        (FRAME, [1, 0], "there are 3 examples but 2 labels"),
        (np.eye(2), [np.inf, 0], "example 0: its label is infinite"),
        (np.ones(3), [1, 0, 1], "an array of two dimensions; got one of 1"),
        ([[1, 2], [3, 4]], None, "examples are arrays, tables, or pairs"),
        (["text"], None, "examples are arrays, tables, or pairs"),
        ([({"a": 10**400}, 1)], None, "expected a finite number below"),
        (pd.DataFrame({"a": [1, object()]}), [1, 0], "table: cannot be read"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), [1], "table: cannot be read"),
    ],
)
def test_what_is_no_data_is_one_line(data, labels, says):
    with pytest.raises(DataError, match=says) as caught:
        list(blocks_from(data, labels))

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array"])
@pytest.mark.parametrize("identity", [2**32 - 1, 2**32, 2**40])
def test_ids_beyond_the_largest_are_refused_in_sparse_matrices(kind, identity):
    shape = (2, 3) if kind == "csc_matrix" else (2, 2**41)  # compressed columns of so many take too much room
    X = getattr(sparse, kind)(([1.0, 2.0], ([0, 1], [1, 2 if kind == "csc_matrix" else identity])), shape=shape)
    if kind == "csc_matrix":
        assert to_block(X).indices.tolist() == [1, 2]
        return

    says = f"row 1: found the id {identity} of a feature; expected ids from 0 to 4294967294"
    for convert in (to_block, lambda X: list(blocks_from(X, [1, 0]))):
        with pytest.raises(DataError, match=says):
            convert(X)
    for estimator in (ouzel.AdaGradClassifier(), ouzel.AWMSketchClassifier(budget="8KB")):
        with pytest.raises(DataError, match=says):
            estimator.partial_fit(X, [1, 0], classes=[0, 1])
    X = getattr(sparse, kind)(([1.0, 2.0], ([0, 1], [1, 2**32 - 2])), shape=shape)
    assert to_block(X).indices.tolist() == [1, 2**32 - 2]


@pytest.mark.parametrize(
    ("indptr", "indices"), [([0, 1, 2], [0, -1]), ([0, 1, 2], [0, 7]), ([0, 2, 1], [0, 1]), ([0, 1, 9], [0, 1])]
)
def test_sparse_matrices_whose_offsets_or_ids_are_out_of_order_are_refused(indptr, indices):
    X = sparse.csr_matrix((2, 3))
    X.data, X.indptr, X.indices = np.ones(2), np.array(indptr, np.int32), np.array(indices, np.int32)

    for convert in (to_block, lambda X: list(blocks_from(X, [1, 0]))):
        with pytest.raises(DataError, match=r"sparse matrix: its (ids|offsets)"):
            convert(X)


def test_an_array_of_too_many_columns_is_refused():
    with pytest.raises(DataError, match="the array has 4294967296 columns"):
        to_block(np.broadcast_to(np.zeros(1), (0, 2**32)))


LABELLED = pd.DataFrame({"price": [1.0, 2.0, 3.0], "label": [7.0, 9.0, None], "w": [3.0, 4.0, 1.0], "q": [5, 5, 6]})


def test_a_frame_has_columns_of_labels_weights_and_groups():
    given = {"label": "label", "weight": "w", "group": "q", "id": "price"}
    (block,) = blocks_from(LABELLED, **given)

    assert block.labels.tolist()[:2] == [7.0, 9.0]
    assert np.isnan(block.labels[2])
    assert block.weights.tolist() == [3.0, 4.0, 1.0]
    assert block.groups.tolist() == [5, 5, 6]
    assert block.tags.to_pylist() == ["1", "2", "3"]
    assert block.nonzeros == 0

    words = LABELLED.assign(label=["spam", "ham", "spam"])
    (block,) = blocks_from(words, label="label", keep="price")
    assert [block.label_names[int(code)] for code in block.labels] == ["spam", "ham", "spam"]
    (block,) = blocks_from(words, label="label", label_positive="ham")
    assert block.labels.tolist() == [-1.0, 1.0, -1.0]


def test_a_column_that_is_no_label_is_a_feature():
    (block,) = blocks_from(LABELLED[["price", "label"]], [0, 1, 0])

    assert block.labels.tolist() == [0.0, 1.0, 0.0]
    assert block.nonzeros == 6


def test_labels_beside_a_frame_stay_with_their_rows_where_bad_rows_are_skipped():
    frame = pd.DataFrame({"price": [1.0, np.inf, 3.0]})
    blocks = list(blocks_from(frame, ["a", "b", "c"], weights=[1.0, 2.0, 3.0], on_error="skip"))

    assert [block.label_names[int(code)] for block in blocks for code in block.labels] == ["a", "c"]
    assert [weight for block in blocks for weight in block.weights.tolist()] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("data", "options", "says"),
    [
        (LABELLED, {"label": "no"}, "table: has no column 'no'"),
        (LABELLED, {"delimiter": ";"}, "a data frame has no use for the option; leave out delimiter=';'"),
        (LABELLED, {"columns": ["a"]}, "a data frame has no use for the option; leave out columns="),
        (LABELLED, {"skip_lines": 1}, "leave out skip_lines=1"),
        (LABELLED, {"query": "q.txt"}, "leave out query='q.txt'"),
        (LABELLED, {"sample": 5}, "leave out sample=5"),
        (LABELLED, {"with_key": True}, "leave out with_key=True"),
        (LABELLED, {"limits": {"line": "1GB"}}, "leave out limits="),
        (LABELLED, {"labels": [1, 2, 3], "label": "label"}, "labels are given already; leave out label='label'"),
        (LABELLED, {"weights": [1, 2, 3], "weight": "w"}, "weights are given already; leave out weight='w'"),
        (
            LABELLED,
            {"labels": [1, 2, 3], "label_positive": "1"},
            "labels are given as they are; leave out label_positive=",
        ),
        ([({"a": 1.0}, 0)], {"label": "a"}, "examples given as dictionaries has no use"),
        ([({"a": 1.0}, 0)], {"on_error": "skip"}, "leave out on_error='skip'"),
        (np.eye(2), {"label": "a"}, "an array has no use for the option; leave out label='a'"),
        (np.eye(2), {"text": "a"}, "leave out text="),
        (sparse.csr_array(np.eye(2)), {"missing": "absent"}, "leave out missing='absent'"),
    ],
)
def test_an_option_without_use_is_refused(data, options, says):
    with pytest.raises(OuzelError) as error:
        list(blocks_from(data, **options))

    assert says in str(error.value)


def test_words_of_two_columns_of_text_stay_apart_in_examples_that_lack_one_of_them():
    (block,) = blocks_from([({"a": "x", "b": "x"}, 1), ({"a": "x"}, 0), ({"b": "x"}, 1)], text=["a", "b"])
    first, second = feature_id("a=x"), feature_id("b=x")

    assert block.indices.tolist() == [*sorted((first, second)), first, second]
