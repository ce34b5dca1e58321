"""A shadow learns what the first model learns, once each, and takes its place on request; it may begin at an alarm."""

import json
import threading
import time

import pyarrow
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.model import persistence
from ouzel.model.settings import in_words
from ouzel.service.example_log import Log
from ouzel.service.folder import Folder, begin
from ouzel.service.shadowing import adapt_shadow
from ouzel.service.writer import Writer


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


def test_a_shadow_that_has_learnt_by_itself_says_that_it_learns_the_whole_log(start):
    lines = []
    client = start(names=("model", "next"))
    learn(client, 3)
    client.post("/v1/models/next/learn", json={"label": 1, "x": 1})
    client.__exit__(None, None, None)
    client = start(names=("model", "next"), shadow=True, say=lines.append)
    wait_for(client, "next", 4)
    client.__exit__(None, None, None)
    start(names=("model", "next"), shadow=True, say=lines.append)

    said = [line for line in lines if "none as a shadow of model: it learns all in the log" in line]
    assert said == lines[:1]


def test_a_model_that_is_named_twice_is_refused_before_anything_is_written(tmp_path, capsys):
    assert run(["serve", "--data", str(tmp_path / "new"), "--shadow", "model"]) == 2
    assert "the model 'model' is named twice" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_an_alarm_has_the_number_of_its_example_in_the_log_after_a_restart_too(start):
    client = start()
    learn_rule(client, range(1000), 1)
    client.__exit__(None, None, None)  # with a snapshot
    client = start()
    learn_rule(client, range(1000, 2500), 1)
    learn_rule(client, range(2500, 3000), -1)

    (alarm,) = client.get("/v1/model").json()["drift"]
    assert 2500 < alarm["example"] < 2600


def begun(path, learner="adagrad", **reading):
    """A folder with a new model."""
    folder = Folder(path)
    begin(folder, None, learner, {}, reading)
    return folder


READINGS = [
    {"label": "y"},
    {"label": "y", "label_positive": "late"},
    {"weight": "w"},
    {"ignore": ("city",), "numeric": ("code",)},
    {"bits": 12, "seed": 3},
    {"missing": "absent"},
]


@pytest.mark.parametrize("reading", READINGS)
def test_a_new_shadow_takes_label_and_reading_from_its_leader(tmp_path, reading):
    leader, shadow = begun(tmp_path / "model", **reading), begun(tmp_path / "next", "arow")
    unchanged = shadow.base.read_bytes()
    checked = adapt_shadow(shadow, leader, write=False)

    assert shadow.base.read_bytes() == unchanged
    assert adapt_shadow(shadow, leader) == checked
    assert adapt_shadow(shadow, leader) is None, "it reads as its leader now"
    model, notes = persistence.load_notes(shadow.base)
    other, its_notes = persistence.load_notes(leader.base)
    assert (model.learner.name, model.bits, model.seed) == ("arow", other.bits, other.seed)
    assert notes["reading"] == its_notes["reading"]


def test_a_new_shadow_takes_the_loss_of_a_leader_of_numbers(tmp_path):
    leader, shadow = Folder(tmp_path / "model"), begun(tmp_path / "next", "ogd")
    begin(leader, None, "adagrad", {"loss": "absolute"}, {"label": "price"}, {"interval": 0.9})

    said = adapt_shadow(shadow, leader)
    model, notes = persistence.load_notes(shadow.base)
    assert (model.task.name, in_words(model.settings)["loss"], notes["reading"]["label"]) == (
        *("regression", "absolute"),
        "price",
    )
    assert said == f"{shadow.path}: takes --label, --loss from {leader.path}, which it follows"


