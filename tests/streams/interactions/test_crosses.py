"""Crosses are products of features, the same from every format, by the hash that is written in the docs."""

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
from ouzel.streams.feature_specs import as_crosses, combinations
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read

pd = pytest.importorskip("pandas")

LARGEST = float(np.finfo(np.float32).max)


def crosses_of(members, crosses, bits):
    """Ids, values and names of an example's crosses by the definition; `members` are (field, feature, value)."""
    fields = {}
    for field, name, value in members:
        if value:
            same = fields.setdefault(field, {})
            same[name] = same.get(name, 0.0) + value
    made = {}
    table, sizes = combinations(tuple(fields), crosses)
    for together, size in zip(table.tolist(), sizes.tolist(), strict=True):
        names = [list(fields)[place] for place in together[:size]]
        ordered = [sorted((feature_id(name, bits=32), name, value) for name, value in fields[f].items()) for f in names]
        for some in itertools.product(*map(range, map(len, ordered))):
            if any(f == g and k > j for f, g, k, j in zip(names, names[1:], some, some[1:], strict=False)):
                continue  # of a field crossed with itself each pair once
            hashed, value, name = 0, 1.0, []
            for k, (place, entries) in enumerate(zip(some, ordered, strict=True)):
                hashed = (hashed * 16777619) ^ entries[place][0] if k else entries[place][0]
                value *= entries[place][2]
                name.append(str(entries[place][1]))
            identity = hashed & ((1 << bits) - 1)
            made.setdefault(identity, [0.0, "*".join(name)])[0] += min(max(value, -LARGEST), LARGEST)
    return made


def rows_of(blocks):
    """What each row holds, and the names of all features."""
    rows, names = [], {}
    for block in blocks:
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            rows.append((block.indices[here].tolist(), block.values[here].tolist()))
        if block.names is not None:
            for k, start, end in zip(block.names.ids, block.names.starts, block.names.ends, strict=True):
                names.setdefault(int(k), block.names.text[int(start) : int(end)].tobytes().decode())
    return rows, names


def table_of(seed, count=300):
    rng = random.Random(seed)
    return [
        {
            "y": rng.choice([1, -1]),
            "city": rng.choice(["Rome", "Oslo", "é", None]),
            "device": rng.choice(["phone", "desk"]),
            "price": rng.choice([0.0, 0.5, 3.25, 2e30]),
            "7": rng.choice([1.0, 2.0]),
            "age": float(rng.randint(0, 5)),
        }
        for _ in range(count)
    ]


CASES = {
    "a pair": ["city*device"],
    "three": ["device*city*price"],
    "all pairs": ["*:*"],
    "squares": ["price*price", "7*7*7"],
    "a pattern": ["[cd]*:age", "city*device"],
    "all threes": ["*:*:*"],
}


@pytest.mark.parametrize("bits", [3, 18])
@pytest.mark.parametrize("case", CASES)
def test_crosses_are_products_of_features(case, bits):
    rows = table_of(case)
    crosses = as_crosses(CASES[case])
    plain, _ = rows_of(blocks_from([({k: v for k, v in row.items() if k != "y"}, row["y"]) for row in rows], bits=bits))

    found, names = rows_of(
        blocks_from(
            [({k: v for k, v in row.items() if k != "y"}, row["y"]) for row in rows], crosses=crosses, bits=bits
        )
    )

    for row, (ids, values), (own_ids, own_values) in zip(rows, found, plain, strict=True):
        members = [
            (k, 7 if k == "7" else k if isinstance(v, float) else f"{k}={v}", v if isinstance(v, float) else 1.0)
            for k, v in ((k, "(missing)" if v is None else v) for k, v in row.items())
            if k != "y"
        ]
        expected = dict(zip(own_ids, map(float, own_values), strict=True))
        made = crosses_of(members, crosses, bits)
        for identity, (value, _) in made.items():
            expected[identity] = min(max(expected.get(identity, 0.0) + value, -LARGEST), LARGEST)
        assert len(ids) == len(set(ids))
        assert dict(zip(ids, values, strict=True)) == pytest.approx(expected, rel=1e-6)
        if bits == 18:
            assert all(names[identity] == name for identity, (_, name) in made.items() if identity not in own_ids)


@pytest.mark.parametrize("case", CASES)
def test_every_format_and_door_has_the_same_crosses(case, tmp_path):
    rows, crosses = table_of(1), CASES[case]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "t.csv", index=False)
    parquet.write_table(pyarrow.table(frame), tmp_path / "t.parquet")
    feather.write_feather(pyarrow.table(frame), tmp_path / "t.arrow")
    order = random.Random(2)
    lines = [json.dumps(dict(order.sample([*row.items()], len(row))), ensure_ascii=False) for row in rows]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    options = {"crosses": crosses, "categorical": ["city", "device"]}

    expected, names = rows_of(read(tmp_path / "t.csv", label="y", **options))
    found = [rows_of(read(tmp_path / name, label="y", **options)) for name in ("t.parquet", "t.arrow", "t.jsonl")]
    found.append(rows_of(blocks_from(frame.drop(columns="y"), frame["y"], **options)))

    for rows_found, names_found in found:
        assert rows_found == expected
        assert names_found == names


