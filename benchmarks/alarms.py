"""Alarms compared with River's detectors: false alarms, and examples until a change of the error rate is found.

`python benchmarks/alarms.py`: mistakes (0 or 1) of 40 streams each. First 20,000 examples without a change, in which
all should be quiet; then the rate of mistakes rises. ADWIN and Page-Hinkley as River has them, and with a setting that
makes as few false alarms as ours here: the first of a list that does. KSWIN (`--kswin`) takes ten minutes a change.
`--series`: absolute errors of the default that predicts the next difference of the annotated series of River's package.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from river import drift

from ouzel.evaluation.alarm import Alarm
from reproduce.benchmarks.change_points import LAGS, SERIES, THINNED, of_differences, series_of
from reproduce.provenance import DataFolder

QUIET, AFTER, STREAMS, RATE = 20_000, 20_000, 40, 0.01
CHANGES = ((0.05, 0.1), (0.1, 0.13), (0.1, 0.2), (0.3, 0.5))
Found = tuple[int, list[float]]  # streams with a false alarm; examples until the alarm, of the others
DETECTORS: dict[str, tuple[Callable[[Any], Any], Iterable[Any]]] = {
    "ADWIN": (lambda delta: drift.ADWIN(delta=delta), (0.002, 1e-4, 1e-6, 1e-8, 1e-12, 1e-16)),
    "Page-Hinkley": (lambda limit: drift.PageHinkley(threshold=limit), (50.0, 100.0, 200.0, 400.0)),
}

KSWIN: dict[str, tuple[Callable[[Any], Any], Iterable[Any]]] = {
    "KSWIN": (lambda alpha: drift.KSWIN(alpha=alpha, seed=1), (0.005, 1e-4, 1e-6, 1e-8, 1e-12)),
}


def streams(before: float, after: float) -> Iterable[np.ndarray]:
    """Yield the mistakes of each stream."""
    for seed in range(STREAMS):
        random = np.random.default_rng(seed)
        yield np.concatenate([random.random(QUIET) < before, random.random(AFTER) < after]).astype(np.float64)


def ours(errors: np.ndarray) -> int | None:
    """Return the example of the first alarm."""
    events = Alarm(RATE).add(errors)
    return events[0].example if events else None


def of_river(make: Callable[[], Any], errors: np.ndarray) -> int | None:
    """Return the example at which a detector of River first finds a change."""
    detector = make()
    for example, error in enumerate(errors.tolist(), start=1):
        detector.update(error)
        if detector.drift_detected:
            return example
    return None


def tried(find: Callable[[np.ndarray], int | None], before: float, after: float) -> Found:
    """Return the false alarms and the delays of a detector."""
    false, delays = 0, []
    for errors in streams(before, after):
        example = find(errors)
        if example is not None and example <= QUIET:
            false += 1
        else:
            delays.append(np.inf if example is None else example - QUIET)
    return false, delays


def shown(name: str, setting: str, found: Found) -> str:
    """Return a line of the table."""
    false, delays = found
    median = float(np.median(delays)) if delays else np.inf
    return f"| {name} | {setting} | {false} of {STREAMS} | {'-' if not np.isfinite(median) else f'{median:,.0f}'} |"


def all_of_river(make: Callable[[], Any], errors: np.ndarray) -> list[int]:
    """Return the examples of all alarms of a detector of River."""
    detector, found = make(), []
    for example, error in enumerate(errors.tolist(), start=1):
        detector.update(error)
        if detector.drift_detected:
            found.append(example)
    return found


def print_series() -> None:
    """Print alarms and annotated change points of each series by step; Ouzel learns differences of values."""
    print("| series | steps | marked | Ouzel | ADWIN | KSWIN |\n| --- | ---: | --- | --- | --- | --- |")
    for name in SERIES:
        series = series_of(DataFolder(Path()), name)
        X, y = series.rows()
        errors = np.abs(of_differences(X, y) - y)[1:]
        ours = [event.example for event in Alarm(RATE, numbers=True).add(errors)]
        found = [ours, *(all_of_river(make, errors) for make in (drift.ADWIN, lambda: drift.KSWIN(seed=1)))]
        shown = [", ".join(f"{example + LAGS + 1}" for example in examples) or "-" for examples in found]
        marks = "in another copy" if name in THINNED else ", ".join(map(str, series.marked))
        print(f"| {series.name} | {len(series.values):,} | {marks} | {' | '.join(shown)} |")


def main() -> None:
    """Print a table for each change, or of the series."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kswin", action="store_true", help="KSWIN as well")
    parser.add_argument("--series", action="store_true", help="annotated series in place of simulated mistakes")
    given = parser.parse_args()
    if given.series:
        print_series()
        return
    detectors = {**DETECTORS, **(KSWIN if given.kswin else {})}
    for before, after in CHANGES:
        print(f"\nmistakes rise from {before:.0%} to {after:.0%} after {QUIET:,} examples\n")
        print("| detector | setting | false alarms | median examples until the alarm |\n| --- | --- | ---: | ---: |")
        own = tried(ours, before, after)
        print(shown("Ouzel", f"rate {RATE:g}", own), flush=True)
        for name, (make, settings) in detectors.items():
            for number, setting in enumerate(settings):
                found = tried(lambda errors, m=make, s=setting: of_river(lambda: m(s), errors), before, after)
                enough = found[0] <= own[0]
                if number == 0 or enough:
                    print(shown(name, f"{setting:g}" + (", River's" if number == 0 else ""), found), flush=True)
                if enough:
                    break


if __name__ == "__main__":
    main()
