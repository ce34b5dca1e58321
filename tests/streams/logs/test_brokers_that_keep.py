"""Redis and NATS: whatever is killed, the training or the server, the model is that of the unbroken run."""

import random
import time

import pytest

from tests.streams.logs.brokers import KINDS
from tests.streams.logs.killing import LONGEST, train, train_to_the_end, train_with_kills
from tests.streams.logs.servers import messages
from torture.killing import reached, written

SETTINGS = ("--learner", "adagrad", "--checkpoint-every", 1000)


@pytest.fixture(scope="module", params=list(KINDS))
def broker(request, tmp_path_factory):
    server = KINDS[request.param](tmp_path_factory.mktemp(request.param))
    server.start()
    yield server
    server.kill()


@pytest.mark.long
@pytest.mark.parametrize("kills", [100])
def test_a_training_that_is_killed_ends_as_the_unbroken_one(broker, tmp_path, kills):
    topic = f"kills{kills}"
    broker.produce(topic, messages(300_000))
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    train_to_the_end(broker.address(topic), *SETTINGS, "--model", whole)
    struck = train_with_kills(killed, broker.address(topic), *SETTINGS, kills=kills)

    assert struck >= kills // 2
    assert whole.read_bytes() == killed.read_bytes()


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.long)])
def test_a_training_outlives_kills_of_the_server(broker, tmp_path, kills):
    topic = f"outlive{kills}"
    chance = random.Random(kills)
    parts = [messages(1000, seed=k) for k in range(kills + 1)]
    broker.produce(topic, parts[0])
    model = tmp_path / "model"
    until = f"examples {1000 * (kills + 1)}"
    process = train(broker.address(topic), *SETTINGS, "--model", model, "--until", until)
    for part in parts[1:]:
        assert reached(process, written(model))
        assert process.poll() is None
        broker.kill()
        time.sleep(chance.random() * 0.3)
        broker.start()
        broker.produce(topic, part)
    _, said = process.communicate(timeout=LONGEST)
    whole = tmp_path / "whole"
    train_to_the_end(broker.address(topic), *SETTINGS, "--model", whole, "--until", until)

    assert process.returncode == 0, said.decode()
    assert whole.read_bytes() == model.read_bytes()


def test_a_gap_and_a_stream_made_anew_are_told_in_one_line(broker, ouzel, tmp_path):
    model = tmp_path / "m"
    command = ("train", broker.address("trimmed"), "--learner", "ogd", "--model", model, "--resume", model)
    broker.produce("trimmed", messages(100))
    assert ouzel(*command).status == 0
    broker.produce("trimmed", messages(100, seed=1))
    broker.trim("trimmed", 40)

    refused = ouzel(*command)
    skipped = ouzel(*command, "--on-gap", "skip", "--json")
    broker.make_anew("trimmed")
    anew = ouzel(*command)

    assert refused.status == 2
    assert "60 messages between" in refused.err
    assert "are gone" in refused.err
    assert skipped.status == 0, skipped.err
    assert skipped.json["examples"] == 140
    assert anew.status == 2
    assert "offset" not in anew.err.splitlines()[-1]
    assert "the model has learnt up to" in anew.err or "this is one with created" in anew.err


def test_a_stream_that_is_not_there_is_one_line(broker, ouzel):
    ran = ouzel("train", broker.address("absent"))

    assert ran.status == 2
    assert "there is no such stream" in ran.err
