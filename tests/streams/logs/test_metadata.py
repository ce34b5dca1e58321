"""Keys and headers of messages are columns of theirs, where they are asked for; messages of Arrow are tables."""

import io
import json
from contextlib import contextmanager

import numpy as np
import pyarrow
import pytest

from ouzel.errors import DataError, OuzelError
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.messages import check_metadata
from ouzel.streams.logs.protocol import Batch, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import Options
from tests.streams.logs.brokers import Nats, Redis
from tests.streams.logs.memory_log import MemoryLog
from tests.streams.logs.servers import kafka_broker, make_topic, messages, running


class KeyedLog(MemoryLog):
    """A log in memory whose messages have keys and headers."""

    def __init__(self, values, metadata, at_once=3):
        super().__init__(values, at_once)
        self.metadata = metadata

    def read(self, position, follow):
        for found in super().read(position, follow):
            if isinstance(found, Batch):
                found = found._replace(metadata=[self.metadata[place] for place in found.places])
            yield found


def arrow(columns):
    sink = io.BytesIO()
    table = pyarrow.table(columns)
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def stream_of(log, on_error="raise", position=None, format=None, **options):
    return LogStream(log, Decoder, format, Options(on_error=on_error, **options), Reading(), position)


def examples(stream):
    """The names of features, and the values, of each example."""
    found, names = [], FeatureNames()
    with stream:
        for block in stream:
            if block.names is not None:
                names.add(block.names)
            for k in range(block.rows):
                here = slice(int(block.offsets[k]), int(block.offsets[k + 1]))
                pairs = zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True)
                found.append({names.name(feature): value for feature, value in pairs})
    return found


def values_of(stream):
    """The values of all features, in order."""
    return [
        value for block in stream for value in block.values[int(block.offsets[0]) : int(block.offsets[-1])].tolist()
    ]


BESIDE = [{"key": "ann"}, {}, {"key": 'b"ob', "header:from": "app, two"}]


def test_keys_and_headers_are_features_of_json_messages():
    values = [b'{"label": 1, "a": 2}', b'{"label": 0}\n{"label": 1, "a": 3}', b' {"label":1 , "key": "own"} ']

    assert examples(stream_of(KeyedLog(values, BESIDE))) == [
        {"a": 2.0, "key=ann": 1.0},
        {},
        {"a": 3.0},
        {'key=b"ob': 1.0, "header:from=app, two": 1.0},
    ]


def test_keys_are_features_of_arrow_messages_like_those_of_json():
    rows = [{"label": 1, "a": 2.0, "city": "Rome"}, {"label": 0, "a": 3.0, "city": "Oslo"}]
    as_json = [json.dumps(row).encode() for row in rows]
    as_arrow = [arrow({name: [row[name]] for name in row}) for row in rows]
    metadata = [{"key": "1"}, {"key": "x"}]

    found = [examples(stream_of(KeyedLog(values, metadata))) for values in (as_json, as_arrow)]

    assert (
        found[0] == found[1] == [{"a": 2.0, "city=Rome": 1.0, "key=1": 1.0}, {"a": 3.0, "city=Oslo": 1.0, "key=x": 1.0}]
    )


def test_arrow_messages_are_told_by_their_first_bytes_and_go_on_from_any_row():
    messages = [
        arrow({"label": [1, 0, 1], "a": [1.0, 2.0, 3.0]}),
        None,
        arrow({"label": [0], "a": [4.0]}),
        arrow({"label": [1, 0], "b": [5.0, 6.0]}),
        b"oops",
        arrow({"other": [1]}),
        arrow({"label": [1.0, np.inf], "a": [7.0, 8.0]}),
    ]
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    for at_once in (1, 4, 9):
        with stream_of(MemoryLog(messages, at_once), on_error="skip") as stream:
            found = values_of(stream)
        assert found == values
        assert stream.skipped == 3
        assert stream.committed.format == "arrow"
        for rows in range(1, 7):
            with stream_of(MemoryLog(messages, at_once), on_error="skip") as stream:
                given = 0
                while given < rows:
                    given += next(stream).rows
                stream.learnt(rows)
            position = Position.from_json(json.loads(json.dumps(stream.committed.to_json())))
            with stream_of(MemoryLog(messages, at_once), on_error="skip", position=position) as rest:
                found = values_of(rest)
            assert found == values[rows:]
            assert rest.skipped == 3


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (arrow({"label": [1], "a": [1.0]})[:-60], "offset 1: "),
        (b"oops", "offset 1: is not a stream of Arrow"),
        (arrow({"other": [1]}), "offset 1: .*label"),
        (arrow({"label": [np.inf], "a": [1.0]}), "offset 1, "),
    ],
)
def test_a_bad_arrow_message_is_told_by_its_offset(message, said):
    stream = stream_of(MemoryLog([arrow({"label": [1], "a": [1.0]}), message]))

    with pytest.raises(DataError, match=f"^memory://log: {said}"), stream:
        list(stream)

    assert stream.committed.last == {"": 0}


