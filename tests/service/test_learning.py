"""What a service says of examples that it is given to learn."""

import json
import sqlite3
from contextlib import closing

import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.service.limits import ServiceLimits
from ouzel.streams.formats.records import record_of_rows
from ouzel.streams.options import make_options

LINES = {"Content-Type": "application/x-ndjson"}


def answers(response):
    return [json.loads(line) for line in response.text.splitlines()]


def test_an_example_is_answered_with_what_was_predicted_before_it_was_learnt(client):
    said = [client.post("/v1/learn", json={"label": label, "x": 1.0}).json() for label in ("a", "b", "b")]

    assert said[0] == {"number": 1, "prediction": None, "probabilities": {}}
    assert said[1] == {"number": 2, "prediction": "a", "probabilities": {"a": 1.0}}
    assert client.get("/v1/model").json()["features"] == 1
    assert said[2]["prediction"] in ("a", "b")
    assert sum(said[2]["probabilities"].values()) == 1.0


def test_numbers_are_predicted_by_a_model_of_numbers(start):
    client = start(settings={"loss": "squared"})
    for k in range(50):
        said = client.post("/v1/learn", json={"label": 2.5 + k % 2, "odd": k % 2}).json()

    assert abs(said["prediction"] - 3.5) < 0.3


def test_a_bad_example_is_refused_with_the_sentence_and_the_place(client):
    response = client.post("/v1/learn", json={"label": 1, "size": {"width": 1e99}})

    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["field"] == "size.width"
    assert response.json()["detail"] == (
        "found 'size.width': 1e+99; expected a finite number that fits 32-bit floating point"
    )
    assert client.get("/v1/model").json()["examples"] == 0


def test_what_has_no_label_is_not_learnt(client):
    assert client.post("/v1/learn", json={"x": 1.0}).json()["field"] == "label"


def test_the_rest_of_a_stream_is_learnt_when_some_lines_are_bad(client):
    body = b'{"label": 1, "x": 1}\n\n{"label": \n{"label": 0, "x": 2}\n{"x": 3}\n{"label": 1, "x": 4}'
    *said, last = answers(client.post("/v1/learn", content=body, headers=LINES))

    assert [(line["line"], line.get("number")) for line in said] == [(1, 1), (3, None), (4, 2), (5, None), (6, 3)]
    assert {name: last["summary"][name] for name in ("learnt", "refused", "lines")} == {
        "learnt": 3,
        "refused": 2,
        "lines": 6,
    }
    assert [entry["line"] for entry in client.get("/v1/quarantine").json()] == ['{"x": 3}', '{"label": ']


def test_a_summary_alone_is_given_where_that_is_asked_for(client):
    response = client.post("/v1/learn?answers=summary", content=b'{"label": 1, "x": 1}\n' * 2000, headers=LINES)

    assert response.json()["learnt"] == 2000


def test_an_example_that_comes_twice_is_learnt_once(client):
    for _ in range(3):
        by_header = client.post("/v1/learn", json={"label": 1, "x": 1}, headers={"Idempotency-Key": "a"})
        by_member = client.post("/v1/learn", json={"label": 0, "x": 1, "_id": "b"})

    assert by_header.json() == {"number": 1, "repeated": True}
    assert by_member.json() == {"number": 2, "repeated": True}
    assert client.get("/v1/model").json()["examples"] == 2


def test_a_stream_that_comes_twice_is_learnt_once(client):
    body = b"".join(b'{"label": %d, "x": 1}\n' % (k % 2) for k in range(700))
    for _ in range(2):
        said = client.post("/v1/learn?answers=summary", content=body, headers={**LINES, "Idempotency-Key": "night"})

    assert said.json()["repeated"] == 700


def test_one_stream_may_hold_an_example_twice(client):
    line = b'{"label": 1, "x": 1, "_id": "same"}\n'
    *said, _ = answers(client.post("/v1/learn", content=line * 3, headers=LINES))

    assert [entry.get("repeated") for entry in said] == [None, True, True]
    assert {entry["number"] for entry in said} == {1}


def test_a_key_of_another_example_is_refused(client):
    client.post("/v1/learn", json={"label": 1, "x": 1, "_id": "a"})

    assert client.post("/v1/learn", json={"label": 0, "x": 1, "_id": "a"}).status_code == 422


def test_an_array_is_answered_by_an_array(client):
    said = client.post("/v1/learn", json=[{"label": 1, "x": 1}, {"x": 1}, {"label": 0, "x": 2}]).json()

    assert [entry.get("number") for entry in said] == [1, None, 2]
    assert client.post("/v1/learn", json=[]).json() == []


