"""Conditions that mark outliers: a column compared with a value, or with a quantile of all values so far.

The quantile is found in one pass by a t-digest (Dunning & Ertl 2019, "Computing Extremely Accurate Quantiles Using
t-Digests") of the Apache DataSketches library. Its threshold is renewed every 1,024 rows, whatever the blocks they come
in; the first 1,024 are kept and their quantiles are exact.
"""

from __future__ import annotations

import base64
import operator
import re
from bisect import insort
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.extras import need
from ouzel.numerals import is_number

RENEWED = 1024  # rows between two looks at the quantile
COMPRESSION = 500  # of the t-digest: ranks to some 0.004 at the median, in 10 KB
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
EXPRESSION = re.compile(r"\s*(?P<column>.+?)\s*(?P<sign>>=|<=|!=|==|=|>|<)\s*(?P<value>.+?)\s*$")
QUANTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)$")


class Condition:
    """A condition such as `amount > p80`, `amount >= 1000` or `state = CA`.

    >>> Condition("amount > 1000").holds(np.array([5.0, 2000.0])).tolist()
    [False, True]
    """

    def __init__(self, text: str) -> None:
        found = EXPRESSION.match(text)
        if found is None:
            raise OuzelError(f"a condition is COLUMN > VALUE, such as 'amount > p80' or 'amount >= 1000'; got {text!r}")
        self.text = text
        self.column = found["column"]
        self.sign = found["sign"]
        quantile = QUANTILE.match(found["value"])
        self.quantile = RunningQuantile(float(quantile[1]) / 100.0) if quantile else None
        self.value: float | str = found["value"]
        if is_number(found["value"]):
            self.value = float(found["value"])
            if not isfinite(self.value):
                raise OuzelError(f"{text!r} compares with {found['value']}; expected a finite number")
        self.numeric = quantile is not None or isinstance(self.value, float)
        if not self.numeric and self.sign not in ("=", "==", "!="):
            raise OuzelError(f"{text!r} compares with {found['value']!r}; expected a number, or a quantile such as p80")

    def holds(self, values: Any) -> np.ndarray:
        """Return which values (n,) fulfil the condition: numbers, or text if it compares with text."""
        against = self.value if self.quantile is None else self.quantile.thresholds(values)
        return np.asarray(COMPARISONS[self.sign](values, against), np.bool_)

    @property
    def threshold(self) -> float | str:
        """Value that values are compared with now."""
        return self.value if self.quantile is None else self.quantile.now


class RunningQuantile:
    """Quantile of the values so far.

    >>> quantile = RunningQuantile(0.5)
    >>> quantile.thresholds(np.array([1.0, 3.0, 2.0])).tolist()
    [1.0, 2.0, 2.0]
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.seen = 0
        self.now = float("nan")
        self._pending: list[float] = []  # since the threshold was renewed, for only then is the digest stored in full
        self._digest = _digest_class()(COMPRESSION)

    def thresholds(self, values: np.ndarray) -> np.ndarray:
        """Return the thresholds (n,) of values (n,), which are added to the quantile."""
        out = np.empty(len(values))
        start = 0
        while start < len(values):
            stop = min(len(values), start + RENEWED - len(self._pending))
            part = values[start:stop].tolist()
            if self.seen < RENEWED:
                ordered = sorted(self._pending)
                for k, value in enumerate(part, start):
                    insort(ordered, value)
                    out[k] = self.now = float(np.quantile(ordered, self.share))
            else:
                out[start:stop] = self.now
            self._pending += part
            self.seen += stop - start
            if len(self._pending) == RENEWED:
                self._digest.update(np.array(self._pending))
                self.now = float(self._digest.get_quantile(self.share))
                self._pending = []
            start = stop
        return out

    def notes(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        digest = base64.b64encode(self._digest.serialize()).decode() if self.seen >= RENEWED else ""
        return {"seen": self.seen, "now": self.now, "pending": self._pending, "digest": digest}

    def restore(self, notes: dict[str, Any]) -> None:
        """Restore the state that `notes` returned."""
        self.seen, self.now, self._pending = int(notes["seen"]), float(notes["now"]), list(notes["pending"])
        if notes["digest"]:
            self._digest = _digest_class().deserialize(base64.b64decode(notes["digest"]))


def _digest_class() -> Any:
    """Import and return the class of t-digests, which only quantiles need."""
    return need("datasketches", "a quantile", "explain").tdigest_double
