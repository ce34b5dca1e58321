"""A column called label, target, class or y is the label where none is named, unless it is a feature of the model."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from ouzel.errors import DataError
from ouzel.streams.feature_space import NUMBER, FeatureSpace
from ouzel.streams.label_remarks import classes_in
from ouzel.streams.labels import labels_in
from ouzel.streams.logs.arrow import TableRows
from ouzel.streams.memory import blocks_from
from ouzel.streams.options import Options
from ouzel.streams.read import read
from ouzel.streams.tables.schema import ColumnKinds

ROWS = [{"a": 1.0, "y": 5.0, "class": 0}, {"a": 2.0, "y": 6.0, "class": 1}, {"a": 3.0, "y": 7.0, "class": 1}]


def written(folder, format, rows=ROWS):
    """The rows as a file of a format."""
    path = folder / f"t.{format}"
    if format == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif format == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [rows[0], *(row.values() for row in rows)]
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return path


def labels_of(stream):
    return [label for block in stream for label in labels_in(block)]


FORMATS = ["csv", "jsonl", "parquet"]


@pytest.mark.parametrize("format", FORMATS)
def test_the_label_taken_by_its_name_is_named_once(format, tmp_path):
    path = written(tmp_path, format)
    stream = read([path, path])

    assert labels_of(stream) == [0, 1, 1] * 2
    assert [line for line in stream.remarks if "label" in line] == ["label: class (by its name; y is a feature)"]

    named = read(path, label="y")
    assert labels_of(named) == [5, 6, 7]
    assert named.remarks == []


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("unlabelled", [False, True])
def test_what_the_model_knows_as_a_feature_is_no_label(format, unlabelled, tmp_path):
    path = written(tmp_path, format)
    space = FeatureSpace(named=True, kinds={"a": NUMBER, "class": NUMBER})
    stream = read(path, space=space, unlabelled=unlabelled)

    assert labels_of(stream) == [5, 6, 7]
    assert [line for line in stream.remarks if "label" in line] == ["label: y (by its name)"]

    known = read(path, space=space._replace(kinds=dict.fromkeys(ROWS[0], NUMBER)), unlabelled=unlabelled)
    if unlabelled:
        assert labels_of(known) == [None] * 3
    else:
        with pytest.raises(DataError, match="which column is the label"):
            list(known)


@pytest.mark.parametrize("format", FORMATS)
def test_columns_that_are_left_out_are_not_called_features(format, tmp_path):
    stream = read(written(tmp_path, format), ignore="y")

    assert labels_of(stream) == [0, 1, 1]
    assert [line for line in stream.remarks if "label" in line] == ["label: class (by its name)"]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([1, 2, 3, 4, 5], "labels 1, 2, 3, 4, 5: taken as 5 classes; --task regression predicts numbers"),
        (list(range(18, 91)), "labels 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, … (73 in all): taken as 73 classes; "),
        ([0, 1], None),
        ([-1, 1, None], None),
        ([1, 2.5, 3], None),
        (["a", "b", "c"], None),
    ],
)
def test_whole_numbers_that_are_taken_as_classes_say_so(labels, said):
    found = classes_in(next(blocks_from([({"a": 1.0}, label) for label in labels])))

    assert [line.startswith(said) for line in found] == ([True] if said else [])


def test_messages_of_a_table_name_their_label_once():
    said = []
    rows = TableRows(Options(), "rows", ColumnKinds(Options(), said.append))
    for more in ({}, {"b": 1}):  # two schemas
        rows.columns_of(pyarrow.RecordBatch.from_pylist([row | more for row in ROWS]))

    assert said == ["label: class (by its name; y is a feature)"]