def test_a_shadow_that_was_given_another_label_loss_or_reading_is_refused(tmp_path):
    leader = begun(tmp_path / "model", label="y")
    numbers = Folder(tmp_path / "numbers")
    begin(numbers, None, "adagrad", {"loss": "squared"}, {"label": "y"})
    losses = [Folder(tmp_path / name) for name in ("perceptron", "logistic")]
    begin(losses[0], None, "perceptron", {}, {"label": "y"})

    for folder, found in (
        (begun(tmp_path / "z", label="z"), "has --label z, and"),
        (begun(tmp_path / "late", label_positive="late"), "has --label-positive late, and"),
        (begun(tmp_path / "bits", label="y", bits=10), "has --bits 10, and"),
        (begun(tmp_path / "x", label="y", ignore=("x",)), "has --ignore x,_id, and"),
        (numbers, "has --loss squared, and"),
    ):
        for write in (False, True):
            with pytest.raises(ouzel.OuzelError, match=f"{folder.path}: {found} {leader.path}, which it is to follow"):
                adapt_shadow(folder, leader, write)
    with pytest.raises(ouzel.OuzelError, match="perceptron: has --loss"):
        adapt_shadow(losses[0], numbers)


def test_a_shadow_that_has_learnt_by_another_label_is_refused(start, tmp_path):
    client = start(names=("next",))
    learn(client, 3)
    client.__exit__(None, None, None)
    leader = begun(tmp_path / "model", label="y")

    with pytest.raises(
        ouzel.OuzelError, match=r"next: has --label label, and .*model, which it is to follow, has --label y"
    ):
        adapt_shadow(Folder(tmp_path / "next"), leader)


def test_a_shadow_of_another_label_is_refused_where_a_service_starts(tmp_path, capsys):
    begun(tmp_path / "model", label="y")
    begun(tmp_path / "next", label="z")
    begun(tmp_path / "free")

    for more in ([], ["--check"]):
        assert run(["serve", "--data", str(tmp_path), "--shadow", "next", "--port", "8497", *more]) == 2
        assert "has --label z, and" in capsys.readouterr().err
    assert run(["serve", "--data", str(tmp_path), "--shadow", "free", "--check"]) == 0
    assert "free: takes --label from" in capsys.readouterr().out


def strict(tmp_path):
    """A folder with a model that knows `x` to hold numbers, and so refuses words there."""
    model = ouzel.OnlineClassifier("adagrad").fit(pyarrow.table({"x": [0.5, 1.0, 2.0]}), [0, 1, 1])
    model.save(tmp_path / "strict.ouzel")
    begin(Folder(tmp_path / "next"), str(tmp_path / "strict.ouzel"), None, {}, {})


def test_examples_that_a_shadow_refuses_are_passed_over_counted_and_shown(start, tmp_path):
    strict(tmp_path)
    client = start(names=("model", "next"), shadow=True)
    learn(client, 10)
    client.post("/v1/learn", json=[{"label": 1, "x": "word"}] * 3)
    wait_for(client, "next", 10)

    for _ in range(100):
        shadow = client.get("/v1/models").json()[1]
        if not shadow["behind"]:
            break
        time.sleep(0.05)
    assert (shadow["refused"], shadow["behind"], shadow["failure"]) == (3, 0, None)
    (refused, *_) = client.get("/v1/models/next/quarantine").json()
    assert "expected a number, as the column is known to hold" in refused["error"]
    begun = time.monotonic()
    assert client.post("/v1/models/next/promote").json() == {"first": "next"}
    assert time.monotonic() - begun < 5.0, "promoting a shadow that refused the last examples does not hang"
    client.__exit__(None, None, None)
    client = start(names=("model", "next"), shadow=True)
    time.sleep(0.6)
    assert client.get("/v1/models").json()[1]["refused"] == 3, "refused once, whatever restarts"


