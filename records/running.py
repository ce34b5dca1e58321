"""Runs cases, and writes and compares records."""

from __future__ import annotations

import fnmatch
import gzip
import json
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from records.contents import Content, differences, digest, joined, parted, shortened

VERSION = 1
SUMMARY = 15  # lines at most that say which parts differ together, and in how many cases


def chosen(only: str | None) -> Iterator[tuple[str, Content]]:
    """The cases whose names match a pattern (`*` and `?`, or a part of the name), and what each yields."""
    from records import errors, learning, readings, serving, starting

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="ouzel-record-") as name:
        folder = Path(name)
        for group in (readings, learning, serving, errors, starting):
            place = folder / group.__name__.rpartition(".")[2]
            place.mkdir()
            begun, count = time.perf_counter(), 0
            with closing(group.cases(place)) as cases:
                for case, run in cases:
                    if matches(case, only):
                        count += 1
                        yield case, _ran(run)
            if count and only is None:
                print(f"{place.name}: {count} cases in {time.perf_counter() - begun:.0f} s", file=sys.stderr)


def _ran(run: Callable[[], Content]) -> Content:
    """What a case yields; a mistake in it is a difference, and the other cases go on."""
    try:
        return run()
    except Exception as error:
        return {"crashed": [*traceback.format_tb(error.__traceback__)[-1:], f"{type(error).__name__}: {error}"]}


def matches(case: str, only: str | None) -> bool:
    """Whether a case is one of those that are wanted."""
    return only is None or only in case or fnmatch.fnmatch(case, only)


class Record(NamedTuple):
    """A record as it was read."""

    cases: dict[str, str]  # name: digest of all that the case yields; of errors the line itself
    contents: dict[str, dict[str, str]]  # digest: shortened parts
    whole: dict[str, Content]  # digest: all texts, where they were kept

    @classmethod
    def of(cls, path: Path) -> Record:
        """The record in a file and its two companions."""
        read = json.loads(path.read_text())
        if read.get("version") != VERSION:
            raise SystemExit(f"{path}: is not a record of version {VERSION}; write it anew")
        with gzip.open(details(path), "rt", encoding="utf-8") as file:
            kept = json.load(file)
        contents = {key: _unpacked(text, kept["parts"]) for key, text in kept["contents"].items()}
        lines = golden(path).read_text().splitlines()
        errors = {lines[k]: lines[k + 1][4:] for k in range(0, len(lines) - 1, 2)}
        return cls({**parted(read["cases"]), **errors}, contents, kept["whole"])

    def write(self, path: Path) -> None:
        """Write the three files: digests of cases, a line each; where contents differ, packed; lines of errors."""
        cases = {case: key for case, key in sorted(self.cases.items()) if not case.startswith("error/")}
        made = {"version": VERSION, "cases": joined(cases)}
        path.write_text(json.dumps(made, ensure_ascii=False, indent=0, separators=(",", ":")) + "\n")
        errors = sorted((case, line) for case, line in self.cases.items() if case.startswith("error/"))
        golden(path).write_text("".join(f"{case}\n    {line}\n" for case, line in errors))
        parts: dict[str, str] = {}
        used = dict.fromkeys(cases.values())  # in the order of cases, which packs best
        contents = {key: _packed(self.contents[key], parts) for key in used}
        kept = json.dumps({"contents": contents, "parts": parts, "whole": self.whole}, ensure_ascii=False)
        details(path).write_bytes(gzip.compress(kept.encode("utf-8", "surrogatepass"), mtime=0))


def golden(path: Path) -> Path:
    """The text file with the error lines of a record."""
    return path.with_suffix(".errors.txt")


def details(path: Path) -> Path:
    """The archive with what the digests of a record stand for."""
    return path.with_suffix(".details.json.gz")


