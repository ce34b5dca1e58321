"""Explanations, heavy features, the other formats and protocols."""

import asyncio
import datetime
import decimal
import io
import json
import math
from itertools import pairwise

import numpy as np
import pyarrow
import pytest

import ouzel
from ouzel.model.model import Model
from ouzel.service.batching import Batcher
from ouzel.service.formats import rows_of_stream
from ouzel.service.limits import Refused
from ouzel.service.reading import Reading
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.records import rows_as_json


def learn_some(client, count=60):
    examples = [
        {"label": ["red", "green", "blue"][k % 3], "x": k % 3 - 1.0, "y": k % 2, "w": f"w{k % 4}"} for k in range(count)
    ]
    client.post("/v1/learn", json=examples)


def test_an_explanation_says_that_a_value_is_missing(client):
    learn_some(client)

    for body in ('{"x": 1, "y": null, "w": null}', '{"x": 1, "y": NaN, "w": null}'):
        said = client.post("/v1/explain", content=body, headers={"Content-Type": "application/json"}).json()
        for entry in said["classes"]:
            values = {column["name"]: column["value"] for column in entry["columns"]}
            assert (values["x"], values["y"], values["w"]) == (1.0, "(missing)", "(missing)")


@pytest.mark.parametrize("learner", ["adagrad", "awm", "auto"])
def test_contributions_add_up_to_the_margin(start, learner):
    client = start(learner=learner, settings={"budget": "8KB"} if learner == "awm" else {})
    learn_some(client)
    said = client.post("/v1/explain", json={"x": 1.0, "y": 3, "w": "w1", "never seen": 7}).json()

    assert [column["class"] for column in said["classes"]] == ["blue", "green", "red"]
    for column in said["classes"]:
        total = math.fsum([column["remainder"], *(feature["contribution"] for feature in column["features"])])
        assert total == pytest.approx(column["margin"], rel=1e-6)
        assert learner == "auto" or abs(column["remainder"]) < 1e-5
        assert column["margin"] == pytest.approx(said["margins"][column["class"]], rel=1e-6)
    assert "w=w1" in {feature["name"] for feature in said["classes"][0]["features"]}


def test_a_number_is_explained_too(start):
    client = start(settings={"loss": "squared"})
    client.post("/v1/learn", json=[{"label": 3.0 * k, "x": k} for k in range(50)])
    (column,) = client.post("/v1/explain", json={"x": 2.0}).json()["classes"]

    assert math.fsum(f["contribution"] for f in column["features"]) == pytest.approx(column["margin"], rel=1e-4)


def test_the_heaviest_features_are_told_by_name(client):
    client.post("/v1/learn", json=[{"label": k % 2, "x": k % 2, "noise": 0.01} for k in range(40)])
    (column,) = client.get("/v1/top?n=1").json()

    assert column["class"] == 1
    assert column["features"][0][0] in ("x", "(intercept)")
    assert client.get("/v1/top?n=x").status_code == 422


@pytest.mark.parametrize(
    ("kind", "lines", "bad"),
    [
        ("svmlight", ["1 1:0.5 7:0.1", "# nothing", "-1 2:1", "", "1 3:0.333333343"], "1 x:1"),
        ("vw", ["1 | price:0.5 red", "-1 |shop big:2 12 |f a:0.1", "1 | 7:3 blue"], "1 2 3 no bar"),
    ],
)
def test_lines_of_other_formats_teach_what_they_teach_as_files(start, tmp_path, kind, lines, bad):
    from ouzel.model.importance import most_important
    from ouzel.model.model import Model
    from ouzel.streams.read import read

    client = start()
    body = "\n".join([*lines[:2], bad, *lines[2:]]).encode()
    said = client.post("/v1/learn", content=body, headers={"Content-Type": find(kind).media_types[0]}).text.splitlines()
    path = tmp_path / "same.txt"
    path.write_text("\n".join(line for line in lines if line and line[0] != "#") + "\n")
    model = Model("adagrad")
    for block in read(path, format=kind):
        model.learn(block)

    summary = json.loads(said[-1])["summary"]
    assert (summary["learnt"], summary["refused"]) == (3, 1)
    assert summary["refusals"][0]["line"] == 3
    mine = {name: weight for column in client.get("/v1/top").json() for name, weight in column["features"]}
    assert mine == {str(name): weight for _, column in most_important(model, 20) for name, weight, _ in column}