def test_a_class_that_was_not_declared_is_refused_and_changes_nothing(start, tmp_path):
    from ouzel.model import persistence
    from ouzel.model.model import Model

    persistence.save(Model("adagrad", classes=["a", "b"]), tmp_path / "closed.ouzel")
    from ouzel.service.folder import Folder, begin

    begin(Folder(tmp_path / "model"), str(tmp_path / "closed.ouzel"), None, {}, {})
    client = start()
    body = b'{"label": "a", "x": 1}\n{"label": "c", "70000": 1}\n{"label": "b", "x": 1}\n'
    said = answers(client.post("/v1/learn", content=body, headers=LINES))

    assert "unknown class 'c'" in said[1]["error"]
    assert said[2]["number"] == 2


def test_a_label_that_comes_late_is_learnt_with_the_features_that_were_predicted(client):
    predicted = client.post("/v1/predict", json={"_id": "order-7", "x": 2.0, "word": "red"}).json()
    labelled = client.post("/v1/label", json={"id": "order-7", "label": "good"}).json()
    again = client.post("/v1/label", json={"id": "order-7", "label": "good"}).json()

    assert predicted["id"] == "order-7"
    assert (labelled["number"], again) == (1, {"number": 1, "repeated": True})
    assert client.get("/v1/log?format=jsonl").json() == {"_id": "order-7", "x": 2.0, "word": "red", "label": "good"}
    assert client.post("/v1/label", json={"id": "order-8", "label": 1}).status_code == 404


def test_another_label_of_an_example_is_refused_and_the_same_may_come_again(client):
    client.post("/v1/predict", json={"_id": "order-7", "x": 1})
    said = [
        client.post("/v1/label", json={"id": "order-7", "label": label}) for label in ("in time", "late", "in time")
    ]

    assert [response.status_code for response in said] == [200, 422, 200]
    assert said[1].json()["field"] == "label"
    assert "found another label than 'in time'" in said[1].json()["detail"]
    assert said[2].json() == {"number": 1, "repeated": True}
    assert client.get("/v1/model").json()["examples"] == 1


def test_a_number_is_the_same_label_however_it_is_written(client):
    client.post("/v1/predict", json={"_id": 7, "x": 1})
    said = [client.post("/v1/label", json={"id": "7", "label": label}).status_code for label in (1, 1.0, "1", 2, [1])]

    assert said == [200, 200, 200, 422, 422]


def test_an_id_and_a_key_of_one_example_agree(client):
    example = {"label": 1, "x": 1, "_id": "a"}
    both = client.post("/v1/learn", json=example, headers={"Idempotency-Key": "a"})
    other = client.post("/v1/learn", json=example, headers={"Idempotency-Key": "b"})
    single = client.post("/v1/learn", json=example)

    assert (both.json()["number"], single.json()) == (1, {"number": 1, "repeated": True})
    assert (other.status_code, other.json()["field"]) == (422, "_id")
    assert "found the Idempotency-Key 'b' and '_id': 'a'; expected one of them" in other.json()["detail"]
    assert client.get("/v1/model").json()["examples"] == 1


def test_the_key_of_a_stream_is_for_its_lines_without_an_id(client):
    body = b'{"label": 1, "x": 1, "_id": "a"}\n{"label": 0, "x": 2}\n'
    for key in ("monday", "tuesday"):
        *said, _ = answers(client.post("/v1/learn", content=body, headers={**LINES, "Idempotency-Key": key}))

    assert said == [{"line": 1, "number": 1, "repeated": True}, {"line": 2, "number": 3, **said[1]}]
    assert "repeated" not in said[1]


def test_a_service_whose_third_class_comes_late_is_the_model_of_its_log(client, tmp_path):
    labels = ["ab"[k % 2] for k in range(20)] + ["abc"[k % 3] for k in range(20)]
    lines = [b'{"label": "%s", "x": %d}' % (label.encode(), k % 7) for k, label in enumerate(labels)]
    client.post("/v1/learn", content=b"\n".join(lines[:10]), headers=LINES)
    for line in lines[10:]:
        client.post("/v1/learn", content=line, headers={"Content-Type": "application/json"})
    client.post("/v1/snapshot")
    (tmp_path / "model.records").write_bytes(client.get("/v1/log").content)
    trained, base = str(tmp_path / "trained.ouzel"), str(tmp_path / "model" / "base.ouzel")
    assert run(["train", str(tmp_path / "model.records"), "--resume", base, "--relearn", "-m", trained, "--json"]) == 0

    assert client.get("/v1/snapshot").content == (tmp_path / "trained.ouzel").read_bytes()


