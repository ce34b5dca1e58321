"""A value means one thing at every entry point: one table gives the same ids, values and probabilities, to the bit."""

import copy
import datetime as dt
import json
import re
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sparse

import ouzel
from ouzel.cli.app import run
from ouzel.model.model import Model
from ouzel.service.formats import lines_to_send
from ouzel.service.limits import Refused
from ouzel.service.reading import Reading
from ouzel.sketches.hashing import feature_id
from ouzel.streams.formats.records import rows_as_json
from ouzel.streams.labels import labels_in
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.reading import Reading as LogReading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import Options, make_options
from tests.service.conftest import start
from tests.streams.logs.memory_log import MemoryLog

__all__ = ["start"]  # a fixture

pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
COUNT = 24
ROME = dt.timezone(dt.timedelta(hours=1))


def moment(rng, zone=None):
    return dt.datetime(2024, 1, 1, tzinfo=zone) + dt.timedelta(
        seconds=int(rng.integers(0, 10**8)), microseconds=250_000
    )


VALUES = {  # of a type of column: a value by chance, and its zero if it has one
    "number": (lambda rng: float(rng.normal()), 0.0),
    "tiny": (lambda rng: float(rng.choice([1e-46, -1e-60, 0.25])), -0.0),
    "whole": (lambda rng: int(rng.integers(1, 9)), 0),
    "truth": (lambda rng: bool(rng.integers(2)), False),
    "word": (lambda rng: str(rng.choice(["Rome", "Oslo", "a b", "été", "-5x"])), None),
    "truths as words": (lambda rng: str(rng.choice(["True", "false", "TRUE", "maybe"])), None),
    "day": (lambda rng: dt.date(2023, 1, 1) + dt.timedelta(days=int(rng.integers(900))), dt.date(1970, 1, 1)),
    "moment": (moment, dt.datetime(1970, 1, 1)),
    "moment elsewhere": (lambda rng: moment(rng, ROME), dt.datetime(1970, 1, 1, 1, tzinfo=ROME)),
    "clock": (lambda rng: dt.time(*(int(n) for n in rng.integers(1, 24, 3)), 500_000), dt.time(0, 0)),
    "span": (lambda rng: dt.timedelta(milliseconds=int(rng.integers(1, 10**7))), dt.timedelta(0)),
    "amount": (lambda rng: Decimal(int(rng.integers(1, 999))) / 100, Decimal("0.00")),
    "bytes": (lambda rng: str(rng.choice(["Rome", "é"])).encode(), None),
    "period": (lambda rng: pandas.Period(f"2024-{rng.integers(1, 13):02}", "M"), pandas.Period("1970-01", "M")),
    "list of numbers": (lambda rng: [Decimal(int(n)) / 4 for n in rng.integers(-9, 9, rng.integers(1, 4))], None),
    "list of bytes": (lambda rng: [str(word).encode() for word in rng.choice(["a", "é"], 2)], None),
    "list of days": (lambda rng: [dt.date(2024, 1, 1 + int(day)) for day in rng.integers(0, 9, 2)], None),
    "list": (lambda rng: [str(word) for word in rng.choice(["a", "b", "True"], rng.integers(1, 4))], None),
}
TYPES = {
    "truths as words": pyarrow.string(),
    "amount": pyarrow.decimal128(7, 2),
    "list of numbers": pyarrow.list_(pyarrow.decimal128(7, 2)),
    "moment elsewhere": pyarrow.timestamp("us", "+01:00"),
}
VARIANTS = ("full", "zeros", "missing")
WORDS_FOR_NOTHING = ("", "NA", "N/A", "null", "?", "-")
FILES = ("csv", "tsv", "jsonl", "parquet", "feather")
FRAMES = ("pandas", "polars", "arrow")
SENT = ("send csv", "send parquet", "send feather")  # by `ouzel send`
TYPED_TABLES = ("parquet", "feather", *FRAMES, "http arrow", "arrow log", *SENT[1:])
HTTP = ("http", "http one by one", "http arrow")
ENTRIES = (*FILES, *FRAMES, "dictionaries", "single", *HTTP, "log", "arrow log", *SENT)


