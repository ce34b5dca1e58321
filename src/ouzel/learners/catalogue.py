"""The learners by the names users give them. Importing this compiles and loads nothing."""

from __future__ import annotations

import difflib
import importlib
from typing import Any, NamedTuple

from ouzel.errors import OuzelError


class Learner(NamedTuple):
    """One entry: where the learner lives and what it is."""

    name: str
    module_name: str  # below ouzel.learners
    summary: str  # one line for the command line's help
    preset: tuple[tuple[str, Any], ...] = ()  # settings that differ from the module's own defaults

    @property
    def module(self) -> Any:
        """The learner's module, imported on first use (this loads Numba)."""
        return importlib.import_module(f"ouzel.learners.{self.module_name}")

    @property
    def multiclass(self) -> bool:
        """Whether one state holds every class."""
        return getattr(self.module, "MULTICLASS", False)

    @property
    def budgeted(self) -> bool:
        """Whether the state keeps to a byte budget and takes any id."""
        return getattr(self.module, "BUDGETED", False)


DEFAULT = "auto"

LEARNERS = {
    learner.name: learner
    for learner in (
        Learner(
            "auto", "auto.classification", "no tuning: models of the first and second order on standardised features"
        ),
        Learner("ogd", "gradient.ogd", "online gradient descent"),
        Learner("adagrad", "gradient.adagrad", "AdaGrad, diagonal, composite mirror descent"),
        Learner("adagrad-rda", "gradient.adagrad_rda", "AdaGrad, diagonal, regularised dual averaging"),
        Learner("rda", "gradient.rda", "regularised dual averaging, one step size for all features"),
        Learner("fobos", "gradient.fobos", "forward-backward splitting, one step size for all features"),
        Learner(
            "adagrad-eager",
            "gradient.adagrad_eager",
            "AdaGrad, diagonal, kept to a ball or under a norm of all weights",
        ),
        Learner(
            "adagrad-eager-rda", "gradient.adagrad_eager", "the same by dual averaging", (("dual_averaging", 1.0),)
        ),
        Learner("adagrad-full", "gradient.adagrad_full", "AdaGrad, full matrix, for up to 2,048 features"),
        Learner("adagrad-full-rda", "gradient.adagrad_full", "the same by dual averaging", (("dual_averaging", 1.0),)),
        Learner("adagrad-block", "gradient.adagrad_block", "AdaGrad, block-diagonal matrix"),
        Learner(
            "adagrad-block-rda", "gradient.adagrad_block", "the same by dual averaging", (("dual_averaging", 1.0),)
        ),
        Learner("adagrad-multiclass", "gradient.adagrad_multiclass", "AdaGrad, a weight row a class, mixed norms"),
        Learner(
            "rda-multiclass", "gradient.adagrad_multiclass", "the same with one step size for all", (("adaptive", 0.0),)
        ),
        Learner("ons", "newton.online_newton", "online Newton, full matrix, for up to 2,048 features"),
        Learner(
            "ons-invariant", "newton.online_newton_invariant", "the same, unchanged by linear maps of the features"
        ),
        Learner("son-oja", "newton.sketched_oja", "sketched online Newton, Oja's sketch"),
        Learner("son-fd", "newton.sketched_fd", "sketched online Newton, Frequent Directions"),
        Learner("elementwise-ons", "margin.elementwise_newton", "online Newton step by element-wise multiplication"),
        Learner("perceptron", "margin.perceptron", "the perceptron"),
        Learner(
            "perceptron-uniform", "margin.perceptron_uniform", "the perceptron that blames all wrong classes alike"
        ),
        Learner("ogd-multiclass", "margin.ogd_multiclass", "online gradient descent on the multiclass hinge"),
        Learner("pa", "margin.passive_aggressive", "passive-aggressive"),
        Learner("pa1", "margin.passive_aggressive", "passive-aggressive I, steps at most C", (("variant", 1.0),)),
        Learner("pa2", "margin.passive_aggressive", "passive-aggressive II, squared slack", (("variant", 2.0),)),
        Learner("romma", "margin.romma", "relaxed online maximum margin"),
        Learner("aromma", "margin.romma", "aggressive relaxed online maximum margin", (("aggressive", 1.0),)),
        Learner("alma", "margin.alma", "approximate large margin, by a p-norm"),
        Learner("sop", "gaussian.second_order_perceptron", "second-order perceptron"),
        Learner("cw", "gaussian.confidence_weighted", "confidence-weighted, by the standard deviation"),
        Learner(
            "cw-variance",
            "gaussian.confidence_weighted",
            "confidence-weighted, by the variance",
            (("by_variance", 1.0),),
        ),
        Learner("arow", "gaussian.arow", "adaptive regularisation of weights"),
        Learner("scw1", "gaussian.soft_confidence_weighted", "soft confidence-weighted I"),
        Learner("scw2", "gaussian.soft_confidence_weighted", "soft confidence-weighted II", (("squared", 1.0),)),
        Learner("narow", "gaussian.narow", "AROW with a regularisation that follows the variance"),
        Learner("nherd", "gaussian.nherd", "normal herding"),
        Learner("iellip", "gaussian.iellip", "improved ellipsoid method"),
        Learner(
            "sop-full", "gaussian.second_order_perceptron_full", "sop with the full matrix, for up to 4,096 features"
        ),
        Learner("cw-full", "gaussian.confidence_weighted", "cw with a full covariance", (("full", 1.0),)),
        Learner(
            "cw-variance-full",
            "gaussian.confidence_weighted",
            "cw-variance with a full covariance",
            (("by_variance", 1.0), ("full", 1.0)),
        ),
        Learner("arow-full", "gaussian.arow", "arow with a full covariance", (("full", 1.0),)),
        Learner("scw1-full", "gaussian.soft_confidence_weighted", "scw1 with a full covariance", (("full", 1.0),)),
        Learner(
            "scw2-full",
            "gaussian.soft_confidence_weighted",
            "scw2 with a full covariance",
            (("squared", 1.0), ("full", 1.0)),
        ),
        Learner("narow-full", "gaussian.narow", "narow with a full covariance", (("full", 1.0),)),
        Learner("nherd-full", "gaussian.nherd", "nherd with a full covariance", (("full", 1.0),)),
        Learner("iellip-full", "gaussian.iellip", "iellip with a full covariance", (("full", 1.0),)),
        Learner("unbounded", "budget.unbounded", "logistic regression with no budget, its heaviest weights in a heap"),
        Learner("wm", "budget.wm", "Weight-Median Sketch within a byte budget"),
        Learner("awm", "budget.awm", "Active-Set Weight-Median Sketch within a byte budget"),
        Learner("awm-nce", "budget.awm_nce", "one awm a class, for many classes: learns the true and some drawn ones"),
        Learner("truncation", "budget.truncation", "the heaviest weights, within a byte budget"),
        Learner(
            "probabilistic-truncation", "budget.probabilistic_truncation", "a sample of weights, heavy ones more likely"
        ),
        Learner("space-saving", "budget.space_saving", "weights of frequent features, by SpaceSaving"),
        Learner("count-min", "budget.count_min", "weights of frequent features, by a CountMin sketch"),
        Learner("hashing", "budget.hashing", "feature hashing within a byte budget"),
    )
}
"""Every learner by name, in the order of the documentation."""


def find(name: str) -> Learner:
    """The learner of that name.

    >>> find("ogd").summary
    'online gradient descent'
    >>> find("adagrid")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: there is no learner 'adagrid'; did you mean 'adagrad'? ...
    """
    if name in LEARNERS:
        return LEARNERS[name]
    close = difflib.get_close_matches(name, LEARNERS, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise OuzelError(f"there is no learner {name!r}; {hint}Known: {', '.join(LEARNERS)}")