def test_only_so_many_examples_wait_for_their_labels(start):
    client = start(limits=ServiceLimits(unlabelled=2))
    for id in ("a", "b", "c"):
        client.post("/v1/predict", json={"_id": id, "x": 1.0})

    assert client.post("/v1/label", json={"id": "a", "label": 1}).status_code == 404
    assert client.post("/v1/label", json={"id": "c", "label": 1}).status_code == 200


def test_what_waits_for_its_label_is_there_after_a_restart(start):
    client = start()
    client.post("/v1/predict", json={"_id": "a", "x": 1.0})
    client.post("/v1/learn", json={"label": 1, "x": 1.0})
    client.__exit__(None, None, None)

    assert start().post("/v1/label", json={"id": "a", "label": 0}).json()["number"] == 2


def test_a_prediction_changes_nothing_and_takes_one_or_many(client):
    client.post("/v1/learn", json=[{"label": "a", "x": 1}, {"label": "b", "x": -1}])
    one = client.post("/v1/predict", json={"x": 1}).json()
    many = client.post("/v1/predict", json=[{"x": 1}, {"x": "1e99"}, {"x": 1e99}, {"x": 1}]).json()
    lines = answers(client.post("/v1/predict", content=b'{"x": 1}\n{"x": 1}', headers=LINES))

    assert one["prediction"] == "a"
    assert [many[0], many[3], *lines] == [one] * 4
    assert "error" in many[2]
    assert client.get("/v1/model").json()["examples"] == 2


def rows_of(tmp_path):
    """How many rows the log has, and how many examples."""
    with closing(sqlite3.connect(tmp_path / "model" / "log.sqlite")) as log:
        return log.execute("SELECT COUNT(*), MAX(number) FROM examples").fetchone()


LINES_OF_LOG = "/v1/log?format=jsonl"


def test_a_stream_of_plain_lines_is_learnt_as_blocks_and_teaches_what_its_lines_do(start, tmp_path):
    lines = [b'{"label": "%s", "x": %d, "word": "w%d"}' % (b"ab"[k % 2 :][:1], k % 5, k % 7) for k in range(300)]
    together, single = start(names=("model",)), start(names=("other",))
    said = answers(together.post("/v1/learn", content=b"\n".join([*lines, b""]), headers=LINES))
    alone = [single.post("/v1/learn", content=line, headers={"Content-Type": "application/json"}) for line in lines]

    assert rows_of(tmp_path) == (1, 300)
    assert said[:-1] == [{"line": k, **answer.json()} for k, answer in enumerate(alone, 1)]
    assert together.get(LINES_OF_LOG).content == single.get(LINES_OF_LOG).content
    assert together.get("/v1/top").json() == single.get("/v1/top").json()


def test_one_line_that_is_not_plain_changes_nothing_for_the_others(start, tmp_path):
    lines = [b'{"label": %d, "x": %d}' % (k % 2, k) for k in range(100)]
    odd = {17: b'{"label": 1, "x": [1, "a"]}', 40: b"", 60: b'{"label": 1, "x": 1e99}', 61: b'{"x": 2}', 62: b"nothing"}
    body = b"\n".join(odd.get(k, line) for k, line in enumerate(lines, 1))
    *said, last = answers(start().post("/v1/learn", content=body, headers=LINES))
    summary = last["summary"]

    assert [line["line"] for line in said] == [k for k in range(1, 101) if k != 40]
    assert {line["line"] for line in said if "error" in line} == {60, 61, 62}
    assert (summary["learnt"], summary["refused"], summary["lines"]) == (96, 3, 100)
    assert rows_of(tmp_path)[1] == 96


def test_a_line_of_a_stream_that_is_more_than_an_example_may_be_is_refused_alone(start):
    client = start(limits=ServiceLimits(features=3, line=60))
    many = b'{"label": 1, "a": 1, "b": 2, "c": 3, "d": 4}\n'
    long = b'{"label": 1, "x": "' + b"y" * 60 + b'"}\n'
    said = client.post("/v1/learn?answers=summary", content=b'{"label": 1, "a": 1}\n' + many + long, headers=LINES)

    assert said.json()["learnt"] == 1
    assert [refusal["line"] for refusal in said.json()["refusals"]] == [2, 3]


