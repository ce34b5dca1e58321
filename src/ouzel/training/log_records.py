"""Records of the logs that a model has read, with its position in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ouzel.errors import ContradictionError, OuzelError
from ouzel.streams.block_stream import BlockStream
from ouzel.streams.read import read
from ouzel.streams.sources.addresses import is_log, only_log

if TYPE_CHECKING:
    from ouzel.streams.logs.protocol import Position
    from ouzel.streams.logs.stream import LogStream

START_OVER = "begin anew in it with --relearn, and with --from TIME from a time on"


class LogRecords:
    """Positions of a model in logs, by the identities of these."""

    def __init__(self, options: dict[str, Any] | None = None, advice: str = START_OVER) -> None:
        self.options = options or {}  # of reading a log: start, end, gaps
        self.advice = advice  # for a log that has the name of another
        self.on_say: Callable[[str], None] = lambda line: None  # called with lines for people
        self.model = ""  # the file that stores them
        self.relearn = False  # whether to read logs as if they were new
        self.entries: list[dict[str, Any]] = []
        self.stream: LogStream | None = None  # the log that is being read
        self._identity: dict[str, str] = {}  # of that log

    def remember(self, stored: object, model: str, relearn: bool) -> None:
        """Take the records from a model file."""
        self.model, self.relearn = model, relearn
        if stored:
            from ouzel.streams.logs.protocol import stored_positions

            self.entries = stored_positions(stored)

    def open(
        self, files: Sequence[str], format: str | None, options: dict[str, Any], on_wait: Callable[[], None]
    ) -> BlockStream:
        """Open the files as a stream; a log at the position of the model."""
        self.stream = None
        if not is_log(files[0]):
            return read(files, format=format, **options)
        if options.pop("cache", None) is not None:
            raise OuzelError(f"{files[0]}: a log is learnt as it comes, and not kept; leave --cache out")
        from ouzel.streams.logs.stream import read_log

        self.stream = read_log(files[0], format, {**options, **self.options}, self.recall)
        self.stream.on_wait, self.stream.on_say = on_wait, (lambda line: self.on_say(line))
        return self.stream

    def recall(self, identity: dict[str, str]) -> Position | None:
        """Return the position in a log, None if it is new; ContradictionError if only its name matches."""
        from ouzel.streams.logs.protocol import Position

        self._identity = identity
        for entry in self.entries if not self.relearn else []:
            stored = entry["identity"]
            if stored.get("kind") != identity["kind"] or stored.get("topic") != identity["topic"]:
                continue
            known = {name for name, value in identity.items() if value and stored.get(name)}
            name = next((name for name in identity if name in known and stored[name] != identity[name]), None)
            if name is not None:
                raise ContradictionError(
                    f"{self.model}: has read {identity['topic']} with {name} {stored[name]}, and this is one with "
                    f"{name} {identity[name]}, where places in it mean something else; {self.advice}"
                )
            return Position.from_json(entry["position"])
        return None

    def to_json(self) -> list[dict[str, Any]]:
        """Return all records as JSON values, that of the current log first."""
        if self.stream is None:
            return self.entries
        here = {name: self._identity[name] for name in ("kind", "topic")}
        others = [entry for entry in self.entries if {name: entry["identity"].get(name) for name in here} != here]
        return [{"identity": self._identity, "position": self.stream.committed.to_json()}, *others]


def check_log(files: Sequence[str], passes: int | None, holdout_every: int | None, ranking: bool) -> None:
    """Refuse options that do not apply to a log, if a source is one."""
    if not any(map(is_log, files)):
        return
    only_log(files)
    if (passes or 1) > 1:
        raise OuzelError("a log is read once, for it has no end; leave out --passes")
    if holdout_every:
        raise OuzelError("of a log every example is predicted before it is learnt; leave out --holdout-every")
    if ranking:
        raise OuzelError("a log has no groups to rank within; learn them from files")
