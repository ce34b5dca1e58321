"""Mutations of bytes: flips, splices, truncations, duplications, words of a dictionary, extreme numbers and offsets."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from random import Random

LONGEST = 1 << 16  # bytes that an input may grow to

WORDS = (
    b"\n", b"\r\n", b"\r", b"\t", b" ", b",", b";", b":", b"|", b'"', b"'", b"\0", b"\\", b"#", b"{", b"}", b"[", b"]",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xf0\x9f\xa6\x86", b"\xed\xa0\x80", b"\\ud800", b"\\u0000",
    b"\xe2\x80\xa8",
    b"null", b"true", b"false", b"NaN", b"NA", b"nan", b"inf", b"-inf", b"Infinity", b"1_000", b"0x1p3", b"\xd9\xa3",
    b"qid:", b"1:1", b"4294967295:1", b"label", b"target", b"indices", b"values", b"y", b"PAR1", b"ARROW1", b"\x1f\x8b",
)  # fmt: skip
NUMBERS = (
    b"0", b"-0", b"1", b"-1", b"1e39", b"-1e39", b"3.4028235e38", b"3.4028236e38", b"1e308", b"1e309", b"1e-45",
    b"1e-320",
    b"1e999999999", b"127", b"128", b"255", b"256", b"32768", b"65535", b"65536", b"16777217", b"2147483647",
    b"2147483648",
    b"-2147483649", b"4294967294", b"4294967295", b"4294967296", b"9223372036854775807", b"9223372036854775808",
    b"18446744073709551615", b"18446744073709551616", b"99999999999999999999999999", b"." , b"1.", b".5", b"1e",
    b"+1", b"--1",
    b"0." + b"0" * 60 + b"1", b"1" * 400, b"1.7976931348623157e308", b"2.2250738585072011e-308", b"nan", b"inf",
    b"-Infinity",
)  # fmt: skip
DECIMAL = re.compile(rb"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
EXTREMES = (
    0, 1, -1, 2, 7, 127, 128, 255, 256, 32767, 65535, 2**24 + 1, 2**30, 2**31 - 1, -(2**31), 2**32 - 1, 2**40,
    2**62, 2**63 - 1, -(2**63),
)  # fmt: skip
WIDTHS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def flip(data: bytearray, random: Random) -> None:
    """Flip bits of a few bytes."""
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def put_byte(data: bytearray, random: Random) -> None:
    """Put any byte somewhere."""
    data[random.randrange(len(data))] = random.randrange(256)


def truncate(data: bytearray, random: Random) -> None:
    """Cut the end off, or the beginning."""
    at = random.randrange(len(data))
    if random.random() < 0.85:
        del data[at:]
    else:
        del data[:at]


def duplicate(data: bytearray, random: Random) -> None:
    """Repeat a part, once or often."""
    start, stop = _part(data, random)
    times = random.choice((1, 1, 2, 8, 100))
    data[stop:stop] = bytes(data[start:stop]) * max(1, min(times, LONGEST // (stop - start + 1)))


def remove(data: bytearray, random: Random) -> None:
    """Take a part out."""
    start, stop = _part(data, random)
    del data[start:stop]


def move(data: bytearray, random: Random) -> None:
    """Copy a part over another place."""
    start, stop = _part(data, random)
    at = random.randrange(len(data))
    data[at : at + stop - start] = data[start:stop]


def put_word(data: bytearray, random: Random) -> None:
    """Put in a word that parsers take note of, or put it over what is there."""
    word = random.choice(WORDS)
    at = random.randrange(len(data) + 1)
    data[at : at + (len(word) if random.random() < 0.5 else 0)] = word


def put_number(data: bytearray, random: Random) -> None:
    """Replace a number in the text by an extreme one."""
    found = list(DECIMAL.finditer(data[:LONGEST]))
    if found:
        start, stop = random.choice(found).span()
        data[start:stop] = random.choice(NUMBERS)
    else:
        put_word(data, random)


def put_integer(data: bytearray, random: Random) -> None:
    """Replace a binary integer, aligned as offsets and sizes are, by an extreme one or one near it."""
    width = random.choice((1, 2, 4, 4, 4, 8, 8))
    if len(data) < width:
        return
    at = random.randrange(len(data) - width + 1) // width * width if random.random() < 0.8 else 0
    order = "<" if random.random() < 0.9 else ">"
    if random.random() < 0.5:
        value = random.choice(EXTREMES)
    else:
        value = struct.unpack_from(order + WIDTHS[width], data, at)[0] + random.choice((-8, -1, 1, 4, 8, 64, 4096))
    struct.pack_into(order + WIDTHS[width], data, at, value % (1 << (8 * width)))


MUTATIONS: tuple[Callable[[bytearray, Random], None], ...] = (
    flip, put_byte, truncate, duplicate, remove, move, put_word, put_number, put_integer,
)  # fmt: skip
TEXT = (*MUTATIONS[:-1], put_word, put_number, put_number)
BINARY = (*MUTATIONS[:6], put_integer, put_integer, put_integer, flip)


def mutate(
    data: bytes,
    random: Random,
    others: Sequence[bytes] = (),
    kinds: Sequence[Callable[[bytearray, Random], None]] = MUTATIONS,
) -> bytes:
    """The data after a few mutations; now and then spliced with another input.

    >>> mutate(b"+1 1:0.5 2:3", Random(1)) == mutate(b"+1 1:0.5 2:3", Random(1))
    True
    """
    mutated = bytearray(data or b"\n")
    if others and random.random() < 0.1:
        other = random.choice(others) or b"\n"
        mutated = mutated[: random.randrange(len(mutated) + 1)] + other[random.randrange(len(other)) :]
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        random.choice(kinds)(mutated, random)
        mutated = mutated[:LONGEST] or bytearray(b"\n")
    return bytes(mutated)


def _part(data: bytearray, random: Random) -> tuple[int, int]:
    """Some part: short, or a line or two."""
    start = random.randrange(len(data))
    stop = min(len(data), start + random.choice((1, 2, 4, 16, 64, 1024)))
    if random.random() < 0.4:
        start = data.rfind(b"\n", 0, start) + 1
        end = data.find(b"\n", start)
        stop = end + 1 if end >= 0 else len(data)
    return start, max(stop, start + 1)