def test_a_stream_of_arrow_is_learnt_by_its_rows(client):
    table = pyarrow.table({"label": ["a", "b", "a"], "x": [1.0, None, 2.0], "w": ["red", "blue", None]})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    headers = {"Content-Type": find("arrow").media_types[0]}
    said = client.post("/v1/learn?answers=summary", content=sink.getvalue().to_pybytes(), headers=headers).json()
    damaged = b"\xff\xff\xff\xff\x10\0\0\0no arrow at all"
    refused = client.post("/v1/learn?answers=summary", content=damaged, headers=headers).json()

    assert said["learnt"] == 3
    assert json.loads(client.get("/v1/log?format=jsonl").text.splitlines()[1]) == {"label": "b", "x": None, "w": "blue"}
    assert refused["stopped"].startswith("the stream: ")


def test_a_stream_of_csv_that_ends_at_a_bad_row_says_what_to_do(client):
    table = b"label,x,y\na,1,2\nb,1\na,2,3\n"

    said = client.post("/v1/learn?answers=summary", content=table, headers={"Content-Type": "text/csv"}).json()

    assert said["learnt"] == 1
    assert said["stopped"] == (
        "the stream: row 3: found 2 cells (b,1); expected 3, as there are columns; "
        "earlier rows were learnt; correct this one, and send it again with the rows after it"
    )


def test_columns_of_arrow_are_the_features_that_they_are_in_a_file(tmp_path):
    """Of every type: times, bytes and durations, too, are the words that readers of files make of them."""
    day, nothing = datetime.datetime(2026, 1, 1, 5), None
    table = pyarrow.table(
        {
            "label": ["a", "b", "a"],
            "whole": pyarrow.array([1, 2, nothing]),
            "half": pyarrow.array([0.1, 0.2, math.nan], pyarrow.float32()),
            "truth": [True, False, nothing],
            "word": ["red", "3", ""],
            "code": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
            "price": pyarrow.array([decimal.Decimal("1.50"), decimal.Decimal("2.25"), nothing]),
            "when": pyarrow.array([day, nothing, day]),
            "day": pyarrow.array([day.date(), nothing, day.date()]),
            "tags": [["p", "q"], [], ["p"]],
            "inner": [{"u": 1, "v": "w"}, {"u": 2, "v": nothing}, nothing],
            "bytes": pyarrow.array([b"ab", b"cd", nothing]),
            "lasts": pyarrow.array([1, 2, 3], pyarrow.duration("s")),
        }
    )
    with pyarrow.ipc.new_file(tmp_path / "table.arrow", table.schema) as writer:
        writer.write_table(table)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    reading = Reading(Model("ogd"), {"label": "label", "ignore": ["_id"], "sample": 0})
    file = io.BufferedReader(io.BytesIO(sink.getvalue().to_pybytes()))
    lines = [line for batch in rows_of_stream(file, reading.options.limits) for line in rows_as_json(batch)]

    sent = features(reading.block([line.example for line in map(reading.line, lines)]))
    assert sent == features(*ouzel.read(tmp_path / "table.arrow"))


def test_an_infinite_cell_is_refused_and_a_missing_one_is_not(client):
    table = pyarrow.table({"label": ["a", "b"], "x": [math.inf, math.nan], "y": [1.0, 2.0]})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    headers = {"Content-Type": find("arrow").media_types[0]}
    body = sink.getvalue().to_pybytes()
    said = client.post("/v1/learn?answers=summary", content=body, headers=headers).json()

    assert (said["learnt"], said["refused"]) == (1, 1)
    assert "found 'x': inf; expected a finite number" in said["refusals"][0]["error"]


def features(block):
    """The features of each row of a block, and their values."""
    starts = block.offsets.astype(int).tolist()
    pairs = list(zip(block.indices.tolist(), block.values.tolist(), strict=True))
    return [sorted(pairs[start:end]) for start, end in pairwise(starts)]


def test_tensors_are_predicted_by_the_open_inference_protocol(client):
    learn_some(client)
    inputs = [
        {"name": "x", "shape": [2], "datatype": "FP64", "data": [1.0, -1.0]},
        {"name": "w", "shape": [2, 1], "datatype": "BYTES", "data": ["w1", "w2"]},
    ]
    said = client.post("/v2/models/model/infer", json={"id": "7", "inputs": inputs}).json()
    same = client.post("/v1/predict", json=[{"x": 1.0, "w": "w1"}, {"x": -1.0, "w": "w2"}]).json()

    prediction, probability = said["outputs"]
    assert (said["id"], said["model_name"]) == ("7", "model")
    assert prediction["data"] == [answer["prediction"] for answer in same]
    assert probability["shape"] == [2, 3]
    assert probability["data"][:3] == list(same[0]["probabilities"].values())
    assert client.get("/v2/models/model").json()["name"] == "model"


@pytest.mark.parametrize("inputs", [[], [1], [{"name": "x", "shape": [2], "datatype": "FP64", "data": [1.0]}], "x"])
def test_tensors_that_contradict_themselves_are_refused(client, inputs):
    assert client.post("/v2/models/model/infer", json={"inputs": inputs}).status_code == 422


