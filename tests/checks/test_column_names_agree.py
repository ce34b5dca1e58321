"""A name of a column means the same, or is refused by the same words, through every entry point."""

import json

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

import ouzel
from ouzel.cli.app import run
from ouzel.errors import DataError
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.feature_space import column_key, numeric_id

pandas = pytest.importorskip("pandas")

LABELS = ["a", "b", "a", "b"]
VALUES = {"numbers": [1.0, 2.0, 3.0, 1.5], "words": ["x", "y", "x", "y"], "gaps": [None, 2.0, 3.0, 1.5]}
NO_NAMES = ("", "__index_level_0__")
TOO_LARGE = ("4294967295", "99999999999", "9" * 25, "04294967295")
ZEROS = ("007", "00000000007", "0" * 25 + "7")


def rows(name, values="numbers"):
    return [{name: value, "n": 1.0 + k % 2} for k, value in enumerate(VALUES[values])]


def labelled(name, values="numbers"):
    return [{**row, "label": label} for row, label in zip(rows(name, values), LABELS, strict=True)]


def by_learn_one(examples):
    model = ouzel.OnlineClassifier("adagrad")
    for row, label in zip(examples, LABELS, strict=True):
        model.learn_one(row, label)
    return model


def by_blocks(examples):
    model = ouzel.OnlineClassifier("adagrad")
    ouzel.progressive_validation(model, ouzel.blocks_from(list(zip(examples, LABELS, strict=True))))
    return model


MEMORY = {
    "learn_one": by_learn_one,
    "blocks": by_blocks,
    "fit": lambda examples: ouzel.OnlineClassifier("adagrad").fit(examples, LABELS),
    "frame": lambda examples: ouzel.OnlineClassifier("adagrad").fit(pandas.DataFrame(examples), LABELS),
    "arrow": lambda examples: ouzel.OnlineClassifier("adagrad").fit(pyarrow.Table.from_pylist(examples), LABELS),
}
FILES = ("csv", "parquet", "jsonl")
TEXT = ("vw", "svm")


def write(examples, path):
    if path.suffix == ".csv":
        pandas.DataFrame(examples).to_csv(path, index=False)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(examples), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in examples))
    else:
        start = "" if path.suffix == ".svm" else "| "
        pairs = [" ".join(f"{k}:{v}" for k, v in row.items() if k != "label") for row in examples]
        lines = [f"{row['label']} {start}{pair}\n" for row, pair in zip(examples, pairs, strict=True)]
        path.write_text("".join(lines))


def train(path):
    """Train on a file and return the status of the command."""
    label = [] if path.suffix in (".vw", ".svm") else ["--label", "label"]
    return run(["train", str(path), *label, "--learner", "adagrad", "--model", f"{path}.m", "--json"])


def weights(model):
    return dict(model.top_weights(20))


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_number_too_large_for_an_id_is_refused_by_one_line(name, values, tmp_path, capsys):
    known = by_learn_one(rows("m"))
    for entry in [*MEMORY.values(), lambda examples: known.predict_one(examples[1])]:
        with pytest.raises(
            DataError, match=rf"found the feature {name}; expected an id of at most {MOST_ID}, or a name"
        ):
            entry(rows(name, values))

    for kind in FILES + (TEXT if values == "numbers" else ()):
        write(labelled(name, values), tmp_path / f"t.{kind}")
        assert train(tmp_path / f"t.{kind}") != 0
        (line,) = capsys.readouterr().err.splitlines()[-1:]
        assert name in line
        assert str(MOST_ID) in line


@pytest.mark.parametrize("name", ZEROS)
def test_zeros_before_a_number_change_nothing(name, tmp_path):
    expected = weights(by_learn_one(rows("7")))

    found = {entry: weights(train_in_memory(rows(name))) for entry, train_in_memory in MEMORY.items()}
    for kind in (*FILES, "vw"):
        write(labelled(name), tmp_path / f"t.{kind}")
        assert train(tmp_path / f"t.{kind}") == 0
        found[kind] = weights(ouzel.load(tmp_path / f"t.{kind}.m"))

    assert 7 in expected
    assert found == dict.fromkeys(found, expected)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", NO_NAMES)
def test_a_column_without_a_name_is_left_out(name, values, tmp_path):
    model = by_learn_one([{"n": row["n"]} for row in rows("m")])

    found = {entry: weights(train_in_memory(rows(name, values))) for entry, train_in_memory in MEMORY.items()}
    for kind in FILES:
        write(labelled(name, values), tmp_path / f"t.{kind}")
        assert train(tmp_path / f"t.{kind}") == 0
        found[kind] = weights(ouzel.load(tmp_path / f"t.{kind}.m"))

    assert found == dict.fromkeys(found, weights(model))
    assert model.predict_proba_one(rows(name, values)[1]) == model.predict_proba_one({"n": 2.0})


def test_vowpal_wabbit_text_has_no_features_without_a_name(tmp_path, capsys):
    (tmp_path / "t.vw").write_text("a | m:1\nb | :1 m:2\n")

    assert train(tmp_path / "t.vw") != 0
    assert "t.vw:2:5: found ':1'; expected the name of a feature before the colon" in capsys.readouterr().err


def outcome(train_in_memory, examples):
    """The weights of a model, or the error without its place."""
    try:
        return weights(train_in_memory(examples))
    except DataError as error:
        return error.found, error.expected


@settings(max_examples=60, deadline=None)
@given(
    some.one_of(some.text("0123456789", max_size=22), some.text("01 .=-+_e(é\t", max_size=6)),
    some.sampled_from([*VALUES]),
)
@example("", "numbers")
@example("4294967295", "words")
@example("00000000007", "numbers")
def test_any_name_has_one_outcome(name, values):
    outcomes = {entry: outcome(train_in_memory, rows(name, values)) for entry, train_in_memory in MEMORY.items()}

    assert outcomes == dict.fromkeys(outcomes, outcomes["learn_one"])


@given(some.text("0123456789a", min_size=1, max_size=22))
def test_a_key_is_the_number_the_name_or_an_error(name):
    key = numeric_id(name)

    if isinstance(key, int):
        assert key == column_key(name) == int(name) <= MOST_ID
    elif name.isdigit():
        assert int(name) > MOST_ID
        with pytest.raises(ValueError, match="expected an id of at most"):
            column_key(name)
    else:
        assert key == column_key(name) == name
