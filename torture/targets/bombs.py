"""Small files that become large: archives of gigabytes, words, lines and headers without an end."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from torture.targets.base import Target, check_block

MIB = 1 << 20


@cache
def member(line: bytes, size: int) -> bytes:
    """A gzip member of a line repeated up to `size` bytes."""
    return gzip.compress(line * (size // len(line)), 6, mtime=0)


KINDS: dict[str, tuple[bytes, bytes, str]] = {
    "zeros": (b"", b"\0", ""),
    "a line without end": (b"1 ", b"1:1 ", "svmlight"),
    "a word without end": (b"1 ", b"a", "svmlight"),
    "a name without end": (b"1 |", b"a", "vw"),
    "a header without end": (b"label,", b"abcdefg,", "csv"),
    "a cell without end": (b"label,a\n1,", b"abcdefg ", "csv"),
    "a quotation without end": (b'label,a\n1,"', b"abc\nabc,", "csv"),
    "a string without end": (b'{"label": 1, "a": "', b"abc", "jsonl"),
    "a list without end": (b'{"label": 1, "a": [', b"1,", "jsonl"),
    "nesting without end": (b'{"label": 1, "a": ', b"[", "jsonl"),
    "blank lines": (b"1 1:1\n", b"\n", "svmlight"),
    "a remark without end": (b"1 1:1 #", b"x", "svmlight"),
    "parquet": (b"PAR1", b"\0", "parquet"),
    "arrow": (b"ARROW1\0\0", b"\0", "arrow"),
    "a stream of arrow": (b"\xff\xff\xff\xff\xf0\xff\xff\x7f", b"\0", "arrow"),
    "idx": (b"\0\0\x08\x03\0\0\xff\xff\0\0\x01\0\0\0\x01\0", b"\0", "idx"),
}


class Bombs(Target):
    name = "bombs"
    weight = 0.004
    share = 2.0
    about = "archives of gigabytes, lines and words without end"
    breeding = 0.0
    patience = 300.0

    def prepare(self) -> None:
        """Nothing to compile that others have not."""

    def make(self, random: Random) -> bytes:
        head, line, _ = KINDS[self.kind(random)]
        size = random.choice((100, 600, 3000)) * MIB
        piece = member(line, 50 * MIB)
        return gzip.compress(head, mtime=0) + piece * (size // (50 * MIB))

    def kind(self, random: Random) -> str:
        """Which of them: the first thing that a seed decides."""
        return random.choice(list(KINDS))

    def mutate(self, data: bytes, random: Random) -> bytes:
        return data

    def run(self, data: bytes, random: Random) -> str:
        import ouzel

        head = gzip_head(data)
        kind = next(kind for kind, (start, _, _) in KINDS.items() if head.startswith(start) and (start or not head[0]))
        options: dict[str, Any] = {"format": KINDS[kind][2]} if KINDS[kind][2] else {}
        path: Path = self.place(data, ".gz")
        rows = 0
        with ouzel.read(path, **options) as stream:
            for block in stream:
                check_block(block)
                rows += block.rows
                if self.slot is not None:
                    self.slot.tick()
        return f"{kind}: {min(rows, 3)} rows"


def gzip_head(data: bytes) -> bytes:
    """The first bytes that an archive unpacks to."""
    import zlib

    return zlib.decompressobj(wbits=31).decompress(data, 64) or b"\0"
