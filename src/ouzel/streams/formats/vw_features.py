"""Named features of Vowpal Wabbit text, `|namespace name name:value`, and its namespaces, for crosses and options.

The ends of words (blanks, bars and colons) are found for a whole chunk first. Names are hashed where they lie, those of
a line together. Options of columns (`ignore`, `categorical`, …) apply to namespaces: the text is rewritten by them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ouzel.errors import listed
from ouzel.kernels.bytes import eight_bytes, ends_of_words, not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.feature_space import CATEGORY, TEXT
from ouzel.streams.feature_specs import is_pattern
from ouzel.streams.interaction_inputs import InputEntries, InteractionInputs, put_entry
from ouzel.streams.kernels.batch_hash import SEPARATOR, hash_names, hash_prefix, hash_update, hash_update_byte, put_name
from ouzel.streams.kernels.lines import Parsed, checked_text, make_scanner
from ouzel.streams.kernels.new_names import find_new, record_name
from ouzel.streams.kernels.numbers import WINDOW, plain_number
from ouzel.streams.options import OF_COLUMNS, Options

MOST_SPACES = 4096  # namespaces in a chunk
UNNAMED = " "  # the name of the default namespace
ZERO, ONE, THREE, EIGHT, WORD = (np.uint64(number) for number in (0, 1, 3, 8, 64))
ALL = np.uint64(2**64 - 1)
NAMESPACE = re.compile(rb"\|([^\s|:]*)(:[^\s|]*)?([^|\n]*)")
VALUE = re.compile(rb"(\s[^\s:]+):")
NOT_A_WORD = re.compile(rb"[^A-Za-z0-9'\x80-\xff\n]")
NAMES_AT_ONCE = 128  # names that are hashed together
MOST = np.uint64(NAMES_AT_ONCE)


class Crossing(NamedTuple):
    """The inputs of crosses in a chunk, and its namespaces."""

    entries: InputEntries  # one for each feature, or none
    spaces: np.ndarray  # (MOST_SPACES, 4) uint64: its span, whether it is crossed, its first eight letters
    state: np.ndarray  # (4,) uint64: inputs, namespaces, the present one plus one if it is crossed (else 0), its place
    names: np.ndarray  # (bytes,) uint8, the names of crossed namespaces
    ends: np.ndarray  # (k + 1,) uint64, the ends of those names
    all: bool  # whether all namespaces are crossed


@force_inline
def _is_same(data, start, stop, text, first, last):
    if stop - start != last - first:
        return False
    same = ZERO
    for k in range(stop - start):
        same += np.uint64(data[start + k] == text[first + k])
    return same == stop - start


@kernel
def enter_namespace(crossing, data, start, stop):
    """Enter the namespace `data[start:stop]`; return false if there are too many."""
    start, stop = np.uint64(start), np.uint64(stop)
    spaces, state = crossing.spaces, crossing.state
    count = state[1]
    place = state[3] + ONE
    if not (place < count and _is_same(data, start, stop, data, spaces[place, 0], spaces[place, 1])):
        place = ZERO
        while place < count and not _is_same(data, start, stop, data, spaces[place, 0], spaces[place, 1]):
            place += ONE
    if place == count:
        if count == MOST_SPACES:
            state[2] = ZERO
            return False
        part = crossing.all
        for k in range(len(crossing.ends) - 1):
            part |= _is_same(data, start, stop, crossing.names, crossing.ends[k], crossing.ends[k + 1])
        letters = ZERO
        for k in range(min(stop - start, EIGHT)):
            letters |= np.uint64(data[start + k]) << (k << THREE)
        spaces[place, 0], spaces[place, 1], spaces[place, 2], spaces[place, 3] = start, stop, part, letters
        state[1] = count + ONE
    state[2] = place + ONE if spaces[place, 2] else ZERO
    state[3] = place
    return True


@force_inline
def enter_next_namespace(crossing, data, start, size):
    """Enter a namespace of `size` bytes; fast if it is one of those that followed the present one before.

    Eight bytes from its start must be readable.
    """
    spaces, state = crossing.spaces, crossing.state
    if size > ZERO:
        letters = eight_bytes(data, start) & (ALL >> (WORD - (min(size, EIGHT) << THREE)))
        for place in range(state[3] + ONE, state[1]):
            first, last = spaces[place, 0], spaces[place, 1]
            if letters == spaces[place, 3] and _is_same(data, start, start + size, data, first, last):
                state[2] = place + ONE if spaces[place, 2] else ZERO
                state[3] = place
                return True
    return enter_namespace(crossing, data, start, start + size)


@force_inline
def enter_default_namespace(crossing, data, at):
    """Enter the default namespace, which is the first of a chunk."""
    if crossing.state[1] == ZERO:
        enter_namespace(crossing, data, at, at)
    crossing.state[2], crossing.state[3] = crossing.spaces[0, 2], ZERO


@force_inline
def put_input(crossing, field, hashed, value, start, stop):
    """Add a feature to the inputs; `field` is its namespace plus one, and its name lies from `start` to `stop`."""
    put_entry(crossing.entries, crossing.state, field - ONE, hashed, value, start, stop, False)


def allocate_crossing(options: Options, data: np.ndarray, lines: int, features: int) -> Crossing:
    """Allocate for the inputs of a chunk of `lines` lines and `features` features; none without crosses."""
    wanted = options.derived.fields
    size = features if wanted else 0
    names = [b"" if name == UNNAMED else name.encode() for name in wanted if not is_pattern(name)]
    return Crossing(
        InputEntries.empty(lines, size, data),
        np.empty((MOST_SPACES, 4), np.uint64),
        np.zeros(4, np.uint64),
        np.frombuffer(b"".join(names) + b" ", np.uint8),
        np.cumsum([0, *map(len, names)]).astype(np.uint64),
        len(names) < len(wanted),
    )


def crossing_inputs(crossing: Crossing, rows: int) -> InteractionInputs:
    """Return the inputs of the first `rows` rows."""
    entries = crossing.entries.part(slice(rows), 0, int(crossing.state[0]))
    spans = crossing.spaces[: int(crossing.state[1]), :2].tolist()
    names = [entries.text[start:stop].tobytes() for start, stop in spans]
    return InteractionInputs(
        entries,
        tuple(name.decode() or UNNAMED for name in names),
        tuple(name and name + b"^" for name in names),
    )


Parse = Callable[[np.ndarray, int, int, Options], Parsed]


def selects_namespaces(options: Options) -> bool:
    """Return whether options apply to namespaces, which no model of a table's columns has decided."""
    return any(getattr(options, name) for name in OF_COLUMNS) and not options.space.fixed_columns


