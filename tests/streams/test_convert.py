"""Streams in other formats: what is written reads back as the same blocks."""

import json

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal

import ouzel
from ouzel.errors import OuzelError
from ouzel.streams.convert import convert
from ouzel.streams.labels import labels_in
from ouzel.streams.memory import blocks_from

ROWS = "city,price,note,y,w\n" + "Rome,1.5,so good,a,1\nBonn,,a fine day,b,2.5\nRome,-3e-5,,a,1\n,7,x y,,1\n" * 1500


def everything(stream):
    """The examples of a stream as plain values, and the names of their features."""
    rows, names = [], {}
    for block in stream:
        offsets = block.offsets.astype(np.int64)
        for i, label in enumerate(labels_in(block)):
            here = slice(offsets[i], offsets[i + 1])
            tag = None if block.tags is None else np.asarray(block.tags)[i]
            group = None if block.groups is None else int(block.groups[i])
            features = block.indices[here].tolist(), block.values[here].tolist()
            rows.append((*features, label, float(block.weights[i]), group, tag))
        if block.names is not None:
            text = block.names.text.tobytes()
            for identity, start, end in zip(*(part.tolist() for part in block.names[:3]), strict=True):
                names.setdefault(identity, text[start:end].decode())
    return rows, names, block.space


@pytest.fixture
def table(tmp_path):
    """A file of a table, and the options to read it with."""
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    return path, {"label": "y", "weight": "w", "text": "note", "crosses": ["city*note"], "missing": "indicator"}


@pytest.mark.parametrize("packed", [None, "lz4", "zstd"])
@pytest.mark.parametrize("ending", [".arrow", ".parquet"])
def test_blocks_read_back_as_they_were(tmp_path, table, ending, packed):
    path, options = table
    out = tmp_path / f"t{ending}"

    count = convert(ouzel.read(path, **options), out, packed=packed)

    assert count == 6000
    assert everything(ouzel.read(out)) == everything(ouzel.read(path, **options))


def test_groups_tags_and_options_of_names_are_kept(tmp_path):
    path, out = tmp_path / "t.jsonl", tmp_path / "t.arrow"
    lines = [{"y": k % 3, "q": k // 4, "row": f"r{k}", "city": f"c{k % 50}"} for k in range(9000)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = {"label": "y", "group": "q", "id": "row", "bits": 10, "seed": 3}

    convert(ouzel.read(path, **options), out)

    assert everything(ouzel.read(out, bits=10, seed=3)) == everything(ouzel.read(path, **options))
    with pytest.raises(OuzelError, match="hashed with bits 10, not 18; give bits=10"):
        list(ouzel.read(out))
    with pytest.raises(OuzelError, match="is a converted file, and the option is for csv"):
        list(ouzel.read(out, bits=10, seed=3, label="y"))


def test_small_blocks_are_written_together(tmp_path):
    """But those with other labels, whose blocks say so."""
    blocks = [
        block for labels in ("ab", "ab", "abc") for block in blocks_from(np.ones((3000, 3)), (labels * 3000)[:3000])
    ]
    blocks = [part for block in blocks for part in block.parts(512)]

    count = convert(blocks, tmp_path / "t.arrow")

    with pyarrow.ipc.open_file(tmp_path / "t.arrow") as file:
        assert file.num_record_batches < len(blocks) / 4
    found, expected = everything(ouzel.read(tmp_path / "t.arrow")), everything(blocks)
    assert count == len(found[0]) == len(expected[0])
    assert found[:2] == expected[:2]


def test_a_model_of_the_file_predicts_what_was_converted(tmp_path, table):
    path, options = table
    convert(ouzel.read(path, **options), tmp_path / "t.arrow")
    models = [ouzel.Model("adagrad") for _ in range(2)]

    for block in ouzel.read(path, **options):
        models[0].learn(block)
    for block in ouzel.read(tmp_path / "t.arrow"):
        models[1].learn(block)
    (block, *_) = ouzel.read(tmp_path / "t.arrow", space=models[0].space)

    assert_array_equal(models[0].margins(block), models[1].margins(block))
    assert models[0].names.to_json() == models[1].names.to_json()


@pytest.mark.parametrize("ending", [".svm", ".vw"])
def test_text_reads_back_as_the_same_ids_and_values(tmp_path, ending):
    path = tmp_path / "t.csv"
    path.write_text("city,price,y\nRome,0.1,1\nBonn,3e-5,0\nRome,,\n")

    convert(ouzel.read(path, label="y"), tmp_path / f"t{ending}")

    (first,), (second,) = ouzel.read(path, label="y"), ouzel.read(tmp_path / f"t{ending}", unlabelled=True)
    assert_array_equal(first.indices, second.indices)
    assert_array_equal(first.values, second.values)
    assert labels_in(first)[:2] == labels_in(second)[:2]


@pytest.mark.parametrize(
    ("name", "packed", "said"),
    [
        ("t.csv", None, "the ending of a file's name says what to convert to: .svm, "),
        ("t.arrow", "gzip", "are packed by lz4 or zstd; got 'gzip'"),
        ("t.vw", "zstd", "are packed by lz4 or zstd"),
        ("t.svm", None, "svmlight text has no importance weights"),
    ],
)
def test_what_cannot_be_written_is_one_line(tmp_path, table, name, packed, said):
    path, options = table
    out = tmp_path / "out"
    out.mkdir()

    with pytest.raises(OuzelError, match=said):
        convert(ouzel.read(path, **options), out / name, packed=packed)

    assert not list(out.iterdir())


def forged(tmp_path, change):
    """A converted file in which something was changed."""
    path, out = tmp_path / "t.svm", tmp_path / "t.arrow"
    path.write_text("1 1:0.5 3:2\n-1 2:1\n")
    convert(ouzel.read(path), out)
    table = pyarrow.ipc.open_file(out).read_all()
    columns = {name: table[name].to_pylist() for name in table.column_names}
    change(columns)
    arrays = [pyarrow.array(columns[field.name], field.type) for field in table.schema]
    with pyarrow.OSFile(str(out), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as file:
        file.write_table(pyarrow.Table.from_arrays(arrays, schema=table.schema))
    return out


def put(name, value):
    return lambda columns: columns[name].__setitem__(0, value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("indices", [1]), "are not those of examples"),
        (put("indices", [1, 2**32 - 1]), "are not those of examples"),
        (put("values", [float("nan"), 1.0]), "are not those of examples"),
        (put("weight", -1.0), "are not those of examples"),
        (put("label", float("inf")), "are not those of examples"),
        (put("block", "{}"), "what it says of a block has"),
        (put("block", "nothing"), "Expecting value.*; convert it again"),
        (put("block", '{"labels": null, "space": {}}'), "what the features are known by has.*; convert it again"),
        (put("block", None), "its first row says nothing of its block"),
        (put("label", None), "label has rows of nothing"),
        (put("names", ["x"]), "1 names do not fit 0 ids"),
        (put("values", None), "values has rows of nothing"),
    ],
)
def test_forged_files_are_refused_in_one_line(tmp_path, change, said):
    with pytest.raises(OuzelError, match=said):
        list(ouzel.read(forged(tmp_path, change)))
