"""Tables in bodies and files that are sent: their cells mean what they mean in a file that is trained on."""

import io
import json

import pytest

import ouzel
from ouzel.service.formats import DEFAULTS, cells_of_stream, lines_to_send
from ouzel.streams.feature_space import CATEGORY, NUMBER, FeatureSpace
from ouzel.streams.formats.catalogue import FORMATS
from ouzel.streams.options import Options

ZIPS = ["02139", "10001", "94110", "00501"]
TABLE = "".join(
    ["zip,price,code,_id,label\n", *(f"{ZIPS[k % 4]},{k}.5,{'A1' if k % 3 else 7},{k},1\n" for k in range(8))]
)


def rows_of(text: str, options: Options = DEFAULTS, most: int = 512) -> list[dict]:
    parts = cells_of_stream(io.BufferedReader(io.BytesIO(text.encode())), FORMATS["csv"], most, options)
    return [json.loads(line) for part in parts for line in part]


def test_codes_and_words_among_numbers_stay_text():
    first = {"zip": "02139", "price": 0.5, "code": "7", "_id": "0", "label": 1.0}

    assert rows_of(TABLE)[:2] == [first, {**first, "zip": "10001", "price": 1.5, "code": "A1", "_id": "1"}]


def test_what_the_model_knows_counts_more_than_the_cells():
    known = Options(space=FeatureSpace(named=True, kinds={"a": CATEGORY, "b": NUMBER}, mixed={"a": NUMBER}), sample=0)

    assert rows_of("a,b,c\n1.50,07,1e2\n2,?,3\n", known) == [
        {"a": "1.50", "b": 7.0, "c": 100.0},
        {"a": "2", "b": None, "c": 3.0},
    ]
    assert rows_of("c\n1\n", Options(categorical=("c",), sample=0)) == [{"c": "1"}]


def test_rows_before_a_bad_one_are_learnt():
    parts = cells_of_stream(io.BufferedReader(io.BytesIO(b'a,b\n1,2\n3,4\n"5,6\n')), FORMATS["csv"], 512)
    found: list[bytes] = []

    with pytest.raises(ouzel.OuzelError, match="found 1 cell"):
        found.extend(line for part in parts for line in part)
    assert [json.loads(line) for line in found] == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]


def test_a_sent_table_makes_the_model_that_training_on_it_makes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    kind, lines = lines_to_send(str(path), None)
    (tmp_path / "t.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    read = [
        next(ouzel.read(str(path), ignore="_id")),
        next(ouzel.read(str(tmp_path / "t.jsonl"), ignore="_id", sample=0)),
    ]

    assert kind == "application/x-ndjson"
    assert read[0].indices.tolist() == read[1].indices.tolist()
    assert read[0].values.tolist() == read[1].values.tolist()
