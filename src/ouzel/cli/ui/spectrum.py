"""Spectrum of the sketch of a Newton method: eigenvalues, condition number and directions by feature name."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.evaluation.formatting import figure
from ouzel.learners.protocol import Conditioned, Spectral
from ouzel.model.answers import heaviest_slots
from ouzel.model.model import Model


def states_shown(model: Model) -> list[Any]:
    """Return the states in the order of the shown classes; a state of all classes is repeated for each."""
    if len(model.states) == 1:
        return model.states * model.columns
    return [model.states[k] for k in model.classes.order()]


def spectrum(model: Model, state: Any) -> dict[str, Any]:
    """Return the eigenvalues of the sketch, largest first, and the condition number of the metric, if it has them."""
    module, found = model.module, {}
    if isinstance(module, Spectral) and model.examples:
        found["eigenvalues"] = np.sort(module.eigenvalues(state))[::-1].tolist()
    if isinstance(module, Conditioned):
        found["condition_number"] = module.condition_number(state, model.settings)
    return found


def spectrum_lines(found: dict[str, Any]) -> list[str]:
    """Return the lines of a spectrum."""
    lines = []
    if "eigenvalues" in found:
        shown = " ".join(f"{value:.3g}" for value in found["eigenvalues"])
        lines += textwrap.wrap(f"eigenvalues of the sketch: {shown or 'none'}", 79, subsequent_indent="  ")
    if "condition_number" in found:
        lines.append(f"effective condition number: {figure(found['condition_number'])}")
    return lines


def direction(model: Model, state: Any, number: int, n: int) -> list[tuple[str, float]]:
    """Return the n largest (feature, component) of a direction of the sketch; number 1 has the largest eigenvalue."""
    module = model.module
    if not isinstance(module, Spectral):
        raise OuzelError(f"--direction is for a model with a sketch, such as son-oja; this is {model.learner.name}")
    order = np.argsort(-module.eigenvalues(state), kind="stable")
    if not 1 <= number <= len(order):
        raise OuzelError(f"--direction takes a number from 1 to {len(order)}, the sketch's size; got {number}")
    slots, components = heaviest_slots(module.directions(state)[order[number - 1], : model.dimension], n)
    return [(str(model.feature_name(int(slot) - 1)), float(part)) for slot, part in zip(slots, components, strict=True)]
