"""A shadow learns what the first model learns, once each, and takes its place when it is told to."""

import time


def wait_for(client, name, examples):
    for _ in range(200):
        if client.get(f"/v1/models/{name}/model").json()["examples"] == examples:
            return
        time.sleep(0.05)
    raise AssertionError(f"{name} does not learn")


def learn(client, count):
    client.post("/v1/learn", json=[{"label": k % 2, "x": k, "_id": f"e{time.time()}{k}"} for k in range(count)])


def test_a_shadow_learns_what_the_first_model_learns_in_the_same_order(start):
    client = start(names=("model", "next"), shadow=True)
    learn(client, 50)
    wait_for(client, "next", 50)

    assert client.get("/v1/models/next/log").text == client.get("/v1/models/model/log").text
    assert [entry["shadow"] for entry in client.get("/v1/models").json()] == [False, True]


def test_a_shadow_goes_on_where_it_stood(start):
    client = start(names=("model", "next"), shadow=True)
    learn(client, 20)
    wait_for(client, "next", 20)
    client.__exit__(None, None, None)
    alone = start()
    learn(alone, 30)
    alone.__exit__(None, None, None)
    client = start(names=("model", "next"), shadow=True)
    wait_for(client, "next", 50)

    assert client.get("/v1/models/next/log").text == client.get("/v1/models/model/log").text


def test_a_promoted_shadow_is_the_model_that_is_meant(start, tmp_path):
    client = start(names=("model", "next"), shadow=True)
    learn(client, 20)
    refused = client.post("/v1/models/model/promote")
    promoted = client.post("/v1/models/next/promote").json()
    learn(client, 5)

    assert refused.status_code == 422
    assert promoted == {"first": "next"}
    assert (tmp_path / "first").read_text() == "next"
    assert client.get("/v1/model").json()["examples"] == 25
    assert client.get("/v1/models/model/model").json()["examples"] == 20
