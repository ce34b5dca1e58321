"""Values that no text can say, or that have two meanings, are refused, or mean one thing at every entry point."""

import datetime
import decimal

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import ouzel
from ouzel.errors import DataError, OuzelError
from ouzel.service.client import Client, as_json
from ouzel.streams.values import json_value

pandas = pytest.importorskip("pandas")

BYTES = [b"K\xc3\xb6ln", b"K\xf6ln", b"Bonn", b"\xff\x01"]
COLUMNS = {
    "bytes": pyarrow.array(BYTES, pyarrow.binary()),
    "long bytes": pyarrow.array(BYTES, pyarrow.large_binary()),
    "bytes of one length": pyarrow.array([b"ab", b"\xf6n", b"Bo", b"\xff\x01"], pyarrow.binary(2)),
    "a view": pyarrow.array(BYTES, pyarrow.binary_view()),
    "a dictionary": pyarrow.array(BYTES, pyarrow.binary()).dictionary_encode(),
    "lists": pyarrow.array([[b"a"], [b"b", b"\xf6"], None, [b"\xff"]], pyarrow.list_(pyarrow.binary())),
}


def names(stream):
    return sorted(
        {
            bytes(block.names.text)[int(start) : int(end)].decode()
            for block in stream
            for start, end in zip(block.names.starts, block.names.ends, strict=True)
        }
    )


@pytest.mark.parametrize("kind", COLUMNS)
def test_bytes_that_are_not_utf8_are_refused_with_row_and_column(kind, tmp_path):
    table = pyarrow.table({"label": [1, 0, 1, 0], "key": COLUMNS[kind]})

    with pytest.raises(DataError, match=r"row 2, column 'key': found .*; expected text in UTF-8") as refused:
        list(ouzel.blocks_from(table, label="label"))

    assert (refused.value.row, refused.value.column) == (2, "key")
    if kind != "a view":
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(DataError, match=r"t.parquet: row 2, column 'key'"):
            list(ouzel.read(tmp_path / "t.parquet", label="label"))


def test_such_rows_can_be_skipped():
    table = pyarrow.table({"label": [1, 0, 1, 0], "key": COLUMNS["bytes"]})

    (block,) = ouzel.blocks_from(table, label="label", on_error="skip")

    assert block.rows == 2
    assert names([block]) == ["key=Bonn", "key=Köln"]


@pytest.mark.parametrize("role", ["label", "group", "id"])
def test_so_are_bytes_of_labels_groups_and_names_of_rows(role):
    columns = {"label": [1.0, 2.0], "x": [1.0, 2.0], role: pyarrow.array([b"a", b"\xf6"], pyarrow.binary())}
    roles = {"label": "label", role: role}

    with pytest.raises(DataError, match=rf"row 2, column '{role}': .*expected text in UTF-8"):
        list(ouzel.blocks_from(pyarrow.table(columns), **roles))


def test_a_word_of_a_dictionary_that_no_row_has_is_not_looked_at():
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 0]), pyarrow.array([b"a", b"\xf6"], pyarrow.binary()))

    assert names(ouzel.blocks_from(pyarrow.table({"label": [1, 0], "key": words}), label="label")) == ["key=a"]


@pytest.mark.parametrize("example", [({"word": "\ud800"}, 1), ({"\ud800": 1.0}, 1), ({"word": "a"}, "\ud800")])
def test_half_a_surrogate_pair_is_an_error_of_one_line(example):
    with pytest.raises(OuzelError, match="is no text: it has half of a surrogate pair"):
        ouzel.OnlineClassifier("ogd").learn_one(*example)
    with pytest.raises(OuzelError, match="is no text: it has half of a surrogate pair"):
        ouzel.progressive_validation(ouzel.OnlineClassifier("ogd"), ouzel.blocks_from([example] * 2))


@pytest.mark.parametrize("given", [[({"word": [[1, 2]]}, 1)], pandas.DataFrame({"word": [[["a"], "b"]]})])
def test_a_list_in_a_list_is_refused(given):
    labels = () if isinstance(given, list) else ([1],)

    with pytest.raises(OuzelError, match="word"):
        list(ouzel.blocks_from(given, *labels))


def test_words_and_lists_in_a_column_of_objects_are_what_they_are_in_dictionaries():
    mixed = [["a"], "a", ["b", "c"], None, 3]
    frame = pandas.DataFrame({"word": pandas.Series(mixed, dtype=object)})

    assert names(ouzel.blocks_from(frame, [1, 0, 1, 0, 1])) == [
        f"word={word}" for word in ("(missing)", "3", "a", "b", "c")
    ]


VALUES = (
    *(np.int64(3), np.float32(1.5), np.bool_(True), decimal.Decimal("1.5"), datetime.date(2024, 1, 2)),
    *(datetime.datetime(2024, 1, 2, 3, 4), datetime.timedelta(minutes=90), float("nan"), pandas.NA, b"Rome"),
    *(np.array([1, 2]), {"red", "blue"}, ("a", "b"), pandas.Timestamp("2024-01-02"), np.datetime64("2024-01-02"), "NA"),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_a_client_sends_has_the_features_that_learn_one_takes(value):
    sent = as_json({"label": "a", "x": value})

    assert sent["label"] == "a"
    assert names(ouzel.blocks_from([({"x": sent["x"]}, 1)])) == names(ouzel.blocks_from([({"x": value}, 1)]))
    assert json_value({"x": value}) == {"x": sent["x"]}


@pytest.mark.parametrize("value", [float("inf"), object(), b"\xff", [[1]]], ids=lambda value: type(value).__name__)
def test_a_client_names_the_member_that_it_cannot_send(value):
    client = Client("http://localhost:9")

    if value == [[1]]:
        assert as_json({"x": value}) == {"x": [[1]]}  # which the service refuses
        return
    with pytest.raises(OuzelError, match="member 'x' is "):
        client.learn({"x": value, "label": 1})