@cache
def table(kind, variant):
    """Rows as dictionaries, and their labels."""
    rng = np.random.default_rng(len(kind) * 10 + VARIANTS.index(variant))
    value, zero = VALUES[kind]
    rows = []
    for k in range(COUNT):
        given = value(rng)
        if variant == "zeros" and k % 3 == 1 and zero is not None:
            given = zero
        if variant == "missing" and k % 3 == 1:
            given = None
        rows.append({"x": given, "n": float(rng.normal()), "c": str(rng.choice(["red", "blue"]))})
    labels = ["yes" if row["n"] + (row["c"] == "red") > 0.5 else "no" for row in rows]
    assert len(set(labels)) == 2
    return rows, labels


def as_text(value):
    """A value as people write it in a file of text."""
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dt.timedelta):
        return repr(value.total_seconds())
    if isinstance(value, pandas.Period):
        return value.start_time.date().isoformat()
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return value


def as_json(value):
    if isinstance(value, (dt.timedelta, Decimal)):
        return float(as_text(value))
    return as_text(value)


def json_lines(rows, labels=None):
    lines = [{name: as_json(value) for name, value in row.items()} for row in rows]
    if labels is not None:
        lines = [{**line, "y": label} for line, label in zip(lines, labels, strict=True)]
    return [json.dumps(line).encode() for line in lines]


def arrow_table(kind, rows, labels=None):
    def column(name):
        cells = [row[name] for row in rows]
        if name == "x" and kind == "period":
            return pyarrow.array([None if cell is None else cell.start_time.date() for cell in cells])
        return pyarrow.array(cells, TYPES.get(kind) if name == "x" else None)

    columns = {name: column(name) for name in rows[0]}
    return pyarrow.table(columns if labels is None else {**columns, "y": labels})


def wrote(path, format, kind, rows, labels):
    if format in ("parquet", "feather"):
        found = arrow_table(kind, rows, labels)
        (pyarrow.parquet.write_table if format == "parquet" else pyarrow.feather.write_feather)(found, path)
    elif format == "jsonl":
        path.write_bytes(b"\n".join(json_lines(rows, labels)) + b"\n")
    else:
        between = "," if format == "csv" else "\t"
        lines = [[*rows[0], "y"], *([*row.values(), y] for row, y in zip(rows, labels, strict=True))]
        cells = [["" if cell is None else str(as_text(cell)) for cell in line] for line in lines]
        path.write_text("".join(between.join(line) + "\n" for line in cells))
    return path


def frame_of(entry, kind, rows):
    if entry == "pandas":
        return pandas.DataFrame({name: [row[name] for row in rows] for name in rows[0]})
    return polars.from_arrow(arrow_table(kind, rows)) if entry == "polars" else arrow_table(kind, rows)


def blocks_of(entry, kind, rows, labels, path, model):
    """The table as blocks, which came in at an entry point; read for a model if there is one."""
    asked = {} if model is None else {"space": model.space}
    if entry in FILES:
        return list(ouzel.read(wrote(path / f"t.{entry}", entry, kind, rows, labels), label="y", **asked))
    if entry in FRAMES:
        return list(ouzel.blocks_from(frame_of(entry, kind, rows), labels, **asked))
    if entry == "dictionaries":
        return list(ouzel.blocks_from(list(zip(rows, labels, strict=True)), **asked))
    if entry in ("log", "arrow log"):
        lines = json_lines(rows, labels)
        if entry == "arrow log":
            batches = arrow_table(kind, rows, labels).to_batches(max_chunksize=5)
            lines = [stream_of(batch) for batch in batches]
        log, options = MemoryLog(lines, 4), make_options({"label": "y", **asked})
        with LogStream(log, Decoder, None, options, LogReading(), None) as stream:
            return list(stream)
    stored = {"label": "y", "sample": 0, "ignore": ["_id"]}
    reading = Reading(model or Model("ogd"), stored)
    if entry == "http arrow":
        batches = arrow_table(kind, rows, labels).to_batches()
        return [
            block
            for batch in batches
            for block in [reading.numbers.block(batch) or of_lines(reading, rows_as_json(batch))]
        ]
    lines = json_lines(rows, labels)
    if entry in SENT:
        format = entry.removeprefix("send ")
        _, found = lines_to_send(str(wrote(path / f"s.{format}", format, kind, rows, labels)), None, reading.options)
        lines = list(found)
    if entry == "http one by one":
        return [of_lines(reading, [line]) for line in lines]
    return [of_lines(reading, lines)]


