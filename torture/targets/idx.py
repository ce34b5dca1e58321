"""idx files of images, with a file of labels beside them now and then."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from random import Random

from torture import mutation
from torture.targets.base import ReaderTarget, read_and_learn


def images(count: int, height: int, width: int) -> bytes:
    """A file of images."""
    return struct.pack(">4I", 0x803, count, height, width) + bytes(k * 7 % 256 for k in range(count * height * width))


class Idx(ReaderTarget):
    name = "idx"
    weight = 4
    about = "idx images and labels"
    format = "idx"
    suffixes = (".idx", "-images-idx3-ubyte")
    kinds = (*mutation.BINARY, mutation.put_integer)

    def samples(self) -> Sequence[bytes]:
        return [images(5, 4, 4), images(1, 28, 28), images(0, 2, 2), images(3, 0, 5), images(40, 2, 3)]

    def run(self, data: bytes, random: Random) -> str:
        if random.random() < 0.3:
            labels = struct.pack(">2I", 0x801, 5) + bytes(range(5))
            self.place(mutation.mutate(labels, random, (), self.kinds), "-labels-idx1-ubyte")
            return read_and_learn(self.place(data, "-images-idx3-ubyte"), {"format": "idx"}, random)
        return super().run(data, random)
