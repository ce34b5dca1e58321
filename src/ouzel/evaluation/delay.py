"""Labels that come late: each example is predicted when it comes, and learnt when its label does."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ouzel.errors import OuzelError
from ouzel.model.model import Model
from ouzel.model.tasks.task import Outcome
from ouzel.streams.block import Block

PART = 16  # of the delay: the length of stretches that are learnt at once


class DelayedLabels:
    """Progressive validation of a model whose labels come `delay` examples late.

    Example i is predicted by a model that has learnt the examples up to i - delay - 1, or up to an eighth of the delay
    fewer: labels come in stretches whose ends do not depend on blocks, and neither do the figures. Examples of classes
    that no label has named yet are not predicted.

    >>> import ouzel
    >>> found = DelayedLabels(ouzel.Model("ogd"), 20)
    >>> blocks = ouzel.blocks_from([({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50)
    >>> sum(len(outcome.targets) for block in blocks for outcome in found.learn(block))  # the first 22 have no model
    78
    >>> found.evaluate_pending()
    >>> found.model.examples
    100
    """

    def __init__(self, model: Model, delay: int) -> None:
        if model.task.groups:
            raise OuzelError("a ranking learns groups as they are; leave out", delay=delay)
        self.model, self.delay = model, delay
        self.stretch = 1 << max(delay // PART, 1).bit_length() - 1
        self.row = 0  # examples predicted
        self._waiting: deque[tuple[int, Block]] = deque()  # the end of the stretch that a block is in, and the block

    @property
    def waiting(self) -> bool:
        """Whether examples are predicted and not learnt yet."""
        return bool(self._waiting)

    def learn(self, block: Block) -> Iterator[Outcome]:
        """Predict a block; learn what has its label by then. Yield predictions, a part of the block at a time."""
        start = 0
        while start < block.rows:
            stop = min(block.rows, start + self.stretch - self.row % self.stretch)
            part = block.slice(start, stop)
            yield self.model.evaluate(part)
            start, self.row = stop, self.row + part.rows
            self._waiting.append((-(-self.row // self.stretch) * self.stretch, part))
            if self.row % self.stretch == 0:
                self._learn_until(self.row - self.delay)

    def evaluate_pending(self) -> None:
        """Learn what waits, at the end of a stream or of a run."""
        self._learn_until(self.row + self.stretch)

    def _learn_until(self, row: int) -> None:
        while self._waiting and self._waiting[0][0] <= row:
            self.model.learn(self._waiting[0][1])
            self._waiting.popleft()