def of_lines(reading, lines):
    found = reading.lines(lines, [None] * len(lines))
    for line in found:
        if isinstance(line, Refused):
            raise ouzel.OuzelError(line.error)
    return reading.block([line.example for line in found])


def stream_of(batch):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def rows_of(blocks):
    """The ids and the values of each row."""
    return [
        (block.indices[a:b].tolist(), block.values[a:b].tobytes())
        for block in blocks
        for a, b in zip(block.offsets[:-1].astype(int), block.offsets[1:].astype(int), strict=True)
    ]


def single_rows(estimator, rows, learning=None):
    """The same of rows that are given one by one to an estimator, to be learnt if they have labels."""
    found = []
    for k, row in enumerate(rows):
        if learning is not None:
            estimator.learn_one(row, learning[k])
        slots, values = estimator._slots.row(row)
        found.append(((slots[1:] - 1).tolist(), values[1:].tobytes()))
    return found


def probabilities(model, blocks):
    return np.concatenate([model.answers(block).probabilities for block in blocks])


def names_in(blocks):
    return {
        bytes(block.names.text[int(start) : int(end)]).decode()
        for block in blocks
        for start, end in zip(block.names.starts, block.names.ends, strict=True)
    }


def entries_of(kind):
    return [entry for entry in ENTRIES if not kind.startswith("list") or entry not in ("csv", "tsv", "send csv")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", VALUES)
def test_the_same_table_is_the_same_ids_and_values_at_every_entry_point(kind, variant, path):
    rows, labels = table(kind, variant)
    expected = blocks_of("arrow", kind, rows, labels, path, None)

    for entry in entries_of(kind):
        if entry == "single":
            assert single_rows(ouzel.OnlineClassifier("adagrad"), rows, labels) == rows_of(expected), entry
            continue
        found = blocks_of(entry, kind, rows, labels, path, None)
        assert rows_of(found) == rows_of(expected), entry
        assert names_in(found) == names_in(expected), entry
        assert not any((block.values == 0.0).any() for block in found)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("trained", ["csv", "jsonl", "pandas", "dictionaries"])
def test_a_model_gives_the_same_probabilities_at_every_entry_point(kind, variant, trained, path):
    rows, labels = table(kind, variant)
    trained = "parquet" if kind.startswith("list") and trained == "csv" else trained
    model = Model("adagrad")
    for block in blocks_of(trained, kind, rows, labels, path, None):
        model.learn(block)
    expected = probabilities(model, blocks_of(trained, kind, rows, labels, path, model))

    for entry in entries_of(kind):
        if entry == "single":
            estimator = ouzel.OnlineClassifier("adagrad")
            estimator.model_ = model
            found = np.array([list(estimator.predict_proba_one(row).values()) for row in rows])
            order = [[*estimator.predict_proba_one(rows[0])].index(name) for name in model.classes.known]
            found = found[:, order]
            assert np.array_equal(found[:, model.classes.order()], expected) or np.array_equal(found, expected), entry
            continue
        found = probabilities(model, blocks_of(entry, kind, rows, labels, path, model))
        np.testing.assert_array_equal(found, expected, entry)


MIXED = {  # a kind of columns: its usual values, and one more
    "numbers": ([0.5, 2.0, -1.0, 4.0], 7),
    "words": (["Rome", "Oslo", "Bern", "Rome"], "Paris"),
    "dates": ([dt.date(2024, 1, day) for day in (1, 2, 3, 4)], dt.date(2024, 5, 6)),
    "truths": ([True, False, False, True], True),
}
TYPED = ("jsonl", "dictionaries", "single", "http", "http one by one", "log")  # whose cells each have a type
KNOWN = r"expected a (number|word), as the column is known to hold|holds \w+, and is known to hold|expected a date"


def kinds_of(known, given, written, alone):
    """Rows of one kind, of which one is of another, as text if that is `written`; and that row alone."""
    values, odd = MIXED[known][0], MIXED[given][1]
    cells = [*values[:3], str(odd) if written else odd, values[3]]
    rows = [{"x": cell, "n": float(k), "c": "red"} for k, cell in enumerate(cells)]
    return rows[3:4] if alone else rows


@cache
def model_of(known):
    values = MIXED[known][0]
    model = Model("adagrad")
    table = pyarrow.table({"x": values, "n": [0.0, 1.0, 2.0, 3.0], "c": ["red"] * 4})
    for block in ouzel.blocks_from(table, ["yes", "no"] * 2):
        model.learn(block)
    return model


def verdict(entry, known, rows, path, model=None, learning=False):
    """The features of the rows at an entry point, "refused", or what was said in other words than those of kinds."""
    model = model or model_of(known)
    try:
        if entry == "single":
            estimator = ouzel.OnlineClassifier("adagrad")
            estimator.model_ = copy.deepcopy(model)
            for row in rows if learning else []:
                estimator.learn_one(row, "yes")
            estimator.predict_one(rows[0])
            return single_rows(estimator, rows)
        return rows_of(
            blocks_of(entry, "mixed", rows, ["yes", "no"] * 2 + ["no"] if len(rows) > 1 else ["yes"], path, model)
        )
    except ouzel.OuzelError as error:
        said = str(error)
        return "refused" if re.search(KNOWN, said) and "\n" not in said else said


REFUSED = {("numbers", "words"), ("numbers", "dates"), ("dates", "words"), ("dates", "truths")}
NUMBERS_AMONG_WORDS = {("words", "numbers"), ("truths", "numbers")}  # refused unless they are written as text
PAIRS = [(known, given) for known in MIXED for given in MIXED if known != given]


@pytest.mark.parametrize("alone", [False, True], ids=["among others", "alone"])
@pytest.mark.parametrize(("known", "given"), PAIRS)
def test_a_cell_of_another_kind_than_the_model_knows_has_one_verdict_at_every_entry_point(known, given, alone, path):
    """Text is text everywhere; of a CSV file a column of which every cell is a number holds numbers."""
    for written in (False, True):
        rows = kinds_of(known, given, written, alone)
        texts = [{**row, "x": str(row["x"])} for row in rows]
        untyped = ("csv", "tsv", "send csv")
        if written:
            entries = [entry for entry in entries_of("text") if not (alone and entry in untyped)]
        else:
            entries = [*TYPED, *TYPED_TABLES, *untyped] if alone else TYPED
        refused = (known, given) in REFUSED or ((known, given) in NUMBERS_AMONG_WORDS and not written)
        found = {}
        for entry in entries:
            typed_column = entry in TYPED_TABLES
            found[entry] = verdict(entry, known, texts if written and typed_column else rows, path)

        found["learn_one"] = verdict("single", known, rows, path, learning=True)
        assert found == dict.fromkeys(found, "refused" if refused else found["dictionaries"])


def label_blocks(entry, labels, path):
    """Rows with these labels, which came in at an entry point of tables, or as sparse text."""
    if entry in ("svm", "vw", "libffm"):
        row = {"svm": "1:0.5", "vw": "| a:0.5", "libffm": "0:1:0.5"}[entry]
        (path / f"labels.{entry}").write_text("".join(f"{label} {row}\n" for label in labels))
        return list(ouzel.read(path / f"labels.{entry}"))
    return blocks_of(entry, "number", [{"x": 0.5} for _ in labels], labels, path, None)


def spelled(truths, way):
    """Truth values as themselves, or as words in one or in several ways."""
    if way == "values":
        return truths
    return [
        getattr(str(truth), ("lower", "upper", "title")[k % 3 if way == "words" else 2])()
        for k, truth in enumerate(truths)
    ]


@pytest.mark.parametrize("way", ["values", "words", "one word each"])
@pytest.mark.parametrize("entry", ["svm", "vw", "libffm", *(entry for entry in ENTRIES if entry != "single")])
def test_a_truth_value_is_one_class_at_every_entry_point_however_it_is_written(entry, way, path):
    truths = [True, False, False, True, True, False, True, True, False, True]
    known, new = Model("adagrad"), Model("adagrad")
    for block in label_blocks("parquet", truths, path):
        known.learn(block)

    found = label_blocks(entry, spelled(truths, way), path)
    for block in found:
        new.learn(block)

    assert len(new.classes) == 2
    if entry not in (*FRAMES, "dictionaries"):  # whose words are words
        assert [label for block in found for label in labels_in(block)] == truths
    for model in (known, new):
        places = np.concatenate([model.classes.known_positions(block.labels, block.label_names) for block in found])
        assert places.tolist() == [int(not truth) for truth in truths]
    signs = [ouzel.read(path / f"labels.{entry}", label_positive="TRUE")] if entry in ("svm", "vw", "libffm") else []
    for stream in signs:
        assert np.concatenate([block.labels for block in stream]).tolist() == [
            1.0 if truth else -1.0 for truth in truths
        ]


def test_a_model_of_python_whose_classes_are_words_knows_them_in_files():
    model, words = Model("adagrad"), ["1", "2", "true", "01"]
    for block in ouzel.blocks_from([({"a": 1.0}, word) for word in words]):
        model.learn(block)
    classes = model.classes

    assert classes.known == words
    assert [classes.find(label) for label in (1, 2.0, True, "TRUE", "01", "02")] == [0, 1, 2, 2, 3, -1]
    assert classes.known_positions(np.array([2.0, 1.0, 3.0]), None).tolist() == [1, 0, -1]


SPARSE = [{1: 2.5, 4: 0.0, 7: -1.0}, {2: 0.0}, {1: 1e-46, 3: 0.5}, {9: 0.0, 3: 1.0}]


def sparse_blocks(entry, path):
    """The rows of SPARSE, which are numbered features of which some are 0."""
    pairs = [" ".join(f"{name}:{value!r}" for name, value in row.items()) for row in SPARSE]
    labels = [1, 0, 1, 0]
    if entry == "svmlight":
        (path / "t.svm").write_text("".join(f"{y} {row}\n" for y, row in zip(labels, pairs, strict=True)))
        return list(ouzel.read(path / "t.svm"))
    if entry == "svmlight in disorder":
        turned = [" ".join(reversed(row.split())) for row in pairs]
        (path / "u.svm").write_text("".join(f"{y} {row}\n" for y, row in zip(labels, turned, strict=True)))
        return list(ouzel.read(path / "u.svm"))
    if entry == "vw":
        (path / "t.vw").write_text("".join(f"{y} | {row}\n" for y, row in zip(labels, pairs, strict=True)))
        return list(ouzel.read(path / "t.vw"))
    if entry == "lists":
        columns = {
            "indices": [[*row] for row in SPARSE],
            "values": [[*row.values()] for row in SPARSE],
            "label": labels,
        }
        pyarrow.parquet.write_table(pyarrow.table(columns), path / "lists.parquet")
        return list(ouzel.read(path / "lists.parquet"))
    if entry == "converted":
        sparse_blocks("vw", path)
        ouzel.convert(ouzel.read(path / "t.vw"), path / "t.arrow")
        return list(ouzel.read(path / "t.arrow"))
    if entry == "sparse matrix":
        rows, columns, values = zip(*[(k, i, v) for k, row in enumerate(SPARSE) for i, v in row.items()], strict=True)
        return list(ouzel.blocks_from(sparse.csr_matrix((values, (rows, columns)), shape=(4, 10)), labels))
    if entry == "array":
        array = np.zeros((4, 10))
        for k, row in enumerate(SPARSE):
            array[k, [*row]] = [*row.values()]
        return list(ouzel.blocks_from(array, labels))
    if entry == "json":
        lines = [json.dumps({"label": y, **row}) + "\n" for y, row in zip(labels, SPARSE, strict=True)]
        (path / "n.jsonl").write_text("".join(lines))
        return list(ouzel.read(path / "n.jsonl"))
    return list(ouzel.blocks_from(list(zip(SPARSE, labels, strict=True))))


@pytest.mark.parametrize(
    "entry",
    ["svmlight", "svmlight in disorder", "vw", "lists", "converted", "sparse matrix", "array", "json", "dictionaries"],
)
def test_a_zero_is_no_feature_in_any_format_of_numbered_features_and_its_id_is_known(entry, path):
    blocks = sparse_blocks(entry, path)

    found = rows_of(blocks)
    kept = [{name: value for name, value in row.items() if np.float32(value)} for row in SPARSE]
    expected = [(sorted(row), np.array([row[name] for name in sorted(row)], np.float32).tobytes()) for row in kept]
    assert found == expected
    if entry not in ("sparse matrix", "array"):  # whose columns say what there is
        assert blocks[-1].space.highest == 9


def test_single_examples_with_zeros_learn_what_tables_with_them_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).round(2)
    X[rng.random(X.shape) < 0.5] = 0.0
    y = (X.sum(axis=1) > 0).astype(int)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    for learner in ("son-oja", "awm"):
        table = ouzel.OnlineClassifier(learner).fit(frame, y)
        single = ouzel.OnlineClassifier(learner)
        for row, label in zip(frame.to_dict("records"), y.tolist(), strict=True):
            single.learn_one(row, label)
        np.testing.assert_array_equal(table.decision_function(frame), single.decision_function(frame))


