"""JSON is read as JSONTestSuite says, in files and in bodies, and both read the same.

The cases are in json_test_suite.txt, with their source. One rule of ours differs from the standard: NaN, as Python
writes it, is a missing value (docs/streams.md).
"""

from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from ouzel.errors import OuzelError
from ouzel.streams.read import read

NOT_JSON = ("found no JSON", "bytes that are not UTF-8", "half of a surrogate pair")
JSON, LINES = {"Content-Type": "application/json"}, {"Content-Type": "application/x-ndjson"}
OURS = {"n_number_NaN"}


def cases():
    """The bytes of each case, by its name."""
    lines = (Path(__file__).parent / "json_test_suite.txt").read_text().splitlines()
    parts = [line.partition(" ") for line in lines if not line.startswith("#")]
    made = {"i_structure_500_nested_arrays": b"[" * 500 + b"]" * 500}
    made |= {"n_structure_100000_opening_arrays": b"[" * 100_000}
    made |= {"n_structure_open_array_object": b'[{"":' * 50_000}
    return {name: unquote_to_bytes(written) for name, _, written in parts} | made


CASES = cases()


def test_no_case_was_lost():
    assert {kind: sum(name[0] == kind for name in CASES) for kind in "yni"} == {"y": 95, "n": 193, "i": 35}


@pytest.fixture
def by_file(tmp_path):
    """`by_file(line)`: nothing, if the line is read as an example, or the reason that it is none."""
    path = tmp_path / "case.jsonl"

    def outcome(line: bytes) -> str:
        path.write_bytes(line + b"\n")
        try:
            assert sum(block.rows for block in read(path, label="label")) == 1
        except OuzelError as error:
            return str(error)
        return ""

    return outcome


def wrong(outcomes):
    """The cases that ended otherwise than the suite says."""
    not_json = {name: any(words in reason for words in NOT_JSON) for name, reason in outcomes.items()}
    taken = {name for name, reason in outcomes.items() if name[0] == "y" and not_json[name]}
    refused = {name for name, reason in outcomes.items() if name[0] == "n" and not reason}
    return taken | refused - OURS


def value(case: bytes) -> bytes:
    return b'{"label": 1, "x": ' + case + b"}"


def refusal(answer) -> str:
    """The reason that a body is refused for, or the first of its entries; nothing, if all is learnt."""
    answered = answer.json()
    if answer.status_code != 200:
        return answered["detail"]
    entries = answered if isinstance(answered, list) else [answered]
    return next((entry["error"] for entry in entries if "error" in entry), "")


def test_json_lines_are_read_as_the_suite_says(by_file):
    in_a_line = {name: case for name, case in CASES.items() if b"\n" not in case}

    assert wrong({name: by_file(value(case)) for name, case in in_a_line.items()}) == set()


@pytest.mark.long
@pytest.mark.parametrize("of", ["values", "whole"])
def test_bodies_are_read_as_the_suite_says(client, of):
    outcomes = {}
    for name, case in CASES.items():
        if case.isspace():
            continue
        answer = client.post("/v1/learn", content=value(case) if of == "values" else case, headers=JSON)
        assert answer.status_code in (200, 400, 422), (name, answer.text)
        outcomes[name] = refusal(answer)
        assert len(outcomes[name]) < 2000, name

    assert wrong(outcomes) == set()
    assert client.get("/ready").status_code == 200


@pytest.mark.long
def test_a_line_a_body_and_a_line_of_a_stream_are_read_alike(by_file, client):
    lines = {name: value(case) for name, case in CASES.items() if b"\n" not in case and b"\r" not in case}

    differ = {}
    for name, line in lines.items():
        body = client.post("/v1/learn", content=line, headers=JSON).status_code == 200
        stream = client.post("/v1/learn?answers=summary", content=line + b"\n", headers=LINES).json()
        ended = {"file": not by_file(line), "body": body, "stream": stream.get("learnt", 0) == 1}
        if len(set(ended.values())) > 1:
            differ[name] = ended

    assert differ == {}
