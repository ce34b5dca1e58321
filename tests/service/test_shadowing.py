"""A shadow learns what the first model learns, once each, and takes its place on request; it may begin at an alarm."""

import json
import time

from ouzel.cli.app import run
from ouzel.model import persistence
from ouzel.service.folder import Folder


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


def learn_rule(client, numbers, sign):
    """Learn a rule of one feature, of this sign."""
    lines = [json.dumps({"label": k % 2, "x": sign * (2 * (k % 2) - 1), "_id": f"e{k}"}) for k in numbers]
    client.post("/v1/learn", content="\n".join(lines), headers={"content-type": "application/x-ndjson"})


def test_a_shadow_begins_with_the_example_that_raised_an_alarm(start, tmp_path):
    lines = []
    client = start(names=("model", "next"), shadow=True, on_alarm=True, say=lines.append)
    learn_rule(client, range(1500), 1)
    time.sleep(0.6)  # longer than between two looks at the log
    before = client.get("/v1/models/next/model").json()["examples"]
    refused = client.post("/v1/models/next/promote")
    learn_rule(client, range(1500, 2000), -1)
    alarm = client.get("/v1/model").json()["drift"][0]["example"]
    wait_for(client, "next", 2001 - alarm)

    assert before == 0
    assert refused.status_code == 422
    assert "waits for an alarm of 'model'" in refused.text
    assert 1500 < alarm < 1600
    (line,) = [line for line in lines if line.startswith("model:")]
    assert line.startswith(f"model: alarm at example {alarm:,}: errors have risen; their mean was 0.00")
    log = [json.loads(line) for line in client.get("/v1/models/model/log?format=jsonl").text.splitlines()]
    followed = [json.loads(line) for line in client.get("/v1/models/next/log?format=jsonl").text.splitlines()]
    assert followed == log[alarm - 1 :]


def test_where_a_shadow_began_outlives_the_service_that_saw_the_alarm(start, tmp_path):
    client = start(names=("model", "next"), shadow=True, on_alarm=True)
    learn_rule(client, range(1500), 1)
    learn_rule(client, range(1500, 2000), -1)
    alarm = client.get("/v1/model").json()["drift"][0]["example"]
    wait_for(client, "next", 2001 - alarm)
    client.__exit__(None, None, None)
    learnt = Folder(tmp_path / "next").follows
    for path in (tmp_path / "next").glob("*.sqlite*"):
        path.unlink()  # as if it was killed between the alarm and the first example
    for path in (tmp_path / "next").glob("snapshot*"):
        path.unlink()
    client = start(names=("model", "next"), shadow=True, on_alarm=True)
    wait_for(client, "next", 2001 - alarm)

    assert learnt == f"model:{alarm - 1}"


def test_a_shadow_that_is_made_for_an_alarm_is_the_leader_untrained(start, tmp_path):
    start(learner="arow", reading={"label": "y"}, interval=0.9).__exit__(None, None, None)
    made = Folder(tmp_path / "next")
    made.begin_anew(Folder(tmp_path / "model"))

    model, notes = persistence.load_notes(made.base)
    leader, stored = persistence.load_notes(tmp_path / "model" / "base.ouzel")
    assert (model.learner, model.settings, model.interval, model.examples) == (
        leader.learner,
        leader.settings,
        leader.interval,
        0,
    )
    assert notes["reading"] == stored["reading"]


def test_what_a_shadow_on_alarm_will_be_is_checked_beforehand(start, tmp_path, capsys):
    start(learner="arow").__exit__(None, None, None)
    capsys.readouterr()

    assert run(["serve", "--data", str(tmp_path), "--check", "--shadow", "next", "--shadow-on-alarm"]) == 0
    said = capsys.readouterr().out
    assert f"{tmp_path / 'next'}: a new model like that of {tmp_path / 'model'}, at its next alarm" in said
    assert not (tmp_path / "next").exists()
    assert run(["serve", "--data", str(tmp_path), "--check", "--shadow-on-alarm"]) == 2
    assert "--shadow-on-alarm needs the name of a model; add --shadow NAME" in capsys.readouterr().err


def test_a_start_without_the_promoted_model_says_so(start, tmp_path, capsys):
    client = start(names=("model", "next"), shadow=True)
    client.post("/v1/models/next/promote")
    client.__exit__(None, None, None)
    capsys.readouterr()

    assert run(["serve", "--data", str(tmp_path), "--check"]) == 0
    assert "next, which was promoted, is not served; add --extra-model next" in capsys.readouterr().err
    assert run(["serve", "--data", str(tmp_path), "--check", "--extra-model", "next"]) == 0
    assert "promoted" not in capsys.readouterr().err


def test_an_alarm_has_the_number_of_its_example_in_the_log_after_a_restart_too(start):
    client = start()
    learn_rule(client, range(1000), 1)
    client.__exit__(None, None, None)  # with a snapshot
    client = start()
    learn_rule(client, range(1000, 2500), 1)
    learn_rule(client, range(2500, 3000), -1)

    (alarm,) = client.get("/v1/model").json()["drift"]
    assert 2500 < alarm["example"] < 2600
