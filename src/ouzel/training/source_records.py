"""Records in a model file of the sources that the model has read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from ouzel.errors import ContradictionError
from ouzel.streams.block import Block
from ouzel.streams.digest import Digest
from ouzel.streams.sources.source import is_piped, name_of

MOST_EARLIER = 1000  # records of sources of earlier runs


@dataclass(eq=False)
class Record:
    """Record of what was read of one source. It has no folders, so that a model does not reveal where data are."""

    name: str
    piped: bool = False  # a pipe: another of the same name may hold anything
    before: int = 0  # examples learnt by earlier runs
    examples: int = 0  # in all
    digest: str = ""  # of the examples
    marks: list[str] = field(default_factory=list)  # digests of the first 1, 2, 4, 8, … examples

    @classmethod
    def of(cls, path: str) -> Self:
        """Return the record of a source that has not been read."""
        return cls(name_of(path), piped=is_piped(path))

    @classmethod
    def from_json(cls, stored: Iterable[object]) -> list[Self]:
        """Return the records that `to_json` wrote, without any that are not sound."""
        records = [entry for entry in stored if isinstance(entry, dict)]
        entries = [{name: entry[name] for name in entry if name != "size"} for entry in records]  # older ones have it
        return [cls(**entry) for entry in entries if cls._is_sound(entry)]

    @classmethod
    def _is_sound(cls, entry: dict[str, Any]) -> bool:
        names = ("name", "piped", "before", "examples", "digest", "marks")
        if set(entry) != set(names):
            return False
        kinds = (str, bool, int, int, str, list)
        return (
            all(isinstance(entry[name], kind) for name, kind in zip(names, kinds, strict=True))
            and 0 <= entry["before"] <= entry["examples"]
            and len(entry["marks"]) == entry["examples"].bit_length()
        )

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        return dict(self.__dict__)

    def agrees(self, digest: Digest) -> bool:
        """Whether this record has no other digest of the first examples."""
        n = digest.examples
        known = [self.digest] if n == self.examples else []
        if n and n & (n - 1) == 0 and n <= self.examples:
            known.append(self.marks[n.bit_length() - 1])
        return all(text == digest.text for text in known)

    def extend(self, digest: Digest, block: Block) -> None:
        """Record examples that follow those of the digest, which is updated."""
        start = 0
        while start < block.rows:
            stop = min(block.rows, start + (1 << digest.examples.bit_length()) - digest.examples)
            digest.add(block.slice(start, stop))
            start = stop
            if digest.examples & (digest.examples - 1) == 0:
                self.marks.append(digest.text)
        self.examples, self.digest = digest.examples, digest.text


class Ledger:
    """Records of a model: of the current run in the order of reading, and of earlier runs."""

    def __init__(
        self,
        sources: Iterable[Record] = (),
        earlier: Iterable[Record] = (),
        model: str = "",
        recognising: bool = True,
    ) -> None:
        self.model = model  # the file that stores them
        self.recognising = recognising  # whether sources are compared with records
        self.sources = list(sources)
        self.earlier = list(earlier)
        self.interrupted = list(self.sources)  # what an interrupted run had started
        self.claimed: dict[int, Record] = {}  # by the index of the source

    @property
    def resumed(self) -> bool:
        """Whether a source was found that the interrupted run had started."""
        return any(record in self.interrupted for record in self.claimed.values())

    @property
    def anything_new(self) -> bool:
        """Whether a source had examples that earlier runs had not learnt."""
        return any(record.examples > record.before for record in self.claimed.values())

    def candidates(self, name: str) -> list[Record]:
        """Return the records that a source may belong to, the likeliest first."""
        if not self.recognising:
            return []
        records = [record for record in [*self.sources, *self.earlier] if record.examples]
        free = [record for record in records if record not in self.claimed.values()]
        return sorted(free, key=lambda record: (record.name != name, -record.examples))

    def claim(self, place: int, record: Record | None, path: str) -> Record:
        """Assign a record, or a new one, to the source at an index."""
        now = Record.of(path)
        if record is None:
            record = now
            self.sources.append(record)
        elif record in self.earlier:
            self.earlier.remove(record)
            self.sources.append(record)
            record.before = record.examples
        elif self.resumed and self.interrupted.index(record) < max(
            self.interrupted.index(other) for other in self.claimed.values() if other in self.interrupted
        ):
            raise wrong_order(self.model, [record.name for record in self.interrupted])
        record.name, record.piped = now.name, now.piped
        self.claimed[place] = record
        return record

    def start_new_run(self) -> None:
        """Treat all records as those of earlier runs."""
        self.earlier += self.interrupted
        self.sources = [record for record in self.sources if record not in self.interrupted]
        self.interrupted = []

    def to_json(self) -> dict[str, Any]:
        """Return the records as JSON values; sources without new examples count as those of earlier runs."""
        new = [record for record in self.sources if record.examples > record.before]
        old = [record for record in self.sources if record.examples == record.before and record.examples]
        known = {(record.examples, record.digest) for record in new}
        earlier = [record for record in [*self.earlier, *old] if (record.examples, record.digest) not in known]
        return {
            "sources": [record.to_json() for record in new],
            "earlier": [record.to_json() for record in earlier[-MOST_EARLIER:]],
        }


def learnt_in_pass(sources: Sequence[Record], row: int) -> dict[int, int]:
    """Return how many examples of each record, by its id, a further pass has learnt when it is at its example `row`."""
    learnt = {}
    for record in sources:
        here = min(record.examples - record.before, row)
        learnt[id(record)] = record.before + here
        row -= here
    return learnt


def check_order(names: Sequence[str], before: Sequence[str], model: str) -> None:
    """Refuse files of an interrupted run that are in another order than it read them."""
    common = [name for name in names if name in before]
    if common != [name for name in before if name in names] and sorted(common) == sorted(
        name for name in before if name in names
    ):
        raise wrong_order(model, before)


def wrong_order(model: str, before: Sequence[str]) -> ContradictionError:
    """Return the error of files in another order."""
    return ContradictionError(
        f"the run that {model} holds was cut off, and reads its files in another order: {', '.join(before)}; "
        "give them in that order, or learn them all from their first example with --relearn"
    )
