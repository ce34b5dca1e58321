"""The logs that a model has read, and where it stands in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ouzel.errors import OuzelError
from ouzel.streams.block_stream import BlockStream
from ouzel.streams.read import read
from ouzel.streams.sources.addresses import is_log, only_log
from ouzel.training.agreement import ContradictionError

if TYPE_CHECKING:
    from ouzel.streams.logs.protocol import Position
    from ouzel.streams.logs.stream import LogStream

BEGIN_ANEW = "begin anew in it with --relearn, and with --from TIME from a time on"


class LogRecords:
    """The positions of a model in logs, by what tells these from one another."""

    def __init__(self, following: dict[str, Any] | None = None, advice: str = BEGIN_ANEW) -> None:
        self.following = following or {}  # how far a log is to be read
        self.advice = advice  # what to do about a log of a known name that is another one
        self.on_say: Callable[[str], None] = lambda line: None  # called with what a log has to say
        self.model = ""  # the file that holds them
        self.again = False  # whether logs are to be read as if they were new
        self.entries: list[dict[str, Any]] = []
        self.stream: LogStream | None = None  # of the log that is being read
        self._identity: dict[str, str] = {}  # of that

    def remember(self, stored: object, model: str, again: bool) -> None:
        """Take over what the file of a model notes."""
        self.model, self.again = model, again
        if stored:
            from ouzel.streams.logs.protocol import known

            self.entries = known(stored)

    def open(
        self, files: Sequence[str], format: str | None, options: dict[str, Any], on_wait: Callable[[], None]
    ) -> BlockStream:
        """The files as a stream; a log from where the model stands in it."""
        self.stream = None
        if not is_log(files[0]):
            return read(files, format=format, **options)
        if options.pop("cache", None) is not None:
            raise OuzelError(f"{files[0]}: a log is learnt as it comes, and not kept; leave --cache out")
        from ouzel.streams.logs.stream import read_log

        self.stream = read_log(files[0], format, {**options, **self.following}, self.recall)
        self.stream.on_wait, self.stream.on_say = on_wait, (lambda line: self.on_say(line))
        return self.stream

    def recall(self, identity: dict[str, str]) -> Position | None:
        """The position in the log of an identity, None if it is new; ContradictionError if only its name is known."""
        from ouzel.streams.logs.protocol import Position

        self._identity = identity
        for entry in self.entries if not self.again else []:
            noted = entry["identity"]
            if noted.get("kind") != identity["kind"] or noted.get("topic") != identity["topic"]:
                continue
            odd = [name for name, value in identity.items() if value and noted.get(name) and noted[name] != value]
            if odd:
                raise ContradictionError(
                    f"{self.model}: has read {identity['topic']} with {odd[0]} {noted[odd[0]]}, and this is one with "
                    f"{odd[0]} {identity[odd[0]]}, where places in it mean something else; {self.advice}"
                )
            return Position.from_json(entry["position"])
        return None

    def to_json(self) -> list[dict[str, Any]]:
        """All logs as JSON values, the one that is being read first."""
        if self.stream is None:
            return self.entries
        here = {name: self._identity[name] for name in ("kind", "topic")}
        others = [entry for entry in self.entries if {name: entry["identity"].get(name) for name in here} != here]
        return [{"identity": self._identity, "position": self.stream.learnt_to.to_json()}, *others]


def check_log(files: Sequence[str], passes: int | None, holdout_every: int | None, ranking: bool) -> None:
    """Refuse what a log is not read for, if there is one."""
    if not any(map(is_log, files)):
        return
    only_log(files)
    if (passes or 1) > 1:
        raise OuzelError("a log is read once, for it has no end; leave out --passes")
    if holdout_every:
        raise OuzelError("of a log every example is predicted before it is learnt; leave out --holdout-every")
    if ranking:
        raise OuzelError("a log has no groups to rank within; learn them from files")
