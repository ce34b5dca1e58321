"""Remarks on labels: whether numbers are classes, and what may have been read as something else than it is."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ouzel.errors import OuzelError, listed
from ouzel.flags import flag_of
from ouzel.numerals import plain_amount
from ouzel.streams.block import Block
from ouzel.streams.labels import MOST_LISTED, Label

MOST_WHOLE = 100  # different whole numbers that may be classes, even with few examples each
FEWEST_AMOUNTS = 10  # different words for numbers
FEWEST_EACH = 20  # examples of a class, in the mean, where there are more
UNASKED = 1_000  # classes that a stream may have without anybody saying that they are so many
AS_NUMBERS = "labels are numbers ({}): learning to predict them; --loss logistic learns classes"


def as_one(labels: Iterable[Label | None]) -> str | None:
    """The remark on a truth value and a number among labels that are one class, as they are equal; None if none is.

    >>> as_one([True, 2, 1])
    'labels true and 1 are one class; write them alike if they are meant to be, or as other words'
    """
    known = set(map(repr, labels))
    for truth, number in (("True", "1"), ("False", "0")):
        if truth in known and number in known:
            return (
                f"labels {truth.lower()} and {number} are one class; "
                "write them alike if they are meant to be, or as other words"
            )
    return None


def why_numbers(block: Block) -> str:
    """The reason why labels, by the first block of a stream, are numbers to predict; "" if they are classes.

    They are numbers if one is not whole, or if there are more different ones than a stream has classes.
    """
    labels = block.labels[~np.isnan(block.labels)]
    if block.label_names is not None or not len(labels):
        return ""
    odd = labels[labels != np.floor(labels)]
    if len(odd):
        return f"such as {odd[0]:g}"
    different = len(np.unique(labels))
    if different > MOST_WHOLE and different * FEWEST_EACH > len(labels):
        return f"{different:,} different ones in {len(labels):,} examples"
    return ""


def check_few_classes(block: Block) -> None:
    """Refuse a first block with more numbers as classes than a stream usually has, unless the user wants classes."""
    labels = block.labels[~np.isnan(block.labels)]
    different = len(np.unique(labels))
    if block.label_names is None and different > MOST_WHOLE and different * FEWEST_EACH > len(labels):
        raise OuzelError(
            f"labels are {different:,} different numbers in {len(labels):,} examples; is this the label? "
            f"{flag_of('most_classes')} {UNASKED} learns so many classes, --loss squared predicts numbers"
        )


def classes_in(block: Block, otherwise: str = "--task regression predicts numbers") -> list[str]:
    """The remark on labels that are three or more whole numbers and are taken as classes: one line or none.

    They may be ratings, counts or ages.

    >>> from ouzel.streams.memory import blocks_from
    >>> classes_in(next(blocks_from([({"a": 1.0}, rating) for rating in (3, 1, 5)])))
    ['labels 1, 3, 5: taken as 3 classes; --task regression predicts numbers']
    """
    labels = np.unique(block.labels[~np.isnan(block.labels)])
    if block.label_names is not None or len(labels) <= 2 or (labels != np.floor(labels)).any():
        return []
    found = listed([f"{label:g}" for label in labels.tolist()], MOST_LISTED)
    return [f"labels {found}: taken as {len(labels)} classes; {otherwise}"]


def amounts_in(block: Block) -> list[str]:
    """The remark on labels that are classes only because of signs, such as $1,200.50: one line or none."""
    names = [name for name in block.label_names or [] if isinstance(name, str)]
    plain = [plain_amount(name) for name in names]
    if len(names) < FEWEST_AMOUNTS or None in plain:
        return []
    return [f"labels such as {names[0]} are words, and classes; write {plain[0]} to have numbers predicted"]