def write(path: Path, only: str | None, whole: bool) -> int:
    """Write the record of this checkout; with `only`, these cases of a record that there is."""
    record = Record({}, {}, {}) if only is None or not path.exists() else Record.of(path)
    for case in [case for case in record.cases if matches(case, only)]:
        del record.cases[case]
    crashed = 0
    for case, content in chosen(only):
        if "crashed" in content:
            print(case, *content["crashed"], sep="\n    ")
            crashed += 1
            continue
        record.cases[case] = key = key_of(case, content)
        if not case.startswith("error/"):
            record.contents[key] = shortened(content)
            if whole:
                record.whole[key] = content
    used = set(record.cases.values())
    for kept in (record.contents, record.whole):
        for key in [key for key in kept if key not in used]:
            del kept[key]
    record.write(path)
    print(f"{len(record.cases)} cases, {len(record.contents)} different contents: {path}")
    return int(crashed > 0)


def key_of(case: str, content: Content) -> str:
    """The digest of all that a case yields; the line of an error."""
    if case.startswith("error/"):
        return " ".join(content.get("line", content.get("crashed", ())))
    return digest([f"{part} {len(texts)} {text}" for part, texts in sorted(content.items()) for text in texts])


def _packed(short: dict[str, str], parts: dict[str, str]) -> str:
    """Shortened parts as one text; those of several entries are kept once for all cases, under their digest."""
    found = []
    for part, text in short.items():
        key, _, rest = text.partition(" ")
        if not text.startswith("="):
            parts[key] = rest
            text = key
        found.append(f"{part}\t{text}")
    return "\n".join(found)


def _unpacked(text: str, parts: dict[str, str]) -> dict[str, str]:
    pairs = (line.split("\t", 1) for line in text.split("\n") if line)
    return {part: value if value.startswith("=") else f"{value} {parts[value]}" for part, value in pairs}


def compare(path: Path, only: str | None, most: int, without: Sequence[str] = ()) -> int:
    """Say which cases differ from a record, and where; the status of a process."""
    record = Record.of(path)
    waiting = {name for name in record.cases if matches(name, only)}
    equal, found = 0, 0
    kinds: Counter[str] = Counter()
    for case, content in chosen(only):
        waiting.discard(case)
        said = [line for line in said_of(case, content, record) if line.split(": ")[0] not in without]
        equal += not said
        found += bool(said)
        if said:
            parts = () if case.startswith(("error/", "executed/")) else (line.split(": ")[0] for line in said)
            kinds[f"{case.split('/')[0]}: {', '.join(parts) or 'lines'}"] += 1
        if said and found <= most:
            print(case, *said, sep="\n    ", flush=True)
    for case in sorted(waiting)[: max(0, most - found)]:
        print(case, "is in the record, and was not run", sep="\n    ")
    if found + len(waiting) > most:
        print(f"… and {found + len(waiting) - most} more; --most N prints more of them")
    for kind, count in kinds.most_common(SUMMARY):
        print(f"{count:>6} {kind}")
    print(f"{equal} cases are as recorded, {found} differ, {len(waiting)} were not run")
    return int(bool(found or waiting))


def said_of(case: str, content: Content, record: Record) -> list[str]:
    """How a case differs from the record; nothing if it does not."""
    key = record.cases.get(case)
    if key is None:
        return ["is not in the record"]
    now = key_of(case, content)
    if key == now:
        return []
    if case.startswith("error/"):
        return [f"was  {key}", f"is   {now}"]
    if case.startswith("executed/") and "all" in content:
        return _more_executed(case, record.contents[key], content)
    if key not in record.contents:
        return ["differs"]
    return differences(record.contents[key], content, record.whole.get(key)) or ["differs"]


def _more_executed(case: str, recorded: dict[str, str], content: Content) -> list[str]:
    """Packages that execute more files than before; fewer are printed, but are not a difference."""
    counts = {part: int(texts[0]) for part, texts in content.items()}
    for part in sorted({*recorded, *counts}):
        before, now = int(recorded.get(part, "=0")[1:]), counts.get(part, 0)
        if now != before:
            print(f"{case}: {part}: {before} files were executed, {now} are")
    before = int(recorded["all"][1:])
    return [f"{before} files were executed, {counts['all']} are"] if counts["all"] > before else []
