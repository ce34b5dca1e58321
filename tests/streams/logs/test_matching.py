"""What found no other half where labels come later is counted, in the answer and while a training follows."""

import json

import pytest

from tests.printed import check
from tests.streams.logs.brokers import Redis
from tests.streams.logs.killing import train

FOUND = {"late_labels": 2, "unlabelled_events": 7, "waiting_events": 3, "waiting_labels": 0}


@pytest.fixture
def command(tmp_path):
    """A training of two Redis streams: of ten events three have labels, and two labels have no event."""
    server = Redis(tmp_path)
    server.start()
    server.produce("events", [json.dumps({"id": k, "price": k}).encode() for k in range(10)])
    server.produce("labels", [json.dumps({"id": k, "label": k % 2}).encode() for k in (7, 8, 9, 2, 70)])
    server.produce("events", [json.dumps({"id": k, "price": k}).encode() for k in range(10, 13)])
    labels = ("--labels", server.address("labels"), "--join-key", "id", "--join-window", "3")
    yield (server.address("events"), *labels, "--learner", "ogd", "--ignore", "id")
    server.kill()


def test_the_answer_of_a_training_counts_them(command, ouzel):
    told = ouzel("train", *command, "--json").json
    shown = ouzel("train", *command)

    assert told["joined"] == FOUND
    check("train", told)
    assert "  labels       2 found no event   7 events found no label   3 events and 0 labels wait" in shown.out
    assert "left out: labels without an event among the last 3 (2), events without a label before" in shown.err


def test_the_lines_of_a_training_that_follows_count_them(command, tmp_path):
    process = train(*command, "--model", tmp_path / "m", "--follow", "--checkpoint-every", "1s")

    first = json.loads(process.stdout.readline())
    process.terminate()
    process.communicate(timeout=60)

    assert first["joined"] == FOUND
    check("train", first)


def test_a_training_of_one_log_says_nothing_of_labels(ouzel, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")

    assert "joined" not in ouzel("train", tmp_path / "a.svm", "--json").json


def test_a_service_refuses_labels_of_their_own_log_and_says_where_they_are_learnt(ouzel, tmp_path):
    pytest.importorskip("starlette")
    logs = ("--feed", "kafka://broker/clicks", "--labels", "kafka://broker/sales")

    ran = ouzel("serve", "--data", tmp_path, *logs)

    assert ran.status == 2
    assert "ouzel train URL --labels URL" in ran.err
    assert ran.err.count("\n") == 1