def test_namespaces_are_crossed_as_columns_are(tmp_path):
    rows = [(1, "Rome", "phone", 2.5), (-1, "Oslo", "desk", -1.0), (1, "Rome", "desk", 0.5)] * 20
    text = "".join(f"{y} |city {c} |device {d} |n price:{p} 3:2\n" for y, c, d, p in rows)
    odd = "".join(f"{y} |n:2 3:1 price:{p / 2} |device {d}:1.0e0 |city {c}\n" for y, c, d, p in rows)
    for crosses in (["city*device"], ["*:*"], ["n*city*device", "n*n"]):
        (tmp_path / "t.vw").write_text(text)
        (tmp_path / "u.vw").write_text(odd)

        found, names = rows_of(read(tmp_path / "t.vw", crosses=crosses))

        assert rows_of(read(tmp_path / "u.vw", crosses=crosses)) == (found, names)
        for (_, c, d, p), (ids, values) in zip(rows, found, strict=True):
            members = [
                ("city", f"city^{c}", 1.0),
                ("device", f"device^{d}", 1.0),
                ("n", "n^price", p),
                ("n", "n^3", 2.0),
            ]
            made = crosses_of(members, as_crosses(crosses), 18)
            given = dict(zip(ids, values, strict=True))
            assert {identity: given[identity] for identity in made} == {k: pytest.approx(v[0]) for k, v in made.items()}
            assert len(ids) == 4 + len(made)
            assert all(names[identity] == name for identity, (_, name) in made.items())