@pytest.mark.parametrize("values", [[b"1 3:2"], [b"1 | a:2"]])
def test_text_without_columns_has_no_place_for_keys(values):
    with pytest.raises(OuzelError, match="is for arrow, jsonl alone; leave out with_key=True"):
        examples(stream_of(KeyedLog(values, BESIDE), with_key=True))


@pytest.mark.parametrize(
    ("url", "option"),
    [
        ("postgresql://server/shop?cursor=id#SELECT 1", "with_headers"),
        ("redis://server/stream", "with_key"),
        ("redis://server/stream?key=user", "with_headers"),
    ],
)
def test_what_has_no_keys_or_headers_says_so(url, option):
    with pytest.raises(
        OuzelError, match=f"^here: has no (keys|headers) of messages.*leave out {option}=True"
    ) as refused:
        check_metadata(Options(**{option: True}), "here", url)

    assert refused.value.on_command_line.endswith("leave out --" + option.replace("_", "-"))
    check_metadata(Options(**{option: True}, inherited=(option,)), "here", url)


@contextmanager
def of_kafka(folder, lines, headers):
    from confluent_kafka import Producer

    with running(kafka_broker, folder) as broker:
        make_topic(broker.port, "clicks")
        producer = Producer({"bootstrap.servers": f"127.0.0.1:{broker.port}", "log_level": 0})
        for k, (line, header) in enumerate(zip(lines, headers, strict=True)):
            producer.produce("clicks", line, key=f"user{k % 3}", headers=[("from", header)])
        producer.flush(30)
        yield f"kafka://127.0.0.1:{broker.port}/clicks", "key=user1"


@contextmanager
def of_redis(folder, lines, headers):
    with serving(Redis(folder)) as server:
        pipeline = server.client.pipeline()
        for k, (line, header) in enumerate(zip(lines, headers, strict=True)):
            pipeline.xadd("clicks", {"message": line, "user": f"user{k % 3}", "from": header})
        pipeline.execute()
        yield f"{server.address('clicks')}?field=message&key=user", "key=user1"


@contextmanager
def of_nats(folder, lines, headers):
    async def publish(stream):
        await stream.add_stream(name="clicks", subjects=["clicks.*"])
        for k, (line, header) in enumerate(zip(lines, headers, strict=True)):
            await stream.publish(f"clicks.user{k % 3}", line, headers={"from": header})

    with serving(Nats(folder)) as server:
        server._ask(publish)
        yield server.address("clicks"), "key=clicks.user1"


@contextmanager
def serving(server):
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.mark.parametrize("as_arrow", [False, True], ids=["json", "arrow"])
@pytest.mark.parametrize("made", [of_kafka, of_redis, of_nats])
def test_keys_and_headers_of_real_logs_are_learnt_and_known_by_their_names(tmp_path, ouzel, made, as_arrow):
    pytest.importorskip({"of_kafka": "confluent_kafka", "of_redis": "redis", "of_nats": "nats"}[made.__name__])
    lines, model = messages(300), tmp_path / "m"
    (tmp_path / "day.jsonl").write_bytes(b"\n".join(lines))
    values = [arrow({name: [value] for name, value in json.loads(line).items()}) for line in lines]
    with made(tmp_path, values if as_arrow else lines, ["app" if k % 2 else "web" for k in range(300)]) as (url, key):
        trained = ouzel(
            "train", url, "--learner", "adagrad", "--model", model, "--with-key", "--with-headers", "--json"
        )
        predicted = ouzel("predict", model, url, "--only", "margins")
        plain = ouzel("train", url, "--learner", "adagrad", "--json")
    top = ouzel("top", model, "--all", "--json").json
    from_file = ouzel("predict", model, tmp_path / "day.jsonl", "--only", "margins")

    assert (trained.json["examples"], plain.json["examples"]) == (300, 300)
    assert {key, "header:from=app", "header:from=web"} <= {name for name, _ in top[0]["features"]}
    assert plain.json["nonzeros"] == trained.json["nonzeros"] - 600
    assert predicted.status == from_file.status == 0, from_file.err
    assert predicted.out != from_file.out


def test_a_file_has_no_keys(tmp_path, ouzel):
    (tmp_path / "day.jsonl").write_bytes(b"\n".join(messages(3)))

    ran = ouzel("train", tmp_path / "day.jsonl", "--with-key")

    assert ran.status == 2
    assert ran.err.endswith("day.jsonl: has no keys of messages; leave out --with-key\n")


def test_an_analysis_that_reads_lines_refuses_messages_of_arrow(tmp_path, ouzel):
    with serving(Redis(tmp_path)) as server:
        server.produce("clicks", [arrow({"label": [1], "a": [2.0]})] * 3)
        ran = ouzel("explain", server.address("clicks"))

    assert ran.status == 2
    assert "holds messages of Arrow, and is read by lines here" in ran.err
