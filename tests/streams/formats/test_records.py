"""Files of records: what they hold is read whole, and damage anywhere in them is one line."""

import io

import pyarrow
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.packed_rows import canonical, pack_rows, same_rows, take_rows, unpack_rows
from ouzel.streams.formats.records import (
    MAGIC,
    ROWS,
    count_in,
    examples_in,
    framed,
    part_of,
    record_of_batch,
    record_of_rows,
    records_in,
    rows_of,
)
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.labels import labels_in
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source
from tests.streams.formats.test_laws import rows_of as read_rows

LINES = b'{"label": "a", "x": 1.5}\n{"label": "b", "word": "red"}'


@pytest.fixture
def vw(tmp_path):
    """Rows of Vowpal Wabbit text with crosses still to be made, named labels, names and weights."""
    path = tmp_path / "a.vw"
    path.write_text("red 2.5 |a x:1 y |b z\nblue |b z:2 w\nred 0 |a y:3\n")
    options = Options(crosses=("a*b",))
    source = Source(path)
    ((data, start, stop),) = chunks_of(source)
    source.close()
    return canonical(find("vw").module.parser(options, NameEmitter(18)).parse(data, start, stop, options).block)


def test_packed_rows_are_the_rows_and_any_of_them_alone(vw):
    packed = pack_rows(vw, 0, 18)
    again = unpack_rows(packed)

    assert same_rows(again, vw)
    assert pack_rows(again, 0, 18) == packed
    assert (labels_in(again), again.weights.tolist()) == (["red", "blue", "red"], [2.5, 1.0, 0.0])
    assert again.space == vw.space
    assert again.interaction_inputs is not None
    record = ROWS + packed
    assert [labels_in(rows_of(one)) for one in examples_in(record)] == [["red"], ["blue"], ["red"]]
    assert same_rows(rows_of(part_of(record, 2)), take_rows(vw, [2]))
    assert count_in(part_of(record, 1)) == 2


def test_a_file_has_the_examples_of_its_records_in_order(tmp_path, vw):
    batch = pyarrow.record_batch({"label": ["a", "b", "a"], "x": [0.5, 2.0, -1.0]})
    plain = vw._replace(interaction_inputs=None)
    records = [LINES, record_of_rows(plain, Options()), record_of_batch(batch), LINES]
    path = tmp_path / "a.records"
    path.write_bytes(b"".join(framed(records)))
    found = read_rows(ouzel.read(path, label="label"))

    assert [label for _, _, label, _ in found] == ["a", "b", "red", "blue", "red", "a", "b", "a", "a", "b"]
    assert [weight for *_, weight in found] == [1, 1, 2.5, 1, 0, 1, 1, 1, 1, 1]


def test_damage_anywhere_is_refused_in_one_line(vw):
    content = b"".join(framed([LINES, record_of_rows(vw, Options(crosses=("a*b",)))]))
    for place in range(len(content)):
        for text in (content[:place], content[:place] + bytes([content[place] ^ 0x81]) + content[place + 1 :]):
            with pytest.raises(OuzelError) as said:
                list(records_in(io.BytesIO(text), "a.records", Limits()))
            assert "\n" not in str(said.value)


@pytest.mark.interpreted
def test_rows_that_contradict_themselves_are_refused_or_read_whatever_their_checksum(tmp_path, vw):
    packed = pack_rows(vw, 0, 18)
    path = tmp_path / "a.records"
    refused = 0
    for place in range(len(packed)):
        for bit in (0x01, 0x80):
            wrong = packed[:place] + bytes([packed[place] ^ bit]) + packed[place + 1 :]
            path.write_bytes(b"".join(framed([ROWS + wrong])))
            try:
                list(ouzel.read(path, crosses=("a*b",)))
            except OuzelError:
                refused += 1

    assert refused > len(packed) // 3


def test_names_hashed_in_another_way_are_refused(tmp_path, vw):
    path = tmp_path / "a.records"
    path.write_bytes(b"".join(framed([record_of_rows(vw, Options())])))

    with pytest.raises(OuzelError, match="hashed in another way; give bits=18, seed=0"):
        list(ouzel.read(path, bits=20))


def test_a_file_that_goes_on_behind_its_end_is_refused(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"".join(framed([LINES])) + b"\n")

    with pytest.raises(OuzelError, match="goes on behind its end, 2 examples"):
        list(ouzel.read(path, label="label"))
    assert path.read_bytes().startswith(MAGIC)
