"""Messages that are not examples, each with its place and what is wrong with it, as lines of a file."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.errors import OuzelError
from ouzel.streams.logs.protocol import Batch, shown

if TYPE_CHECKING:
    from ouzel.streams.logs.messages import Bad


class Quarantine:
    """A file of JSON lines that grows; without a path it takes nothing.

    A reading that was killed, and goes on from its last checkpoint, writes what it meets again once more.
    """

    def __init__(self, path: str | None, name: str) -> None:
        self.path, self.name = path, name

    def put(self, batch: Batch, bad: Bad) -> None:
        """Add a message that is left out."""
        if self.path is None:
            return
        entry = {"log": self.name, "partition": batch.partition, "offset": shown(batch.places[bad.message])}
        try:
            entry["message"] = bad.original.decode()
        except UnicodeDecodeError:
            entry["base64"] = base64.b64encode(bad.original).decode()
        entry["reason"] = bad.reason
        try:
            with Path(self.path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as error:
            raise OuzelError(f"{self.path}: cannot be written ({error.strerror})") from None
