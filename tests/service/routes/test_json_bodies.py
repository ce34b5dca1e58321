"""JSON means the same as an object, in an array, as a line, and in a file: what one refuses, all refuse."""

import json
import random

import pytest

import ouzel
from ouzel.service.reading import line_of

LINES = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}
SUMMARY = "/v1/learn?answers=summary"

TAKEN = [
    b'{"label": "a", "x": NaN}',
    b'{"label": "a", "x": -0.0, "y": 1E+2}',
    b'{"label": "a", "x": "\\ud83d\\ude00", "y": "\\n"}',
    b'{"label": "a", "x": 1e-400, "y": [1, "w"]}',
    b'\t{"label" : "a" ,"x":null } ',
    b'{"label": "a", "x": 0.1, "x": 2}',
]
REFUSED = [
    b'{"label": "a", "x": Infinity}',
    b'{"label": "a", "x": -Infinity}',
    b'{"label": "a", "x": 1e400}',
    b'{"label": "a", "x": "\\ud800"}',
    b'{"label": "a", "x": "tab\there"}',
    b'{"label": "a", "x": "nothing\0here"}',
    b'{"label": "a", "v": ["tab\there"]}',
    b'{"label": "a", "tab\there": 1}',
    b'{"label": "a", "x": "\xff"}',
    b'{"label": "a", "x": 01}',
    b'{"label": "a", "x": 1,}',
    b'{"label": "a", "x": +1}',
    b'{"label": "a", "x": .5}',
    b'{"label": "a", "x": nan}',
    b"{'label': 'a'}",
    b'{"label": "a"} {}',
    b"1",
]
BROKEN = [
    b'{"label": "a", "v": ["new\nline"]}',
    b'{"label": "a", "x": "new\nline"}',
    b'{"label": "a", "x": "re\rturn"}',
    b'{"label": "a", "new\nline": 1}',
    b'{"label": "new\r\nline"}',
]
"""Line breaks in strings."""


def taken(client, text):
    """Whether each way of sending an example to learn takes it."""
    array = client.post("/v1/learn", content=b"[" + text + b"]", headers=JSON)
    lines = client.post(SUMMARY, content=text + b"\n", headers=LINES).json()
    return {
        "object": client.post("/v1/learn", content=text, headers=JSON).status_code == 200,
        "array": array.status_code == 200 and all("number" in one for one in array.json()),
        "lines": lines["learnt"] > 0,
        "two lines": client.post(SUMMARY, content=text + b"\n" + text, headers=LINES).json()["learnt"] > 0,
    }


def in_a_file(tmp_path, text):
    path = tmp_path / "a.jsonl"
    path.write_bytes(text + b"\n")
    try:
        return sum(block.rows for block in ouzel.read(str(path), label="label")) > 0
    except ouzel.OuzelError:
        return False


@pytest.mark.parametrize("text", TAKEN)
def test_what_one_way_takes_all_ways_take(client, tmp_path, text):
    assert set(taken(client, text).values()) == {True}
    assert in_a_file(tmp_path, text)
    assert client.post("/v1/predict", content=text, headers=JSON).status_code == 200


@pytest.mark.parametrize("text", REFUSED)
def test_what_one_way_refuses_all_ways_refuse(client, tmp_path, text):
    assert set(taken(client, text).values()) == {False}
    assert not in_a_file(tmp_path, text)
    for path in ("/v1/predict", "/v1/explain"):
        assert client.post(path, content=text, headers=JSON).status_code == 422


@pytest.mark.parametrize("text", BROKEN)
def test_a_line_break_within_a_string_is_refused(client, tmp_path, text):
    assert set(taken(client, text).values()) == {False}
    assert not in_a_file(tmp_path, text)
    said = client.post("/v1/learn", content=text, headers=JSON).json()
    assert "Invalid control character" in said["detail"]
    assert said["column"] == text.index(b"\r" if b"\r" in text else b"\n") + 1


def test_line_breaks_outside_of_strings_are_blanks(client, tmp_path):
    example = {"label": 'a "quoted\\" word', "x": [1, 2], "y": {"z": "\n"}}
    text = json.dumps(example, indent=2).replace("\n", "\r\n").encode()

    assert client.post("/v1/learn", content=text, headers=JSON).status_code == 200
    assert client.post("/v1/learn", content=b"[" + text + b",\n" + text + b"\n]", headers=JSON).status_code == 200
    assert json.loads(line_of(text)) == example


def test_a_missing_value_is_missing_by_every_protocol(client):
    client.post("/v1/learn", json=[{"label": "a", "x": 1.0}, {"label": "b", "y": 1.0}] * 20)
    without = client.post("/v1/predict", json={"y": 1.0}).json()["probabilities"]
    array = client.post("/v1/predict", content=b'[{"y": 1.0, "x": NaN}]', headers=JSON).json()
    inputs = b'{"inputs": [%s, {"name": "y", "shape": [1], "datatype": "FP64", "data": [1.0]}]}'
    x = b'{"name": "x", "shape": [1], "datatype": "FP64", "data": [%s]}'
    missing = client.post("/v2/models/model/infer", content=inputs % (x % b"NaN"), headers=JSON).json()
    infinite = client.post("/v2/models/model/infer", content=inputs % (x % b"Infinity"), headers=JSON)

    assert array[0]["probabilities"] == without
    assert missing["outputs"][1]["data"] == list(without.values())
    assert infinite.status_code == 422
    assert "expected a finite number" in infinite.json()["detail"]


def test_a_label_that_is_not_a_number_is_none(client):
    client.post("/v1/predict", json={"_id": "e", "x": 1.0})
    refused = client.post("/v1/label", content=b'{"id": "e", "label": NaN}', headers=JSON)

    assert (refused.status_code, refused.json()["field"]) == (422, "label")


def strictly(text):
    """Whether a text is an object by Python's own parser of JSON."""
    try:
        return isinstance(json.loads(text.decode()), dict)
    except (ValueError, RecursionError):
        return False


PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\\",
    b"a",
    b'"x":1',
    b"NaN",
    b"1",
    b"\x0b",
]


def test_a_text_is_an_object_or_refused_whatever_is_done_to_it(client):
    """Sound objects, a few pieces of which are replaced: none becomes an example that is no JSON."""
    random_one, odd = random.Random(7), 0
    for _ in range(300):
        text = bytearray(random_one.choice([*TAKEN, b'{"label": "b", "v": ["w", "u"],\n "t": "a b"}']))
        for _ in range(random_one.randrange(1, 3)):
            start = random_one.randrange(len(text))
            text[start : start + random_one.randrange(2)] = random_one.choice(PIECES)
        given = bytes(text)
        known = taken(client, given)
        if not strictly(given):
            odd += 1
            assert not known["object"], given
        if b"\n" not in given:
            assert known["object"] == known["array"] == known["lines"], given
    assert odd > 100
