"""The journal of a run: a line of JSON for each job, each new kind of outcome, and each failure, with its name."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from torture.names import Name
from torture.verdicts import Verdict

HERE = Path(__file__).parent
JOURNALS = HERE / "journal"
FAILURES = HERE / "failures"
KEPT = 2  # inputs kept of each signature


class Journal:
    """What happened, in a file that is read again to repeat it."""

    def __init__(self, seed: int, arguments: list[str], folder: Path = JOURNALS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{seed}.jsonl"
        self.file = self.path.open("w")
        self.write("run", seed=seed, arguments=arguments)

    def write(self, event: str, **what: Any) -> None:
        """One line."""
        print(json.dumps({"event": event, "time": round(time.time(), 3), **what}), file=self.file, flush=True)

    def outcome(self, name: Name, verdict: Verdict, seen: int) -> None:
        """An input that failed, or whose outcome was new; its detail only while it is one of the first."""
        detail = {"detail": verdict.detail} if verdict.detail and seen < KEPT else {}
        self.write(
            "outcome",
            name=str(name),
            target=name.target,
            seed=name.seed,
            generation=name.generation,
            outcome=verdict.kind,
            signature=verdict.signature,
            **detail,
        )

    def close(self) -> None:
        """End the journal."""
        self.file.close()


def keep(name: Name, data: bytes, folder: Path = FAILURES) -> Path:
    """Keep the input of a failure as a file."""
    place = folder / name.target / str(name).partition(":")[2]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place