def test_a_learner_with_a_full_matrix_learns_named_columns_and_stands_after_a_restart(start):
    client = start(learner="ons")
    rows = [{"age": k % 7 - 3.0, "height": 1.0 + k % 3, "income": k % 5 - 2.0} for k in range(60)]
    for row in rows:
        said = client.post("/v1/learn", json={**row, "label": int(row["age"] > 0.0)})
        assert said.status_code == 200, said.text

    found = [client.post("/v1/predict", json=row).json() for row in rows]
    again = start(learner="ons")

    assert sum(one["prediction"] == int(row["age"] > 0.0) for one, row in zip(found, rows, strict=True)) > 50
    assert [again.post("/v1/predict", json=dict(reversed(row.items()))).json() for row in rows] == found


def test_a_service_weighs_classes_as_a_model_of_python_does(start):
    import ouzel

    rows = [({"x": float(k % 5), "y": float(k % 3)}, "yes" if k % 7 == 0 else "no") for k in range(60)]
    client, model = start(class_weight="balanced"), ouzel.OnlineClassifier("adagrad", class_weight="balanced")
    plain = ouzel.OnlineClassifier("adagrad")
    for features, label in rows:
        client.post("/v1/learn", json={"label": label, **features})
        model.learn_one(features, label)
        plain.learn_one(features, label)

    said = client.post("/v1/predict", json={"x": 1.0, "y": 2.0}).json()["probabilities"]["yes"]
    assert said == model.predict_proba_one({"x": 1.0, "y": 2.0})["yes"]
    assert said != plain.predict_proba_one({"x": 1.0, "y": 2.0})["yes"]
    figures = client.get("/v1/model").json()
    assert figures["rare_share"] == 9 / 60
    assert {"auc", "average_precision", "recall", "f1"} < set(figures)


def test_a_model_of_a_service_learns_and_is_tested_by_files_without_ids(client, tmp_path):
    client.post("/v1/learn", json=[{"_id": f"e{k}", "label": "ab"[k % 2], "x": k % 2} for k in range(20)])
    client.post("/v1/snapshot")
    served, table, trained = (str(tmp_path / name) for name in ("served.ouzel", "t.csv", "trained.ouzel"))
    (tmp_path / "served.ouzel").write_bytes(client.get("/v1/snapshot").content)
    (tmp_path / "t.csv").write_text("x,label\n0,a\n1,b\n")

    assert run(["test", served, table]) == 0
    for model in (served, str(tmp_path / "model" / "base.ouzel")):
        assert run(["train", table, "--resume", model, "--model", trained, "--json"]) == 0


def test_a_prediction_is_a_class_as_it_is_listed_where_classes_are_words_and_numbers(client):
    for k in range(30):
        said = client.post("/v1/learn", json={"label": [1, "late", 2.5][k % 3], f"x{k % 3}": 1.0}).json()
    predicted = [client.post("/v1/predict", json={f"x{k}": 1.0}).json()["prediction"] for k in range(3)]

    assert said["prediction"] in client.get("/v1/model").json()["classes"] == [1, 2.5, "late"]
    assert predicted == [1, "late", 2.5]


MARKS = {
    "rows": b"\xfe-",
    "after a blank": b" \xfe-",
    "a batch": b"\xff-",
    "zeros": b"\xfe" + bytes(200),
    "among lines": b'{"label":1,"x":1}\n\xfe-\n{"label":0,"x":1}\n',
    "in an array": b"[\xfe]",
}


@pytest.mark.parametrize("body", MARKS.values(), ids=MARKS)
@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
@pytest.mark.parametrize("path", ["/v1/learn", "/v1/label", "/v1/predict", "/v1/explain"])
def test_bytes_that_mark_records_of_the_log_are_refused_and_the_service_goes_on(start, path, kind, body):
    client = start()
    client.post("/v1/learn", json=[{"label": k % 2, "x": k} for k in range(4)])

    answer = client.post(path, content=body, headers={"Content-Type": kind})

    assert answer.status_code == 200 or 400 <= answer.status_code < 500
    assert answer.status_code != 200 or "UTF-8" in answer.text or "found" in answer.text
    assert client.post("/v1/learn", json={"label": 1, "x": 3}).status_code == 200


def test_packed_rows_that_a_client_sends_are_not_learnt(start):
    client = start()
    packed = record_of_rows(next(ouzel.blocks_from([({"price": 2.5}, 1)])), make_options({}))

    answer = client.post("/v1/learn", content=packed, headers={"Content-Type": "application/json"})

    assert answer.status_code == 422
    assert client.get("/v1/model").json()["examples"] == 0
