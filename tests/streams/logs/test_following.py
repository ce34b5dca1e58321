"""A training that follows a log saves by the clock, and tells where it stands."""

import json

import pytest

from tests.streams.logs.brokers import Redis
from tests.streams.logs.killing import train
from tests.streams.logs.servers import messages


@pytest.fixture
def redis(tmp_path):
    server = Redis(tmp_path)
    server.start()
    yield server
    server.kill()


def test_a_training_that_follows_saves_by_the_clock_and_tells_where_it_stands(redis, tmp_path):
    model = tmp_path / "m"
    redis.produce("t", messages(500))
    process = train(redis.address("t"), "--learner", "ogd", "--model", model, "--follow", "--checkpoint-every", "1s")

    first = json.loads(process.stdout.readline())
    redis.produce("t", messages(300, seed=1))
    second = next(line for line in map(json.loads, process.stdout) if line["saved"] == 800)
    process.terminate()
    out, _ = process.communicate(timeout=60)

    assert (first["examples"], first["saved"], first["behind"]) == (500, 500, 0)
    assert second["examples"] == 800
    assert second["examples_per_second"] > 0
    assert process.returncode == 143
    assert out == b""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--checkpoint-every", "soon", "--model", "m"), "a number of examples, or a time such as 30s"),
        (("--checkpoint-every", "5m"), "needs --model OUT"),
        (("--checkpoint-every", "5m", "--model", "m", "--workers", "2"), "saves by examples"),
    ],
)
def test_checkpoints_that_make_no_sense_are_refused(ouzel, tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.svm").write_text("1 1:1\n")

    ran = ouzel("train", "a.svm", *given)

    assert ran.status == 2
    assert said in ran.err


def test_checkpoints_by_the_clock_are_made_of_files_too(ouzel, tmp_path):
    file = tmp_path / "a.svm"
    file.write_text("1 1:1\n-1 2:1\n" * 50)

    ran = ouzel("train", file, "--learner", "ogd", "--model", tmp_path / "m", "--checkpoint-every", "1h", "--json")

    assert ran.json["examples"] == 100
