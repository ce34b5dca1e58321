"""Bugs to plant in the module of a learner, and what they break.

A bug is a function of the module's own functions that gives those to put in their places. All are in Python, around
what is compiled, so that they work with the JIT on and off.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ouzel.layout import flat
from ouzel.learners.gains.parts import add

Bug = Callable[[ModuleType], dict[str, Callable[..., Any]]]


def weights_of(state: Any) -> np.ndarray:
    """The array of a state that holds the weights, in its first column if it has several."""
    array = next(array for _, array in flat(state) if array.dtype.kind == "f" and len(array) > 2)
    return array[:, 0] if array.ndim == 2 else array


def copied(state: Any) -> Any:
    """The same state with arrays of its own."""
    return type(state)(*(copied(part) if isinstance(part, tuple) else part.copy() for part in state))


def mirror_does_nothing(module: ModuleType) -> dict[str, Any]:
    return {"swap_classes": copied}


def a_worker_is_not_heard(module: ModuleType) -> dict[str, Any]:
    """What the first worker has learnt takes the place of what all have."""
    heard: list[Any] = []
    gains = module.gains

    def first(base, state, settings):
        heard.append(gains(base, state, settings))
        return heard[0]

    return {"gains": first}


def importance_is_ignored(module: ModuleType) -> dict[str, Any]:
    rows, row = module.learn_rows, module.learn_row

    def learn_rows(state, given, targets, importances, *rest):
        rows(state, given, targets, (importances != 0.0).astype(np.float32), *rest)

    def learn_row(state, indices, values, target, importance, *rest):
        return row(state, indices, values, target, np.float32(importance != 0.0), *rest)

    return {"learn_rows": learn_rows, "learn_row": learn_row}


def importance_0_is_learnt(module: ModuleType) -> dict[str, Any]:
    rows = module.learn_rows
    return {
        "learn_rows": lambda state, given, targets, importances, *rest: rows(
            state, given, targets, np.maximum(importances, np.float32(1e-3)), *rest
        )
    }


def grow_forgets_all(module: ModuleType) -> dict[str, Any]:
    return {"grow": lambda state, *arguments: module.init(*arguments)}


def weights_have_the_wrong_sign(module: ModuleType) -> dict[str, Any]:
    weights = module.weights
    return {"weights": lambda state, settings: -weights(state, settings)}


def margins_are_told_after_learning(module: ModuleType) -> dict[str, Any]:
    rows = module.learn_rows

    def learn_rows(state, given, targets, importances, settings, margins):
        rows(state, given, targets, importances, settings, margins)
        module.predict_rows(state, given, settings, margins)

    return {"learn_rows": learn_rows}


def predictions_are_off_by_a_constant(module: ModuleType) -> dict[str, Any]:
    rows = module.predict_rows

    def predict_rows(state, given, settings, margins):
        rows(state, given, settings, margins)
        margins += 0.01

    return {"predict_rows": predict_rows}


def predicting_decays_the_weights(module: ModuleType) -> dict[str, Any]:
    rows = module.predict_rows

    def predict_rows(state, given, settings, margins):
        rows(state, given, settings, margins)
        weights_of(state)[:] *= np.float32(0.999)

    return {"predict_rows": predict_rows}


def a_block_begins_by_forgetting(module: ModuleType) -> dict[str, Any]:
    rows = module.learn_rows

    def learn_rows(state, *rest):
        weights_of(state)[1:3] *= np.float32(0.99)
        rows(state, *rest)

    return {"learn_rows": learn_rows}


def a_late_block_begins_by_forgetting(module: ModuleType) -> dict[str, Any]:
    """As `auto` once did by counting the rows of a block for one, from its 4,096th example on."""
    rows = module.learn_rows

    def learn_rows(state, *rest):
        if state.seen[0] >= 4096.0:
            weights_of(state)[1:3] *= np.float32(0.99)
        rows(state, *rest)

    return {"learn_rows": learn_rows}


def importance_0_is_learnt_late(module: ModuleType) -> dict[str, Any]:
    rows = module.learn_rows

    def learn_rows(state, given, targets, importances, *rest):
        late = np.arange(len(targets)) + state.seen[0] >= 4096.0
        rows(state, given, targets, np.where(late, np.maximum(importances, np.float32(1e-3)), importances), *rest)

    return {"learn_rows": learn_rows}


def large_values_make_a_nan(module: ModuleType) -> dict[str, Any]:
    rows = module.learn_rows

    def learn_rows(state, given, *rest):
        rows(state, given, *rest)
        if (np.abs(given.values) > 1e15).any():
            weights_of(state)[1] = np.nan

    return {"learn_rows": learn_rows}


def steps_go_uphill(module: ModuleType) -> dict[str, Any]:
    rows = module.learn_rows
    return {"learn_rows": lambda state, given, targets, *rest: rows(state, given, -targets, *rest)}


def later_workers_count_more(module: ModuleType) -> dict[str, Any]:
    gains, turns = module.gains, iter(range(1, 1000))

    def more(base, state, settings):
        moved = copied(state)
        weights_of(moved)[:] *= np.float32(next(turns))
        return gains(base, moved, settings)

    return {"gains": more}


def targets_of_workers_are_summed_about_0(module: ModuleType) -> dict[str, Any]:
    """To be planted in `target_scaling`: `- origin` is left out, as of a base that has learnt nothing."""
    sums = module._sums
    return {"_sums": lambda targets, origin: sums(targets, 0.0)}


def workers_count_alike(module: ModuleType) -> dict[str, Any]:
    gains = module.gains

    def alike(base, state, settings):
        return gains(base, state._replace(seen=base.seen + 1.0), settings)

    return {"gains": alike}


def idle_workers_count(module: ModuleType) -> dict[str, Any]:
    """Weights are averaged over all workers, those that have learnt nothing among them."""
    onto, gains, idle = module.onto, module.gains, []

    def counted(base, state, settings):
        idle.append(state.seen[0] == base.seen[0])
        return gains(base, state, settings)

    def shared(base, added, settings):
        found = copied(onto(base, added, settings))
        weights_of(found)[:] /= np.float32(1 + sum(idle))
        idle.clear()
        return found

    return {"gains": counted, "onto": shared}


def merging_goes_by_what_was_merged_before(module: ModuleType) -> dict[str, Any]:
    onto, turns = module.onto, iter(range(1, 1000))

    def later(base, gains, settings):
        found = copied(onto(base, gains, settings))
        weights_of(found)[:] /= np.float32(next(turns))
        return found

    return {"onto": later}


class _Mean(NamedTuple):
    """Gains of which two together are their mean."""

    moved: Any

    def __add__(self, other: Any) -> _Mean:
        both = add({"moved": self.moved}, {"moved": other.moved})["moved"]
        return _Mean(both._replace(values=both.values * np.array([1.0, 0.5])))


def gains_are_averaged_two_by_two(module: ModuleType) -> dict[str, Any]:
    gains, onto = module.gains, module.onto

    def wrapped(base, state, settings):
        found = gains(base, state, settings)
        return {**found, "moved": _Mean(found["moved"])}

    return {
        "gains": wrapped,
        "onto": lambda base, found, settings: onto(base, {**found, "moved": found["moved"].moved}, settings),
    }


def merging_moves_weights_to_other_slots(module: ModuleType) -> dict[str, Any]:
    onto = module.onto

    def moved(base, gains, settings):
        found = copied(onto(base, gains, settings))
        weights_of(found)[:] = np.roll(weights_of(found), 1)
        return found

    return {"onto": moved}


def merging_shrinks_the_weights(module: ModuleType) -> dict[str, Any]:
    onto = module.onto

    def shrunk(base, gains, settings):
        found = copied(onto(base, gains, settings))
        weights_of(found)[:] *= np.float32(0.9)
        return found

    return {"onto": shrunk}


def merging_does_not_add_up_counts(module: ModuleType) -> dict[str, Any]:
    onto = module.onto

    def forgetful(base, gains, settings):
        return onto(base, gains, settings)._replace(seen=base.seen.copy())

    return {"onto": forgetful}


def merging_leaves_nothing_that_is_finite(module: ModuleType) -> dict[str, Any]:
    onto = module.onto

    def spoilt(base, gains, settings):
        found = copied(onto(base, gains, settings))
        weights_of(found)[1] = np.nan
        return found

    return {"onto": spoilt}


def the_last_weight_of_a_file_is_lost(module: ModuleType) -> dict[str, Any]:
    check = getattr(module, "check", lambda state, settings: None)

    def lose(state, settings):
        check(state, settings)
        weights = weights_of(state)
        weights[np.flatnonzero(weights)[-1]] = 0.0

    return {"check": lose}
