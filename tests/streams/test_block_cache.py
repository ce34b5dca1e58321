"""Finished examples kept in a folder are those that were read, and are taken for nothing else."""

import os

import pytest

from ouzel.errors import OuzelError
from ouzel.streams.read import read


def table(path, rows=3000):
    path.write_text("y,price,city\n" + "".join(f"{k % 2},{k % 17},{'abc'[k % 3]}\n" for k in range(rows)))
    return path


def examples(stream):
    """All that is read, as plain values."""
    found = []
    for block in stream:
        names = block.label_names
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            label = block.labels[i] if names is None else names[int(block.labels[i])]
            found.append((label, int(block.numbers[i]), block.indices[here].tolist(), block.values[here].tolist()))
    return found


def test_what_is_kept_is_what_was_read(tmp_path):
    first, second = table(tmp_path / "a.csv"), table(tmp_path / "b.csv", 100)
    options = {"label": "y", "bins": "price=4", "crosses": "price*city"}
    expected = examples(read([first, second], **options))
    (tmp_path / "kept").mkdir()

    assert examples(read([first, second], cache=tmp_path / "kept", **options)) == expected
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    stream = read([first, second], cache=tmp_path / "kept", **options)
    assert examples(stream) == expected
    assert stream.position == stream.size
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == kept
    assert [name.split(".")[0] for name in kept] == ["a", "b"]


def test_other_options_and_files_that_change_are_read_anew(tmp_path):
    path, kept = table(tmp_path / "a.csv"), tmp_path / "kept"
    kept.mkdir()
    examples(read(path, label="y", cache=kept))
    examples(read(path, label="y", bits=10, cache=kept))
    assert len(list(kept.iterdir())) == 2

    path.write_text("y,price,city\n1,2,z\n")
    os.utime(path, ns=(1, 1))

    assert [row[0] for row in examples(read(path, label="y", cache=kept))] == [1.0]
    assert len(list(kept.iterdir())) == 3


def test_a_stream_that_is_not_read_to_its_end_is_not_kept(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    with read(table(tmp_path / "a.csv", 90_000), label="y", cache=kept) as stream:
        next(stream)

    assert list(kept.iterdir()) == []
    with pytest.raises(OuzelError, match="is not a folder"):
        read(tmp_path / "a.csv", cache=tmp_path / "none")
    with pytest.raises(OuzelError, match="leave out on_error='skip'"):
        read(tmp_path / "a.csv", cache=kept, on_error="skip")
