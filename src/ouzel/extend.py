"""Building blocks of learners and losses in other packages: these names stay (docs/stability.md).

A learner is a module with `State`, `Settings`, `layout`, `init`, `grow`, `learn_row`, `learn_rows`, `predict_rows`,
`swap_classes`, `weights`, `gains` and `onto`; a loss a NamedTuple with a `value`, a `derivative` and a `curvature`.

Examples
--------
>>> from ouzel.extend import Squared, derivative
>>> derivative(Squared(), 3.0, 1.0)
2.0
"""

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, int64, made_from, uint32
from ouzel.learners.catalogue import register
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.limits import bounded, margin_of
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import Loss, Rate
from ouzel.learners.states import negating
from ouzel.ranges import Range
from ouzel.terms.losses import Hinge, Logistic, Squared, curvature, derivative, value

__all__ = [
    "Hinge",
    "Logistic",
    "Loss",
    "Range",
    "Rate",
    "Squared",
    "averaging",
    "bounded",
    "curvature",
    "derivative",
    "float32",
    "float64",
    "force_inline",
    "int64",
    "kernel",
    "learning_margins",
    "made_from",
    "margin_of",
    "negating",
    "predicting_margins",
    "register",
    "uint32",
    "value",
]
