"""Archives of every reader's inputs: whole, of several members, damaged, cut short, with something else behind."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from torture import mutation
from torture.targets.base import ReaderTarget, read_and_learn
from torture.targets.columnar import Arrow, Parquet
from torture.targets.delimited import Csv, Tsv
from torture.targets.idx import Idx
from torture.targets.json_lines import JsonLines
from torture.targets.svmlight import Svmlight
from torture.targets.vw import VowpalWabbit

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, 1, mtime=0),
    ".bz2": lambda data: bz2.compress(data, 1),
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: zstandard.ZstdCompressor(level=1).compress(data),
}
PIPE = 60_000  # bytes that a pipe takes without a reader


class Packed(ReaderTarget):
    name = "packed"
    weight = 6
    about = "gzip, bzip2, xz and zstd of all formats, and pipes"
    suffixes = ("",)
    breeding = 0.1

    def start(self) -> None:
        self.formats = [kind() for kind in (Svmlight, VowpalWabbit, Csv, Tsv, JsonLines, Parquet, Arrow, Idx)]
        for each in self.formats:
            each.known = list(each.samples())
        super().start()

    def warm(self) -> None:
        for kind in (Svmlight, VowpalWabbit, Csv, Idx):
            kind().warm()

    def samples(self) -> list[bytes]:
        return [pack(Svmlight().samples()[0]) for pack in PACKERS.values()]

    def make(self, random: Random) -> bytes:
        return pack_somehow(random.choice(self.formats).make(random), random)

    def mutate(self, data: bytes, random: Random) -> bytes:
        return mutation.mutate(data, random, self.known, mutation.MUTATIONS[:7])

    def run(self, data: bytes, random: Random) -> str:
        target: ReaderTarget = random.choice(self.formats)
        options: dict[str, Any] = target.options(random)
        if random.random() < 0.8:
            options["format"] = target.format
        if len(data) < PIPE and random.random() < 0.15:
            return through_a_pipe(data, options, random)
        return read_and_learn(self.place(data, random.choice(("", ".gz", ".svm.gz", ".csv.zst"))), options, random)


def through_a_pipe(data: bytes, options: dict[str, Any], random: Random) -> str:
    """Read what comes through a pipe, as standard input does."""
    reading, writing = os.pipe()
    try:
        os.write(writing, data)
        os.close(writing)
        return read_and_learn(Path(f"/dev/fd/{reading}"), options, random)
    finally:
        os.close(reading)


def pack_somehow(data: bytes, random: Random) -> bytes:
    """An archive, perhaps of several members, perhaps damaged, perhaps with something behind."""
    pack = random.choice(list(PACKERS.values()))
    packed = pack(data)
    if random.random() < 0.3:
        at = random.randrange(len(data) + 1)
        packed = pack(data[:at]) + b"\0" * random.choice((0, 0, 3, 512)) + pack(data[at:])
    if random.random() < 0.2:
        packed += random.choice((b"junk", b"\0" * 9, b"\x1f\x8b", data[:50], pack(b"")))
    if random.random() < 0.2:
        packed = random.choice(list(PACKERS.values()))(packed)
    if random.random() < 0.5:
        packed = mutation.mutate(packed, random, (), mutation.BINARY)
    return packed
