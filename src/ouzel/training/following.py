"""One source as it is read again: which record it is of, and what of it is new."""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.streams.block import Block
from ouzel.streams.digest import Digest
from ouzel.training.agreement import ContradictionError
from ouzel.training.source_records import Ledger, Record, name_of

SURE = 1024  # examples that two sources do not share by chance
OLD, AGAIN, NEW = range(3)  # examples that are not to be learnt, those of a further pass, and those not read before


class Following:
    """One source as it is read: which record it is of, and what of it is new."""

    def __init__(self, path: str, ledger: Ledger, place: int, behind: dict[int, int]) -> None:
        self.path, self.name = path, name_of(path)
        self.ledger, self.place = ledger, place
        self.behind = behind  # examples learnt in the present pass, by id of a record, where that is not all of them
        self.digest = Digest()
        self.held: list[Block] = []  # until it is known which record they are of
        self.record = ledger.claimed.get(place)
        self.again = self.record is not None  # in an earlier pass
        self.candidates = ledger.candidates(self.name)
        if self.record is not None:
            self.candidates = [self.record] if self.record.examples else []
        elif not self.candidates:
            self.record = ledger.claim(place, None, path)
        self.following = bool(self.candidates)  # whether what comes was read before
        self.sure = self.again  # whether it is one of the candidates, or has changed

    def take(self, block: Block) -> Iterator[tuple[Block, int]]:
        """Parts of some more examples, and of any held back, and what they are, as soon as that is known."""
        start = 0
        while start < block.rows and self.following:
            ends = [1 << self.digest.examples.bit_length(), *self._turns()]
            ahead = min(end for end in ends if end > self.digest.examples)
            stop = min(block.rows, start + ahead - self.digest.examples)
            part = block.slice(start, stop)
            self.held.append(part)
            self.digest.add(part)
            self._compare()
            yield from self._decided()
            start = stop
        if start < block.rows:
            yield block.slice(start, block.rows), NEW

    def end(self) -> Iterator[tuple[Block, int]]:
        """What was held back to the end of the source."""
        if self.following:
            if self.sure or self._named(self.candidates[0]):
                raise self._contradiction(
                    f"has {self.digest.examples:,} examples, but {self._reader} {self.candidates[0].examples:,} of it"
                )
            self._be_new()
        yield from self._decided()

    def learnt(self, block: Block) -> None:
        """Take note that new examples have been learnt."""
        assert self.record is not None
        self.record.extend(self.digest, block)

    def _turns(self) -> Iterator[int]:
        """Examples at which something may end."""
        for record in self.candidates:
            yield from (record.examples, self._known(record))

    def _known(self, record: Record) -> int:
        """How many examples of a record are not to be learnt in this pass."""
        if self.again or record not in self.ledger.cut_off:
            return record.before if self.again else record.examples
        return self.behind.get(id(record), record.examples)

    def _named(self, record: Record) -> bool:
        """Whether a name alone says that this is the file of a record, whatever it holds."""
        return record.name == self.name and not record.piped and record in self.ledger.cut_off

    def _compare(self) -> None:
        """Leave the records that this source is not of; it is new if none is left."""
        before, n = self.candidates, self.digest.examples
        self.candidates = [record for record in before if n <= record.examples and record.agrees(self.digest)]
        if not self.candidates:
            if self.sure or self._named(before[0]):
                those = "example is not the one" if n == 1 else f"{n:,} examples are not those"
                raise self._contradiction(f"has changed: its first {those} that {self._reader}")
            self._be_new()
            return
        found = self.candidates[0]
        self.sure = self.sure or n >= SURE or n == found.examples or (found.name == self.name and not found.piped)
        only = len(self.candidates) == 1 or n >= SURE or n == found.examples
        if self.record is None and self.sure and only:
            self.record, self.candidates = self.ledger.claim(self.place, found, self.path), [found]
        if n == found.examples:
            self.following = False

    def _be_new(self) -> None:
        self.record = self.ledger.claim(self.place, None, self.path)
        self.candidates, self.following, self.digest = [], False, Digest()

    def _decided(self) -> Iterator[tuple[Block, int]]:
        """What was held back, if it is known of what record it is."""
        if self.record is None:
            return
        held, self.held = self.held, []
        at = self.digest.examples - sum(block.rows for block in held)
        for block in held:
            yield block, NEW if not self.candidates else OLD if at < self._known(self.record) else AGAIN
            at += block.rows

    @property
    def _reader(self) -> str:
        return f"{self.ledger.model} has learnt" if self.ledger.model else "the pass before has learnt"

    def _contradiction(self, found: str) -> ContradictionError:
        path = self.name if self.path == "-" else self.path
        return ContradictionError(f"{path}: {found}; give it as it was, or learn what it holds now with --relearn")
