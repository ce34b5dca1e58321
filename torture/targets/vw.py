"""Text of Vowpal Wabbit."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from torture.targets.base import ReaderTarget

SAMPLES = (
    b"1 2.0 'tag|ns:2 price:3 red\n-1 |ns price:1 blue\n" * 4,
    b"1 | 1:0.5 3:2\n-1 | 2:1 7:-0.25 word\n",
    b"| a b c\n1 |x a:1e-3 |y:0.5 b |z\n",
    b"0.25 0 second|wordy:3.5 one two three:4\n",
    b"-1 1 0.5 'x|a b|c d:2\n1|a b\n",
    b"1 |\xc3\xa9t\xc3\xa9 caf\xc3\xa9:2 \xf0\x9f\xa6\x86\n-1 | x:1\r\n",
    b"1 |n " + b" ".join(b"w%d:%d" % (k, k) for k in range(150)) + b"\n",
)


class VowpalWabbit(ReaderTarget):
    name = "vw"
    weight = 13
    about = "Vowpal Wabbit text"
    format = "vw"
    suffixes = (".vw", "")

    def samples(self) -> Sequence[bytes]:
        return SAMPLES

    def options(self, random: Random) -> dict[str, Any]:
        options = super().options(random)
        if random.random() < 0.15:
            options["crosses"] = random.choice((("a*b",), ("*:*",), ("n*n",), (" *x", "a*b*c")))
        return options
