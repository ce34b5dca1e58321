"""Work of a training while it waits for its stream: checkpoints by time, and status lines."""

from __future__ import annotations

import json
import time
from typing import Any

from ouzel.cli.ui.progress import Screen
from ouzel.errors import OuzelError
from ouzel.evaluation.report import as_json
from ouzel.training.session import Session

JSON_EVERY = 10.0  # seconds between two lines of JSON
LINE_EVERY = 60.0  # seconds between two lines on a screen that is not a terminal
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def checkpoints_of(text: str | None, output: str | None) -> tuple[int, float]:
    """Return the examples and the seconds between two checkpoints of the model `output`; 0 for none.

    >>> checkpoints_of("1000", "m"), checkpoints_of("30s", "m"), checkpoints_of(None, None)
    ((1000, 0.0), (0, 30.0), (0, 0.0))
    """
    if text is None:
        return 0, 0.0
    if text.isdigit():
        return int(text), 0.0
    number, unit = text[:-1], text[-1:]
    if number.isdigit() and int(number) and unit in UNITS:
        if output is None:
            raise OuzelError("--checkpoint-every needs --model OUT: the file to write")
        return 0, int(number) * UNITS[unit]
    raise OuzelError(f"--checkpoint-every takes a number of examples, or a time such as 30s, 5m or 1h; got {text!r}")


class Heartbeat:
    """Callback that saves and reports while a training waits."""

    def __init__(self, session: Session, screen: Screen, every: float, json_: bool) -> None:
        self.session, self.screen, self.every, self.json_ = session, screen, every, json_
        self.begun = self.reported = self.saved = time.monotonic()
        self.first = session.model.examples

    def beat(self) -> None:
        """Save the model and report the status when they are due."""
        session, now = self.session, time.monotonic()
        if session.opened_at is None:
            return
        due = bool(self.every) and now - self.saved >= self.every and session.saved != session.model.examples
        if due and not session.run.pending:
            session.save(finished=False)
            self.saved = time.monotonic()
        behind = None if session.log_stream is None else session.log_stream.lag
        self.screen.show_scores(session.run.scores, "" if behind is None else f"{behind:,} behind")
        endless = session.following or {}
        if not endless.get("follow") and not endless.get("until"):
            return
        if self.json_ and (now - self.reported >= JSON_EVERY or (due and self.saved >= now)):
            print(json.dumps(as_json(self._standing(behind))), flush=True)
            self.reported = now
        elif not (self.json_ or self.screen.live) and now - self.reported >= LINE_EVERY:
            self.screen.say(_words(self._standing(behind)))
            self.reported = now

    def _standing(self, behind: int | None) -> dict[str, Any]:
        model, scores = self.session.model, self.session.run.scores
        join_stats = None if self.session.log_stream is None else self.session.log_stream.join_stats
        seconds = max(time.monotonic() - self.begun, 1e-9)
        return {
            "examples": model.examples,
            "examples_per_second": round((model.examples - self.first) / seconds, 1),
            "behind": behind,
            "saved": self.session.saved,
            "error_rate": scores.error_rate,
            "mean_loss": scores.mean_loss,
            **({} if join_stats is None else {"joined": join_stats.to_json()}),
        }


def _words(standing: dict[str, Any]) -> str:
    """Return the status of a training in one line."""
    parts = [f"{standing['examples']:,} examples", f"{standing['examples_per_second']:,.0f}/s"]
    if standing["error_rate"] is not None:
        parts.append(f"error {standing['error_rate']:.4f}")
    if standing["behind"] is not None:
        parts.append(f"{standing['behind']:,} behind")
    saved = "nothing saved" if standing["saved"] is None else f"{standing['saved']:,} saved"
    return time.strftime("%H:%M:%S ") + ", ".join([*parts, saved])
