"""Numbers as people write them, outside of kernels (`streams.kernels.numbers` reads those of big files)."""

from __future__ import annotations

import re
from math import nan

UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
SIGNS = "$€£¥% \u00a0\u202f"  # around an amount
BETWEEN = "'’\u00a0\u202f"  # thousands
AMOUNTS = (  # with the mark that is the decimal point in each
    (re.compile(rf"[0-9]{{1,3}}([,{BETWEEN}][0-9]{{3}})+(\.[0-9]+)?|[0-9]*\.?[0-9]+"), "."),
    (re.compile(rf"[0-9]{{1,3}}([.{BETWEEN}][0-9]{{3}})+(,[0-9]+)?|[0-9]*,[0-9]+"), ","),
)


def as_number(text: str) -> float:
    """The number that a text says, NaN if it says none.

    >>> as_number(" 2.5"), as_number("1e3"), as_number("two"), as_number("1_000")
    (2.5, 1000.0, nan, nan)
    """
    return float(text) if is_number(text) else nan


def is_number(text: str) -> bool:
    """Whether a text says a number (or "nan", or "inf"): in ASCII and without underscores, as kernels read them.

    >>> is_number("-1e-6"), is_number("two"), is_number("1_000"), is_number("\u0661")
    (True, False, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def plain_amount(text: str) -> str | None:
    """Return the plain number of an amount such as "$1,200.50" or "49,5 %", or None if the text is not an amount.

    >>> plain_amount("$1,200.50"), plain_amount("49,5 %"), plain_amount("-1.200.300 €"), plain_amount("1,2,3")
    ('1200.50', '49.5', '-1200300', None)
    """
    bare = text.strip()
    sign = bare[:1] if bare[:1] in ("-", "+") else ""
    bare = bare.removeprefix(sign).strip(SIGNS)
    for pattern, point in AMOUNTS:
        if pattern.fullmatch(bare):
            whole, _, decimals = bare.partition(point)
            return sign.strip("+") + re.sub("[^0-9]", "", whole) + (decimals and f".{decimals}")
    return None


def is_amount(text: str) -> bool:
    """Whether a text is no number, but would be one without its sign, or with a point for its comma.

    >>> is_amount("$5"), is_amount("1,5"), is_amount("1.5")
    (True, True, False)
    """
    return plain_amount(text) is not None and not is_number(text)


def as_size(text: str) -> float:
    """The bytes that a size such as "8KB" or "1.4 MiB" says (1 KB is 1,024 bytes), NaN if it says none.

    >>> as_size("8KB"), as_size("100"), as_size("8 elephants")
    (8192.0, 100.0, nan)
    """
    number = text.strip().rstrip("BbKkMmGgi")
    unit = text.strip()[len(number) :].upper().replace("I", "")
    return as_number(number) * UNITS.get(unit, nan)


def size_in_words(size: float) -> str:
    """Write a number of bytes as `as_size` reads it, in the largest unit that divides it.

    >>> size_in_words(8192), size_in_words(4 * 2**20), size_in_words(1000)
    ('8KB', '4MB', '1000')
    """
    unit = max(
        (unit for unit in UNITS if len(unit) != 1 and size and size % UNITS[unit] == 0),
        key=UNITS.__getitem__,
        default="",
    )
    return f"{int(size) // UNITS[unit]}{unit}"