def test_namespaces_may_come_and_go_in_any_order(tmp_path):
    """Some are alike in their first eight letters, or in all but the last one."""
    rng = random.Random(4)
    spaces = ["a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "", "é"]
    rows = [
        [
            (space, rng.choice("xyz") + str(rng.randint(0, 3)))
            for space in rng.sample(spaces, rng.randint(1, len(spaces)))
        ]
        for _ in range(300)
    ]
    (tmp_path / "t.vw").write_text(
        "".join("1 " + " ".join(f"|{space} {word}" for space, word in row) + "\n" for row in rows), "utf-8"
    )
    for crosses in (["a*abcdefghi", "ab*abcdefghj"], ["*:*"], [("é", " ")]):
        found, _ = rows_of(read(tmp_path / "t.vw", crosses=crosses, bits=22))

        for row, (ids, values) in zip(rows, found, strict=True):
            members = [(space or " ", f"{space}^{word}" if space else word, 1.0) for space, word in row]
            made = crosses_of(members, as_crosses(crosses), 22)
            plain = {feature_id(name, bits=22) for _, name, _ in members}
            assert set(ids) == plain | set(made)
            assert set(values) == {1.0}


@pytest.mark.parametrize("words", [5, 60, 320])
def test_a_namespace_of_many_words_is_crossed_with_itself(words, tmp_path):
    """Some come again, whose values add up before they are multiplied; one adds up to nothing."""
    rng = random.Random(words)
    rows = [
        [
            (rng.choice("ab"), f"w{rng.randint(0, 300)}", rng.choice([0.5, 1.0, 2.0]))
            for _ in range(rng.randint(1, words))
        ]
        for _ in range(20)
    ]
    for row in rows[::3]:
        row += [("a", "again", 1.0), ("a", "again", 0.5), ("b", "nothing", 0.0)]
    (tmp_path / "t.vw").write_text(
        "".join("1 " + " ".join(f"|{space} {word}:{value}" for space, word, value in row) + "\n" for row in rows)
    )
    crosses = ["a*a", "a*b"]
    own, _ = rows_of(read(tmp_path / "t.vw", bits=12))

    found, _ = rows_of(read(tmp_path / "t.vw", crosses=crosses, bits=12))

    for row, (own_ids, own_values), (ids, values) in zip(rows, own, found, strict=True):
        made = crosses_of([(space, f"{space}^{word}", value) for space, word, value in row], as_crosses(crosses), 12)
        expected = dict(zip(own_ids, own_values, strict=True))
        for identity, (value, _) in made.items():
            expected[identity] = expected.get(identity, 0.0) + value
        assert ids[: len(own_ids)] == own_ids
        assert len(ids) == len(expected)
        assert dict(zip(ids, values, strict=True)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("chunk", [1 << 21, 200])
def test_chunks_and_parts_change_nothing(chunk, tmp_path, monkeypatch):
    from ouzel.streams.interactions import transform
    from ouzel.streams.sources import chunks

    path = tmp_path / "t.vw"
    path.write_text("".join(f"1 |a x{k % 7} y{k % 3} |b z{k % 5}:0.5 |c{k % 4} 5\n" for k in range(3000)))
    expected = rows_of(read(path, crosses=["*:*"]))
    monkeypatch.setattr(chunks, "CHUNK", chunk)
    monkeypatch.setattr(transform, "AT_ONCE", 100)
    monkeypatch.setattr(transform, "FEWEST", 10)

    assert rows_of(read(path, crosses=["*:*"])) == expected


@pytest.mark.filterwarnings("ignore:.*over 1,000 times its usual size")
@pytest.mark.filterwarnings("ignore:no better than a constant")
def test_a_model_crosses_whatever_it_is_given(tmp_path):
    rows = table_of(4)
    frame = pd.DataFrame(rows).drop(columns="y")
    labels = [row["y"] for row in rows]
    options = {"crosses": [("city", "device"), ("age", "price")], "categorical": ["city", "device"]}
    one, frames = (ouzel.OnlineClassifier("adagrad", **options) for _ in range(2))
    for row, label in zip(rows, labels, strict=True):
        one.learn_one({k: v for k, v in row.items() if k != "y"}, label)
    frames.fit(frame, labels)
    frames.save(tmp_path / "m.ouzel")
    loaded = ouzel.load(tmp_path / "m.ouzel")

    single = [one.predict_proba_one({k: v for k, v in row.items() if k != "y"})[1] for row in rows[:20]]

    np.testing.assert_allclose(single, frames.predict_proba(frame)[:20, 1], rtol=1e-6)
    assert loaded.predict_proba(frame).tolist() == frames.predict_proba(frame).tolist()
    assert tuple(loaded.crosses) == ("age*price", "city*device")
    assert "city=Rome*device=phone" in dict(loaded.top_weights(100))
    (why,) = loaded.explain_one({"city": "Rome", "device": "phone"})
    there = {part["name"] for part in why["features"] if part["value"] != 0.0}
    assert there == {"city=Rome", "device=phone", "(pairs of columns)", "(average example)"}
    assert "city × device" in {part["name"] for part in why["pairs"]}


def test_models_with_other_crosses_and_other_data_do_not_meet(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y"] * 5, "b": ["u", "v", "w", "u", "v"] * 2})
    crossed, plain = (ouzel.OnlineClassifier("ogd", crosses=given).fit(frame, [0, 1] * 5) for given in (["a*b"], None))

    with pytest.raises(OuzelError, match="learnt with the crosses a\\*b"):
        ouzel.merge([crossed, plain])
    with pytest.raises(OuzelError, match="learnt with the crosses a\\*b"):
        crossed.model_.learn(next(blocks_from(frame, [0, 1] * 5)))
    crossed.model_.learn(next(blocks_from(frame, [0, 1] * 5, model=crossed)))
    with pytest.raises(OuzelError, match="learnt with the crosses a\\*b, and not with the crosses a\\*a"):
        next(blocks_from(frame, model=crossed, crosses=["a*a"]))
    with pytest.raises(OuzelError, match="has no use for the option"):
        next(blocks_from(np.ones((2, 2)), [0, 1], crosses=["a*b"]))
    with pytest.raises(OuzelError, match="columns of an array have no names"):
        ouzel.OnlineClassifier(crosses=["a*b"]).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(OuzelError, match="has no column 'c'"):
        ouzel.OnlineClassifier(crosses=["a*c"]).fit(frame, [0, 1] * 5)


@pytest.mark.parametrize("given", ["city", ["a*"], [("a", "b:c")], 5, [("a",)], [("a", 5)]])
def test_what_is_not_a_cross_is_refused(given):
    with pytest.raises(OuzelError, match="cross"):
        as_crosses(given)


def test_parts_of_dates_that_are_found_by_their_cells_are_crossed_without_an_option(tmp_path):
    rows = [("2026-01-01T08:00:00", "a", 1), ("2026-01-01T09:00:00", "b", 0), ("2026-01-02T08:00:00", "a", 1)]
    (tmp_path / "t.csv").write_text("when,city,y\n" + "".join(f"{when},{city},{y}\n" for when, city, y in rows))
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps({"when": when, "city": city, "y": y}) + "\n" for when, city, y in rows)
    )

    names = []
    for path in (tmp_path / "t.csv", tmp_path / "t.jsonl"):
        (block,) = read(path, label="y", crosses=["when.hour*city"])
        spans = zip(block.names.starts, block.names.ends, strict=True)
        found = {block.names.text[int(start) : int(end)].tobytes() for start, end in spans}
        names.append({name for name in found if b"*" in name})

    assert names[0] == names[1] == {b"city=a*when.hour=8", b"city=b*when.hour=9"}


def test_a_cross_of_a_calendar_part_of_no_column_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("when,city,y\n2026-01-01,a,1\n")

    with pytest.raises(OuzelError, match=r"has no column 'whn.hour'"):
        list(read(tmp_path / "t.csv", label="y", crosses=["whn.hour*city"]))
