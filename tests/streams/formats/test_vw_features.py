"""Names hashed where they lie are those of the text, whatever stands around them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.kernels import bytes as many_bytes
from ouzel.kernels.jit import kernel
from ouzel.sketches.hashing import feature_id, finish_hash, murmur3_32
from ouzel.streams.formats.vw import parse_vw
from ouzel.streams.formats.vw_features import find_ends
from ouzel.streams.kernels.batch_hash import (
    allocate_names,
    hash_names,
    hash_prefix,
    hash_update,
    hash_update_bytes,
    put_name,
)
from ouzel.streams.kernels.lines import SPARE, count_lines
from ouzel.streams.kernels.row_buffer import RANKED, allocate_ranking, rank_row, sort_row
from ouzel.streams.options import Options

WORDS = st.one_of(
    st.text("ab1_^-.é", min_size=1, max_size=20),
    st.integers(0, 10**6).map(str),
    st.text("abcdefgh", min_size=30, max_size=80),
)
VALUES = st.one_of(
    st.just(""),
    st.integers(-99, 99).map(lambda x: f":{x}"),
    st.floats(-1e5, 1e5).map(lambda x: f":{x:.4f}"),
    st.floats(-1e30, 1e30).map(lambda x: f":{x!r}"),
)
GROUPS = st.tuples(
    st.sampled_from(["", "n", "city", "a_long_namespace", "n:2", "é:0.5"]),
    st.lists(st.tuples(WORDS, VALUES), max_size=8),
    st.sampled_from([" ", "  ", "\t", " \r"]),
)
LINES = st.lists(
    st.tuples(st.sampled_from(["1", "-1", "1 2.0 'tag", "0.5", ""]), st.lists(GROUPS, max_size=5)),
    min_size=1,
    max_size=12,
)
SIZES = st.integers(0, 40)


def text_of(lines):
    """Lines of Vowpal Wabbit text."""
    rows = []
    for head, groups in lines:
        parts = [
            f"|{space}{blank}" + blank.join(name + value for name, value in pairs) for space, pairs, blank in groups
        ]
        rows.append(f"{head} {' '.join(parts) or '|'}".strip())
    return "\n".join(rows) + "\n"


def features_of(groups):
    """What a line holds by the definition: sums of values by id, but for those that are 0, and names."""
    features, names = {}, {}
    for space, pairs, _ in groups:
        namespace, _, scale = space.partition(":")
        for name, value in pairs:
            number = np.float32(float(value[1:] or 1) * float(scale or 1)) if value or scale else np.float32(1)
            plain = name.isascii() and name.isdigit() and not namespace
            full = int(name) if plain else f"{namespace}^{name}" if namespace else name
            identity = feature_id(full)
            features[identity] = np.float32(features.get(identity, np.float32(0)) + number)
            if not plain:
                names.setdefault(identity, full)
    return {identity: value for identity, value in features.items() if value != 0}, names


def parse(text, room=0, behind=b"x"):
    data = np.frombuffer(bytearray(text.encode() + behind * room), np.uint8)
    parsed = parse_vw(data, 0, len(data) - room, Options())
    assert parsed.problem is None
    return parsed.block


@given(LINES)
@settings(max_examples=80, deadline=None)
def test_named_features_are_those_of_the_text(lines):
    block = parse(text_of(lines), room=200)

    expected = [features_of(groups) for _, groups in lines]
    assert block.rows == len(expected)
    for row, (features, _) in enumerate(expected):
        here = slice(int(block.offsets[row]), int(block.offsets[row + 1]))
        assert block.indices[here].tolist() == sorted(features)
        np.testing.assert_allclose(block.values[here], [features[k] for k in sorted(features)], rtol=1e-5)
    first = {}
    for _, names in expected:
        first = {**names, **first}
    noted = block.names
    found = [] if noted is None else list(zip(noted.ids, noted.starts, noted.ends, strict=True))
    told = {int(k): noted.text[int(start) : int(end)].tobytes().decode() for k, start, end in found}
    assert len(told) == len(found)
    assert told == first


@given(LINES)
@settings(max_examples=40, deadline=None)
def test_what_lies_behind_the_text_changes_nothing(lines):
    text = text_of(lines)

    blocks = [parse(text), parse(text, room=70), parse(text, room=300)]

    for block in blocks[1:]:
        for name in ("offsets", "indices", "values", "labels", "weights"):
            assert getattr(block, name).tobytes() == getattr(blocks[0], name).tobytes()


@pytest.mark.parametrize("behind", [b" ", b"\0", b"5", b"|", b":", b"\n"])
@pytest.mark.parametrize("end", ["|n a", "|n a:5", "|n", "|", "|n a ", "a b", "7:5"])
def test_a_last_line_may_lack_its_newline(end, behind):
    text = f"1 |n a:2\n-1 |n b {end}"

    block, expected = parse(text, 200, behind), parse(text + "\n")

    assert block.labels.tolist() == [1.0, -1.0]
    assert block.indices.tolist() == expected.indices.tolist()
    assert block.values.tolist() == expected.values.tolist()


@given(st.lists(st.tuples(SIZES, st.integers(1, 40)), max_size=40), st.integers(0, 2**32 - 1), st.binary(min_size=100))
@settings(deadline=None)
def test_names_hashed_together_have_the_hashes_of_each(sizes, seed, text):
    data = np.frombuffer(text, np.uint8)
    spans = np.array([(0, first, first, first + size) for first, size in sizes], np.uint64).reshape(-1, 4)

    found = together(np.uint32(seed), data, spans, allocate_names(len(spans)))

    separated = [text[:first] + b"^" * bool(first) + text[first : first + size] for first, size in sizes]
    assert found.tolist() == [murmur3_32(np.frombuffer(name, np.uint8), 0, len(name), seed) for name in separated]


@kernel
def together(seed, data, spans, pending):
    """The hashes of names and their prefixes at spans (n, 4)."""
    for k in range(len(spans)):
        first, size = spans[k, 1], spans[k, 3] - spans[k, 2]
        prefix, held, bits = hash_prefix(seed, data, spans[k, 0], first)
        length = size + first + np.uint64(first > 0)
        put_name(pending, k, prefix, held, bits, data, spans[k, 2], size, length)
    hash_names(pending, len(spans))
    return pending.hashes[: len(spans)]


@given(SIZES, SIZES, st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_a_name_in_two_parts_has_the_hash_of_both_as_one(first, second, seed, random):
    text = bytes(random.randrange(256) for _ in range(first)) + b"^" * bool(first)
    text += bytes(random.randrange(256) for _ in range(second))
    begin = first + bool(first)
    data = np.frombuffer(bytearray(text + b"?" * 8), np.uint8)

    whole = murmur3_32(data, 0, len(text), seed)

    assert in_two_parts(np.uint32(seed), data, first, begin, np.uint64(second)) == (whole, whole)


@kernel
def in_two_parts(seed, data, first, begin, size):
    """The hash of a prefix and a name, many bytes at a time and byte by byte."""
    prefix, held, bits = hash_prefix(seed, data, 0, first)
    word, tail, _ = hash_update(prefix, held, bits, data, np.uint64(begin), size)
    other_word, other_tail, _ = hash_update_bytes(prefix, held, bits, data, begin, begin + size)
    length = np.uint64(begin) + size
    return finish_hash(word, tail, length), finish_hash(other_word, other_tail, length)


@given(st.lists(st.integers(0, 2**32 - 1), max_size=RANKED), st.booleans())
@settings(deadline=None)
def test_counting_sorts_a_row_as_comparing_does(numbers, repeat):
    ids = np.array(numbers + numbers[: repeat * 3], np.uint32)[:RANKED]
    values = np.arange(len(ids), dtype=np.float32)
    expected_ids, expected_values = ids.copy(), values.copy()
    end = sort_row(expected_ids, expected_values, 0, len(ids))

    found = ranked(ids, values)

    assert found == end
    assert ids[:end].tolist() == expected_ids[:end].tolist()
    assert values[:end].tolist() == expected_values[:end].tolist()


@kernel
def ranked(ids, values):
    return rank_row(ids, values, 0, len(ids), allocate_ranking())


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 200])
def test_ends_of_words_are_found_at_every_place(size):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    data[::7] = 58
    found = np.empty(size + SPARE, np.uint64)

    count = find_ends(data, 0, size, found)

    assert found[:count].tolist() == np.flatnonzero((data <= 32) | (data == 58) | (data == 124)).tolist()
    assert found[int(count) : int(count) + 2].tolist() == [size, size]


def test_a_kernel_finds_in_many_bytes_what_the_plain_body_says():
    rng = np.random.default_rng(1)
    data = rng.integers(0, 256, 64, np.uint8)

    @kernel
    def in_a_kernel(data):
        word = many_bytes.ends_of_words(data, 0)
        return word, many_bytes.ends_of_strings(data, 0), many_bytes.ones(word)

    plain = getattr(in_a_kernel, "py_func", in_a_kernel)
    assert in_a_kernel(data) == plain(data)


@given(st.binary(max_size=300), st.integers(0, 300), st.integers(0, 300))
@settings(deadline=None)
def test_lines_are_counted(text, start, stop):
    start, stop = sorted((min(start, len(text)), min(stop, len(text))))

    assert count_lines(np.frombuffer(text + b"\n" * 64, np.uint8), start, stop)[0] == text[start:stop].count(b"\n")
