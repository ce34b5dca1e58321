"""A column whose values change their type is remarked: in the log, in `/v1/model`, once."""

import json

import pytest

LINES = {"Content-Type": "application/x-ndjson"}


def numbers(count):
    return [{"label": k % 2, "x": k + 0.5, "city": "Rome"} for k in range(count)]


def remarks(client):
    return [line for line in client.get("/v1/model").json()["warnings"] if line.startswith("column")]


@pytest.mark.parametrize("one_by_one", [False, True], ids=["together", "one by one"])
def test_a_word_after_numbers_is_remarked_once_with_its_example(start, one_by_one):
    said = []
    client = start(say=said.append)
    examples = [*numbers(20), {"label": 1, "x": "oops"}, *numbers(5), {"label": 1, "x": "again"}]
    if one_by_one:
        for example in examples:
            client.post("/v1/learn", json=example)
    else:
        client.post("/v1/learn", content="\n".join(map(json.dumps, examples)), headers=LINES)

    expected = (
        "column 'x': example 21 has the word 'oops' among numbers, learnt as a category of its own; if it stands for "
        "an unknown value, send null"
    )
    assert remarks(client) == [expected]
    assert [line for line in said if "among numbers" in line] == [f"model: {expected}"]


def test_a_word_after_numbers_of_an_earlier_start_is_remarked(start):
    client = start()
    client.post("/v1/learn", json=numbers(5))
    client.__exit__(None, None, None)
    client = start()
    client.post("/v1/learn", json={"label": 1, "x": "oops"})

    assert [line.split(",")[0] for line in remarks(client)] == [
        "column 'x': example 6 has the word 'oops' among numbers"
    ]


def test_a_number_after_words_is_remarked(start):
    client = start()
    client.post("/v1/learn", json={"label": 1, "zip": "02139"})
    client.post("/v1/learn", json={"label": 1, "zip": 2139})

    assert remarks(client) == [
        "column 'zip': example 2 has a number among words, learnt as a number; send it as text, or begin with "
        "--categorical zip"
    ]


@pytest.mark.parametrize(
    "example",
    [
        {"x": None},
        {"x": float("nan")},
        {"city": "Oslo"},
        {"when": "2024-01-02"},
        {"when": "2024-01-02T12:00"},
        {"tags": ["a", "b"]},
        {"x": 7, "open": True},
    ],
)
def test_values_of_the_usual_type_are_not_remarked(start, example):
    client = start(learner="ogd")
    client.post("/v1/learn", json=[*numbers(5), {"label": 1, "when": "2023-05-06", "tags": ["c"], "open": False}])
    client.post("/v1/learn", content=json.dumps({"label": 1, **example}), headers=LINES)

    assert remarks(client) == []


def test_numbers_of_a_model_of_a_byte_budget_are_known_too(start):
    client = start(learner="awm", settings={"budget": "1KB"})
    client.post("/v1/learn", json=numbers(300))
    client.post("/v1/learn", json={"label": 1, "x": "oops"})

    assert len(remarks(client)) == 1


@pytest.mark.parametrize(("labels", "said"), [
    ([0, 1, 0, "x", "y"], "example 4 has the label 'x', and classes are numbers: learnt as a class of its own"),
    (["a", "b", 5], "example 3 has the label 5, and classes are words: learnt as a class of its own"),
    (["a", "b", "c"], None),
    ([0, "1", 2.5], None),
])  # fmt: skip
@pytest.mark.parametrize("one_by_one", [True, False])
def test_a_label_of_another_kind_than_the_classes_is_remarked_once_with_its_example(start, labels, said, one_by_one):
    client, examples = start(), [{"label": label, "x": 1} for label in labels]
    for body in examples if one_by_one else [examples]:
        assert client.post("/v1/learn", json=body).status_code == 200
    remarks = [line for line in client.get("/v1/model").json()["warnings"] if "has the label" in line]

    assert [line.partition("; ")[0] for line in remarks] == ([] if said is None else [said])


def test_numbers_that_are_predicted_are_no_classes(start):
    client = start(settings={"loss": "squared"})
    client.post("/v1/learn", json=[{"label": k, "x": 1} for k in range(3)])

    assert not [line for line in client.get("/v1/model").json()["warnings"] if "has the label" in line]
