"""The label that counts as positive, with a note of whether a stream has it."""

from __future__ import annotations

from typing import Any

from ouzel.errors import DataError, listed

MOST_KNOWN = 10  # other labels that are noted


class PositiveLabel(str):
    """The label that counts as positive; it notes whether a stream has it, and which others, for the error if not."""

    __slots__ = ("is_seen", "others")

    def __init__(self, _: str) -> None:
        self.is_seen = False
        self.others: dict[Any, None] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process reads another part of the stream, and notes what it has."""
        return PositiveLabel, (str(self),)

    def note(self, label: Any, sign: int) -> None:
        """Note a label and its sign."""
        if sign > 0:
            self.is_seen = True
        elif not self.is_seen and len(self.others) <= MOST_KNOWN:
            self.others[label] = None

    @property
    def absence(self) -> str | None:
        """A line where all labels so far are others; None where one is this, or none came.

        >>> positive = PositiveLabel("Malignant")
        >>> positive.note("M", -1)
        >>> positive.absence
        "no label is 'Malignant'; its labels are M"
        """
        if self.is_seen or not self.others:
            return None
        return f"no label is {str(self)!r}; its labels are {listed([str(label) for label in self.others], MOST_KNOWN)}"

    def require_seen(self, name: str) -> None:
        """Refuse a stream of that name whose every label is another.

        >>> positive = PositiveLabel("Malignant")
        >>> positive.note("M", -1), positive.note("B", -1)
        (None, None)
        >>> positive.require_seen("a")
        Traceback (most recent call last):
        ouzel.errors.DataError: a: no label is 'Malignant'; its labels are M, B; name it with label_positive='LABEL'
        """
        if self.absence is not None:
            raise DataError(f"{name}: {self.absence}; name it with", label_positive="LABEL")
