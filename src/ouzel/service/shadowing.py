"""A shadow: a second model that learns what another one learns, to be compared with it and to take its place.

Two models are compared by what they say of the same examples, so both must read them alike. A shadow that has learnt
nothing takes label, loss and reading from its leader, except what it was given itself; any other difference is refused
before anything is learnt.
"""

from __future__ import annotations

import asyncio
import copy
from contextlib import suppress
from itertools import islice
from typing import Any

from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.settings import in_words
from ouzel.service.example_log import Entry, Feed, Log
from ouzel.service.folder import LOG, OF_JSON, Folder, lines_read
from ouzel.service.served import Served
from ouzel.service.submission import Source, Submitted
from ouzel.streams.logs.protocol import Position
from ouzel.streams.options import OF_MESSAGES, Options, make_options
from ouzel.training.resume_options import as_option

KIND = "model"  # of the log that a shadow follows
PROMOTION = 30.0  # seconds within which a promotion is answered
AT_ONCE = 512  # examples
POLL_INTERVAL = 0.25  # seconds between two looks at a log without new examples


class BehindError(OuzelError):
    """A shadow has not caught up with its leader, and so was not promoted."""


class Shadowing:
    """Follower of a leader on behalf of a shadow.

    The shadow follows the log of the leader, in order. One commit stores what it learns and its position in that log,
    so it learns each example once, whatever restarts; an example that it refuses is passed over. A shadow that starts
    late catches up with all stored examples. With `on_alarm` a shadow that has learnt nothing begins with the example
    that raises the next alarm of the leader.
    """

    def __init__(self, leader: Served, shadow: Served, on_alarm: bool = False) -> None:
        same_label = leader.owner.reading.label == shadow.owner.reading.label
        if not same_label or leader.owner.model.task.numbers != shadow.owner.model.task.numbers:
            raise OuzelError(f"{shadow.name!r} has other labels than {leader.name!r}, which it is to follow")
        self.leader = leader
        self.shadow = shadow
        self.on_alarm = on_alarm
        self.position = self._stored_position()  # in the log of the leader; None before an alarm
        self._identity = _identity_of(leader)
        self._turn = asyncio.Lock()  # held while examples are learnt
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def behind(self) -> int:
        """Number of examples that the leader has learnt and the shadow has not."""
        return 0 if self.position is None else max(0, self.leader.owner.learnt - int(self.position.last.get("", 0)))

    def figures(self) -> dict[str, int]:
        """Return how far the shadow is behind, and how many examples of the leader it has refused."""
        position = self.position or Position()
        return {"behind": self.behind, "refused": position.skipped}

    def start(self) -> None:
        """Start to follow; call this within the event loop, after both models have started."""
        learnt = self.shadow.owner.learnt
        if learnt and self.position == Position():
            self.shadow.say(
                f"{self.shadow.name}: has learnt {learnt:,} examples, and none as a shadow of {self.leader.name}: it "
                "learns all in the log of that model, from the first one on"
            )
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Stop following, after what is being learnt."""
        self._ending.set()
        if self._task is not None:
            await self._task

    async def catch_up(self, deadline: float) -> None:
        """Let the shadow learn all that the leader has learnt by now; raise BehindError at a time of the loop."""
        learnt = True
        while learnt:
            step = asyncio.ensure_future(self._learn_next())  # which goes on where time is over
            try:
                async with asyncio.timeout_at(deadline):
                    learnt = await asyncio.shield(step)
            except TimeoutError:
                step.add_done_callback(lambda task: task.exception())
                raise self.late() from None

    def late(self) -> BehindError:
        """Return the error of a promotion that has taken too long."""
        leader, shadow = self.leader.name, self.shadow.name
        return BehindError(
            f"{shadow!r} is {self.behind:,} examples behind {leader!r} after {PROMOTION:g} seconds, and was not "
            f"promoted; {leader!r} is still the first: ask again later"
        )

    def check_begun(self) -> None:
        """Raise OuzelError before the alarm that the shadow waits for."""
        if self.position is None:
            raise OuzelError(f"{self.shadow.name!r} waits for an alarm of {self.leader.name!r}, and has learnt nothing")

    async def _follow(self) -> None:
        while not self._ending.is_set():
            learnt = False
            with suppress(OuzelError):  # which the shadow reports itself; it tries again
                learnt = await self._learn_next()
            if not learnt:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), POLL_INTERVAL)

    async def _learn_next(self) -> bool:
        """Learn the next examples of the log of the leader; return whether there are any."""
        async with self._turn:
            if self.position is None:
                await asyncio.to_thread(self._begin_at_alarm)
                return False
            part = await asyncio.to_thread(self._next, int(self.position.last.get("", 0)))
            if not part:
                return False
            await self.shadow.room()
            position = copy.deepcopy(self.position)
            position.last[""] = part[-1].number
            given = [Submitted(entry.record, entry.key) for entry in part]
            await self.shadow.learn(given, patient=True, source=Source(self._identity, position))
            self.position = position
            return True

    def _next(self, position: int) -> list[Entry]:
        """Return the next entries of the log of the leader."""
        log = self.leader.log
        return list(islice(log.entries(after=max(position, log.first() - 1)), AT_ONCE))

    def _stored_position(self) -> Position | None:
        """Return the position in the log of the leader after the last example that needs no learning."""
        for entry in self.shadow.log.feeds():
            if entry["identity"] == _identity_of(self.leader):
                return Position.from_json(entry["position"])
        key = self.shadow.log.last_key() or ""  # in logs of version 0.2.0, `NAME:NUMBER`
        key = key if key.startswith(f"{self.leader.name}:") else self.shadow.folder.follows
        name, _, number = key.rpartition(":")
        if name == self.leader.name and number.isdigit():
            return Position(last={"": int(number)})
        return None if self.on_alarm else Position()

    def _begin_at_alarm(self) -> None:
        """If the leader has raised an alarm, let the shadow begin with its example, also after a crash."""
        if alarms := list(self.leader.owner.drift):
            before = alarms[-1].example - 1
            self.shadow.folder.write_follows(f"{self.leader.name}:{before}")
            self.position = Position(last={"": before})


def _identity_of(leader: Served) -> dict[str, str]:
    """Return what names the log of a leader among the logs that a shadow reads."""
    return {"kind": KIND, "topic": leader.name}


def end_of(leader: Served) -> Feed:
    """Return the position, as logs store it, of a model that has learnt all examples of a leader's log."""
    return Source(_identity_of(leader), Position(last={"": leader.log.last()})).as_feed([])


