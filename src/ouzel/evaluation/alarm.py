"""Alarms when errors rise, false at most at a stated rate over the whole life of a model.

Each error gets a conformal p-value: its rank among all errors so far, ties broken by chance,

    p = (#{larger ones} + θ #{as large ones, itself among them}) / n, θ uniform.

If errors are exchangeable, p-values are independent and uniform (Vovk, Gammerman & Shafer 2005, "Algorithmic Learning
in a Random World"; Vovk 2021, "Testing Randomness Online", Statistical Science 36), so that the product of bets f(p),
with an integral of 1, is a martingale: by Ville's inequality it ever reaches 1 / rate with at most this probability.
Bets are on small p alone, f falling: the powers κ p^(κ - 1), a line 1 + ε (1 - 2p), and for odds o and a share q

    f(p) = (o if p < q else 1) / (1 + (o - 1) q),

the likelihood ratio of mistakes whose odds are o times as large, where q of the errors are mistakes. So errors that
fall, as those of a model that learns, can but lose. Each bet begins at every example with a part of the capital that
is set aside for it, and 1 - (n + 1)^(-1/8) of it has begun by example n: a change is found late in a stream, too.

A bet must not know the errors that ranks are taken among, or p-values are not uniform given what it knows. So q is the
share of mistakes among *references*: errors that only say what is usual, and never get a rank, about 8 √n of n. Given
these the others are exchangeable still.

Absolute errors of numbers depend on each other by the model. Where labels have few values, a model that moves by a
hundredth moves all errors of a value past those of before, which ranks take for a change. So an error e of a number
is ranked by e² / U with U uniform, and whatever is below a level L is a tie: for c ≥ L

    P(e² / U > c) = E min(e² / c, 1),

a mean square, clipped, which does not change to first order with a model that is near the least mean square. Where
errors are exchangeable, so are e² / U, and the promise stands; where a model moves it is measured
(docs/guarantees.md). L = 4/3 Σ e⁴ / Σ e² of references: nearly all e² are below it. If those since the last look give
half of L, that is L from then on, and ranks begin anew; capital stays.

After an alarm all is counted anew. The k-th alarm may use rate / (k (k + 1)), which adds up to the rate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import floor, frexp, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.evaluation.formatting import figure
from ouzel.kernels.jit import force_inline, kernel
from ouzel.ranges import Range, ranged

Rate = Annotated[float, Range(0.0, 0.5, above=True), "false alarms over the whole life"]
PARTS, OCTAVES = 4, 40  # bins of errors: to a factor of 2, and factors on either side of 1
BINS = 2 * OCTAVES * PARTS + 2  # the first is 0, the last is what is larger, or not a number
ODDS = (1.3, 2.2, 5.0)
OTHERS = 4  # bets: three powers and a line
BETS = OTHERS + len(ODDS)
PARTS_OF_BETS = (0.03, 0.03, 0.03, 0.03, 0.3, 0.48, 0.1)  # of the capital
USUAL, LARGEST = 0.25, 0.5  # share of mistakes: where references have more than the largest, the usual one is bet on
REFERENCES = 8.0  # times the root of the number of examples
SCALING = 64  # first errors of numbers, which give the first L
CHECKED = 128  # references until L is checked for the first time; from then on whenever their number has doubled
LEVELS = 4.0 / 3.0  # L of a mean square of 1, where errors are Gaussian, is 4
OTHER_NUMBERS = 2.0**40  # examples, from which on `_uniform` is that of U
HUGE = 1e75  # larger errors count as this one
SEEN, EXAMPLES, ALARMS, SUM, RANKED, LEVEL, REFERRED, MISTAKES, SQUARES, FOURTHS = range(10)  # places of `counts`
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


@force_inline
def _taken_as_reference(error, numbers, counts, bins):
    """Return whether an error only says what is usual; count it, and begin ranks anew where squares fell to half."""
    seen = counts[SEEN]
    if numbers and seen <= SCALING:
        _add_square(error * error, counts)
        if seen == SCALING:
            counts[LEVEL] = _level_of_squares(counts)
        return True
    if floor(REFERENCES * sqrt(seen)) == floor(REFERENCES * sqrt(seen - 1.0)):
        return False
    counts[REFERRED] += 1.0
    if not numbers:
        counts[MISTAKES] += 1.0 if error > 0.0 else 0.0
        return True
    counts[MISTAKES] += min(1.0, error * error / counts[LEVEL])
    _add_square(error * error, counts)
    referred = int(counts[REFERRED])
    if referred >= CHECKED and referred & (referred - 1) == 0:
        level = _level_of_squares(counts)
        if level < 0.5 * counts[LEVEL]:
            counts[LEVEL], counts[REFERRED], counts[MISTAKES], counts[RANKED] = level, 0.0, 0.0, 0.0
            bins[:] = 0
    return True


@force_inline
def _add_square(square, counts):
    counts[SQUARES] += square
    counts[FOURTHS] += square * square


@force_inline
def _level_of_squares(counts):
    """Return L of the squares since the last call."""
    level = LEVELS * counts[FOURTHS] / counts[SQUARES] if counts[SQUARES] > 0.0 else 0.0
    counts[SQUARES], counts[FOURTHS] = 0.0, 0.0
    return max(level, 1.0 / HUGE)


@kernel
def watch(errors, numbers, rate, counts, bins, capital):
    """Bet on errors until the first alarm; return how many were taken, and whether the last one raised it.

    `numbers` says whether errors are those of numbers, by a model that learns. `counts` (10,) are examples since the
    last alarm and in all, alarms, the sum of errors since, errors that have a rank, L, references, mistakes among
    them, and their sums of squares and of fourth powers; `bins` (BINS,) and `capital` (BETS,) are of those since the
    last alarm. After an alarm the caller counts anew.
    """
    for i in range(len(errors)):
        error = errors[i] if errors[i] < HUGE else HUGE
        counts[SEEN] += 1.0
        counts[EXAMPLES] += 1.0
        asleep = _asleep(counts[SEEN])
        begins = _asleep(counts[SEEN] - 1.0) - asleep
        if _taken_as_reference(error, numbers, counts, bins):
            counts[SUM] += errors[i]
            for k in range(BETS):
                capital[k] += begins
            continue
        if numbers:
            error = max(error * error / (_uniform(counts[EXAMPLES] + OTHER_NUMBERS) * counts[LEVEL]), 1.0)
        place = _bin_of(error)
        larger = 0
        for k in range(place + 1, BINS):
            larger += bins[k]
        counts[RANKED] += 1.0
        bins[place] += 1
        p = (larger + _uniform(counts[EXAMPLES]) * bins[place]) / counts[RANKED]
        share = (counts[MISTAKES] + 1.0) / (counts[REFERRED] + 4.0)
        if share > LARGEST:
            share = USUAL
        half = sqrt(p)
        quarter = sqrt(half)
        capital[0] = (capital[0] + begins) * 0.75 / quarter
        capital[1] = (capital[1] + begins) * 0.5 / half
        capital[2] = (capital[2] + begins) * 0.25 / (half * quarter)
        capital[3] = (capital[3] + begins) * (1.5 - p)
        for k in range(len(ODDS)):
            place = OTHERS + k
            won = ODDS[k] if p < share else 1.0
            capital[place] = (capital[place] + begins) * won / (1.0 + (ODDS[k] - 1.0) * share)
        total = asleep
        for k in range(BETS):
            total += PARTS_OF_BETS[k] * capital[k]
        number = counts[ALARMS] + 1.0
        if total * rate >= number * (number + 1.0):
            return i + 1, True
        counts[SUM] += errors[i]
    return len(errors), False


class Alarm:
    """Test martingale on the errors of predictions: mistakes (0 or 1), or with `numbers` absolute errors.

    Without `numbers` errors may be any numbers that are exchangeable where nothing changes: those of a model that
    does not learn, or values of a feature.

    >>> alarm = Alarm(0.01)
    >>> alarm.add(np.zeros(1000))
    []
    >>> [event.example for event in alarm.add(np.ones(100))]
    [1007]
    """

    @ranged
    def __init__(self, rate: Rate = 0.01, numbers: bool = False) -> None:
        self.rate, self.numbers = float(rate), numbers
        self.events: deque[Drift] = deque(maxlen=MOST_EVENTS)  # the last alarms
        self.counts, self.bins, self.capital = np.zeros(10), np.zeros(BINS, np.int64), np.zeros(BETS)

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
            taken, alarm = watch(errors, self.numbers, self.rate, self.counts, self.bins, self.capital)
            errors = errors[taken:]
            if alarm:
                before = float(self.counts[SUM] / max(1.0, self.counts[SEEN] - 1.0))
                raised.append(Drift(int(self.counts[EXAMPLES]), before))
                examples, alarms = self.counts[[EXAMPLES, ALARMS]]
                self.counts[:], self.bins[:], self.capital[:] = 0.0, 0, 0.0
                self.counts[[EXAMPLES, ALARMS]] = examples, alarms + 1.0
        self.events += raised
        return raised

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        places = np.flatnonzero(self.bins)
        return {
            "rate": self.rate,
            "numbers": self.numbers,
            "counts": self.counts.tolist(),
            "bins": [places.tolist(), self.bins[places].tolist()],
            "capital": self.capital.tolist(),
            "events": [list(event) for event in self.events],
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Alarm:
        """Return the alarm that gave `to_json`; raise ValueError, or an error of types, if it is not sound."""
        alarm = cls(float(stored["rate"]))
        alarm._restore(stored)
        return alarm

    def _restore(self, stored: dict[str, Any]) -> None:
        places, numbers = stored["bins"]
        if places and not 0 <= min(places) <= max(places) < BINS:
            raise ValueError("bins of errors that are none")
        self.bins[places] = numbers
        self.events += [Drift(int(example), float(before)) for example, before in stored["events"]]
        if len(stored["counts"]) == 4:
            self._restore_older(stored)
            return
        self.numbers = bool(stored["numbers"])
        _fill(self.counts, stored["counts"])
        _fill(self.capital, stored["capital"])

    def _restore_older(self, stored: dict[str, Any]) -> None:
        """Go on with the capital and, of mistakes, the ranks of version 0.2.0; numbers begin to be watched anew."""
        _fill(self.counts[:4], stored["counts"])
        of_mistakes = {_bin_of(0.0), _bin_of(1.0)}.issuperset(np.flatnonzero(self.bins).tolist())
        self.numbers = bool(stored.get("numbers", not of_mistakes))
        if self.numbers:
            self.counts[[SEEN, SUM]], self.bins[:] = 0.0, 0
        else:
            self.counts[RANKED] = self.bins.sum()
            capital = np.zeros(len(stored["capital"]))
            _fill(capital, stored["capital"])
            self.capital[:] = capital.mean()


def _fill(array: np.ndarray, numbers: Sequence[float]) -> None:
    given = np.array(numbers, np.float64)
    if given.shape != array.shape or not (given >= 0.0).all():
        raise ValueError("numbers of an alarm that it cannot have")
    array[:] = given
