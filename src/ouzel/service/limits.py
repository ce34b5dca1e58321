"""Limits of a service: nothing that comes from outside may grow without end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.rows import largest_id
from ouzel.model.model import Model
from ouzel.numerals import as_size
from ouzel.service.lines import Line, Refused
from ouzel.streams.block import Block


class BusyError(OuzelError):
    """Too much waits already."""


@dataclass(frozen=True)
class ServiceLimits:
    """Limits of one service; limits on a model apply to each model of the service."""

    body: int = 16 << 20  # bytes of a request that is read whole
    examples: int = 100_000  # of one request to predict
    line: int = 1 << 20  # bytes of one example
    features: int = 100_000  # of one example
    largest_id: int = (1 << 24) - 1  # of a feature without a name, unless the model knows larger ones
    queue: int = 20_000  # examples that may wait to be learnt
    queue_bytes: int = 256 << 20  # of those examples, and of long requests that wait to be answered
    connections: int = 1_000
    seconds: float = 30.0  # allowed for the next part of a body
    unlabelled: int = 100_000  # examples that wait for their labels
    unlabelled_bytes: int = 256 << 20  # of those examples, in memory and on disk
    unlabelled_hours: float = 168.0
    quarantine: int = 100  # refused lines that are kept for inspection

    def exceeded(self, line: Line) -> Refused | None:
        """Return why a line is too large for one example; None if it is not."""
        if len(line.text) > self.line:
            return Refused(f"found {len(line.text):,} bytes; expected an example of at most {self.line:,}")
        if len(line.example[0]) > self.features:
            return Refused(f"found {len(line.example[0]):,} features; expected an example of at most {self.features:,}")
        return None

    def exceeds(self, longest: int, block: Block) -> bool:
        """Return whether a line of a block is too large for one example; the longest has `longest` bytes."""
        return longest > self.line or int(np.diff(block.offsets).max(initial=0)) > self.features

    def check(self, block: Block, model: Model) -> None:
        """Raise OuzelError on a feature id that would waste memory."""
        if model.budgeted or not block.nonzeros:
            return
        largest = int(largest_id(block.indices, block.offsets[0], block.offsets[-1]))
        if largest > max(self.largest_id, model.dimension - 2):
            raise OuzelError(f"found the feature {largest}; expected an id of at most {self.largest_id}, or a name")


def limits_of(given: Sequence[str]) -> ServiceLimits:
    """Return the default limits, changed by settings NAME=VALUE.

    >>> limits_of(["body=1MB", "seconds=5"]).body
    1048576
    """
    known = {field.name for field in fields(ServiceLimits)}
    values: dict[str, Any] = {}
    for pair in given:
        name, _, value = map(str.strip, pair.partition("="))
        if name not in known:
            raise OuzelError(f"--limit: there is no limit {name!r}; there are {', '.join(sorted(known))}")
        number = as_size(value)
        if not 0 < number < 1 << 62:
            raise OuzelError(f"--limit {name} takes a number above 0, or a size such as 16MB; got {value!r}")
        values[name] = number if isinstance(getattr(ServiceLimits, name), float) else int(number)
    return ServiceLimits(**values)
