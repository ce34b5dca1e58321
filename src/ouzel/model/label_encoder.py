"""Class labels in the order they first appear, and the translation of a block's labels to their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.streams.label_remarks import UNASKED
from ouzel.streams.labels import Label, check_label, label_of, sort_key, tidy

MOST_CLASSES = 10_000
FEW = 4  # classes, of numbers, that are looked for one after the other


class Reading(NamedTuple):
    """What a label reads as: a number or a truth value, which are two things although True == 1."""

    value: Label
    is_truth: bool


def reading_of(label: Label) -> Reading | None:
    """What a label reads as; None of words, and of what is no label."""
    value = label_of(label) if isinstance(label, (str, bool, int, float)) else None
    return None if value is None or isinstance(value, str) else Reading(value, isinstance(value, bool))


class Classes:
    """The classes known so far. Position 0 is the first class seen (or declared), and so on.

    >>> classes = Classes()
    >>> classes.positions(np.array([3.0, 1.0, 3.0]), None).tolist(), classes.known
    ([0, 1, 0], [3, 1])
    """

    def __init__(self, known: Iterable[Label] = (), closed: bool = False) -> None:
        self.closed = closed  # declared by the user: anything else is an error
        self.most = MOST_CLASSES  # that may be known
        self.rename(known)

    @classmethod
    def declared(cls, labels: Iterable[Label] | None) -> Classes:
        """The classes that the user declares to be all there are; open, and none known, without such."""
        known = [] if labels is None else list(labels)
        for label in known:
            check_label(label)
        return cls(known, labels is not None)

    def __len__(self) -> int:
        return len(self.known)

    def rename(self, known: Iterable[Label]) -> None:
        """Have these classes, in this order."""
        self.known = list(known)
        self._order: list[int] = []
        self._position: dict[Label, int] = {}
        self._reads_as: dict[Reading, int] = {}
        for place, label in enumerate(self.known):
            self._register(label, place)

    def _register(self, label: Label, place: int) -> None:
        self._position[label] = place
        reading = reading_of(label)
        if reading is not None:
            self._reads_as.setdefault(reading, place)

    def find(self, label: Label) -> int:
        """The position of a label, -1 if it is not known.

        A label that is not known as it is, is looked for as what it reads as: words of Python may be numbers or truth
        values in files. Two words that read as one number, such as postal codes, are two classes.

        >>> Classes(["True", "False"]).find(False), Classes([3, 4]).find("4"), Classes(["1"]).find("01")
        (1, 1, -1)
        """
        place = self._position.get(label, -1)
        if place >= 0:
            return place
        reading = reading_of(label)
        place = -1 if reading is None else self._reads_as.get(reading, -1)
        if place >= 0 and reading is not None and not reading.is_truth:
            return -1 if isinstance(label, str) and isinstance(self.known[place], str) else place
        return place

    def position(self, label: Label) -> int:
        """The position of one label, a new one if it has not been seen."""
        place = self._position.get(label)
        if place is not None:
            return place
        label = label.item() if isinstance(label, np.generic) else label
        place = self.find(label)
        if place >= 0:
            return place
        self.check_new(label)
        self._register(label, len(self.known))
        self.known.append(label)
        return len(self.known) - 1

    def check_new(self, label: Label) -> None:
        """Refuse a label that cannot be one more class."""
        self._check_new(label.item() if isinstance(label, np.generic) else label, len(self.known))

    def check_one(self, label: Any) -> None:
        """Refuse a label that is neither a known class nor a possible new one."""
        try:
            known = label in self._position or self.find(label) >= 0
        except TypeError:
            known = False  # a list, say
        if not known:
            self.check_new(label)

    def allow(self, most: int | None) -> None:
        """Have at most so many classes; by default 1,000, unless there are more already."""
        self.most = most or (UNASKED if len(self.known) <= UNASKED else MOST_CLASSES)

    def _too_many(self, label: Label) -> OuzelError:
        """What to say of a label that is one class too many."""
        said = f"label {label!r} would be class number {self.most + 1}; "
        if self.most < MOST_CLASSES:
            said += f"is this the label? If there are so many classes, say {flag_of('most_classes')} {MOST_CLASSES}; "
        return OuzelError(f"{said}to predict numbers, learn with", loss="squared")

    def positions(self, labels: np.ndarray, label_names: Sequence[str] | None) -> np.ndarray:
        """Positions (n,) int64 of a block's labels (n,), new classes taken in the order of first appearance."""
        found = self.known_positions(labels, label_names)
        if (found >= 0).all():
            return found
        values, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        places = np.empty(len(values), np.int64)
        for k in np.argsort(first):
            value = values[k]
            places[k] = self.position(tidy(value) if label_names is None else label_names[int(value)])
        return places[inverse]

    def known_positions(self, labels: np.ndarray, label_names: Sequence[str] | None) -> np.ndarray:
        """The same, -1 for a class not known yet.

        It takes no sort of the labels, as most blocks bring nothing new.
        """
        if label_names is not None:
            return np.array([self.find(name) for name in label_names], np.int64)[labels.astype(np.int64)]
        places_of = {reading.value: place for reading, place in self._reads_as.items() if not reading.is_truth}
        places_of.update(self._position)
        numbers = sorted((label, place) for label, place in places_of.items() if not isinstance(label, str))
        if not numbers:
            return np.full(len(labels), -1)
        if len(numbers) <= FEW:
            found = np.full(len(labels), -1)
            for label, place in numbers:
                found += (labels == label) * (place + 1)
            return found
        values, places = (np.array(column) for column in zip(*numbers, strict=True))
        nearest = np.minimum(np.searchsorted(values, labels), len(values) - 1)
        return np.where(values[nearest] == labels, places[nearest], -1)

    def check(self, labels: np.ndarray, label_names: Sequence[str] | None) -> None:
        """Raise what `positions` would raise of these labels (n,), and take none: OuzelError."""
        unknown = labels[self.known_positions(labels, label_names) < 0]
        for place, label in enumerate(dict.fromkeys(unknown.tolist())):
            self._check_new(tidy(label) if label_names is None else label_names[int(label)], len(self.known) + place)

    def _check_new(self, label: Label, known: int) -> None:
        """Refuse a label as a new class beside so many that are known."""
        check_label(label)
        if self.closed:
            raise OuzelError(f"unknown class {label!r}; the classes are {', '.join(map(repr, self.known))}")
        if known >= self.most:
            raise self._too_many(label)

    def order(self) -> list[int]:
        """Positions in the order of the sorted labels: how results are shown."""
        if len(self._order) != len(self.known):
            self._order = sorted(range(len(self.known)), key=lambda k: sort_key(self.known[k]))
        return self._order

    def in_order(self) -> list[Label]:
        """The labels sorted."""
        return [self.known[k] for k in self.order()]

    def as_array(self) -> np.ndarray:
        """The labels sorted; an array of objects where they are of several types, so that each stays what it is.

        >>> Classes([2, 1.5]).as_array(), Classes(["yes", 1]).as_array()
        (array([1.5, 2. ]), array([1, 'yes'], dtype=object))
        """
        labels = self.in_order()
        types = {float if type(label) is int else type(label) for label in labels}
        return np.array(labels, object if len(types) > 1 else None)

    def reversed_pair(self) -> bool:
        """Whether the second class seen sorts before the first, so that shown margins change sign."""
        return self.order() == [1, 0]
