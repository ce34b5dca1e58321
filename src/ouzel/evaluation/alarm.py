"""Alarms when errors rise, false at most at a stated rate over the whole life of a model.

Each error gets a conformal p-value: its rank among all errors so far, ties broken by chance,

    p = (#{larger ones} + θ #{as large ones, itself among them}) / n, θ uniform.

If errors are exchangeable, p-values are independent and uniform (Vovk, Gammerman & Shafer 2005, "Algorithmic Learning
in a Random World"; Vovk 2021, "Testing Randomness Online", Statistical Science 36), so that the product of bets f(p),
with an integral of 1, is a martingale: by Ville's inequality it ever reaches 1 / rate with at most this probability.
Bets are on small p alone, f falling: the powers κ p^(κ - 1), lines 1 + ε (1 - 2p), and for odds o, with q the share of
errors before that were not 0, or a quarter where these are more than half,

    f(p) = (o if p < q else 1) / (1 + (o - 1) q),

the likelihood ratio of mistakes whose odds are o times as large. So errors that fall, as those of a model that learns,
can but lose. Each bet begins at every example with a part of the capital that is set aside for
it, and 1 - (n + 1)^(-1/8) of it has begun by example n: a change is found late in a stream, too.

After an alarm all is counted anew. The k-th alarm may use rate / (k (k + 1)), which adds up to the rate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import frexp, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.evaluation.formatting import figure
from ouzel.kernels.jit import force_inline, kernel
from ouzel.ranges import Range, ranged

Rate = Annotated[float, Range(0.0, 0.5, above=True), "false alarms over the whole life"]
PARTS, OCTAVES = 4, 40  # bins of errors: to a factor of 2, and factors on either side of 1
BINS = 2 * OCTAVES * PARTS + 2  # the first is 0, the last is what is larger, or not a number
ODDS = (1.5, 2.5, 5.0)
OTHERS = 7  # bets
BETS = OTHERS + len(ODDS)
USUAL, LARGEST = 0.25, 0.5  # share of errors: where more than the largest are not 0, the usual one is bet on
SEEN, EXAMPLES, ALARMS, SUM = range(4)  # places of `counts`
MOST_EVENTS = 100  # that are kept


class Drift(NamedTuple):
    """A rise of the error: the example that ended it, counted from the first, and the mean of the errors before it."""

    example: int
    before: float

    def __str__(self) -> str:
        return f"alarm at example {self.example:,}: errors have risen; their mean was {figure(self.before)} before"


@force_inline
def _bin_of(error):
    """The bin of an error, by its leading bits."""
    if not error > 0.0:
        return 0 if error == 0.0 else BINS - 1
    mantissa, exponent = frexp(error)
    place = (exponent + OCTAVES) * PARTS + int((mantissa - 0.5) * 2.0 * PARTS)
    return max(1, min(BINS - 2, 1 + place)) if error < 1e300 else BINS - 1


@force_inline
def _uniform(number):
    """A number in (0, 1) for the examples of a stream, always the same ones (SplitMix64)."""
    mixed = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (float((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) + 0.5) / 9007199254740992.0


@force_inline
def _asleep(examples):
    """The part of the capital that no bet has begun with."""
    return 1.0 / sqrt(sqrt(sqrt(examples + 1.0)))


@kernel
def watch(errors, rate, counts, bins, capital):
    """Bet on errors until the first alarm; return how many were taken, and whether the last one raised it.

    `counts` (4,) are examples since the last alarm and in all, alarms, and the sum of errors since; `bins` (BINS,) and
    `capital` (BETS,) are of those since the last alarm. After an alarm the caller counts anew.
    """
    for i in range(len(errors)):
        place = _bin_of(errors[i])
        larger = 0
        for k in range(place + 1, BINS):
            larger += bins[k]
        share = USUAL
        if 0.0 < counts[SEEN] - bins[0] <= LARGEST * counts[SEEN]:
            share = 1.0 - bins[0] / counts[SEEN]
        counts[SEEN] += 1.0
        counts[EXAMPLES] += 1.0
        bins[place] += 1
        p = (larger + _uniform(counts[EXAMPLES]) * bins[place]) / counts[SEEN]
        asleep = _asleep(counts[SEEN])
        begins = _asleep(counts[SEEN] - 1.0) - asleep
        half = sqrt(p)
        quarter = sqrt(half)
        eighth = sqrt(quarter)
        capital[0] = (capital[0] + begins) * 0.9375 / sqrt(eighth)
        capital[1] = (capital[1] + begins) * 0.875 / eighth
        capital[2] = (capital[2] + begins) * 0.75 / quarter
        capital[3] = (capital[3] + begins) * 0.5 / half
        capital[4] = (capital[4] + begins) * 0.25 / (half * quarter)
        capital[5] = (capital[5] + begins) * (1.25 - 0.5 * p)
        capital[6] = (capital[6] + begins) * (2.0 - 2.0 * p)
        for k in range(len(ODDS)):
            place = OTHERS + k
            won = ODDS[k] if p < share else 1.0
            capital[place] = (capital[place] + begins) * won / (1.0 + (ODDS[k] - 1.0) * share)
        total = 0.0
        for k in range(BETS):
            total += capital[k]
        number = counts[ALARMS] + 1.0
        if (asleep + total / BETS) * rate >= number * (number + 1.0):
            return i + 1, True
        counts[SUM] += errors[i]
    return len(errors), False


class Alarm:
    """Test martingale on the errors of predictions: mistakes (0 or 1), or absolute errors.

    >>> alarm = Alarm(0.01)
    >>> alarm.add(np.zeros(1000))
    []
    >>> [event.example for event in alarm.add(np.ones(100))]
    [1005]
    """

    @ranged
    def __init__(self, rate: Rate = 0.01) -> None:
        self.rate = float(rate)
        self.events: deque[Drift] = deque(maxlen=MOST_EVENTS)  # the last alarms
        self.counts, self.bins, self.capital = np.zeros(4), np.zeros(BINS, np.int64), np.zeros(BETS)

    @property
    def stated(self) -> float:
        """The given rate, of all that is watched."""
        return self.rate

    def see(self, model: Any, block: Any) -> None:
        """Watch the features of a block, where inputs are watched."""

    @property
    def raised(self) -> int:
        """Number of alarms so far."""
        return int(self.counts[ALARMS])

    @property
    def examples(self) -> int:
        """Number of errors so far."""
        return int(self.counts[EXAMPLES])

    def add(self, errors: np.ndarray) -> list[Drift]:
        """Bet on errors (n,) float64 in their order; return the alarms that they raised."""
        raised = []
        while len(errors):
            taken, alarm = watch(errors, self.rate, self.counts, self.bins, self.capital)
            errors = errors[taken:]
            if alarm:
                before = float(self.counts[SUM] / max(1.0, self.counts[SEEN] - 1.0))
                raised.append(Drift(int(self.counts[EXAMPLES]), before))
                self.counts[:] = 0.0, self.counts[EXAMPLES], self.counts[ALARMS] + 1.0, 0.0
                self.bins[:], self.capital[:] = 0, 0.0
        self.events += raised
        return raised

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        places = np.flatnonzero(self.bins)
        return {
            "rate": self.rate,
            "counts": self.counts.tolist(),
            "bins": [places.tolist(), self.bins[places].tolist()],
            "capital": self.capital.tolist(),
            "events": [list(event) for event in self.events],
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Alarm:
        """Return the alarm that gave `to_json`; raise ValueError, or an error of types, if it is not sound."""
        found = cls(float(stored["rate"]))
        found._restore(stored)
        return found

    def _restore(self, stored: dict[str, Any]) -> None:
        places, numbers = stored["bins"]
        if places and not 0 <= min(places) <= max(places) < BINS:
            raise ValueError("bins of errors that are none")
        self.bins[places] = numbers
        _fill(self.counts, stored["counts"])
        capital = stored["capital"]
        _fill(self.capital[: len(capital)] if len(capital) == OTHERS else self.capital, capital)  # of version 0.2.0
        self.events += [Drift(int(example), float(before)) for example, before in stored["events"]]


def _fill(array: np.ndarray, numbers: Sequence[float]) -> None:
    given = np.array(numbers, np.float64)
    if given.shape != array.shape or not (given >= 0.0).all():
        raise ValueError("numbers of an alarm that it cannot have")
    array[:] = given
