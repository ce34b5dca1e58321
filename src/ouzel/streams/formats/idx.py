"""idx files of images (MNIST), pixels scaled to 0 to 1; the labels are in `…labels-idx1…` in the same folder."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.limits import Limits
from ouzel.streams.memory import to_block
from ouzel.streams.options import Options
from ouzel.streams.sources.error_context import error_context
from ouzel.streams.sources.source import Source

IMAGES, LABELS = 0x803, 0x801
ROWS = 1000


def read_blocks(source: Source, options: Options) -> Iterator[Block]:
    """Yield the blocks of a file of images, and of the file of labels that belongs to it, if there is one."""
    limits = options.limits
    images = _array(source, IMAGES, limits)
    count = int.from_bytes(images[:4].tobytes(), "big")
    size = int.from_bytes(images[4:8].tobytes(), "big") * int.from_bytes(images[8:12].tobytes(), "big")
    pixels = images[12:]
    if not size:
        raise DataError.at(source.name, "announces images of 0 bytes")
    if len(pixels) != count * size:
        raise DataError.at(source.name, f"announces {count} images of {size} bytes but holds {len(pixels)} bytes")
    labels = np.full(count, np.nan)
    partner = source.name.replace("images-idx3", "labels-idx1")
    if source.path is not None and partner != source.name:
        labels_source = Source(partner)
        with error_context(labels_source, "idx"):
            labels = _array(labels_source, LABELS, limits)[4:].astype(np.float64)
        if len(labels) != count:
            raise DataError.at(partner, f"has {len(labels)} labels for {count} images")
    pixels = pixels.reshape(count, size)
    for start in range(0, count, ROWS):
        yield to_block(pixels[start : start + ROWS] / np.float32(255), labels[start : start + ROWS])


def _array(source: Source, magic: int, limits: Limits) -> np.ndarray:
    """Return the bytes behind the magic number."""
    data = source.read_all(limits)
    if int.from_bytes(data[:4], "big") != magic:
        raise DataError.at(source.name, f"is not an idx file of {'images' if magic == IMAGES else 'labels'}")
    return np.frombuffer(data, np.uint8)[4:]
