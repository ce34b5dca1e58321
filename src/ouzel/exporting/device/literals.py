"""Numbers, texts and names as C99 has them: nothing is lost, and no text can become code."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from ouzel.errors import OuzelError

LONGEST_PREFIX, LONGEST_TEXT = 40, 4000  # characters; bytes: C99 promises strings of 4,095
PLACE = re.compile(r"\b(ouzel|OUZEL)_")
KEPT = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+.,:;=()[]{}<>/*&|!#$%@^~'`")
WIDTH = 116


def check_prefix(prefix: str) -> str:
    """The prefix of all names of a header, which begins with a letter: C keeps names that begin otherwise.

    >>> check_prefix("gate_2")
    'gate_2'
    """
    if not re.fullmatch(rf"[A-Za-z][A-Za-z0-9_]{{0,{LONGEST_PREFIX - 1}}}", prefix, re.ASCII):
        raise OuzelError(
            f"names in C begin with a letter, and go on with letters, digits and _; got the prefix {prefix!r}, "
            f"which may have up to {LONGEST_PREFIX} of them"
        )
    return prefix


def prefixed(code: str, prefix: str) -> str:
    """The code of a header with another prefix than `ouzel_`, which is that of the files of this folder.

    >>> prefixed("ouzel_id(OUZEL_SEED)", "gate")
    'gate_id(GATE_SEED)'
    """
    return PLACE.sub(lambda found: f"{prefix.upper() if found[1] == 'OUZEL' else prefix}_", code)


def text(value: str) -> str:
    r"""A string of the UTF-8 bytes of a text; none of them ends it, begins a trigraph or an escape, or ends a line.

    >>> print(text('a"; system("rm??/\n'))
    "a\042; system(\042rm\077\077/\012"
    """
    data = value.encode("utf-8", "surrogatepass")
    if len(data) > LONGEST_TEXT:
        raise OuzelError(f"a label has {len(data)} bytes, and strings of C only {LONGEST_TEXT}; rename it")
    return '"' + "".join(chr(byte) if byte in KEPT else f"\\{byte:03o}" for byte in data) + '"'


def number(value: float) -> str:
    """A double in hexadecimal, of all its bits.

    >>> number(0.1), number(0.0), number(-2.0)
    ('0x1.999999999999ap-4', '0.0', '-2.0')
    """
    if not np.isfinite(value):
        raise OuzelError(f"the model has a number that C cannot write, {value}; train it again with a smaller step")
    return repr(float(value)) if float(value).is_integer() and abs(value) < 1e6 else float(value).hex()


def single(value: float) -> str:
    """A number in single precision, of all its bits.

    >>> single(np.float32(0.1))
    '0x1.99999a0000000p-4f'
    """
    return f"{number(float(np.float32(value)))}f"


def numbers(values: np.ndarray) -> list[str]:
    """The numbers of an array (n,) of whole numbers, of single or of double precision."""
    kind = values.dtype
    write = single if kind == np.float32 else number if kind.kind == "f" else (lambda value: f"{int(value)}u")
    return [write(value) for value in values.tolist()]


def listed(items: Iterable[str]) -> str:
    """Items in braces, in lines."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "{\n" + "\n".join([*lines, line]) + "\n}"


def array(values: np.ndarray) -> str:
    """The initialiser of an array of one or two dimensions; rows or numbers that are 0, not -0, are left to be so."""
    there = (values != 0) | np.signbit(values.astype(float))
    if not there.any():
        return "{0}" if values.ndim == 1 else "{{0}}"
    touched = np.flatnonzero(there if values.ndim == 1 else there.any(axis=1))
    parts = numbers(values[touched]) if values.ndim == 1 else [f"{{{', '.join(numbers(values[k]))}}}" for k in touched]
    if len(touched) == len(values):
        return listed(parts)
    return listed(f"[{place}] = {part}" for place, part in zip(touched.tolist(), parts, strict=True))