def test_names_in_vw_text_with_the_value_0_are_no_features(path):
    (path / "names.vw").write_text("1 |n a:0 b:2 |m:0 c |k:1e-30 d:1e-30\n0 |n b:1 a:0\n")

    (block,) = ouzel.read(path / "names.vw")

    assert rows_of([block]) == [
        ([feature_id("n^b")], np.float32([2]).tobytes()),
        ([feature_id("n^b")], np.float32([1]).tobytes()),
    ]
    assert names_in([block]) == {"n^a", "n^b", "m^c", "k^d"}
    assert not block.space.numbered


@pytest.mark.parametrize("word", WORDS_FOR_NOTHING)
def test_words_for_nothing_are_missing_in_a_column_of_numbers_at_every_entry_point(word, path):
    rows = [{"x": float(k) if k % 3 else word, "c": "red"} for k in range(1, 10)]
    labels = ["yes", "no", "no"] * 3
    plain = [{**row, "x": None if row["x"] == word else row["x"]} for row in rows]
    model = Model("adagrad")
    for block in blocks_of("arrow", "number", plain, labels, path, None):
        model.learn(block)
    expected = rows_of(blocks_of("arrow", "number", plain, labels, path, model))

    texts = [{**row, "x": str(row["x"])} for row in rows]
    for entry in ("csv", "tsv", "jsonl"):
        assert rows_of(blocks_of(entry, "number", rows, labels, path, None)) == expected, entry
    for entry in ("csv", "jsonl", "dictionaries", "http", "http one by one", "log"):
        assert rows_of(blocks_of(entry, "number", rows, labels, path, model)) == expected, entry
    for entry in ("parquet", "pandas", "polars", "arrow", "arrow log", "http arrow", *SENT[1:]):
        assert rows_of(blocks_of(entry, "number", texts, labels, path, model)) == expected, entry
    estimator = ouzel.OnlineClassifier("adagrad")
    estimator.model_ = model
    estimator.predict_one(rows[0])
    assert single_rows(estimator, rows) == expected


