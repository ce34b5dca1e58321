"""Classifiers within a byte budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ouzel.errors import OuzelError
from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named

PLAIN = {"loss": "logistic", "l1": 0.0, "per_feature": False, "cell_bits": 32}  # of noise-contrastive estimation


@dataclass(kw_only=True, eq=False, repr=False)
class _Budgeted(Named, Classifier):
    """Parameters that every budgeted learner has.

    Parameters
    ----------
    loss : "logistic", "smoothed-hinge", "squared", …, or a loss term
    budget : bytes, a number or a size such as "8KB"; with more than two classes each has so many
    learning_rate, schedule : first step, and "inverse-time" (the authors' code), "inverse-root" or "constant"
    l2 : strength of the ridge penalty
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`; the seed is the sketch's, too
    """

    loss: Any = "logistic"
    budget: Any = "8KB"
    learning_rate: float = 0.1
    schedule: Any = "inverse-time"
    l2: float = 1e-6

    @property
    def coef_(self) -> Any:
        """Not known: a budget has no list of its features; see `top_weights`."""
        raise AttributeError("a byte budget keeps no weight vector; ask for top_weights")


@dataclass(kw_only=True, eq=False, repr=False)
class AWMSketchClassifier(_Budgeted):
    """Active-Set Weight-Median Sketch (Tai, Sharan, Bailis & Valiant 2018): heavy weights exact, others sketched.

    Parameters
    ----------
    heap_size, width, depth : of the active set and the sketch, instead of what the budget gives; 0 for that
    noise : 0, or with many classes how many are drawn for an example to be learnt against, by noise-contrastive
        estimation, instead of all
    l1 : strength of the l1 penalty, on the sketch as well (section 6.1)
    per_feature : AdaGrad's rates, a second number a cell out of the same budget (section 9)
    cell_bits : 32, or without l1 cells of 8 or 16 bits, rounded at random (section 9)
    loss, budget, learning_rate, schedule, l2 : "logistic", "8KB", 0.1, "inverse-time" and 1e-6 unless given
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`; the seed is the sketch's, too

    Examples
    --------
    >>> model = AWMSketchClassifier(budget="1KB").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.bytes_used_
    1024
    """

    learner = "awm"

    heap_size: int = 0
    width: int = 0
    depth: int = 0
    l1: float = 0.0
    per_feature: bool = False
    cell_bits: int = 32
    noise: int = 0

    @classmethod
    def choice(cls, learner: str) -> dict[str, Any] | None:
        """Return the parameters, other than settings, that choose a learner of the catalogue; None if none do."""
        return {} if learner in ("awm", "awm-nce") else None

    def _learner_name(self) -> str:
        return "awm-nce" if self.noise else "awm"

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if not self.noise:
            del settings["noise"]
            return settings
        for name, only in PLAIN.items():
            if settings.pop(name) != only:
                given = getattr(self, name)
                raise OuzelError(f"noise-contrastive estimation has {name}={only!r}: that, or noise=0; got {given!r}")
        return settings


@dataclass(kw_only=True, eq=False, repr=False)
class WMSketchClassifier(_Budgeted):
    """Weight-Median Sketch (Tai, Sharan, Bailis & Valiant 2018): all weights in a CountSketch.

    Parameters
    ----------
    averaging : recover weights from the mean of the iterates (Theorem 2), for a second table
    radius : of the l2 ball that the sketch is kept in, 0 for none
    epsilon, delta, features : the size by Theorem 1: errors of epsilon ||w||_1 with probability 1 - delta, of so many
        features; of theoretical use alone, far too large in practice; 0 for the size that the budget gives
    heap_size, width, depth, l1, per_feature, cell_bits : see `AWMSketchClassifier`, and there for the others

    Examples
    --------
    >>> model = WMSketchClassifier(budget="2KB").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.bytes_used_
    2048
    """

    learner = "wm"

    heap_size: int = 0
    width: int = 0
    depth: int = 0
    averaging: bool = False
    radius: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.05
    features: int = 262144
    l1: float = 0.0
    per_feature: bool = False
    cell_bits: int = 32


@dataclass(kw_only=True, eq=False, repr=False)
class TruncationClassifier(_Budgeted):
    """The heaviest weights, or a sample in which heavy ones are likelier (Tai et al. 2018, Algorithms 3 and 4).

    Parameters
    ----------
    variant : "simple" or "probabilistic"
    heap_size : features kept, instead of what the budget gives
    loss, budget, learning_rate, schedule, l2 : see `AWMSketchClassifier`

    Examples
    --------
    >>> model = TruncationClassifier(budget="1KB").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "truncation"
    choices = ("variant",)
    learners: ClassVar = {("simple",): "truncation", ("probabilistic",): "probabilistic-truncation"}

    variant: str = "simple"
    heap_size: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class SpaceSavingClassifier(_Budgeted):
    """Weights of the most frequent features, found by SpaceSaving.

    Parameters
    ----------
    heap_size : features kept, instead of what the budget gives
    loss, budget, learning_rate, schedule, l2 : see `AWMSketchClassifier`

    Examples
    --------
    >>> model = SpaceSavingClassifier(budget="1KB").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "space-saving"

    heap_size: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class CountMinClassifier(_Budgeted):
    """Weights of the most frequent features, found by a CountMin sketch and a heap.

    Parameters
    ----------
    heap_size, width, depth : of the heap and the sketch, instead of what the budget gives; 0 for that
    loss, budget, learning_rate, schedule, l2 : see `AWMSketchClassifier`

    Examples
    --------
    >>> model = CountMinClassifier(budget="1KB").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "count-min"

    heap_size: int = 0
    width: int = 0
    depth: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureHashingClassifier(_Budgeted):
    """Feature hashing (Weinberger et al. 2009) within a byte budget; it has no list of heavy features.

    Parameters
    ----------
    loss, budget, learning_rate, schedule, l2 : see `AWMSketchClassifier`

    Examples
    --------
    >>> model = FeatureHashingClassifier(budget="1KB").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "hashing"