class Namespaces:
    """A parser of Vowpal Wabbit text that applies options of columns to namespaces.

    The text is rewritten by the options, then read by `parse`.

    >>> from ouzel.streams.formats.vw import parse_vw
    >>> Namespaces(Options(ignore=("u",), categorical=("i",)), parse_vw).rewritten(b"1 |u a:1 |i b:2 c |t d:3")
    b'1 |u     |i b=2 c |t d:3'
    """

    def __init__(self, options: Options, parse: Parse) -> None:
        self.options = options
        self._parse = parse
        self.found: set[str] = set()

    def parse(self, data: np.ndarray, start: int, stop: int, options: Options) -> Parsed:
        """Parse whole lines of text, `data[start:stop]` (uint8)."""
        data, start, stop, _, not_utf8 = checked_text(data, start, stop, options)
        text = np.array(bytearray(self.rewritten(bytes(data[start:stop]))), np.uint8)
        parsed = self._parse(text, 0, len(text), options)
        return parsed if parsed.problem is not None else parsed._replace(problem=not_utf8)

    def rewritten(self, text: bytes) -> bytes:
        """Return the text rewritten by the options, of the same length."""
        return NAMESPACE.sub(self._rewrite, text)

    def remarks(self, name: str) -> list[str]:
        """Return a line for people if an option names a namespace that does not occur."""
        named = [column for option in OF_COLUMNS for column in getattr(self.options, option)]
        odd = [column for column in dict.fromkeys(named) if not is_pattern(column) and column not in self.found]
        return [f"{name}: has no namespace {listed(odd)}; it has {listed(sorted(self.found))}"] if odd else []

    def _rewrite(self, found: re.Match[bytes]) -> bytes:
        name = found[1].decode() or " "
        self.found.add(name)
        if not self.options.wants(name):
            return b"|" + found[1] + b" " * (len(found[0]) - 1 - len(found[1]))
        kind = self.options.kind_of(name)
        features = found[3]
        if kind == CATEGORY:
            features = VALUE.sub(rb"\1=", features)
        elif kind == TEXT:
            features = NOT_A_WORD.sub(b" ", features).lower()
        return b"|" + found[1] + (found[2] or b"") + features