CODED = {
    "numbers": pyarrow.array([1.5, 2.0, None, 1.5]),
    "whole numbers": pyarrow.array([3, 1, 3, None]),
    "truths": pyarrow.array([True, False, None, True]),
    "days": pyarrow.array([dt.date(2024, 1, 2), None, dt.date(2023, 1, 1), dt.date(2024, 1, 2)]),
    "words": pyarrow.array(["a", "TRUE", "NA", " b "]),
    "bytes": pyarrow.array([b"a", None, "é".encode(), b"a"]),
}


@pytest.mark.parametrize("name", CODED)
def test_a_column_of_codes_holds_categories_at_every_entry_point(name, path):
    rows = {"x": CODED[name].dictionary_encode(), "n": [1.0, 2.0, 3.0, 4.0], "__index_level_0__": [7, 8, 9, 10]}
    labels = ["yes", "no"] * 2
    given = pyarrow.table({**rows, "y": labels})
    pyarrow.feather.write_feather(given, path / "codes.feather")
    expected = list(ouzel.read(path / "codes.feather", label="y"))
    reading = Reading(Model("ogd"), {"label": "y", "sample": 0, "ignore": ["_id"]})
    lines = list(lines_to_send(str(path / "codes.feather"), None)[1])
    (batch,) = given.to_batches()
    log = LogStream(MemoryLog([stream_of(batch)], 1), Decoder, None, make_options({"label": "y"}), LogReading(), None)
    with log as stream:
        followed = list(stream)

    assert any(name.startswith("x=") for name in names_in(expected))
    for found in ([of_lines(reading, lines)], [of_lines(reading, rows_as_json(batch))], followed):
        assert rows_of(found) == rows_of(expected)
        assert names_in(found) == names_in(expected)