def test_a_shadow_that_cannot_catch_up_is_not_promoted_within_the_stated_time(start, monkeypatch):
    monkeypatch.setattr("ouzel.service.service.PROMOTION", 0.5)
    monkeypatch.setattr("ouzel.service.shadowing.AT_ONCE", 2)
    submit = Writer.submit

    def slowly(writer, *given, **more):
        if writer.owner.name == "next":
            time.sleep(0.1)
        return submit(writer, *given, **more)

    monkeypatch.setattr(Writer, "submit", slowly)
    client = start(names=("model", "next"), shadow=True)
    learn(client, 100)
    begun = time.monotonic()
    late = client.post("/v1/models/next/promote")

    assert time.monotonic() - begun < 3.0
    assert (late.status_code, late.headers["Retry-After"]) == (503, "5")
    assert "behind 'model'" in late.json()["detail"]
    assert client.get("/v1/models").json()[0]["first"]
    learn(client, 3)
    monkeypatch.undo()
    wait_for(client, "next", 103)
    assert client.post("/v1/models/next/promote").status_code == 200
    assert client.get("/v1/model").json()["examples"] == 103


def test_what_waits_for_its_label_and_what_has_an_id_stays_known_after_a_promotion(start):
    client = start(names=("model", "next"), shadow=True)
    learn(client, 5)
    first = client.post("/v1/learn", json={"label": 1, "x": 1, "_id": "known"}).json()
    keyed = client.post("/v1/learn", json={"label": 1, "x": 2}, headers={"Idempotency-Key": "key"}).json()
    client.post("/v1/predict", json={"x": 1, "_id": "waits"})
    client.post("/v1/models/next/promote")

    assert client.post("/v1/label", json={"id": "waits", "label": 0}).status_code == 200
    again = client.post("/v1/learn", json={"label": 1, "x": 1, "_id": "known"}).json()
    assert (again["number"], again["repeated"]) == (first["number"], True)
    again = client.post("/v1/learn", json={"label": 1, "x": 2}, headers={"Idempotency-Key": "key"}).json()
    assert (again["number"], again["repeated"]) == (keyed["number"], True)
    assert client.get("/v1/model").json()["examples"] == 8


def test_examples_that_come_during_a_promotion_are_learnt_by_the_promoted_model(start):
    client = start(names=("model", "next"), shadow=True)
    statuses, ended = [], threading.Event()

    def work(worker):
        k = 0
        while not ended.is_set():
            k += 1
            asked = client.post("/v1/learn", json={"label": k % 2, "x": k, "_id": f"{worker}.{k}"})
            statuses.append(asked.status_code)

    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for worker in workers:
        worker.start()
    time.sleep(0.5)
    promoted = client.post("/v1/models/next/promote")
    time.sleep(0.3)
    ended.set()
    for worker in workers:
        worker.join()

    assert promoted.status_code == 200
    assert set(statuses) == {200}
    assert client.get("/v1/model").json()["examples"] == len(statuses)


def test_a_shadow_of_version_0_2_goes_on_where_it_stood(start, tmp_path):
    client = start(names=("model", "next"))
    learn(client, 30)
    client.__exit__(None, None, None)
    log = Log(tmp_path / "next" / "log.sqlite")  # whose keys were places in the log of its leader
    source = Log(tmp_path / "model" / "log.sqlite")
    log.append([entry._replace(key=f"model:{entry.number}") for entry in list(source.entries())[:20]])
    log.close()
    source.close()
    client = start(names=("model", "next"), shadow=True)
    wait_for(client, "next", 30)

    assert client.get("/v1/models/next/log?format=jsonl").text == client.get("/v1/models/model/log?format=jsonl").text


def test_a_model_that_was_demoted_follows_from_the_example_at_which_it_was(start):
    client = start(names=("model", "next"), shadow=True)
    client.post("/v1/learn", json=[{"label": k % 2, "x": k} for k in range(20)])  # without ids, by which to know them
    client.post("/v1/models/next/promote")
    client.post("/v1/learn", json=[{"label": k % 2, "x": -k} for k in range(5)])
    client.__exit__(None, None, None)
    client = start(names=("next", "model"), shadow=True)
    wait_for(client, "model", 25)

    logs = [client.get(f"/v1/models/{name}/log?format=jsonl").text for name in ("model", "next")]
    assert logs[0] == logs[1]
    assert client.post("/v1/models/model/promote").json() == {"first": "model"}
    assert client.get("/v1/model").json()["examples"] == 25
