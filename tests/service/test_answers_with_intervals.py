"""A service that answers with intervals, sets of labels and recalibrated probabilities."""

import pytest

import ouzel


def test_answers_have_intervals_of_numbers(start, tmp_path):
    client = start(settings={"loss": "squared"}, interval=0.8)
    assert client.post("/v1/predict", json={"x": 1.0}).json()["intervals"] == {"0.8": [None, None]}
    for k in range(50):
        client.post("/v1/learn", json={"label": float(k % 5), "x": float(k % 5)})
    answer = client.post("/v1/predict", json={"x": 2.0}).json()
    client.post("/v1/snapshot")
    (tmp_path / "s.ouzel").write_bytes(client.get("/v1/snapshot").content)

    model = ouzel.load(tmp_path / "s.ouzel")
    low, high = model.predict_interval_one({"x": 2.0})
    assert answer["intervals"] == {"0.8": pytest.approx([low, high])}
    assert low <= high


def test_answers_have_sets_of_labels(start):
    client = start(interval=0.9)
    assert "sets" not in client.post("/v1/predict", json={"sun": 1.0}).json()
    for k in range(60):
        client.post("/v1/learn", json={"label": "dry" if k % 3 else "wet", "sun": float(k % 3 > 0)})

    assert set(client.post("/v1/predict", json={"sun": 1.0}).json()["sets"]["0.9"]) <= {"dry", "wet"}


def test_a_service_without_levels_answers_as_before(client):
    client.post("/v1/learn", json={"label": "dry", "sun": 1.0})

    assert {"sets", "intervals"}.isdisjoint(client.post("/v1/predict", json={"sun": 1.0}).json())