@force_inline
def _ends_a_word(byte):
    return byte <= 32 or byte == 124 or byte == 58


find_ends = make_scanner(__name__, ends_of_words, _ends_a_word)


@force_inline
def named_features(
    data,
    at,
    stop,
    longest,
    most,
    seed,
    mask,
    ends,
    end,
    ids,
    values,
    nnz,
    ordered,
    previous,
    space,
    names,
    seen,
    spans,
    crossing,
    crossed,
    pending,
    fields,
):
    """Read named features in `data[at:stop]`, up to the end of the line or to one that is not plain.

    `ends[end]` is the first end of a word from `at` on, `space` (2,) the span of the namespace. `names` (4,) counts the
    names recorded in `spans`, their bytes, the bytes of names in this line, and the features with names. The inputs
    of crosses go to `crossing` if `crossed`. `pending` and `fields` hold NAMES_AT_ONCE features. Returns (at, end, nnz,
    ordered, previous).
    """
    at, stop = np.uint64(at), np.uint64(stop)
    last = np.uint64(max(0, len(data) - np.int64(WINDOW)))
    prefix, tail, bits = hash_prefix(seed, data, space[0], space[1])
    before = space[1] - space[0]  # bytes of the namespace
    line = names[2]
    going_on = True
    while going_on:
        count, first_span = ZERO, names[0]
        while count < MOST:
            going_on = False  # until a feature is read, or a namespace
            if at >= last:
                break
            to = ends[end]
            if to >= stop or to > last:
                break
            byte = data[to]
            if to == at:
                if byte == 10 or byte == 58:
                    break
                if byte == 124:
                    to = ends[end + ONE]
                    if to >= stop or to > last or data[to] > 32:
                        break
                    space[0], space[1] = at + ONE, to
                    before = to - at - ONE
                    prefix, tail, bits = np.uint32(seed), ZERO, ZERO
                    if before:
                        prefix, tail, bits = hash_update(prefix, tail, bits, data, at + ONE, before)
                        prefix, tail, bits = hash_update_byte(prefix, tail, bits, SEPARATOR)
                    if crossed and not enter_next_namespace(crossing, data, at + ONE, before):
                        break
                    at = to
                    end += ONE
                    byte = data[to]
                blank = np.uint64(byte != 10)
                at += blank
                end += blank
                going_on = True
                continue
            if before == ZERO and data[at] - np.uint8(48) <= 9:
                break
            size = before + to - at + ONE
            if size > longest + ONE or line + size > most:
                break
            value, behind = 1.0, to
            if byte == 58:
                value, length = plain_number(data, to + ONE, not_digits(data, to + ONE), ZERO)
                if length == ZERO:
                    break
                behind += ONE + length
                if behind > stop:
                    break
                end += ONE
            put_name(pending, count, prefix, tail, bits, data, at, to - at, size - np.uint64(before == ZERO))
            span = first_span + count
            spans[span, 0], spans[span, 1], spans[span, 2], spans[span, 3] = space[0], space[1], at, to
            if crossed:
                fields[count] = crossing.state[2]
            values[nnz + np.int64(count)] = value
            count += ONE
            line += size
            blank = np.uint64(data[behind] == 32) & np.uint64(behind < stop)
            at = behind + blank
            end += blank
            going_on = True
        hash_names(pending, count)
        for k in range(count):
            hashed = pending.hashes[k]
            identity = hashed & mask
            if crossed and fields[k]:
                put_input(crossing, fields[k], hashed, values[nnz], spans[first_span + k, 2], spans[first_span + k, 3])
            ids[nnz] = identity
            ordered &= (np.int64(identity) > previous) & (values[nnz] != 0.0)
            previous = np.int64(identity)
            nnz += 1
        for k in range(find_new(seen, pending.hashes, count, mask, pending.new)):
            name = np.uint64(pending.new[k])
            span = spans[first_span + name]
            record_name(spans, names, (span[0], span[1]), span[2], span[3], pending.hashes[name] & mask)
        names[3] += count
    names[2] = line
    return np.int64(at), end, nnz, ordered, previous
