"""Labels of Vowpal Wabbit text that are not of this task: those of contextual bandits, and those with costs."""

from __future__ import annotations

import re

import numpy as np

FOREIGN = re.compile(r"[0-9]+(:[-+.0-9eE]*)+")  # an action or a label with its cost, and its probability


def is_foreign(word: str) -> bool:
    """Whether a label is of a line that Vowpal Wabbit reads for another task.

    >>> is_foreign("1:2:0.4"), is_foreign("shared"), is_foreign("spam:ham")
    (True, True, False)
    """
    return word == "shared" or FOREIGN.fullmatch(word) is not None


def label_advice(data: np.ndarray, span: np.ndarray) -> str:
    """What is expected in the place of the label at a span."""
    if is_foreign(bytes(data[span[0] : span[1]]).decode()):
        return (
            "expected one label: lines of contextual bandits (action:cost:probability), with costs of labels, or "
            "`shared` are another task, which Ouzel does not learn; give each example a label of its own"
        )
    return "expected a finite number or a printable name as label"