def test_a_snapshot_is_sent_once(client):
    learn_some(client)
    taken = client.post("/v1/snapshot").json()
    first = client.get("/v1/snapshot")
    again = client.get("/v1/snapshot", headers={"If-None-Match": first.headers["etag"]})
    client.post("/v1/learn", json={"label": "red", "x": 1})
    client.post("/v1/snapshot")

    assert taken["examples"] == 60
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/v1/snapshot", headers={"If-None-Match": first.headers["etag"]}).status_code == 200


def test_models_are_served_by_name(start):
    client = start(names=("model", "other"))
    client.post("/v1/models/other/learn", json={"label": 1, "x": 1})
    names = client.get("/v1/models").json()

    assert [entry["examples"] for entry in names] == [0, 1]
    assert client.get("/v1/models/none/model").status_code == 404


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_counts_are_whole_numbers_and_figures_are_not(start, loss):
    client = start(learner="ogd", settings={"loss": loss})
    client.post("/v1/learn", json=[{"label": k % 2, "x": k + 0.5} for k in range(20)])
    listed, model = client.get("/v1/models").json()[0], client.get("/v1/model").json()

    counts = {"examples", "bytes", "alarms", "no_better_than_constant", "refused", "queue", "queue_bytes"}
    counts |= {"waiting_for_labels", "waiting_for_labels_bytes", "log_bytes"}
    for shown in (listed, {name: model[name] for name in listed if name not in ("first", "shadow")}):
        kinds = {name: type(value) for name, value in shown.items()}
        assert {name for name, kind in kinds.items() if kind is int} == counts
        assert {"mean_loss", "baseline"} <= {name for name, kind in kinds.items() if kind is float}


def test_the_counters_are_those_of_what_was_done(client):
    client.post("/v1/learn", json=[{"label": 1, "x": 1}, {"x": 1}, {"label": 0, "x": 2}])
    text = client.get("/metrics").text

    assert 'ouzel_examples_total{model="model",outcome="learnt"} 2.0' in text
    assert 'ouzel_examples_total{model="model",outcome="refused"} 1.0' in text
    assert 'ouzel_model{figure="examples",model="model"} 2.0' in text


@pytest.mark.parametrize(
    "numbers",
    [
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.05,
            0.001234,
            123456.789,
            -1e14,
            999999.999999,
            1e-6,
            10.0,
            100.25,
            math.nan,
            5.0,
        ],
        [1.0, 0.1 + 0.2, 1e15, 1e300, -1e-300, 5e-324, math.nan],
        [math.inf, 1.0, -math.inf],
        [],
    ],
)
def test_numbers_of_arrow_are_written_so_that_they_are_read_back_to_the_bit(numbers):
    column = pyarrow.array([*numbers, None], pyarrow.float64())
    *lines, last = rows_as_json(pyarrow.record_batch({"x": column}))

    back = [math.nan if (x := json.loads(line)["x"]) is None else x for line in lines]
    np.testing.assert_array_equal(np.array(back), np.array(numbers))
    assert last == b'{"x":null}'


def test_words_of_arrow_are_escaped_and_slices_are_read_where_they_begin():
    whole = pyarrow.record_batch(
        {'a "b"': ["x\n", 'y"', None, "é\\"], "n": pyarrow.array([1, None, 3, 4], pyarrow.int8())}
    )

    found = [json.loads(line) for line in rows_as_json(whole.slice(1, 3))]
    assert found == [{'a "b"': 'y"', "n": None}, {'a "b"': None, "n": 3}, {'a "b"': "é\\", "n": 4}]
    assert rows_as_json(whole.slice(0, 0)) == []


def test_what_is_asked_in_one_moment_is_predicted_together_and_answered_as_if_alone(client):
    learn_some(client)
    served = client.app.app.service.first
    texts = [b'{"x": %d, "w": "w%d"}' % (k, k % 5) for k in range(100)]
    texts[7], texts[9], texts[11] = b"nothing", b'{\n "x": 1\n}', b'{"x": 1e99}'

    async def ask():
        return await asyncio.gather(*(served.batcher.submit(text) for text in texts))

    together = asyncio.run(ask())
    assert together == [served.predict([text])[0] for text in texts]
    assert [k for k, result in enumerate(together) if isinstance(result, Refused)] == [7, 11]


def test_a_mistake_in_answering_is_told_to_all_who_asked():
    batcher = Batcher(lambda texts: [1 / 0])

    async def ask():
        return await asyncio.gather(batcher.submit(b"{}"), batcher.submit(b"{}"), return_exceptions=True)

    assert [type(error) for error in asyncio.run(ask())] == [ZeroDivisionError] * 2
