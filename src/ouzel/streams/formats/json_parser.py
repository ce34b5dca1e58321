"""The fast parser of JSON lines: plain objects are read where they lie, without objects of Python.

Plain members are numbers, true, false, null, dates, and words without an escape. The positions of quotation marks are
found first, for some lines at a time, so a key or a word ends at the next mark, and no member waits for the member
before it. `read_repeated` reads members that follow the schema of the object before, `read_objects` all other plain
ones. Any other line is left to `json_python`, from its beginning: what it means, and what is wrong with it, is decided
there.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import eight_bytes, ends_of_strings
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import LARGEST, LEAST
from ouzel.streams.formats.json_names import (
    CATEGORIES,
    DATES,
    FALLBACK,
    FIELD,
    HASH,
    HEAD,
    HEAD_BITS,
    IGNORED,
    LABEL,
    LAST,
    NEXT,
    NONE,
    NUMBERS,
    PART_ROWS,
    PLAIN,
    PURE,
    QUICK,
    ROLE,
    SIZE,
    TAIL,
    USED,
    WEIGHT,
    find_key,
    forget_uses,
    is_key,
    put_any_category,
    put_category,
    put_missing,
    record_new_names,
    same_text,
)
from ouzel.streams.formats.json_rows import (
    LINE,
    LINES,
    MARK,
    OBJECT,
    TAKEN,
    begin_object,
    finish_inputs,
    finish_rows,
    put_any_member,
    put_member,
)
from ouzel.streams.formats.json_scalars import is_whole, may_be_date, put_parts, read_date, read_number
from ouzel.streams.interaction_inputs import put_entry
from ouzel.streams.kernels.lines import make_scanner, trim_blanks
from ouzel.streams.kernels.row_buffer import ENOUGH_NAMES, FEATURES, NAMES, ROWS_AT_ONCE
from ouzel.streams.missing import LENGTHS, TEXT, is_na_number_token, is_na_token
from ouzel.streams.truth_values import SPELLINGS, is_large_truth

PIECE = np.uint64(1 << 14)  # bytes in which quotation marks are found at a time: they stay in the nearest cache
PADDING = 96  # bytes that must be readable behind the text
DONE, FALLBACK_LINE, NEW_KEY, NEW_DATES, NEW_LABEL = range(5)  # why `read_objects` returns
ZERO, ONE, TWO, THREE, FOUR, SIX, EIGHT, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 2, 3, 4, 6, 8, 63))
SHORT, MIDDLING = np.uint64(5), np.uint64(13)  # bytes of the longest keys that HEAD alone holds, and HEAD with TAIL
MORE, LAST_ONE = (np.uint64(int.from_bytes(word, "little")) for word in (b'",', b'"}'))
TWO_BYTES, LOW = np.uint64(2**16 - 1), np.uint64(2**32 - 1)
NA_SIZES = np.zeros(256, np.uint64)
"""By first byte: a bit for each size (modulo 64) of words that are NA tokens or truth values."""
for _size, _text in zip(LENGTHS, TEXT, strict=True):
    NA_SIZES[_text[0]] |= np.uint64(1 << int(_size))
for _word in SPELLINGS:
    NA_SIZES[ord(_word[0])] |= np.uint64(1 << len(_word))
NA_SIZES[[32, 34]] = 2**64 - 1  # a leading blank, or an empty word
TRUE, FALS, NULL = (np.uint64(int.from_bytes(word, "little")) for word in (b"true", b"fals", b"null"))
COLON = np.uint64(int.from_bytes(b'":', "little"))


@force_inline
def _is_quote_or_control(byte):
    return byte == 34 or byte == 92 or byte < 32


find_quotes = make_scanner(__name__, ends_of_strings, _is_quote_or_control)


@force_inline
def is_blank(byte):
    """Return whether a byte is a blank; line ends are not blanks."""
    return byte == 32 or byte == 9 or byte == 13


@force_inline
def skip_blanks(data, at):
    """Return the position of the first byte that is not a blank; the end of the line or of the text is one."""
    at += np.uint64(data[at] == 32)  # mostly one, or none
    if data[at] <= 32:
        while is_blank(data[at]):
            at += ONE
    return at


@force_inline
def first_mark(marks, mark, at):
    """Return the number of the first mark from `at` on; it is not before `mark`."""
    while marks[mark] < at:
        mark += ONE
    return mark


@kernel
def lines_end(data, at, stop):
    """Return the position behind the first line that ends PIECE bytes or more behind `at`; `stop` if none does."""
    at += PIECE
    while at < stop:
        if data[at] == 10:
            return at + ONE
        at += ONE
    return stop


@force_inline
def may_be_na(data, start, stop):
    """Return 1 if a word may be an NA token or a truth value, or has blanks around it, else 0; a mark is behind it."""
    size = (stop - start) & SIXTY_THREE
    return ((NA_SIZES[data[start]] >> size) & ONE) | np.uint64(data[stop - ONE] == 32)


@force_inline
def read_repeated(data, at, marks, mark, keys, key, stamp, longest, buffer, count, named, targets, row):
    """Read members behind `key` from `data[at]` on, as long as they follow the schema of the object before.

    `marks[mark]` is not before the first mark from `at` on. Returns (at, mark, key, count, named, ended): where to
    continue, and whether the object has ended.
    """
    table = keys.table
    goes_on, ended = True, False
    at += np.uint64(data[at] == 32)
    while goes_on:
        goes_on = False
        following = table[key, NEXT]
        size = table[following, SIZE]
        opened = marks[mark]  # does not wait for the member before; it should be `at`
        odd = (opened ^ at) | ((eight_bytes(data, opened) ^ table[following, HEAD]) & table[following, HEAD_BITS])
        if odd or table[following, LAST] == stamp:
            break
        start, end = opened + ONE, opened + ONE + size
        if size > SHORT:
            if eight_bytes(data, end - SIX) != table[following, TAIL]:
                break
            if size > MIDDLING and not same_text(keys, following, data, start, size):
                break
        role = table[following, QUICK]
        value_at = end + TWO + np.uint64(data[end + TWO] == 32)
        if data[value_at] == 34:
            word, word_end = value_at + ONE, marks[mark + THREE]
            tail = eight_bytes(data, word_end - ONE) >> EIGHT
            odd = may_be_na(data, word, word_end)
            is_date = may_be_date(data, word, word_end) if role == PLAIN else np.uint64(role == DATES)
            if odd or word_end - word > longest or role not in (PLAIN, CATEGORIES, DATES):
                break
            goes_on = tail & TWO_BYTES == MORE
            if not goes_on and tail & TWO_BYTES != LAST_ONE:
                break
            if is_date:
                seconds, calendar = read_date(data, word, word_end)
                if calendar == ZERO or table[following, PART_ROWS] == ZERO or table[following, USED] == ZERO:
                    break
                put_member(buffer, count, keys, following, seconds)
                count += np.uint64(abs(seconds) > LEAST)
                count, named = put_parts(buffer, count, named, keys, following, calendar)
            else:
                put_category(buffer, named, count, keys, following, data, size, word, word_end, mark)
                named += ONE
                count += ONE
            mark += FOUR
            at = word_end + TWO
        else:
            value, behind = read_number(data, value_at)
            byte = data[behind]
            goes_on = byte == 44
            if behind == value_at or not (goes_on or byte == 125) or not abs(value) <= LARGEST:
                break
            if role <= NUMBERS:
                if table[following, USED] == ZERO:
                    break
                put_member(buffer, count, keys, following, value)
                count += np.uint64(abs(value) > LEAST)
            elif role == LABEL:
                targets[row] = value
            elif role != IGNORED:
                break
            mark += TWO
            at = behind + ONE
        key = following
        table[key, LAST] = stamp
        ended = not goes_on
        at += np.uint64(data[at] == 32)
    return at, mark, key, count, named, ended


@kernel
def read_objects(
    data,
    at,
    stop,
    marks,
    mark,
    found,
    keys,
    labels,
    longest,
    weighted,
    indicator,
    mask,
    seed,
    seen,
    first_row,
    first_nnz,
    offsets,
    ids,
    values,
    targets,
    codes,
    weights,
    spans,
    names,
    inputs,
    taken,
    input_names,
    buffer,
):
    """Read objects in `data[at:stop]`, up to a line that is not plain, a new key, new dates or a new label.

    A newline stands before `stop` or a zero behind it. Marks are known up to `found`; `marks[mark]` is not behind the
    first from `at` on. `labels` are the words that were labels, as keys. A word has at most `longest` bytes; `weighted`
    requires a weight in each object. `buffer` holds the features of all. Inputs of crosses go to `inputs`, which has
    `taken` (1,) of them. `names` (3,) counts the names recorded in `spans`, their bytes, and the features with names.
    Returns (rows, nonzeros, lines, why, at, mark, found, start, end): where to continue, and the span of the new key,
    the new label, or the key that has dates for the first time.
    """
    row, nnz, lines = np.uint64(first_row), np.uint64(first_nnz), ZERO
    at, mark, found, stop = np.uint64(at), np.uint64(mark), np.uint64(found), np.uint64(stop)
    code = start = end = line = line_mark = stamp = ZERO
    waiting = count = named = ZERO  # rows in the buffer, their features and names
    first_taken = base_taken = taken[0]
    why = DONE
    rows = buffer.rows
    offsets[row] = nnz
    while True:
        if why != DONE or at >= stop or at >= found or named >= ENOUGH_NAMES or waiting == ROWS_AT_ONCE:
            kept, nnz = finish_rows(buffer, waiting, count, named, mask, ids, values, offsets, row, nnz)
            row += kept
            if kept < waiting:
                why, line, line_mark, lines = FALLBACK_LINE, rows[kept, LINE], rows[kept, MARK], rows[kept, LINES]
                stamp, first_taken = rows[kept, OBJECT], rows[kept, TAKEN]
            if why != DONE:
                forget_uses(keys, stamp)
                taken[0] = first_taken
            named = rows[kept, NAMES]
            names[2] += named
            record_new_names(buffer, named, mask, seen, marks, spans, names)
            finish_inputs(buffer, input_names, inputs, base_taken, taken[0])
            if why != DONE:
                return row, nnz, lines, why, line, line_mark, found, start, end
            if at >= stop:
                return row, nnz, lines, why, at, mark, found, start, end
            waiting = count = named = ZERO
            base_taken = taken[0]
            if at >= found:
                found = lines_end(data, at, stop)
                find_quotes(data, at, found, marks)
                mark = ZERO
        line, line_mark = at, mark
        while at < stop and is_blank(data[at]):
            at += ONE
        if at == stop:
            continue
        if data[at] == 10:
            at += ONE
            lines += ONE
            continue
        first_taken = taken[0]
        row_at = row + waiting
        has_weight = not weighted
        stamp = keys.table[0, LAST] + ONE
        keys.table[0, LAST] = stamp
        begin_object(buffer, waiting, count, named, line, line_mark, lines, first_taken, stamp)
        targets[row_at], codes[row_at], weights[row_at] = np.nan, 0, 1.0
        key = ZERO
        mark = first_mark(marks, mark, at)
        sound = data[at] == 123
        at += ONE
        while sound:
            at, mark, key, count, named, sound = read_repeated(
                data, at, marks, mark, keys, key, stamp, longest, buffer, count, named, targets, row_at
            )
            if sound:
                break
            at = skip_blanks(data, at)
            mark = first_mark(marks, mark, at)
            if data[at] == 125 and key == ZERO:
                at += ONE
                sound = True
                break
            start, end = at + ONE, marks[mark + ONE]
            if data[at] != 34 or data[end] != 34:
                break
            size = end - start
            last, key = key, keys.table[key, NEXT]
            if not is_key(keys, key, data, start, size):
                key = find_key(keys, data, start, size)
                if key == ZERO:
                    why = NEW_KEY
                    break
                keys.table[last, NEXT] = key
            mark += TWO
            role = keys.table[key, ROLE]
            at = end + ONE
            if eight_bytes(data, end) & TWO_BYTES != COLON:
                at = skip_blanks(data, at)
            if keys.table[key, LAST] == stamp or role == FALLBACK or data[at] != 58:
                break
            keys.table[key, LAST] = stamp
            at = skip_blanks(data, at + ONE)
            byte = data[at]
            value, missing = 0.0, False
            word, word_end, calendar = ZERO, ZERO, ZERO  # of a category, of a date
            if byte == 34:
                mark = first_mark(marks, mark, at)
                word, word_end = at + ONE, marks[mark + ONE]
                if data[word_end] != 34 or role == WEIGHT:
                    break
                mark += TWO
                at = word_end + ONE
                if role <= DATES:
                    if may_be_na(data, word, word_end):
                        word, word_end = trim_blanks(data, word, word_end)
                        missing = word == word_end or is_na_token(data, word, word_end)
                        if is_large_truth(data, word, word_end):
                            break
                    if role == NUMBERS:
                        missing |= is_na_number_token(data, word, word_end)
                        if not missing:
                            break
                    elif not missing and (role == DATES or (role == PLAIN and may_be_date(data, word, word_end))):
                        value, calendar = read_date(data, word, word_end)
                        word = word_end = ZERO
                        if calendar == ZERO or keys.table[key, FIELD]:
                            break
                        if keys.table[key, PART_ROWS] == ZERO:
                            why = NEW_DATES
                            break
                elif role == LABEL:
                    size = word_end - word
                    if not is_key(labels, code, data, word, size):
                        code = find_key(labels, data, word, size)
                        if code == ZERO:
                            why, start, end = NEW_LABEL, word, word_end
                            break
                    if labels.table[code, ROLE] == FALLBACK:
                        break
                    codes[row_at] = code
            elif byte == 45 or byte - np.uint8(48) <= 9:
                first = at
                value, at = read_number(data, at)
                if at == first or not abs(value) <= LARGEST or role == DATES:
                    break
                if role == CATEGORIES:
                    if keys.table[key, PURE] or not is_whole(data, first, at):
                        break
                    word, word_end = first, at
                elif role == LABEL:
                    targets[row_at] = value
                elif role == WEIGHT:
                    if not value >= 0.0:
                        break
                    weights[row_at], has_weight = value, True
            else:
                four = eight_bytes(data, at) & LOW
                size = FOUR + np.uint64(four == FALS)
                if not (four in (TRUE, NULL) or (four == FALS and data[at + FOUR] == 101)):
                    break
                missing = four == NULL
                if role == WEIGHT or (role in (DATES, LABEL) and not missing):
                    break
                value = 1.0 if four == TRUE else 0.0
                if role in (CATEGORIES, PLAIN):
                    word, word_end = at, at + size
                at += size
            if role <= DATES:
                if missing:
                    if indicator:
                        if keys.table[key, FIELD]:
                            break
                        put_missing(buffer, named, count, keys, key)
                        named += ONE
                        count += ONE
                else:
                    name = ZERO
                    if word_end > ZERO:
                        if word_end - word > longest:
                            break
                        value = 1.0
                        put_any_category(buffer, named, count, keys, key, data, start, end, word, word_end, NONE)
                        named += ONE
                        name = named
                        count += ONE
                    else:
                        count, named = put_any_member(
                            buffer, count, named, keys, key, value, stamp, seed, data, start, end
                        )
                        count, named = put_parts(buffer, count, named, keys, key, calendar)
                    if keys.table[key, FIELD]:
                        if word_end == ZERO:
                            word, word_end = start, end
                        input_names[taken[0] - base_taken] = name
                        field, hashed = keys.table[key, FIELD] - ONE, keys.table[key, HASH]
                        put_entry(inputs, taken, field, hashed, value, word, word_end, word == start)
            at = skip_blanks(data, at)
            byte = data[at]
            at += ONE
            sound = byte == 44 or byte == 125
            if byte == 125:
                break
        if sound:
            at = skip_blanks(data, at)
            sound = has_weight and (at == stop or data[at] == 10)
        if not sound:
            why = max(why, FALLBACK_LINE)
            count, named = rows[waiting, FEATURES], rows[waiting, NAMES]
            continue
        inputs.bounds[row_at, 0], inputs.bounds[row_at, 1] = first_taken, taken[0]
        waiting += ONE
        if at < stop:
            at += ONE
            lines += ONE
