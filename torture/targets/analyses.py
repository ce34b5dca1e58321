"""The analyses' readers: `explain`, `deltoids` and `pmi` on files of every format."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any

from torture import mutation
from torture.targets import delimited, json_lines
from torture.targets.base import Target, reading_threads
from torture.targets.commands import Commands, check_ran, invoke

LINES = (
    b"the prime minister said\nhe said the price rose\n" * 20,
    b"a b c\n\n\xc3\xa9 \xf0\x9f\xa6\x86 a\n" * 5,
    b"10.0.0.1\n10.0.0.2\n10.0.0.1\n" * 9,
)
CONDITIONS = (
    "a > 1",
    "a > p80",
    "a = x",
    "b = z",
    "label > 0",
    "a > nan",
    "a > 1e999",
    "a >",
    "p80",
    "a > p101",
    "y = yes",
)


class Analyses(Commands):
    name = "analyses"
    weight = 0.1
    about = "explain, deltoids and pmi on hostile files"

    def warm(self) -> None:
        super().warm()
        Target.start(self)
        sparse, lines = self.place(b"1 1:1 2:1\n0 2:1 3:2\n" * 9, ".svm"), self.place(LINES[0], ".txt")
        with reading_threads(False), contextlib.suppress(Exception):
            for order in ("1", "2"):
                invoke("explain", sparse, "--order", order, "--exact", "--json")
            invoke("deltoids", lines, lines, "--compare", "--json")
            invoke("pmi", lines, "--exact", "--json", "--budget", "64KB", "--sample-size", "50", "--heap-size", "16")
        self.stop()

    def make(self, random: Random) -> bytes:
        samples = (*LINES, *delimited.SAMPLES, *json_lines.SAMPLES)
        if random.random() < 0.6:
            return mutation.mutate(random.choice(samples), random, samples, mutation.TEXT)
        return super().make(random)

    def run(self, data: bytes, random: Random) -> str:
        path = self.place(data, random.choice((".csv", ".csv", ".jsonl", ".parquet", ".arrow", ".svm", ".txt", "")))
        columns = ("label", "a", "city", "text", "y", "b", "v")
        command = random.choice(("explain", "deltoids", "pmi"))
        arguments: list[Any] = [command, path, "--json"]
        if command == "explain":
            arguments += random.choice(
                (["--outlier", random.choice(CONDITIONS)], ["--outlier-column", random.choice(columns)], [])
            )
            arguments += random.choice(([], ["--order", "2"]))
        elif command == "deltoids":
            other = self.folder / f"other{path.suffix}"
            other.write_bytes(mutation.mutate(data, random))
            arguments.insert(2, other)
            arguments += random.choice(([], ["--column", random.choice((*columns, "a+b"))], ["--shares"]))
            arguments += random.choice(([], ["--compare"]))
        else:
            arguments += ["--sample-size", "100", "--heap-size", "16", "--budget", "64KB"]
            arguments += random.choice(([], ["--column", random.choice(columns)], ["--events"]))
            arguments += random.choice(
                ([], ["--tokens", random.choice(("whitespace", "punctuation", "[a-z", "(", ""))])
            )
        if random.random() < 0.5:
            arguments.append("--exact")
        if random.random() < 0.3:
            arguments += ["--model", self.folder / "found.ouzel"]
        return f"{command}: {check_ran(invoke(*arguments), as_json=True)}"
