"""Numbers, dates and times (ISO 8601) of plain JSON, read where they lie.

A date gives its seconds and its calendar parts, as in `ouzel.streams.dates`. A part is the feature `key.part=word`. For
each key that has dates, the table of keys has a row for every part, the key `key.part`; the words of all parts stand at
the beginning of the text of keys.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import not_digits, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.dates import PARTS, WORDS
from ouzel.streams.formats.json_names import IN_KEYS, PART_ROWS, SIZE, START, WORD_ROOM, put_any_category
from ouzel.streams.kernels.numbers import digits_at, parse_number, plain_decimal

MOST_DIGITS = np.uint64(17)  # of a whole number; one of more is left to Python
ZERO, ONE, TWO, FOUR, FIVE, SEVEN, EIGHT, TEN = (np.uint64(number) for number in (0, 1, 2, 4, 5, 7, 8, 10))
LOW_BYTE = np.uint64(255)
FIRST, STOP = np.uint64(24), np.uint64(32)  # bits of a calendar: its first part, and the part behind its last
WORD_SIZES = np.array([len(word) for part in PARTS for word in WORDS[part]], np.uint64)
WORD_STEP = np.uint64(WORD_ROOM)
WEEKDAY, HOUR = len(WORDS["month"]), len(WORDS["month"]) + len(WORDS["weekday"])  # the first word of each part
MONTH_DAYS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
MILLION = 10**6
EXACT = 1700, 2250  # between these years a float holds microseconds exactly


@force_inline
def _number_end(data, at):
    """Return the end of a JSON number; `at` if there is none, or a whole number of more than MOST_DIGITS digits.

    A byte that cannot be part of a number must follow.
    """
    start = at
    at += np.uint64(data[at] == 45)
    first = at
    while data[at] - np.uint8(48) <= 9:
        at += ONE
    digits = at - first
    if digits == ZERO or (digits > ONE and data[first] == 48):
        return start
    whole = True
    if data[at] == 46:
        whole = False
        at += ONE
        first = at
        while data[at] - np.uint8(48) <= 9:
            at += ONE
        if at == first:
            return start
    if data[at] == 101 or data[at] == 69:
        whole = False
        at += ONE
        at += np.uint64(data[at] == 43 or data[at] == 45)
        first = at
        while data[at] - np.uint8(48) <= 9:
            at += ONE
        if at == first:
            return start
    return start if whole and digits > MOST_DIGITS else at


@kernel
def _read_slowly(data, at):
    """Return the JSON number at `data[at]`, read digit by digit, and its end."""
    stop = _number_end(data, at)
    value = 0.0
    if stop > at:
        value, _ = parse_number(data, at, stop)
    return value, stop


@force_inline
def read_plainly(data, at):
    """Return the JSON number at `data[at]` and its end if it has few digits and no exponent; else the end is `at`."""
    sign = np.uint64(data[at] == 45)
    first = at + sign
    odd = not_digits(data, first)
    size = trailing_zeros(odd)
    byte = data[first + size]
    if size - ONE < EIGHT and (byte == 44 or byte == 125 or byte <= 32) and (data[first] != 48 or size == ONE):
        value = np.float64(np.int64(digits_at(data, first, size)))
        return -value if sign else value, first + size
    value, _, point, end = plain_decimal(data, first, odd, ZERO)
    byte = data[first + end]
    sound = end > ZERO and (byte == 44 or byte == 125 or byte <= 32) and data[first + end - ONE] != 46
    if sound and data[first] != 45 and (data[first] != 48 or point == ONE):
        return -value if sign else value, first + end
    return 0.0, at


@force_inline
def read_number(data, at):
    """Return the JSON number at `data[at]` and its end; `at` if there is none, or one that is left to Python."""
    value, stop = read_plainly(data, at)
    if stop == at:
        value, stop = _read_slowly(data, at)
    return value, stop


@force_inline
def is_whole(data, start, stop):
    """Return whether a number is written as a whole number: digits, and perhaps a minus unless it is 0."""
    first = start + np.uint64(data[start] == 45)
    for k in range(first, stop):
        if data[k] - np.uint8(48) > 9:
            return False
    return first == start or data[first] != 48


@force_inline
def may_be_date(data, start, stop):
    """Return 1 if a word may be a date or a time of ISO 8601, else 0."""
    size = stop - start
    day = (data[start + FOUR] == 45) & (data[start + SEVEN] == 45) & (size >= TEN)
    return np.uint64(day | ((data[start + TWO] == 58) & (data[start + FIVE] == 58) & (size >= EIGHT)))


@force_inline
def _two_digits(data, at):
    """Return the number that two digits make; a MILLION if they are not digits."""
    high, low = np.int64(data[at]) - 48, np.int64(data[at + ONE]) - 48
    return 10 * high + low if 0 <= high <= 9 and 0 <= low <= 9 else MILLION


@force_inline
def _days(year, month, day):
    """Return the days from 1970 to a date."""
    years = year - np.int64(month <= 2)  # they begin in March
    months = month + 9 if month <= 2 else month - 3
    return 365 * years + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day - 719469


@kernel
def read_date(data, start, stop):
    """Return the seconds of the date or time `data[start:stop]`, and its calendar; 0 if it is not ISO 8601.

    Neither a digit nor a sign of dates stands at `data[stop]`. A calendar has a byte for each part (the number of its
    word among all words), then the number of its first part, and that of the part behind its last.
    """
    nothing = 0.0, ZERO
    at, date = start, data[start + TWO] != 58
    year = month = day = days = hour = minute = second = micro = offset = 0
    first, end = (0, 2) if date else (2, 3)
    if date:
        year = 100 * _two_digits(data, start) + _two_digits(data, start + TWO)
        month, day = _two_digits(data, start + FIVE), _two_digits(data, start + EIGHT)
        if data[start + FOUR] != 45 or data[start + SEVEN] != 45 or not (1 <= year <= 9999 and 1 <= month <= 12):
            return nothing
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if not 1 <= day <= MONTH_DAYS[month - 1] or (month == 2 and day == 29 and not leap):
            return nothing
        days = _days(year, month, day)
        at += TEN
    if at < stop:
        if date:
            if data[at] != 84 and data[at] != 32:
                return nothing
            at += ONE
            end = 3
        hour, minute = _two_digits(data, at), _two_digits(data, at + np.uint64(3))
        if data[at + TWO] != 58 or hour > 23 or minute > 59:
            return nothing
        at += FIVE
        if data[at] == 58:
            second = _two_digits(data, at + ONE)
            if second > 59:
                return nothing
            at += np.uint64(3)
            if data[at] == 46 or data[at] == 44:
                unit, digits = MILLION // 10, 0
                at += ONE
                while data[at] - np.uint8(48) <= 9:
                    micro += unit * (np.int64(data[at]) - 48)
                    unit //= 10
                    digits += 1
                    at += ONE
                if not 1 <= digits <= 9:
                    return nothing
        elif not date:
            return nothing
        if date and data[at] == 90:
            at += ONE
        elif date and (data[at] == 43 or data[at] == 45):
            hours, minutes = _two_digits(data, at + ONE), 0
            sign = 44 - np.int64(data[at])
            at += np.uint64(3)
            if at < stop:
                at += np.uint64(data[at] == 58)
                minutes = _two_digits(data, at)
                at += TWO
            if hours > 23 or minutes > 59:
                return nothing
            offset = sign * (3600 * hours + 60 * minutes)
    if at != stop or (date and micro > 0 and not EXACT[0] <= year < EXACT[1]):
        return nothing
    whole = 86400 * days + 3600 * hour + 60 * minute + second - offset
    seconds = (whole * MILLION + micro) / 1e6 if date else whole + micro / 1e6
    if micro == 0:
        seconds = np.float64(whole)
    words = (month - 1 if date else 0) | (WEEKDAY + (days + 3) % 7) << 8 | (HOUR + hour) << 16
    return seconds, np.uint64(words) | np.uint64(first) << FIRST | np.uint64(end) << STOP


@force_inline
def put_parts(buffer, count, named, keys, key, calendar):
    """Put the parts of a calendar as features of a key; return how many features and names there are."""
    part, end = (calendar >> FIRST) & LOW_BYTE, calendar >> STOP
    while part < end:
        row, word = keys.table[key, PART_ROWS] + part, (calendar >> (EIGHT * part)) & LOW_BYTE
        start, word_at = keys.table[row, START], WORD_STEP * word
        word_end, key_end = word_at + WORD_SIZES[word], start + keys.table[row, SIZE]
        put_any_category(buffer, named, count, keys, row, keys.text, start, key_end, word_at, word_end, IN_KEYS)
        count += ONE
        named += ONE
        part += ONE
    return count, named
