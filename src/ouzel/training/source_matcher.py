"""Matching of a source against the records of earlier runs, to find the examples that are new."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from ouzel.errors import ContradictionError
from ouzel.streams.block import Block
from ouzel.streams.digest import Digest
from ouzel.streams.sources.source import name_of
from ouzel.training.source_records import Ledger, Record

CERTAIN_MATCH = 1024  # examples that two sources do not share by chance


class Status(Enum):
    """Whether examples are to be learnt, and recorded."""

    LEARNT = "learnt before; skipped"
    REPEATED = "learnt in an earlier pass; to learn again"
    NEW = "not read before; to learn and to record"


class SourceMatcher:
    """Finds the record that a source belongs to, by its first examples, and the status of each example."""

    def __init__(self, path: str, ledger: Ledger, place: int, learnt_so_far: dict[int, int]) -> None:
        self.path, self.name = path, name_of(path)
        self.ledger, self.place = ledger, place
        self.learnt_so_far = learnt_so_far  # examples learnt in this pass, by id of a record, if not all
        self.digest = Digest()
        self.buffered: list[Block] = []  # until their record is known
        self.record = ledger.claimed.get(place)
        self.further_pass = self.record is not None  # whether an earlier pass has read it
        self.candidates = ledger.candidates(self.name)
        if self.record is not None:
            self.candidates = [self.record] if self.record.examples else []
        elif not self.candidates:
            self.record = ledger.claim(place, None, path)
        self.matching = bool(self.candidates)  # whether it still matches a record
        self.certain = self.further_pass  # whether it belongs to a candidate, so that a difference is an error

    def match(self, block: Block) -> Iterator[tuple[Block, Status]]:
        """Yield parts of a block, and of blocks before it, with their status as soon as it is known."""
        start = 0
        while start < block.rows and self.matching:
            ends = [1 << self.digest.examples.bit_length(), *self._boundaries()]
            ahead = min(end for end in ends if end > self.digest.examples)
            stop = min(block.rows, start + ahead - self.digest.examples)
            part = block.slice(start, stop)
            self.buffered.append(part)
            self.digest.add(part)
            self._compare()
            yield from self._release()
            start = stop
        if start < block.rows:
            yield block.slice(start, block.rows), Status.NEW

    def end(self) -> Iterator[tuple[Block, Status]]:
        """Yield the examples that were buffered up to the end of the source."""
        if self.matching:
            if self.certain or self._matched_by_name(self.candidates[0]):
                raise self._contradiction(
                    f"has {self.digest.examples:,} examples, but {self._reader} {self.candidates[0].examples:,} of it"
                )
            self._start_record()
        yield from self._release()

    def learnt(self, block: Block) -> None:
        """Record that new examples have been learnt."""
        assert self.record is not None
        self.record.extend(self.digest, block)

    def _boundaries(self) -> Iterator[int]:
        """Yield the numbers of examples at which the status may change."""
        for record in self.candidates:
            yield from (record.examples, self._known(record))

    def _known(self, record: Record) -> int:
        """Return how many examples of a record this pass skips."""
        if self.further_pass or record not in self.ledger.interrupted:
            return record.before if self.further_pass else record.examples
        return self.learnt_so_far.get(id(record), record.examples)

    def _matched_by_name(self, record: Record) -> bool:
        """Whether the name alone identifies the file of a record, whatever its content."""
        return record.name == self.name and not record.piped and record in self.ledger.interrupted

    def _compare(self) -> None:
        """Remove the candidates that differ from this source; it is new if none is left."""
        before, n = self.candidates, self.digest.examples
        self.candidates = [record for record in before if n <= record.examples and record.agrees(self.digest)]
        if not self.candidates:
            if self.certain or self._matched_by_name(before[0]):
                those = "example is not the one" if n == 1 else f"{n:,} examples are not those"
                raise self._contradiction(f"has changed: its first {those} that {self._reader}")
            self._start_record()
            return
        found = self.candidates[0]
        self.certain = (
            self.certain or n >= CERTAIN_MATCH or n == found.examples or (found.name == self.name and not found.piped)
        )
        only = len(self.candidates) == 1 or n >= CERTAIN_MATCH or n == found.examples
        if self.record is None and self.certain and only:
            self.record, self.candidates = self.ledger.claim(self.place, found, self.path), [found]
        if n == found.examples:
            self.matching = False

    def _start_record(self) -> None:
        self.record = self.ledger.claim(self.place, None, self.path)
        self.candidates, self.matching, self.digest = [], False, Digest()

    def _release(self) -> Iterator[tuple[Block, Status]]:
        """Yield the buffered examples with their status, once the record is known."""
        if self.record is None:
            return
        buffered, self.buffered = self.buffered, []
        at = self.digest.examples - sum(block.rows for block in buffered)
        for block in buffered:
            if not self.candidates:
                yield block, Status.NEW
            else:
                yield block, Status.LEARNT if at < self._known(self.record) else Status.REPEATED
            at += block.rows

    @property
    def _reader(self) -> str:
        return f"{self.ledger.model} has learnt" if self.ledger.model else "the pass before has learnt"

    def _contradiction(self, found: str) -> ContradictionError:
        path = self.name if self.path == "-" else self.path
        return ContradictionError(f"{path}: {found}; give it as it was, or learn what it holds now with --relearn")
