"""Cases of the service: one server with many models; each learns a table over HTTP in one form of request."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from records import tables
from records.commands import command, file_parts
from records.contents import Content
from records.entries import messages_of
from records.option_sets import EXTRA
from records.readings import Case

READY = 60.0  # seconds
IGNORED = tuple(part for column in EXTRA for part in ("--ignore", column))
OPTIONS: dict[str, tuple[str, ...]] = {
    "usual": IGNORED,
    "few bits": ("--bits", "8", *IGNORED),
    "seed": ("--seed", "7", *IGNORED),
    "label of numbers": ("--label", "mark", "--ignore", "label", "--ignore", "amount"),
    "kept": ("--only-columns", "price", "--only-columns", "c*"),
    "categorical": ("--categorical", "size", *IGNORED),
    "text": ("--text", "review", *IGNORED),
    "indicator": ("--missing", "indicator", *IGNORED),
    "cross": ("--cross", "city*flag", *IGNORED),
    "n-grams": ("--text", "review", "--ngrams", "2", *IGNORED),
    "dates": ("--dates", "us", *IGNORED),
}
FORMS = {
    "one by one": "application/json",
    "array": "application/json",
    "lines": "application/x-ndjson",
    "arrow": "application/vnd.apache.arrow.stream",
}
TEXTS = {"svmlight": "text/x-svmlight", "libffm": "text/x-libffm", "vw": "text/x-vw"}


class Answer(NamedTuple):
    """What the service answers."""

    status: int
    body: bytes


class Server:
    """`ouzel serve` with some models, started by the first request."""

    def __init__(self, folder: Path, models: dict[str, tuple[str, ...]]) -> None:
        self._folder, self._models = folder, models
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> Answer:
        """The answer to a request."""
        if self._process is None:
            self._start()
        headers = {} if body is None else {"Content-Type": kind}
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}", body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=READY) as answer:
                return Answer(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read())

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def _start(self) -> None:
        for name, options in self._models.items():
            ran = command("serve", "--data", "d", "--name", name, "--init", *options, folder=self._folder)
            if ran.status:
                raise RuntimeError(ran.err)
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self._port = chosen.getsockname()[1]
        first, *others = self._models
        words = [str(Path(sys.executable).with_name("ouzel")), "serve", "--data", "d", "--name", first]
        words += [word for name in others for word in ("--extra-model", name)]
        words += ["--port", str(self._port), "--log", "none", "--snapshot-every", "3600"]
        with (self._folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(words, cwd=self._folder, stdout=log, stderr=log)
        end = time.monotonic() + READY
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError):
                if self.ask("GET", "/ready").status == 200:
                    return
            time.sleep(0.05)
        raise RuntimeError((self._folder / "server.log").read_text())


def cases(folder: Path) -> Iterator[Case]:
    """All cases of the service."""
    plans = [(kind, form, name) for kind in ("odd", "plain") for form in FORMS for name in OPTIONS]
    plans = [plan for plan in plans if plan[0] == "odd" or plan[2] == "usual"]
    names = {plan: f"m{k}" for k, plan in enumerate(plans)}
    usual = ("--learner", "adagrad")
    models = {names[plan]: (*usual, *OPTIONS[plan[2]]) for plan in plans}
    models |= dict.fromkeys(TEXTS, usual)
    server = Server(folder, models)
    try:
        for kind, form, name in plans:
            rows = tables.table(kind)
            yield f"http/{kind}/{form}/{name}", partial(learnt, server, names[kind, form, name], form, rows, folder)
        for form in TEXTS:
            yield f"http/plain/{form}/usual", partial(learnt, server, form, form, tables.table("plain"), folder)
    finally:
        server.close()


def bodies(form: str, rows: list[tables.Row]) -> list[tuple[bytes, str]]:
    """Rows as the bodies of requests."""
    if form in TEXTS:
        return [(b"\n".join(messages_of(form, rows)) + b"\n", TEXTS[form])]
    if form == "arrow":
        return [(tables.as_stream(tables.arrow(rows), 25), FORMS[form])]
    objects = [json.dumps(row).encode() for row in rows]
    if form == "one by one":
        return [(text, FORMS[form]) for text in objects]
    if form == "array":
        return [(b"[" + b",".join(objects[k : k + 20]) + b"]", FORMS[form]) for k in range(0, len(objects), 20)]
    return [(b"\n".join(objects) + b"\n", FORMS[form])]


def learnt(server: Server, model: str, form: str, rows: list[tables.Row], folder: Path) -> Content:
    """Answers, the model's file, and the log, once a model has learnt a table; then predictions."""
    found: Content = {"answers": [], "predictions": []}
    at = f"/v1/models/{model}"
    for body, kind in bodies(form, rows):
        answer = server.ask("POST", f"{at}/learn", body, kind)
        found["answers"] += [f"{answer.status} {line}" for line in answer.body.decode().splitlines()]
    server.ask("POST", f"{at}/snapshot")
    path = folder / "snapshot.ouzel"
    path.write_bytes(server.ask("GET", f"{at}/snapshot").body)
    found |= file_parts(path)
    found["log"] = server.ask("GET", f"{at}/log?format=jsonl").body.decode().splitlines()
    for row in tables.table("plain")[:5]:
        features = {name: value for name, value in row.items() if name not in ("label", *EXTRA)}
        answer = server.ask("POST", f"{at}/predict", json.dumps(features).encode())
        found["predictions"].append(f"{answer.status} {answer.body.decode()}")
    return found
