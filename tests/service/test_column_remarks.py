"""A column whose values change their type is remarked: in the log, in `/v1/model`; answers name unknown columns."""

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


UNKNOWN = [
    ({"features": {"x": 3.0, "city": "Rome"}}, ["features.x", "features.city"]),
    ({"citi": "Rome", "xx": 1}, ["citi", "xx"]),
    ({"xx": None}, ["xx"]),
    ({"features": [1, 2]}, ["features"]),
    ({"whenn": "2024-02-02"}, ["whenn"]),
]
KNOWN = [
    {},
    {"x": 3},
    {"x": 0},
    {"city": "Oslo"},
    {"city": None},
    {"when": "2023-11-11T12:00"},
    {"xx": 1, "city": "Oslo"},
    {"city=Rome": 1},
]


@pytest.fixture
def trained(start):
    """A client of a service that has learnt numbers, words and dates."""
    client = start(learner="ogd")
    client.post("/v1/learn", json=[{**row, "when": "2024-02-01"} for row in numbers(20)])
    return client


@pytest.mark.parametrize(("example", "columns"), UNKNOWN)
def test_an_answer_to_columns_that_the_model_has_never_seen_names_them(trained, example, columns):
    client = trained
    empty = client.post("/v1/predict", json={}).json()

    for more in ({}, {"_id": "a"}, {"label": 1}):
        answer = client.post("/v1/predict", json={**example, **more}).json()
        assert sorted(answer.pop("unknown")) == sorted(columns)
        assert answer == {**empty, **({"id": "a"} if "_id" in more else {})}
    assert sorted(client.post("/v1/explain", json=example).json()["unknown"]) == sorted(columns)


@pytest.mark.parametrize("example", KNOWN)
def test_an_answer_to_an_example_with_a_column_of_the_model_names_none(trained, example):
    for more in ({}, {"_id": "a"}):
        assert "unknown" not in trained.post("/v1/predict", json={**example, **more}).json()


def test_each_example_of_a_request_has_its_own_unknown_columns(trained):
    examples = [example for pair in zip(UNKNOWN, KNOWN[:5], strict=True) for example in (pair[0][0], pair[1])]

    answers = trained.post("/v1/predict", json=examples).json()
    assert [sorted(answer.get("unknown", [])) for answer in answers[::2]] == [sorted(names) for _, names in UNKNOWN]
    assert not any("unknown" in answer for answer in answers[1::2])


def test_columns_of_an_earlier_start_and_of_later_examples_are_known(trained, start):
    trained.__exit__(None, None, None)
    client = start()

    assert "unknown" not in client.post("/v1/predict", json={"city": "Oslo"}).json()
    assert client.post("/v1/predict", json={"shop": "s1"}).json()["unknown"] == ["shop"]
    client.post("/v1/learn", json={"label": 1, "shop": "s2"})
    assert "unknown" not in client.post("/v1/predict", json={"shop": "s1"}).json()


def test_an_answer_names_few_columns(trained):
    assert len(trained.post("/v1/predict", json={f"z{k}": 1 for k in range(100)}).json()["unknown"]) == 20


@pytest.mark.parametrize(("example", "columns"), [({"note": "night"}, None), ({"note": ""}, None), ({"n": "a"}, ["n"])])
def test_words_of_a_column_of_text_are_not_unknown_columns(start, example, columns):
    client = start(learner="ogd", reading={"text": ["note"]})
    client.post("/v1/learn", json=[{"label": k % 2, "note": "good day"} for k in range(20)])

    assert client.post("/v1/predict", json=example).json().get("unknown") == columns


@pytest.mark.parametrize("learner", ["awm", "ogd"])
def test_a_model_that_may_have_learnt_columns_that_it_does_not_name_calls_none_unknown(start, learner):
    client = start(learner=learner)
    if learner == "awm":
        client.post("/v1/learn", json=numbers(20))  # names of its heaviest features alone are kept

    assert "unknown" not in client.post("/v1/predict", json={"zz": 1}).json()
