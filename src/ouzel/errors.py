"""The exceptions of bad input, which people cause and can fix."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Self
from unicodedata import category

from ouzel.flags import FLAGS, flag_of

CONTROLS = ("Cc", "Cs", "Zl", "Zp")  # categories of Unicode: controls, halves of pairs, ends of lines and paragraphs
TURNING = {*map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))}  # marks that turn the direction of text
LINE_END = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")


def printable(text: object, but: str = "") -> str:
    """Text of data for a screen: characters that would move its cursor, or turn what follows, are written out.

    Those in `but` stay.

    >>> printable("naïve: yes"), printable("two\\nlines"), printable("\\x1b[31mred"), printable("\\u202egnp.exe")
    ('naïve: yes', 'two\\\\nlines', '\\\\x1b[31mred', '\\\\u202egnp.exe')
    """
    given = str(text)
    if given.isprintable():
        return given
    return "".join(
        repr(letter)[1:-1] if (category(letter) in CONTROLS or letter in TURNING) and letter not in but else letter
        for letter in given
    )


class OuzelError(ValueError):
    """Bad input, a bad setting or a bad file: one line that says where, what was found, and what to do.

    `options` end the line: arguments that help. `subject` begins it: the keyword that is wrong. The command line calls
    both by its flags; an argument that is a dictionary, such as `limits`, is a flag with NAME=VALUE there.

    >>> error = OuzelError("a.svm:3:4: found 'x'; fix it, or skip such lines with", on_error="skip")
    >>> str(error)
    "a.svm:3:4: found 'x'; fix it, or skip such lines with on_error='skip'"
    >>> error.on_command_line
    "a.svm:3:4: found 'x'; fix it, or skip such lines with --on-error skip"
    """

    def __init__(self, message: str, subject: str = "", **options: object) -> None:
        message = printable(LINE_END.sub(" ", message))  # whatever is quoted in it
        flags = [_as_flag(name, value) for name, value in options.items()]
        arguments = [", ".join(f"{name}={value!r}" for name, value in options.items())]
        self._rest = [message, *flags]
        super().__init__(" ".join(filter(None, [subject, message, *arguments])))
        self._given = message, subject, options

    @property
    def on_command_line(self) -> str:
        """The line for the command line, where it is not known what was typed."""
        return self.as_typed(())

    def as_typed(self, arguments: Iterable[str]) -> str:
        """Return the line for a user who typed these arguments: a subject whose flag is among them is called by it.

        >>> error = OuzelError("must be a number from 0 to 0.5; got 2", subject="alarm")
        >>> error.as_typed(["train", "a.svm", "--alarm", "2"]), error.as_typed(["train", "a.svm", "--set", "alarm=2"])
        ('--alarm must be a number from 0 to 0.5; got 2', 'alarm must be a number from 0 to 0.5; got 2')
        """
        subject = self._given[1]
        if subject in FLAGS or (subject and flag_of(subject) in {argument.partition("=")[0] for argument in arguments}):
            subject = flag_of(subject)
        return " ".join(filter(None, [subject, *self._rest]))

    @property
    def options(self) -> dict[str, object]:
        """The arguments that end the line."""
        return dict(self._given[2])

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes with what they say on the command line."""
        return _again, (type(self), *self._given)


def _again(kind: type[OuzelError], message: str, subject: str, options: dict[str, object]) -> OuzelError:
    return kind(message, subject, **options)


