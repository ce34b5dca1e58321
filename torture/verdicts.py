"""What became of an input: all well, refused in one line, or a failure of some kind."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FINE = ("ok", "refused")
BROKEN = ("traceback", "nan", "unsound", "noise", "memory", "hang", "dead", "differs")
KINDS = (*FINE, *BROKEN)
"""refused: OuzelError in one line · unsound: a block, message or file that breaks a contract · noise: output that is
neither an answer nor one line · differs: two runs that should leave the same bytes do not."""

LONGEST_MESSAGE = 2000  # characters that still are one line
PACKAGE = str(Path("src", "ouzel"))


class Failure(Exception):  # noqa: N818 the word of this room
    """What a target finds wrong: one of `BROKEN`, what is alike in all such cases, and the particulars."""

    def __init__(self, kind: str, signature: str, detail: str = "") -> None:
        super().__init__(kind, signature, detail)
        self.kind, self.signature, self.detail = kind, signature, detail


class Verdict(NamedTuple):
    """What became of an input."""

    kind: str  # of KINDS
    signature: str  # without names and numbers: the same for failures of one cause
    detail: str = ""


def judge(run: Callable[[], str]) -> Verdict:
    """Call it; it returns what it saw, or raises."""
    from ouzel.errors import OuzelError

    try:
        return Verdict("ok", run())
    except Failure as failure:
        return Verdict(failure.kind, failure.signature, failure.detail)
    except OuzelError as error:
        return of_message(str(error))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        place = _place(error)
        detail = "".join(traceback.format_exception(error))[-4000:]
        return Verdict("traceback", f"{type(error).__name__} at {place}: {scrubbed(_first_line(error))}", detail)


def of_message(message: str) -> Verdict:
    """A refusal, if it is one line that a person can read."""
    if "\n" in message.strip() or len(message) > LONGEST_MESSAGE:
        shape = "many lines" if "\n" in message.strip() else f"more than {LONGEST_MESSAGE} characters"
        return Verdict("unsound", f"a message of {shape}: {_opening(message)}", message[:4000])
    return Verdict("refused", scrubbed(message))


def scrubbed(message: str) -> str:
    """A message without what differs between cases of one kind.

    >>> scrubbed("/tmp/a.svm:3:14: found 'x1'; expected a number below 3.4e38")
    'a.svm:#:#: found …; expected a number below #.#e#'
    """
    text = re.sub(r"'[^']*'|\"[^\"]*\"|b'.*'", "…", message[:400])
    text = re.sub(r"(/[\w.-]+)+/", "", text)
    text = re.sub(r"0x[0-9a-f]+|\d+", "#", text)
    return text.encode("ascii", "replace").decode()[:160] if not text.isascii() and "…" not in text else text[:160]


def _opening(message: str) -> str:
    """The first words of a message, behind the name of a file."""
    words = re.findall(r"[a-z]{2,}", message.partition(": ")[2][:60])
    return " ".join(words[:3])


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "")


def _place(error: BaseException) -> str:
    """The deepest line of the package that the error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if PACKAGE in frame.filename]
    frame = (ours or frames)[-1]
    return f"{Path(frame.filename).name}:{frame.name}"
