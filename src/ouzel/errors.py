"""The exceptions of bad input, which people cause and can fix."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ouzel.flags import FLAGS, flag_of

LINE_END = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")


class OuzelError(ValueError):
    """Bad input, a bad setting or a bad file: one line that says where, what was found, and what to do.

    `options` end the line: arguments that help. `subject` begins it: the keyword that is wrong. The command line calls
    both by its flags; an argument that is a dictionary, such as `limits`, is a flag with NAME=VALUE there.

    >>> error = OuzelError("a.svm:3:4: found 'x'; mend it, or leave such lines out with", on_error="skip")
    >>> str(error)
    "a.svm:3:4: found 'x'; mend it, or leave such lines out with on_error='skip'"
    >>> error.on_command_line
    "a.svm:3:4: found 'x'; mend it, or leave such lines out with --on-error skip"
    """

    def __init__(self, message: str, subject: str = "", **options: Any) -> None:
        message = LINE_END.sub(" ", message)  # whatever is quoted in it
        flags = [_as_flag(name, value) for name, value in options.items()]
        arguments = [", ".join(f"{name}={value!r}" for name, value in options.items())]
        flag = flag_of(subject) if subject in FLAGS else subject
        self.on_command_line = " ".join(filter(None, [flag, message, *flags]))
        super().__init__(" ".join(filter(None, [subject, message, *arguments])))
        self._given = message, subject, options

    def __reduce__(self) -> Any:
        """Errors travel between processes with what they say on the command line."""
        return _again, (type(self), *self._given)


def _again(kind: type[OuzelError], message: str, subject: str, options: dict[str, Any]) -> OuzelError:
    return kind(message, subject, **options)


class DataError(OuzelError):
    """Bad data in a stream: `file:line:column: found …; expected …; what to do`."""


class EmptyError(DataError):
    """There is not one example in a stream."""


class ImportNeededError(OuzelError):
    """A model of a learner that is not Ouzel's own, whose module nobody has imported."""


class RoomError(OuzelError):
    """Features for which a learner has no room; of the block that has them nothing was learnt."""


def bad_line(message: str, unit: str = "lines", limits: dict[str, str] | None = None) -> DataError:
    """The error of one bad line (or row) of a stream that can do without it; larger `limits` would let it pass."""
    if limits is not None:
        return DataError(f"{message}; raise the limit, or leave such {unit} out, with", limits=limits, on_error="skip")
    return DataError(f"{message}; mend it, or leave such {unit} out with", on_error="skip")


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names for a message, or the first of them if there are many.

    >>> listed(["a", "b"]), listed([f"c{k}" for k in range(30)], most=2)
    ('a, b', 'c0, c1, … (30 in all)')
    """
    shown = ", ".join(name if len(name) <= 40 else f"{name[:40]}…" for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


def suggest(given: object, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name, and the question whether a known one that is close was meant.

    >>> suggest("hinged", ["hinge", "logistic"]), suggest("square", ["cube"])
    (". Did you mean 'hinge'? ", '. ')
    """
    close = difflib.get_close_matches(given, list(known), 1) if isinstance(given, str) else []
    return f". Did you mean {close[0]!r}? " if close else ". "


def _as_flag(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{flag_of(name)} {key}={item}" for key, item in value.items())
    if isinstance(value, tuple):
        value = ",".join(value)
    return flag_of(name) if value is True else f"{flag_of(name)} {value}"