ALIKE = (*OF_JSON, *OF_MESSAGES, "bits", "seed")


def adapt_shadow(shadow: Folder, leader: Folder, write: bool = True) -> str | None:
    """Give a shadow the reading, the label and the loss of its leader; return a line if that changed it.

    Raises OuzelError if the shadow has learnt something by others, or was given others. Without `write` nothing changes
    on disk.
    """
    model, notes = persistence.load_notes(shadow.base)
    other, its_notes = persistence.load_notes(leader.base)
    reading, wanted = _reading(model, notes), _reading(other, its_notes)
    differing = [name for name in ALIKE if getattr(reading, name) != getattr(wanted, name)]
    other_kind = model.task.numbers != other.task.numbers
    if not differing and not other_kind:
        return None
    default = make_options(lines_read({}))
    fresh = _is_fresh(shadow, model)
    for name in differing:
        if not fresh or getattr(reading, name) != getattr(default, name):
            raise _refusal(shadow, leader, _as_given(name, reading), _as_given(name, wanted))
    settings: dict[str, Any] = in_words(model.settings)
    if other_kind:
        found, expected = (str(in_words(one.settings).get("loss", one.task.name)) for one in (model, other))
        own = settings.get("loss") == in_words(Model(model.learner.name, begin=False).settings).get("loss")
        if not (fresh and own and "loss" in settings):
            raise _refusal(shadow, leader, f"{flag_of('loss')} {found}", f"{flag_of('loss')} {expected}")
        settings["loss"] = expected
    same: dict[str, Any] = {name: getattr(model, name) for name in AS_BEGUN}
    try:
        taken = Model(model.learner.name, **same, bits=other.bits, seed=other.seed, **settings)
    except OuzelError as error:
        raise OuzelError(f"{shadow.path}: cannot follow {leader.path}: {error}") from None
    if write:
        persistence.save(taken, shadow.base, {**notes, "reading": its_notes.get("reading", {})})
    names = [*differing, *(["loss"] if other_kind else [])]
    return f"{shadow.path}: takes {', '.join(map(flag_of, names))} from {leader.path}, which it follows"


AS_BEGUN = (
    *("intercept", "scale_targets", "standardize", "forget", "class_weight", "interval", "interval_by", "calibrate"),
)
"""Options of a model that stay when it takes another loss."""


def _reading(model: Model, notes: dict[str, Any]) -> Options:
    return make_options({**lines_read(notes.get("reading", {})), "bits": model.bits, "seed": model.seed})


def _is_fresh(folder: Folder, model: Model) -> bool:
    """Return whether a model has learnt nothing, neither before its folder nor since."""
    if model.examples or not (folder.path / LOG).exists():
        return not model.examples
    log = Log(folder.path / LOG)
    try:
        return not log.last()
    finally:
        log.close()


def _as_given(name: str, options: Options) -> str:
    """Return an option as it is typed."""
    value = getattr(options, name)
    return f"no {flag_of(name)}" if value in (None, False, ()) else as_option(name, value)


def _refusal(shadow: Folder, leader: Folder, found: str, expected: str) -> OuzelError:
    return OuzelError(
        f"{shadow.path}: has {found}, and {leader.path}, which it is to follow, has {expected}; a shadow reads what "
        "its leader reads: begin one with another --shadow NAME"
    )
