"""The command line within this process, and what it prints and writes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from records import adapter
from records.contents import Content

TIMES = re.compile(r"\b[0-9.,]+(?= (?:seconds|s|ms|examples/s|MB/s)\b)")
STOPPED = 130  # the status of a command that was interrupted, or terminated
MEMORY = re.compile(r"[0-9,]+(?= \(what this machine's memory holds\))")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
CLOCK = ("seconds", "examples_per_second", "rate", "bytes_per_second")


class Ran(NamedTuple):
    """What a command left."""

    status: int
    out: str
    err: str


def command(*arguments: object, folder: Path) -> Ran:
    """Run `ouzel` in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = adapter.run([str(argument) for argument in arguments])
        except SystemExit as error:  # of an argument that a shell would not have passed on
            status = int(error.code or 0)
    if status == STOPPED:
        raise KeyboardInterrupt
    return Ran(status, out.getvalue(), err.getvalue())


def last_line(ran: Ran, folder: Path) -> str:
    """The status, and the line that says what was wrong, or that nothing was; a traceback is its last line."""
    lines = [line for line in ran.err.splitlines() if line.startswith("ouzel: ")] or ran.err.splitlines()[-1:]
    return plain(f"{ran.status} {' / '.join(lines)}", folder)


def plain(text: str, folder: Path) -> str:
    """A text without what differs from run to run or from machine to machine: the folder, times, memory, addresses."""
    text = " ".join(text.replace(f"{folder}/", "").replace(str(folder), "FOLDER").split())
    for pattern in (TIMES, MEMORY, ADDRESS):
        text = pattern.sub("N", text)
    return text


def file_parts(path: Path) -> Content:
    """A model file: its bytes, and to say where two differ its description and each of its arrays."""
    data = path.read_bytes()
    found: Content = {"file": [f"{len(data)} {hashlib.sha256(data).hexdigest()}"]}
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    found["description"] = [f"{name}: {_unpacked(value)}" for name, value in sorted(metadata.items())]
    arrays = []
    for name, entry in sorted(header.items()):
        start, end = (8 + length + at for at in entry["data_offsets"])
        content = hashlib.sha256(data[start:end]).hexdigest()[:16]
        arrays.append(f"{name} {entry['dtype']} {entry['shape']} {content}")
    found["arrays"] = arrays
    return found


def _unpacked(value: str) -> str:
    try:
        return json.dumps(json.loads(value), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return value


def figures(out: str) -> list[str]:
    """What a command prints with --json, line by line, but for times."""
    try:
        made = _timeless(json.loads(out))
    except ValueError:
        return out.splitlines()
    if not isinstance(made, dict):
        return [json.dumps(entry, sort_keys=True) for entry in made]
    return [f"{name}: {json.dumps(value, sort_keys=True)}" for name, value in sorted(made.items())]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(member) for name, member in value.items() if not any(word in name for word in CLOCK)}
    return [_timeless(member) for member in value] if isinstance(value, list) else value
