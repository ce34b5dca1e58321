"""N-grams are words with those that follow, the same from every format, by the hash that is written in the docs."""

import itertools
import json
import random

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet

import ouzel
from ouzel.errors import OuzelError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.feature_specs import as_ngrams, spec_for
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read

WORDS = ["not", "good", "at", "all", "it's", "7", "é"]
SEVERAL = {"pairs": "2", "skipping": "2+1", "triples": ["3+2"], "of one": ["title=3"], "both": ["*=2", "title=3+1"]}


def ngrams_of(words, size, skips, bits, prefix):
    """Ids, counts and names of the n-grams of some words by the definition, in the order of their first words."""
    made = {}
    for first, length in itertools.product(range(len(words)), range(2, size + 1)):
        for rest in itertools.combinations(range(first + 1, min(len(words), first + length + skips)), length - 1):
            hashed = 0
            for place in (first, *rest):
                hashed = hashed * 27942141 + feature_id(prefix + words[place], bits=32)
            name = prefix + " ".join(words[place] for place in (first, *rest))
            made.setdefault(hashed & ((1 << bits) - 1), [0.0, name])[0] += 1.0
    return made


def features_of(blocks):
    """What each row holds by id, and the names of all features."""
    rows, names = [], {}
    for block in blocks:
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            rows.append(list(zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True)))
        for k, start, end in zip(block.names.ids, block.names.starts, block.names.ends, strict=True):
            names.setdefault(int(k), block.names.text[int(start) : int(end)].tobytes().decode())
    return rows, names


def texts(n, seed):
    """Rows of two texts, of 0 to 7 words each, some of which come again."""
    drawn = random.Random(seed)
    return [{name: drawn.choices(WORDS, k=drawn.randrange(8)) for name in ("note", "title")} for _ in range(n)]


@pytest.mark.parametrize("bits", [8, 31])
@pytest.mark.parametrize("case", SEVERAL)
def test_ngrams_are_words_with_those_that_follow(case, bits):
    ngrams = as_ngrams(SEVERAL[case])
    rows = texts(40, seed=1)
    data = [({name: " ".join(words) for name, words in row.items()}, 1) for row in rows]

    found, names = features_of(blocks_from(data, ngrams=ngrams, bits=bits, text=["note", "title"]))
    plain, _ = features_of(blocks_from(data, bits=bits, text=["note", "title"]))

    for row, features, alone in zip(rows, found, plain, strict=True):
        expected = dict(alone)
        for name in ("note", "title"):
            spec = spec_for(ngrams, name)
            made = {} if spec is None else ngrams_of(row[name], spec.size, spec.skips, bits, f"{name}=")
            for identity, (count, called) in made.items():
                expected[identity] = expected.get(identity, 0.0) + count
                assert bits < 31 or names[identity] == called
        assert dict(features) == expected


def test_every_format_and_door_has_the_same_ngrams(tmp_path):
    rows = [{name: " ".join(words) for name, words in row.items()} for row in texts(60, seed=2)]
    table = pyarrow.Table.from_pylist([{"y": k % 2, **row} for k, row in enumerate(rows)])
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, str(tmp_path / "t.arrow"))
    (tmp_path / "t.csv").write_text(table.to_pandas().to_csv(index=False))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    options = {"text": ["note", "title"], "ngrams": {"title": "3+1", "note": 2}, "bits": 24}

    expected = features_of(blocks_from([(row, 1) for row in rows], **options))

    for name in ("t.csv", "t.jsonl", "t.arrow", "t.parquet"):
        assert features_of(read(tmp_path / name, label="y", **options)) == expected
    assert features_of(blocks_from(table.drop_columns("y").to_pandas(), [1] * 60, **options)) == expected


def test_namespaces_have_ngrams_whether_words_have_values_or_not(tmp_path):
    plain, valued = tmp_path / "plain.vw", tmp_path / "valued.vw"
    plain.write_text("1 |t not good at |n a b\n-1 | good good\n")
    valued.write_text("1 |t not:2 good:0.5 at |n a b\n-1 | good good\n")

    rows, names = features_of(read(plain, ngrams="2", bits=24))
    others, _ = features_of(read(valued, ngrams="2", bits=24))

    called = [[(names[identity], value) for identity, value in row] for row in rows]
    assert called[0][5:] == [("n^a b", 1.0), ("t^not good", 1.0), ("t^good at", 1.0)]
    assert called[1] == [("good", 2.0), ("good good", 1.0)]
    assert others[0][5:] == rows[0][5:]
    assert features_of(read(plain, ngrams="t=2", bits=24))[0][0] == rows[0][:5] + rows[0][6:]


@pytest.mark.filterwarnings("ignore:no better than a constant")
def test_a_model_has_its_ngrams_whatever_it_is_given(tmp_path):
    pd = pytest.importorskip("pandas")
    rows = [{name: " ".join(words) for name, words in row.items()} for row in texts(200, seed=3)]
    y = ["not good" in row["note"] for row in rows]
    model = ouzel.OnlineClassifier("adagrad", text=["note", "title"], ngrams=2, crosses=[("note", "title")])
    one = ouzel.OnlineClassifier("adagrad", text=["note", "title"], ngrams=2, crosses=[("note", "title")])

    model.fit(pd.DataFrame(rows), y)
    for row, label in zip(rows, y, strict=True):
        one.learn_one(row, label)
    model.save(tmp_path / "m.ouzel")
    loaded = ouzel.load(tmp_path / "m.ouzel")

    assert any(name == "note=not good" for name, _ in model.top_weights(50))
    np.testing.assert_allclose(
        [one.decision_function(pd.DataFrame([row])) for row in rows],
        [model.decision_function(pd.DataFrame([row])) for row in rows],
        rtol=1e-5,
    )
    assert [loaded.predict_one(row) for row in rows] == model.predict(pd.DataFrame(rows)).tolist()
    assert tuple(loaded.ngrams) == ("*=2+0",)


def test_others_are_refused_in_one_line(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n")
    (tmp_path / "a.csv").write_text("y,note\n1,a b\n")
    with pytest.raises(OuzelError, match="is svmlight, and the option is for"):
        read(tmp_path / "a.svm", ngrams=2)
    with pytest.raises(OuzelError, match="only n-grams skip words"):
        read(tmp_path / "a.csv", skips=2)
    with pytest.raises(OuzelError, match="has no column 'tittle'"):
        list(read(tmp_path / "a.csv", label="y", ngrams="tittle=2"))
    model = ouzel.OnlineClassifier("ogd", text="note").fit(pyarrow.table({"note": ["a b", "c"]}), [0, 1])
    with pytest.raises(OuzelError, match="learnt with no crosses, n-grams, bins or hinges, and not with the n-grams"):
        next(blocks_from([({"note": "a b"}, 1)], model=model, ngrams=2))
    for odd in ("", "one", "a=1", "a=10", "a=2+10", ["a=2", "a=3"], 2.5, True, [None]):
        with pytest.raises(OuzelError, match="n-grams"):
            as_ngrams(odd)
