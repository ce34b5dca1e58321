"""Text of the svmlight format."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from torture.targets.base import ReaderTarget

SAMPLES = (
    b"+1 1:0.5 3:2\n-1 2:1 7:-0.25\n" * 6,
    b"# a remark\n1 qid:3 1:0.5 7:2 # remark\n0 qid:3 2:1e-3\n\n2 qid:4 1:1\n",
    b"0.5 1:1.25e2 2:-3.5E-7 10:.5 11:4.\n-17.25 4294967294:1\n",
    b"spam 1:1 2:1\nham 3:1\nspam\n",
    b"1,2 5:1\n3 5:2\n",
    b"-1 5:1 5:2 4:3 1:0\n+1 1:00001.50 2:0x\n",
    b"1 " + b" ".join(b"%d:%d.%03d" % (k, k % 9, k) for k in range(1, 200)) + b"\n",
    b"1\n-1\n1\n-1\n",
    b"\xef\xbb\xbf+1 1:1\r\n-1 2:2\r\n+1 3:3",
)


class Svmlight(ReaderTarget):
    name = "svmlight"
    weight = 14
    about = "svmlight text"
    format = "svmlight"
    suffixes = (".svm", ".libsvm", "")

    def samples(self) -> Sequence[bytes]:
        return SAMPLES

    def options(self, random: Random) -> dict[str, Any]:
        options = super().options(random)
        if random.random() < 0.1:
            options["label_positive"] = random.choice(("1", "spam", "-1"))
        return options
