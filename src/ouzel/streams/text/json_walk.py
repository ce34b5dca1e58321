"""JSON objects that are written plainly, read where they lie, a line each: no object of Python is made of them.

Plain are members that are numbers, true, false, null, or words without an escape. Where quotation marks stand is found
for a whole chunk first (`ouzel.streams.text.marks`), so a key and a word end where the next mark says. Words are hashed
in place behind their keys. At anything else the line is left to `json_objects`, from its beginning, so that what it
means, and what is said of it, is decided in one place.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import eight_bytes, ends_of_strings
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash
from ouzel.streams.block import LARGEST
from ouzel.streams.missing import says_nothing
from ouzel.streams.row_order import rank_row, ranking_room
from ouzel.streams.text.json_keys import CATEGORIES, LABEL, NUMBERS, ODD, WEIGHT, find_key, is_key
from ouzel.streams.text.json_numbers import is_whole, read_number
from ouzel.streams.text.marks import finding
from ouzel.streams.text.spans import absorb, is_new, note

ROOM = 96  # bytes behind the text that must be there
DONE, ODD_LINE, NEW_KEY, NEW_LABEL = 0, 1, 2, 3  # why the walk ended
ZERO, ONE, TWO, FOUR, LOW = (np.uint64(number) for number in (0, 1, 2, 4, 2**32 - 1))
TRUE, FALS, NULL = (np.uint64(int.from_bytes(word, "little")) for word in (b"true", b"fals", b"null"))


@force_inline
def _is_quote_or_odd(byte):
    return byte == 34 or byte == 92 or byte < 32


find_quotes = finding(__name__, ends_of_strings, _is_quote_or_odd)


@force_inline
def _blanks_end(data, at, stop):
    """The place of the first byte that is not a blank; line ends are not blanks."""
    while at < stop and (data[at] == 32 or data[at] == 9 or data[at] == 13):
        at += ONE
    return at


@kernel
def _any_twice(hashes, count):
    """Whether one feature stands in a row twice: not two whose ids are equal by chance."""
    for k in range(count):
        for j in range(k):
            if hashes[k] == hashes[j]:
                return True
    return False


@kernel
def _forget(keys, stamp, noted, spans, names, before):
    """Forget the names, and what was met, of an object that is not read here after all."""
    bits = np.uint64(len(noted)) * np.uint64(64) - ONE
    for k in range(before[0], names[0]):
        identity = spans[k, 4] & bits
        noted[identity >> np.uint64(6)] &= ~(ONE << (identity & np.uint64(63)))
    for k in range(4):
        names[k] = before[k]
    for k in range(len(keys.met)):
        if keys.met[k] == stamp:
            keys.met[k] = 0


@force_inline
def _put_factor(factors, taken, field, hashed, value, start, end, whole):
    """Take a feature of a field, whose name is, or ends in, the text from `start` to `end`."""
    count = taken[0]
    factors.fields[count] = field - ONE
    factors.hashes[count], factors.values[count] = hashed, value
    factors.starts[count], factors.ends[count] = start, end
    factors.whole[count] = whole
    taken[0] = count + ONE


@kernel
def read_objects(
    data,
    at,
    stop,
    marks,
    mark,
    keys,
    labels,
    longest,
    weighted,
    indicator,
    mask,
    noted,
    first_row,
    first_nnz,
    offsets,
    ids,
    values,
    hashes,
    targets,
    codes,
    weights,
    spans,
    names,
    factors,
    taken,
):
    """Read objects from `data[at:stop]` on, up to a line that is not plain, a new key or a new label.

    `marks[mark]` is not behind the first mark from `at` on; `labels` are the words that were labels, as keys. A word
    has at most `longest` bytes; `weighted` says that each object must have a weight. `hashes` has room for the features
    of any row: their ids before they are masked. Those that others are made of go to `factors`, as many as `taken` (1,)
    says. Returns (rows, nonzeros, lines, why, at, mark, start, end): where to go on, and the key or the label that is
    new.
    """
    row, nnz, lines = first_row, first_nnz, 0
    at, mark, stop = np.uint64(at), np.uint64(mark), np.uint64(stop)
    ranking = ranking_room()
    before = np.zeros(4, np.uint64)
    code = ZERO
    offsets[row] = nnz
    while at < stop:
        line, line_mark = at, mark
        at = _blanks_end(data, at, stop)
        if at == stop:
            break
        if data[at] == 10:
            at += ONE
            lines += 1
            continue
        why, start, end = ODD_LINE, ZERO, ZERO
        for k in range(4):
            before[k] = names[k]
        begun, first_taken = nnz, taken[0]
        has_weight = not weighted
        ordered, previous = True, np.int64(-1)
        stamp = keys.rows[0] + ONE
        keys.rows[0] = stamp
        targets[row], codes[row], weights[row] = np.nan, 0, 1.0
        key = ZERO
        sound = data[at] == 123
        at += ONE
        while sound:
            sound = False  # until all of the member is
            at = _blanks_end(data, at, stop)
            if at >= stop:
                break
            if data[at] == 125 and key == ZERO:
                at += ONE
                sound = True
                break
            while marks[mark] < at:
                mark += ONE
            start, end = at + ONE, marks[mark + ONE]
            if data[at] != 34 or end >= stop or data[end] != 34:
                break
            mark += TWO
            size = end - start
            last, key = key, np.uint64(keys.nexts[key])
            if not is_key(keys, key, data, start, size):
                key = find_key(keys, data, start, size)
                if key == ZERO:
                    why = NEW_KEY
                    break
                keys.nexts[last] = key
            role = keys.roles[key]
            at = _blanks_end(data, end + ONE, stop)
            if keys.rows[key] == stamp or role == ODD or at >= stop or data[at] != 58:
                break
            keys.rows[key] = stamp
            at = _blanks_end(data, at + ONE, stop)
            if at >= stop:
                break
            byte = data[at]
            value, missing = 0.0, False
            word, word_end = ZERO, ZERO  # of a category
            if byte == 34:
                while marks[mark] < at:
                    mark += ONE
                word, word_end = at + ONE, marks[mark + ONE]
                if word_end >= stop or data[word_end] != 34 or role == WEIGHT:
                    break
                mark += TWO
                at = word_end + ONE
                if role == LABEL:
                    size = word_end - word
                    if not is_key(labels, code, data, word, size):
                        code = find_key(labels, data, word, size)
                        if code == ZERO:
                            why, start, end = NEW_LABEL, word, word_end
                            break
                    if labels.roles[code] == ODD:
                        break
                    codes[row] = code
                else:
                    while word < word_end and data[word] == 32:
                        word += ONE
                    while word_end > word and data[word_end - ONE] == 32:
                        word_end -= ONE
                    missing = word == word_end or says_nothing(data, word, word_end)
                    if role == NUMBERS and not missing:
                        break
            elif byte == 45 or byte - np.uint8(48) <= 9:
                word_start = at
                value, at = read_number(data, at)
                if at == word_start or not abs(value) <= LARGEST:
                    break
                if role == LABEL:
                    targets[row] = value
                elif role == WEIGHT:
                    if not value >= 0.0:
                        break
                    weights[row], has_weight = value, True
                elif role == CATEGORIES:
                    if not is_whole(data, word_start, at):
                        break
                    word, word_end = word_start, at
            else:
                four = eight_bytes(data, at) & LOW
                size = FOUR + np.uint64(four == FALS)
                if not (four in (TRUE, NULL) or (four == FALS and data[at + FOUR] == 101)):
                    break
                missing = four == NULL
                if role == WEIGHT or (role == LABEL and not missing):
                    break
                value = 1.0 if four == TRUE else 0.0
                if role == CATEGORIES:
                    word, word_end = at, at + size
                at += size
            if role <= CATEGORIES and (indicator or not missing):
                if missing:
                    break
                identity, hashed = keys.ids[key], keys.hashes[key]
                if word_end > ZERO:
                    size = word_end - word
                    if size > longest:
                        break
                    state, held, bits = np.uint32(keys.begun[key, 0]), keys.begun[key, 1], keys.begun[key, 2]
                    state, held, _ = absorb(state, held, bits, data, word, size)
                    hashed = finish_hash(state, held, keys.sizes[key] + ONE + size)
                    identity = np.uint32(hashed & mask)
                    value = 1.0
                    if is_new(noted, identity):
                        note(spans, names, (start, end), word, word_end, identity)
                    names[3] += ONE
                elif value != 0.0 and keys.met[key] == ZERO:
                    keys.met[key] = stamp
                    if keys.named[key] and is_new(noted, identity):
                        note(spans, names, (ZERO, ZERO), start, end, identity)
                if value != 0.0:
                    ids[nnz], values[nnz], hashes[nnz - begun] = identity, value, hashed
                    ordered &= np.int64(identity) > previous
                    previous = np.int64(identity)
                    nnz += 1
                if keys.fields[key]:
                    if word_end == ZERO:
                        word, word_end = start, end
                    _put_factor(factors, taken, keys.fields[key], hashed, value, word, word_end, word == start)
            at = _blanks_end(data, at, stop)
            if at >= stop:
                break
            byte = data[at]
            at += ONE
            sound = byte == 44 or byte == 125
            if byte == 125:
                break
        if sound:
            at = _blanks_end(data, at, stop)
            sound = has_weight and (at == stop or data[at] == 10)
        if sound and not ordered:
            count = nnz - begun
            nnz = rank_row(ids, values, begun, nnz, ranking)
            sound = nnz == begun + count or not _any_twice(hashes, count)  # of one feature the last value counts
        if not sound:
            _forget(keys, stamp, noted, spans, names, before)
            taken[0] = first_taken
            return row, begun, lines, why, line, line_mark, start, end
        factors.bounds[row, 0], factors.bounds[row, 1] = first_taken, taken[0]
        row += 1
        offsets[row] = nnz
        if at < stop:
            at += ONE
            lines += 1
    return row, nnz, lines, DONE, stop, mark, ZERO, ZERO