class DataError(OuzelError):
    """Bad data in a stream: `file:line:column: found …; expected …; what to do`.

    Its fields say the same to programs; each is None where there is nothing to say. What has no place in data, such as
    a loss that does not go with it, is one sentence without fields. `advice` is what comes before the `options`.

    >>> error = DataError.at("b.csv", "'red'", "expected a number", row=3, column="price", advice="fix it")
    >>> str(error)
    "b.csv: row 3, column 'price': found 'red'; expected a number; fix it"
    >>> error.source, error.row, error.column, error.found, error.expected, error.advice
    ('b.csv', 3, 'price', "'red'", 'expected a number', 'fix it')
    >>> str(DataError.at("a.svm", "'x'", "expected a label", line=3, column=4))
    "a.svm:3:4: found 'x'; expected a label"
    >>> str(DataError.at("b.csv", "holds lists", column="price"))
    "b.csv: column 'price' holds lists"
    """

    source: str | None = None
    """The file, the data frame, the message of a log."""
    line: int | None = None
    """Line of a text, from 1."""
    row: int | None = None
    """Row of a table, from 1; that of an array, from 0."""
    column: int | str | None = None
    """Name of the column of a table, number of that of an array from 0; in a text, the byte of the line, from 1."""
    found: str | None = None
    """What is there; without `expected`, a clause about the source, or about the column."""
    expected: str | None = None
    """What is to be there."""
    advice: str | None = None
    """What to do."""

    @classmethod
    def at(
        cls,
        source: str | None,
        found: str,
        expected: str | None = None,
        *,
        line: int | None = None,
        row: int | None = None,
        column: int | str | None = None,
        advice: str | None = None,
        **options: object,
    ) -> Self:
        """The error of a place in data; this is where its sentence is composed."""
        what = found if expected is None else f"found {found}; {expected}"
        place = source
        if line is not None:
            place = f"{source}:{line}" if column is None else f"{source}:{line}:{column}"
        elif row is not None:
            cell = f"row {row}" if column is None else f"row {row}, column {column!r}"
            place = cell if source is None else f"{source}: {cell}"
        elif column is not None and expected is None:
            what = f"column {column!r} {found}"
        elif column is not None:
            place = f"{source}, column {column!r}"
        sentence = what if place is None else f"{place}: {what}"
        error = cls(sentence if advice is None else f"{sentence}; {advice}", "", **options)
        error.source, error.line, error.row, error.column = source, line, row, column
        error.found, error.expected, error.advice = found, expected, advice
        return error

    @property
    def reason(self) -> str:
        """The sentence without what to do."""
        if self.found is None:
            return str(self)
        line, row, column = self.line, self.row, self.column
        return str(DataError.at(self.source, self.found, self.expected, line=line, row=row, column=column))

    def elsewhere(self, source: str, unit: str | None = None) -> DataError:
        """The same error of another source, such as one message of a log, in which there are no lines and rows.

        Where there are other `unit`s of the source, the advice is to skip such ones.

        >>> error = bad_line("a.svm", "'x'", "expected a label", line=3, column=4)
        >>> str(error.elsewhere("log: offset 5", "messages"))
        "log: offset 5, column 4: found 'x'; expected a label; fix it, or skip such messages with on_error='skip'"
        """
        if unit is not None and self.expected is not None:
            limits = self.options.get("limits")
            larger = limits if isinstance(limits, dict) else None
            return bad_line(source, str(self.found), self.expected, column=self.column, unit=unit, limits=larger)
        inside = None if unit is not None else source
        found = str(self) if self.found is None else self.found
        options: dict[str, Any] = {} if self.found is None else self.options
        same = DataError.at(inside, found, self.expected, column=self.column, advice=self.advice, **options)
        return same if unit is None else bad_line(source, str(same), unit=unit)

    def __reduce__(self) -> tuple[object, ...]:
        return *super().__reduce__(), {name: value for name, value in vars(self).items() if name in FIELDS}


class EmptyError(DataError):
    """There is not one example in a stream."""


class UnexpectedError(ValueError):
    """An error whose source is not known yet: `found` where something else was `expected`; its caller adds the source.

    `member` is the member of an object that holds it, `column` the byte of its line, from 1.

    >>> error = UnexpectedError("[1]", "expected a label", member="y")
    >>> str(error), error.found
    ("'y': [1]; expected a label", "'y': [1]")
    """

    def __init__(self, found: object, expected: str, *, member: str | None = None, column: int | None = None) -> None:
        self.found = f"{found}" if member is None else f"{member!r}: {found}"
        self.expected, self.member, self.column = expected, member, column
        super().__init__(f"{self.found}; {expected}")


class ImportNeededError(OuzelError):
    """A model of a learner that is not Ouzel's own, whose module nobody has imported."""


class RoomError(OuzelError):
    """Features for which a learner has no room; of the block that has them nothing was learnt."""


FIELDS = ("source", "line", "row", "column", "found", "expected", "advice")


class ContradictionError(OuzelError):
    """An option, or the content of a source, contradicts what a model has learnt."""

    found = ""  # of options: the error without its advice


def bad_line(
    source: str,
    found: str,
    expected: str | None = None,
    *,
    line: int | None = None,
    row: int | None = None,
    column: int | str | None = None,
    unit: str = "lines",
    limits: dict[str, str] | None = None,
) -> DataError:
    """The error of one bad line (or row) of a stream that can do without it; larger `limits` would let it pass."""
    options: dict[str, Any] = {"on_error": "skip"} if limits is None else {"limits": limits, "on_error": "skip"}
    advice = f"fix it, or skip such {unit} with"
    if limits is not None:
        advice = f"raise the limit, or skip such {unit}, with"
    return DataError.at(source, found, expected, line=line, row=row, column=column, advice=advice, **options)


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names for a message, or the first of them if there are many.

    >>> listed(["a", "b"]), listed([f"c{k}" for k in range(30)], most=2)
    ('a, b', 'c0, c1, … (30 in all)')
    """
    shown = ", ".join(name if len(name) <= 40 else f"{name[:40]}…" for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


def suggest(given: object, known: Iterable[str], likeness: float = 0.6) -> str:
    """The end of a sentence about an unknown name, and the question whether a known one that is close was meant.

    Names below a `likeness` from 0 to 1 are not close.

    >>> suggest("hinged", ["hinge", "logistic"]), suggest("square", ["cube"])
    (". Did you mean 'hinge'? ", '. ')
    """
    close = difflib.get_close_matches(given, list(known), 1, likeness) if isinstance(given, str) else []
    return f". Did you mean {close[0]!r}? " if close else ". "


def _as_flag(name: str, value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{flag_of(name)} {key}={item}" for key, item in value.items())
    if isinstance(value, tuple):
        value = ",".join(value)
    return flag_of(name) if value is True else f"{flag_of(name)} {value}"
