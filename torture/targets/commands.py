"""The command line on files of every format: status 0 or 2, an answer or one line, and never a traceback."""

from __future__ import annotations

import contextlib
import io
import json
import math
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from torture.targets.base import Target, reading_threads
from torture.targets.packed import Packed
from torture.verdicts import Failure, of_message, scrubbed

BAD_INPUT = 2
LEARNERS = ("ogd", "auto", "hashing", "adagrad")


class Ran(NamedTuple):
    """What a command left."""

    status: int
    out: str
    err: str


def invoke(*arguments: Any) -> Ran:
    """Run `ouzel` with these arguments within this process."""
    from ouzel.cli.app import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run([str(argument) for argument in arguments])
    return Ran(status, out.getvalue(), err.getvalue())


def check_ran(ran: Ran, as_json: bool = False) -> str:
    """Fail unless a command ended well, or refused what it was given in one line; say which."""
    said = [line for line in ran.err.splitlines() if line.startswith("ouzel: ")]
    if "Traceback (most recent call last)" in ran.err:
        last = ran.err.strip().splitlines()[-1]
        raise Failure("traceback", f"on standard error: {scrubbed(last)}", ran.err[-4000:])
    if "Warning:" in ran.err:
        line = next(line for line in ran.err.splitlines() if "Warning:" in line)
        raise Failure("noise", f"a warning: {scrubbed(line)}", ran.err[-4000:])
    if ran.status == BAD_INPUT:
        if len(said) != 1 or not ran.err.rstrip().endswith(said[0].rstrip()):
            raise Failure("noise", "status 2 without one line that ends the output", f"{ran.err[-4000:]!r}")
        verdict = of_message(said[0])
        if verdict.kind != "refused":
            raise Failure(*verdict)
        return f"refused: {verdict.signature}"
    if ran.status != 0:
        raise Failure("noise", f"status {ran.status}", f"{ran!r}"[-4000:])
    if said:
        raise Failure("noise", "an error line with status 0", ran.err[-4000:])
    if as_json:
        check_json(ran.out)
    return "answered"


def check_json(text: str) -> None:
    """Fail unless this is JSON by the standard, which knows no NaN."""

    def refuse(constant: str) -> float:
        raise Failure("nan", f"JSON that holds {constant}", text[:2000])

    try:
        json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise Failure("unsound", f"no JSON: {error.msg}", text[:2000]) from None


class Commands(Target):
    name = "commands"
    weight = 0.1
    about = "train, predict and top on hostile files"
    breeding = 0.2

    def start(self) -> None:
        super().start()
        self.packed = Packed()
        self.packed.start()
        self.packed.folder = self.folder

    def warm(self) -> None:
        Packed().warm()
        Target.start(self)
        path = self.place(b"+1 1:1 2:1\n-1 2:1 3:2\n" * 9, ".svm")
        with reading_threads(False), contextlib.suppress(Exception):
            for learner in LEARNERS:
                invoke("train", path, "--learner", learner, "--model", self.folder / "m.ouzel", "--json")
            invoke("predict", self.folder / "m.ouzel", path)
        self.stop()

    def make(self, random: Random) -> bytes:
        if random.random() < 0.2:
            return self.packed.make(random)
        return random.choice(self.packed.formats).make(random)

    def run(self, data: bytes, random: Random) -> str:
        form = random.choice(self.packed.formats)
        path = self.place(data, random.choice(form.suffixes))
        model = self.folder / "m.ouzel"
        model.unlink(missing_ok=True)
        arguments: list[Any] = ["train", path, "--learner", random.choice(LEARNERS), "--json"]
        for flag, values in (
            ("--model", (model,)),
            ("--format", (form.format,)),
            ("--on-error", ("skip",)),
            ("--loss", ("squared", "logistic", "poisson")),
            ("--holdout-every", (2,)),
            ("--passes", (2,)),
            ("--checkpoint-every", (3,)),
            ("--task", ("ranking",)),
            ("--label", ("label", "y")),
        ):
            if random.random() < (0.7 if flag in ("--model", "--format") else 0.15):
                arguments += [flag, random.choice(values)]
        if "--checkpoint-every" in arguments and "--model" not in arguments:
            arguments += ["--model", model]
        outcome = check_ran(invoke(*arguments), as_json=True)
        if model.exists() and random.random() < 0.3:
            check_ran(invoke("top", model, "--json"), as_json=True)
            self._predict(model, path)
        return outcome

    def _predict(self, model: Path, path: Path) -> None:
        ran = invoke("predict", model, path, "--json")
        check_ran(ran)
        for line in ran.out.splitlines():
            if any(isinstance(v, float) and not math.isfinite(v) for v in json.loads(line).values()):
                raise Failure("nan", "a prediction that is not finite", line)
