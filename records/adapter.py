"""All that the record takes of the program beyond what is public: the one file to edit when something moves.

Public are `ouzel.read` and the other names of the package, the command line, model files, and the service's addresses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ouzel.cli.app import run  # the command line within this process: arguments to an exit status
from ouzel.learners.catalogue import LEARNERS  # names of all learners
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.reading import Reading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import make_options
from ouzel.streams.stored_space import described
from tests.streams.logs.memory_log import MemoryLog

__all__ = ["LEARNERS", "names_of", "read_messages", "run", "space_of"]


def read_messages(
    messages: list[bytes], format: str | None, options: dict[str, Any], at_once: int = 3
) -> Iterator[Any]:
    """Blocks of messages in memory, as those of a broker are read, `at_once` at a time."""
    with LogStream(MemoryLog(messages, at_once), Decoder, format, make_options(options), Reading(), None) as stream:
        yield from stream


def names_of(block: Any) -> list[tuple[int, str]]:
    """Ids and names of the features that a block names, in its order."""
    if block.names is None:
        return []
    text = bytes(block.names.text)
    spans = zip(block.names.ids.tolist(), block.names.starts.tolist(), block.names.ends.tolist(), strict=True)
    return [(feature, text[start:end].decode("utf-8", "replace")) for feature, start, end in spans]


def space_of(block: Any) -> list[str]:
    """What the ids of a block stand for, as files keep it, without what is empty."""
    members = sorted(described(block.space).items())
    return [
        f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in members if value not in (None, False, [])
    ]
