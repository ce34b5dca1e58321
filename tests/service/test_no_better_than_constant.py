"""A service says where a model is no better than a constant: in its log, its JSON and its metrics."""

import json

from tests.checks.raw_tables import raw_table

WARNING = "no better than a constant: the log loss"


def lines_of(table: str) -> str:
    """The rows of a table as JSON lines."""
    rows, labels = raw_table(table)
    return "\n".join(json.dumps({**row, "label": label}) for row, label in zip(rows, labels, strict=True))


def test_a_service_whose_steps_are_too_large_says_so_everywhere(start):
    said = []
    client = start(learner="adagrad-rda", standardize=False, say=said.append)
    client.post("/v1/learn", content=lines_of("breast_cancer"), headers={"content-type": "application/x-ndjson"})
    (warning,) = client.get("/v1/model").json()["warnings"]
    assert warning.startswith(WARNING)
    assert [line for line in said if line.startswith(f"model: {WARNING}")] == [f"model: {said[-1].partition(': ')[2]}"]
    assert 'ouzel_model{figure="no_better_than_constant",model="model"} 1.0' in client.get("/metrics").text


def test_a_service_scales_a_raw_table_by_itself_and_says_nothing(start):
    said = []
    client = start(learner="adagrad-rda", say=said.append)
    client.post("/v1/learn", content=lines_of("breast_cancer"), headers={"content-type": "application/x-ndjson"})
    found = client.get("/v1/model").json()
    assert found["warnings"] == []
    assert said == []
    assert found["error_rate"] < 0.06
    assert 'ouzel_model{figure="no_better_than_constant",model="model"} 0.0' in client.get("/metrics").text