@pytest.mark.parametrize("format", ["csv", "parquet", "feather"])
def test_words_that_look_like_dates_among_others_are_sent_as_words(format, path):
    rows = [{"x": word, "n": 1.0} for word in ("2024-01-02", "soon", "2024-01-02 12:00", "TRUE")]
    wrote(path / f"mixed.{format}", format, "word", rows, ["2024-01-02", "later"] * 2)
    reading = Reading(Model("ogd"), {"label": "y", "sample": 0, "ignore": ["_id"]})
    lines = list(lines_to_send(str(path / f"mixed.{format}"), None, Options(label="y"))[1])
    expected, found = list(ouzel.read(path / f"mixed.{format}", label="y")), [of_lines(reading, lines)]

    assert names_in(found) == names_in(expected) == {"n", "x=2024-01-02", "x=2024-01-02 12:00", "x=soon", "x=true"}
    assert rows_of(found) == rows_of(expected)
    assert labels_in(found[0]) == labels_in(expected[0])


def test_rows_of_ids_and_what_holds_no_words_are_not_sent(path):
    table = pyarrow.table({"indices": [[1, 5]], "values": [[0.5, 1.0]], "y": [1]})
    pyarrow.parquet.write_table(table, path / "sparse.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"x": [[[1]], [[2]]], "y": [1, 2]}), path / "nested.parquet")

    with pytest.raises(ouzel.OuzelError, match=r"sparse\.parquet: has rows of ids and values, which have no names"):
        list(lines_to_send(str(path / "sparse.parquet"), None)[1])
    nested = path / "nested.parquet"
    for read in (lambda: lines_to_send(str(nested), None)[1], lambda: ouzel.read(nested)):
        with pytest.raises(ouzel.OuzelError, match="column 'x' holds list"):
            list(read())


def test_marks_of_nothing_are_words_in_a_column_of_categories(path):
    (path / "marks.csv").write_text("y,x\n1,?\n0,a\n1,-\n")

    (block,) = ouzel.read(path / "marks.csv")

    assert names_in([block]) == {"x=?", "x=a", "x=-"}


@pytest.mark.parametrize(
    ("known", "given", "said"),
    [
        ([1.5, 2.0], ["old", "new"], "column 'x' holds words, and is known to hold numbers"),
        (
            [1.5, 2.0],
            [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
            "column 'x' holds dates, and is known to hold numbers",
        ),
        ([1.5, 2.0], [["a"], ["b"]], "column 'x' holds lists, and is known to hold numbers"),
        (
            [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
            [True, False],
            "column 'x' holds words, and is known to hold dates",
        ),
    ],
)
def test_a_model_refuses_a_table_whose_column_is_of_another_kind_in_one_line(known, given, said, path):
    model = ouzel.OnlineClassifier("adagrad").fit(pyarrow.table({"x": known}), ["yes", "no"])
    pyarrow.parquet.write_table(pyarrow.table({"x": given}), path / "other.parquet")
    (path / "other.jsonl").write_bytes(b"".join(line + b"\n" for line in json_lines([{"x": cell} for cell in given])))
    asked = {"space": model.model_.space, "unlabelled": True}

    with pytest.raises(ouzel.OuzelError, match=f"^table: {said}; give those, or train a model on this table$"):
        model.predict(pyarrow.table({"x": given}))
    with pytest.raises(ouzel.OuzelError, match=rf"other\.parquet: {said}; [^\n]*$"):
        list(ouzel.read(path / "other.parquet", **asked))
    if not isinstance(given[0], (list, bool)):
        with pytest.raises(ouzel.OuzelError, match=rf"other\.jsonl: {said}; [^\n]*$"):
            list(ouzel.read(path / "other.jsonl", **asked))


def test_single_examples_take_a_timestamp_and_refuse_one_for_a_number():
    stamp = pandas.Timestamp("2024-03-01T12:30")
    model = ouzel.OnlineClassifier("adagrad")
    for value in (stamp, np.datetime64("2024-03-01T12:30", "ns"), "2024-03-01T12:30", stamp.to_pydatetime()):
        model.learn_one({"when": value}, "yes")
        slots, _ = model._slots.row({"when": value})
        expected = {feature_id(name) + 1 for name in ("when", "when.month=3", "when.weekday=Fri", "when.hour=12")}
        assert set(slots.tolist()) == {0, *expected}
    known = ouzel.OnlineClassifier("adagrad").fit(pandas.DataFrame({"when": [1.0, 2.0]}), ["yes", "no"])
    for ask in (known.predict_one, lambda x: known.learn_one(x, "yes")):
        with pytest.raises(ouzel.OuzelError, match=r"^feature 'when' is Timestamp.*; expected a number, as the column"):
            ask({"when": stamp})


@pytest.mark.parametrize(
    ("american", "iso"),
    [
        ("3/1/2024", "2024-03-01"),
        ("03/01/2024 12:30", "2024-03-01T12:30"),
        ("3/1/2024 1:05:09 PM", "2024-03-01T13:05:09"),
        ("3/1/2024 12:00 AM", "2024-03-01T00:00"),
    ],
)
def test_american_dates_with_times_are_read_as_dates_where_dates_are_said(american, iso, path):
    for name, text in (("a.csv", american), ("b.csv", iso)):
        (path / name).write_text(f"y,when\n1,{text}\n0,\n")

    found, expected = (rows_of(ouzel.read(path / name, dates="when")) for name in ("a.csv", "b.csv"))

    assert found == expected
    assert names_in(ouzel.read(path / "a.csv")) == {f"when={american}", "when=(missing)"}
    assert rows_of(ouzel.blocks_from([({"when": american}, 1), ({"when": None}, 0)], dates="when")) == expected


def test_categories_said_of_dates_and_truth_values_are_words_at_every_entry_point(path):
    rows = [{"x": dt.date(2024, 1, 1 + k), "n": 1.0, "c": bool(k % 2)} for k in range(4)]
    for entry in ("jsonl", "parquet"):
        wrote(path / f"c.{entry}", entry, "day", rows, ["yes", "no"] * 2)
        names = names_in(ouzel.read(path / f"c.{entry}", label="y", categorical="x"))
        assert names == {"n", "c=true", "c=false", *(f"x=2024-01-0{1 + k}" for k in range(4))}
    assert names_in(ouzel.blocks_from([(row, 1) for row in rows], categorical="x")) == names


def test_one_row_is_predicted_alike_by_the_command_the_service_and_a_dictionary(path, tmp_path, start, capsys):
    rows, labels = table("truth", "missing")
    wrote(tmp_path / "t.csv", "csv", "truth", rows, labels)
    wrote(tmp_path / "t.jsonl", "jsonl", "truth", rows, labels)
    assert (
        run(["train", str(tmp_path / "t.csv"), "--learner", "adagrad", "--label", "y", "--model", str(tmp_path / "m")])
        == 0
    )
    found = []
    for name in ("t.csv", "t.jsonl"):
        capsys.readouterr()
        assert run(["predict", str(tmp_path / "m"), str(tmp_path / name), "--json"]) == 0
        found.append([json.loads(line)["probability"] for line in capsys.readouterr().out.splitlines()])
    model = ouzel.load(tmp_path / "m")
    found.append([model.predict_proba_one(row)[model.classes_[1]] for row in rows])
    client = start(reading={"label": "y"})
    lines = b"".join(line + b"\n" for line in json_lines(rows, labels))
    assert client.post("/v1/learn", content=lines, headers={"Content-Type": "application/x-ndjson"}).status_code == 200
    asked = client.post(
        "/v1/predict", content=b"\n".join(json_lines(rows)), headers={"Content-Type": "application/x-ndjson"}
    )
    found.append([json.loads(line)["probabilities"]["yes"] for line in asked.text.splitlines()])

    assert found[0] == found[1] == found[2] == found[3]
