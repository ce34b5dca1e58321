"""Numbers become bins and hinges with edges from the first examples, the same from every format and entry point."""

import json
import random
from itertools import pairwise

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import ouzel
from ouzel.errors import OuzelError
from ouzel.streams.feature_specs import as_bins, bin_names, hinge_names
from ouzel.streams.interactions.bin_edges import bin_edges, hinge_edges
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def table_of(n, seed=0):
    """Rows of two numbers, one often 0, and a word; some are missing."""
    drawn = random.Random(seed)
    rows = []
    for k in range(n):
        price = drawn.choice([0, 0.0, round(drawn.gauss(5, 3), 2), -1.5])
        age = drawn.choice([None, drawn.randrange(100)])
        rows.append({"y": k % 2, "price": price, "age": age, "city": drawn.choice("abc")})
    return rows


def named_rows(blocks, names):
    """What each row holds by name; `names` collects those of all features."""
    found = []
    for block in blocks:
        for k, start, end in (
            zip(block.names.ids, block.names.starts, block.names.ends, strict=True) if block.names else ()
        ):
            names.setdefault(int(k), block.names.text[int(start) : int(end)].tobytes().decode())
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            ids, values = block.indices[here].tolist(), block.values[here].tolist()
            found.append({names[k]: value for k, value in zip(ids, values, strict=True)})
    return found


def expected_of(row, edges, kind):
    """The features of a row by the definition."""
    made = {f"city={row['city']}": 1.0}
    for column, own in (("price", edges["price"]), ("age", edges["age"])):
        number = row[column]
        if number is None:
            made[f"{column}=(missing)"] = 1.0
            continue
        number = float(np.float32(number))
        if kind == "bins":
            made[bin_names(column, own)[sum(number >= edge for edge in own)]] = 1.0
            continue
        if number:
            made[column] = number
        names = hinge_names(column, own)
        made |= {name: number - edge for name, edge in zip(names, own, strict=True) if number > edge}
    return made


@pytest.mark.parametrize("kind", ["bins", "hinges"])
def test_every_format_has_the_bins_that_the_definition_says(kind, tmp_path):
    rows = table_of(1500)
    table = pyarrow.Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=400)
    feather.write_feather(table, str(tmp_path / "t.arrow"))
    (tmp_path / "t.csv").write_text(
        "".join(
            ",".join("" if v is None else str(v) for v in r) + "\n"
            for r in [[*rows[0]], *([*row.values()] for row in rows)]
        )
    )
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {kind: {"price": 5, "a*": 8}, "bits": 31}
    first = rows[:1000]
    make = bin_edges if kind == "bins" else hinge_edges
    edges = {
        name: make(np.array([row[name] for row in first if row[name] is not None], np.float32), count)
        for name, count in (("price", 5), ("age", 8))
    }

    data = [({name: value for name, value in row.items() if name != "y"}, row["y"]) for row in rows]
    entries = {
        name: lambda name=name: read(tmp_path / name, label="y", **options)
        for name in ("t.csv", "t.jsonl", "t.arrow", "t.parquet")
    }
    entries |= {"dictionaries": lambda: blocks_from(data, **options)}
    entries |= {"table": lambda: blocks_from(table.drop_columns("y"), [0] * len(rows), **options)}
    for entry, opened in entries.items():
        found = named_rows(opened(), {})

        assert len(found) == len(rows), entry
        for made, row in zip(found, rows, strict=True):
            zeros = [name for name, value in made.items() if value == 0.0]  # of dictionaries
            made = {name: value for name, value in made.items() if name not in zeros}
            assert made == pytest.approx(expected_of(row, edges, kind), rel=1e-6), entry


@given(st.lists(FLOATS, min_size=1, max_size=60), st.integers(2, 20))
def test_edges_rise_and_part_numbers(numbers, count):
    values = np.array(numbers, np.float32)
    edges = bin_edges(values, count)
    counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)

    assert len(edges) < count
    assert all(low < high for low, high in pairwise(edges))
    assert (counts > 0).all()
    assert len(edges) == len(np.unique(values)) - 1 or len(np.unique(values)) > count
    assert list(hinge_edges(values, count)) == sorted(set(hinge_edges(values, count)))


def test_crosses_are_of_bins(tmp_path):
    (tmp_path / "t.csv").write_text("y,price,city\n" + "".join(f"{k % 2},{k % 4},{'ab'[k % 2]}\n" for k in range(40)))
    rows = named_rows(read(tmp_path / "t.csv", label="y", bins="price=4", crosses="price*city", bits=31), {})

    assert rows[1] == {"city=b": 1.0, "price=[0.5,1.5)": 1.0, "city=b*price=[0.5,1.5)": 1.0}


def test_a_model_keeps_its_edges(tmp_path):
    pd = pytest.importorskip("pandas")
    rows = [{name: value for name, value in row.items() if name != "y"} for row in table_of(1200, seed=1)]
    y = [0.5 < row["price"] < 5 for row in rows]
    plain, binned = (ouzel.OnlineClassifier("adagrad", bins=given) for given in (None, {"price": 16}))
    for model in (plain, binned):
        model.fit(pd.DataFrame(rows), y)
    binned.save(tmp_path / "m.ouzel")
    loaded = ouzel.load(tmp_path / "m.ouzel")

    assert plain.score(pd.DataFrame(rows), y) < 0.9
    assert binned.score(pd.DataFrame(rows), y) > 0.97
    assert [loaded.predict_one(row) for row in rows[:50]] == binned.predict(pd.DataFrame(rows[:50])).tolist()
    assert loaded.predict(pd.DataFrame(rows[::-1])).tolist() == binned.predict(pd.DataFrame(rows)).tolist()[::-1]
    assert any(name.startswith("price=[") for name, _ in loaded.top_weights(5))
    other = ouzel.OnlineClassifier("adagrad", bins={"price": 16}).fit(pd.DataFrame(rows[600:]), y[600:])
    with pytest.raises(OuzelError, match="other edges"):
        ouzel.merge([binned, other])


def test_single_examples_have_numbers_until_the_edges_are_known():
    rows = [{name: value for name, value in row.items() if name != "y"} for row in table_of(1200, seed=2)]
    y = [0.5 < row["price"] < 5 for row in rows]
    model = ouzel.OnlineClassifier("adagrad", bins={"price": 16})
    for row, label in zip(rows[:999], y, strict=False):
        model.learn_one(row, label)
    assert not model.model_.space.edges
    for row, label in zip(rows[999:], y[999:], strict=True):
        model.learn_one(row, label)

    numbers = np.array([row["price"] for row in rows[:1000]], np.float32)

    assert model.model_.space.edges == {"price": bin_edges(numbers, 16)}
    assert any(name.startswith("price=[") for name, _ in model.top_weights(50))


def test_others_are_refused_in_one_line(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n")
    (tmp_path / "a.csv").write_text("y,price\n1,2\n")
    with pytest.raises(OuzelError, match="is svmlight, and the option is for"):
        read(tmp_path / "a.svm", bins="price=4")
    with pytest.raises(OuzelError, match="has no column 'prize'"):
        list(read(tmp_path / "a.csv", label="y", bins="prize=4"))
    with pytest.raises(OuzelError, match="leave one out"):
        read(tmp_path / "a.csv", bins="price=4", hinges="price=4")
    for odd in ("price", "price=1", "price=1025", "=4", ["price=4", "price=5"], 4, [None], {"price": "four"}):
        with pytest.raises(OuzelError, match="bins"):
            as_bins(odd)
