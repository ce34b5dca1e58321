"""Passive-aggressive learning: PA, PA-I and PA-II.

Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online Passive-Aggressive Algorithms", JMLR 7, Figure 1, and
section 8 for several classes. With the loss l = max(0, 1 - (s_y - s_r)) and the pair's square norm n = 2 x'x,
    w_y <- w_y + tau x,    w_r <- w_r - tau x,
    tau = l / n (PA),    min(C, l / n) (PA-I),    l / (n + 1 / (2 C)) (PA-II):
the nearest weights without loss, or those for which half the squared distance and the price, C l or C l^2, are least.
With two classes the distance is that of w_1 - w_0, whose square is twice that of the two rows: C / 2 stands for C.
An importance weight multiplies C in PA-I and PA-II; PA knows no price, and one above 0 changes nothing there.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ouzel.learners.margin.rule import (
    MULTICLASS,
    State,
    grow,
    init,
    layout,
    learn_row,
    learn_rows,
    merge,
    predict_row,
    predict_rows,
    step,
    weights,
)
from ouzel.learners.shared_settings import Aggressiveness
from ouzel.ranges import Choice

__all__ = ["MULTICLASS", "Settings", "State", "grow", "init", "layout", "learn_row", "learn_rows", "merge"]
__all__ += ["predict_row", "predict_rows", "weights"]


class Settings(NamedTuple):
    aggressiveness: Aggressiveness = 1.0
    variant: Annotated[float, Choice(("pa", "pa1", "pa2")), "the rule"] = 0.0


@step.of(Settings)
def _(settings, case):
    loss, norm = 1.0 - case.margin, 2.0 * case.square
    price = case.importance * settings.aggressiveness * (0.5 if case.classes == 2 else 1.0)
    if not (loss > 0.0 and norm > 0.0 and price > 0.0):
        return 0.0
    if settings.variant == 2.0:
        return loss / (norm + 0.5 / price)
    return min(price, loss / norm) if settings.variant == 1.0 else loss / norm
