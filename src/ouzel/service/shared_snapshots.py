"""Snapshots as processes of one machine map them: unpacked once, into files whose arrays are whole."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from ouzel.model import persistence

KEPT = 2  # files: one that is mapped now, and the one before it, which another process may be about to open
LOCK = ".lock"


class SharedSnapshots:
    """Unpacked snapshots in a folder; each is made by the first process that asks for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def unpacked(self, snapshot: Path) -> Path:
        """A file of the same model to map; the snapshot itself if its arrays are whole already."""
        if persistence.is_whole(snapshot):
            return snapshot
        found = snapshot.stat()
        place = self.folder / f"{snapshot.stem}-{found.st_ino}-{found.st_mtime_ns}{snapshot.suffix}"
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / LOCK):
            if not place.exists():
                model, notes = persistence.load_notes(snapshot)
                persistence.save(model, place, notes, whole=True)
                self._remove_old(snapshot)
        return place

    def _remove_old(self, snapshot: Path) -> None:
        others = [path for path in self.folder.glob(f"*{snapshot.suffix}") if path.is_file()]
        for old in sorted(others, key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
            with suppress(OSError):
                old.unlink()
