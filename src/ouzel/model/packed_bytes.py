"""Arrays as compressed bytes: one zstd frame each, in which like bytes of many numbers stand side by side.

The bytes of floats hardly repeat, but those at one place of all numbers (signs and exponents, say) have few values. So
rows of an array are shuffled first, as by Blosc: all their first bytes, then all their second ones. Each such plane is
a block of the frame, with a code of its own. Of a square matrix the upper triangle is written as what it differs in
from the lower one, which of a symmetric matrix is nothing, or what rounding leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import zstandard

from ouzel.errors import OuzelError

CHUNK = 1 << 20  # bytes that are shuffled together
PLANE = 512  # bytes from which on a plane is a block of its own
WIDEST = 512  # bytes of a row whose columns are told apart
LEAST = 8  # rows of a matrix that is written by triangles
LEVELS = ((1 << 16, 15), (1 << 18, 9))  # up to so many bytes, the level of compression
FAST = 1  # that of larger arrays
WINDOW = 1 << 23  # bytes that a frame may look back


def pieces_of(array: np.ndarray) -> Iterator[np.ndarray]:
    """Rows of an array, some at a time: what is shuffled together."""
    step = rows_at_once(array.shape, array.dtype)
    for start in range(0, len(array), step):
        yield array[start : start + step]


def is_square(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether an array may be a symmetric matrix, and is one piece."""
    return len(shape) == 2 and shape[0] == shape[1] and LEAST <= shape[0] <= rows_at_once(shape, dtype)


def rows_at_once(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Rows of a piece of an array."""
    return max(1, CHUNK // max(1, dtype.itemsize * math.prod(shape[1:])))


def pack(pieces: Iterable[np.ndarray], size: int, square: bool) -> Iterator[bytes]:
    """The frame of an array of `size` bytes, part by part, by triangles if it is `square`."""
    level = next((level for most, level in LEVELS if size <= most), FAST)
    frame = zstandard.ZstdCompressor(level=level).compressobj(size=size)
    for piece in chain.from_iterable(map(_triangles, pieces)) if square else pieces:
        for plane in _planes(piece):
            yield frame.compress(plane)
            if len(plane) >= PLANE:
                yield frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    yield frame.flush()


def unpack(data: np.ndarray, shape: tuple[int, ...], dtype: np.dtype[Any], what: str, square: bool) -> np.ndarray:
    """The array of a frame (n,) uint8, by triangles if it is `square`.

    A frame that says that it unpacks to another number of bytes is refused before memory is taken.
    """
    size, declared = dtype.itemsize * math.prod(shape), size_of(data, what)
    if declared != size:
        raise OuzelError(f"{what} unpacks to {declared} bytes, but the settings ask for {size}")
    try:
        with zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(data.data) as frame:
            return (_square if square else _rows)(frame, shape, dtype, what)
    except zstandard.ZstdError as error:
        raise OuzelError(f"{what} cannot be unpacked ({error})") from None


def size_of(data: np.ndarray, what: str) -> int:
    """Bytes that a frame (n,) uint8 says it unpacks to."""
    if data.dtype != np.uint8 or data.ndim != 1:
        raise OuzelError(f"{what} is {data.dtype} {data.shape}, not packed bytes")
    try:
        return int(zstandard.frame_content_size(data.data))
    except zstandard.ZstdError as error:
        raise OuzelError(f"{what} cannot be unpacked ({error})") from None


def _rows(frame: Any, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> np.ndarray:
    array = np.empty(shape, dtype)
    for piece in pieces_of(array):
        _fill(frame, piece, what)
    return array


def _square(frame: Any, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> np.ndarray:
    words = np.empty(shape, f"u{dtype.itemsize}")
    below, upper = np.tril_indices(len(words)), np.tril_indices(len(words), -1)
    lower, differences = np.empty(len(below[0]), words.dtype), np.empty(len(upper[0]), words.dtype)
    for piece in (lower, differences):
        _fill(frame, piece, what)
    words[below] = lower
    words.T[upper] = differences ^ words[upper]
    return words.view(dtype)


def _triangles(matrix: np.ndarray) -> Iterator[np.ndarray]:
    """The lower triangle of a matrix with its diagonal, and what the upper one differs in, as words."""
    words = np.ascontiguousarray(matrix).view(f"u{matrix.itemsize}")
    upper = np.tril_indices(len(words), -1)
    yield words[np.tril_indices(len(words))]
    yield words.T[upper] ^ words[upper]


def _width(piece: np.ndarray) -> int:
    """Bytes of what is shuffled: rows, or the numbers of long ones."""
    row = piece.itemsize * math.prod(piece.shape[1:])
    return row if 0 < row <= WIDEST else piece.itemsize


def _planes(piece: np.ndarray) -> Iterator[bytes]:
    whole = np.ascontiguousarray(piece)
    for plane in np.ascontiguousarray(whole.reshape(-1).view(np.uint8).reshape(-1, _width(piece)).T):
        yield plane.tobytes()


def _fill(frame: Any, piece: np.ndarray, what: str) -> None:
    """Read what was shuffled into its place."""
    data = frame.read(piece.nbytes)
    if len(data) != piece.nbytes:
        raise OuzelError(f"{what} is packed badly")
    width = _width(piece)
    piece.reshape(-1).view(np.uint8).reshape(-1, width)[...] = np.frombuffer(data, np.uint8).reshape(width, -1).T
