"""The learners by the names users give them. Importing this compiles and loads nothing."""

from __future__ import annotations

import importlib
import re
import reprlib
from typing import Any, NamedTuple

from ouzel.errors import OuzelError, suggest
from ouzel.learners import protocol


class Learner(NamedTuple):
    """One entry: where the learner lives and what it is."""

    name: str
    module_name: str  # below ouzel.learners
    summary: str  # one line for the command line's help
    preset: tuple[tuple[str, Any], ...] = ()  # settings that differ from the defaults of their class
    rule: str = ""  # below ouzel.learners: one rule of a family that the module is, and the class of its settings
    package: str = "ouzel.learners."  # what the modules are below; empty for a learner from outside

    @property
    def module(self) -> Any:
        """The learner's functions, imported on first use (this loads Numba)."""
        return importlib.import_module(self.package + self.module_name)

    def functions_for(self, task: str, loss: Any, settings: Any = None) -> Any:
        """The functions that learn a task by a loss and settings: the module's, unless it has others for some."""
        module = self.module
        return module.module_for(task, loss, settings) if isinstance(module, protocol.ChosenByTask) else module

    @property
    def settings(self) -> Any:
        """The class of its settings, which chooses the rule as well."""
        if not self.package:
            return self.module.Settings
        family, file, *name = (self.rule or self.module_name).split(".")
        return getattr(importlib.import_module(f"{self.package}{family}.{file}"), *(name or ["Settings"]))

    @property
    def multiclass(self) -> bool:
        """Whether one state holds every class."""
        return isinstance(self.module, protocol.Multiclass)

    @property
    def budgeted(self) -> bool:
        """Whether the state keeps to a byte budget and takes any id."""
        return isinstance(self.module, protocol.Budgeted)


DEFAULT = "auto"


def _learner(name: str, home: str, summary: str, **preset: Any) -> Learner:
    """One that has a file of its own."""
    return Learner(name, home, summary, tuple(preset.items()))


def _rule(name: str, home: str, summary: str, **preset: Any) -> Learner:
    """One rule of a family, which its settings choose; the rest is in `rule.py` of its folder."""
    return Learner(name, f"{home.split('.')[0]}.rule", summary, tuple(preset.items()), home)


LEARNERS = {
    learner.name: learner
    for learner in (
        _learner(
            "auto", "auto.classification", "no tuning: models of the first and second order on standardised features"
        ),
        _learner("ogd", "gradient.ogd", "online gradient descent"),
        _learner("adagrad", "gradient.adagrad", "AdaGrad, diagonal, composite mirror descent"),
        _learner("adagrad-rda", "gradient.adagrad_rda", "AdaGrad, diagonal, regularised dual averaging"),
        _learner("ftrl-proximal", "gradient.ftrl_proximal", "follow the regularised leader, l1 and l2, per coordinate"),
        _learner("coin-betting", "gradient.coin_betting", "coin betting in continuous time: no step size to tune"),
        _learner("metagrad", "gradient.metagrad", "MetaGrad: many learning rates, weighted by how well each does"),
        _learner("rda", "gradient.rda", "regularised dual averaging, one step size for all features"),
        _learner("fobos", "gradient.fobos", "forward-backward splitting, one step size for all features"),
        _learner(
            "adagrad-eager",
            "gradient.adagrad_eager",
            "AdaGrad, diagonal, kept to a ball or under a norm of all weights",
        ),
        _learner("adagrad-eager-rda", "gradient.adagrad_eager", "the same by dual averaging", dual_averaging=True),
        _learner("adagrad-full", "gradient.adagrad_full", "AdaGrad, full matrix, for up to 2,048 features"),
        _learner("adagrad-full-rda", "gradient.adagrad_full", "the same by dual averaging", dual_averaging=True),
        _learner("adagrad-block", "gradient.adagrad_block", "AdaGrad, block-diagonal matrix"),
        _learner("adagrad-block-rda", "gradient.adagrad_block", "the same by dual averaging", dual_averaging=True),
        _learner(
            "sketched-adagrad",
            "gradient.sketched_adagrad",
            "AdaGrad, full matrix from a sketch, Frequent Directions",
            learning_rate=0.5,
            curvature=1.0,
            diagonal=False,
        ),
        _learner("adagrad-multiclass", "gradient.adagrad_multiclass", "AdaGrad, a weight row a class, mixed norms"),
        _learner(
            "rda-multiclass", "gradient.adagrad_multiclass", "the same with one step size for all", adaptive=False
        ),
        _learner("ons", "newton.online_newton", "online Newton, full matrix, for up to 2,048 features"),
        _learner(
            "ons-invariant", "newton.online_newton_invariant", "the same, unchanged by linear maps of the features"
        ),
        _learner("aioli", "newton.aioli", "improper logistic regression, full matrix, for up to 2,048 features"),
        _learner("son-oja", "newton.sketched_oja", "sketched online Newton, Oja's sketch"),
        _learner("son-fd", "newton.sketched_fd", "sketched online Newton, Frequent Directions", learning_rate=6.0),
        _learner("son-rp", "newton.sketched_rp", "sketched online Newton, a random projection"),
        _learner("elementwise-ons", "margin.elementwise_newton", "online Newton step by element-wise multiplication"),
        _rule("perceptron", "margin.perceptron", "the perceptron"),
        _learner(
            "perceptron-uniform", "margin.perceptron_uniform", "the perceptron that blames all wrong classes alike"
        ),
        _rule("ogd-multiclass", "margin.ogd_multiclass", "online gradient descent on the multiclass hinge"),
        _rule("pa", "margin.passive_aggressive.PA", "passive-aggressive"),
        _rule("pa1", "margin.passive_aggressive.PA1", "passive-aggressive I, steps at most C"),
        _rule("pa2", "margin.passive_aggressive.PA2", "passive-aggressive II, squared slack"),
        _learner("romma", "margin.romma", "relaxed online maximum margin"),
        _learner("aromma", "margin.romma", "aggressive relaxed online maximum margin", aggressive=True),
        _learner("alma", "margin.alma", "approximate large margin, by a p-norm"),
        _learner("sop", "gaussian.second_order_perceptron", "second-order perceptron"),
        _rule("cw", "gaussian.confidence_weighted", "confidence-weighted, by the standard deviation"),
        _rule("cw-variance", "gaussian.confidence_weighted", "confidence-weighted, by the variance", by_variance=True),
        _rule("arow", "gaussian.arow", "adaptive regularisation of weights"),
        _rule("scw1", "gaussian.soft_confidence_weighted", "soft confidence-weighted I"),
        _rule("scw2", "gaussian.soft_confidence_weighted", "soft confidence-weighted II", squared=True),
        _rule("narow", "gaussian.narow", "second order down to a variance of the margin, first order below it"),
        _rule("nherd", "gaussian.nherd", "normal herding"),
        _rule("iellip", "gaussian.iellip", "improved ellipsoid method"),
        _learner(
            "sop-full", "gaussian.second_order_perceptron_full", "sop with the full matrix, for up to 4,096 features"
        ),
        _rule("cw-full", "gaussian.confidence_weighted", "cw with a full covariance", full=True),
        _rule(
            "cw-variance-full",
            "gaussian.confidence_weighted",
            "cw-variance with a full covariance",
            by_variance=True,
            full=True,
        ),
        _rule("arow-full", "gaussian.arow", "arow with a full covariance", full=True),
        _rule("scw1-full", "gaussian.soft_confidence_weighted", "scw1 with a full covariance", full=True),
        _rule("scw2-full", "gaussian.soft_confidence_weighted", "scw2 with a full covariance", squared=True, full=True),
        _rule("narow-full", "gaussian.narow", "narow with a full covariance", full=True),
        _rule("nherd-full", "gaussian.nherd", "nherd with a full covariance", full=True),
        _rule("iellip-full", "gaussian.iellip", "iellip with a full covariance", full=True),
        _learner("unbounded", "budget.unbounded", "logistic regression with no budget, its heaviest weights in a heap"),
        _learner("wm", "budget.wm", "Weight-Median Sketch within a byte budget"),
        _learner("awm", "budget.awm", "Active-Set Weight-Median Sketch within a byte budget"),
        _learner("awm-nce", "budget.awm_nce", "one awm a class, for many classes: learns the true and some drawn ones"),
        _learner("truncation", "budget.truncation", "the heaviest weights, within a byte budget"),
        _learner(
            "probabilistic-truncation", "budget.probabilistic_truncation", "a sample of weights, heavy ones more likely"
        ),
        _learner("space-saving", "budget.space_saving", "weights of frequent features, by SpaceSaving"),
        _learner("count-min", "budget.count_min", "weights of frequent features, by a CountMin sketch"),
        _learner("hashing", "budget.hashing", "feature hashing within a byte budget"),
        _learner("mission", "budget.mission", "gradients in a CountSketch, predictions from its heavy hitters"),
        _learner("bear", "budget.bear", "the same with limited-memory BFGS directions in place of gradients"),
    )
}
"""Every learner by name, in the order of the documentation."""


def find(name: str) -> Learner:
    """The learner of that name.

    >>> find("ogd").summary
    'online gradient descent'
    >>> find("adagrid")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: there is no learner 'adagrid'. Did you mean 'adagrad'? ...
    """
    if isinstance(name, str) and name in LEARNERS:
        return LEARNERS[name]
    raise OuzelError(f"there is no learner {reprlib.repr(name)}{suggest(name, LEARNERS)}Known: {', '.join(LEARNERS)}")


def register(name: str, module: Any, summary: str, **preset: Any) -> None:
    """Make a learner of your own known by a name, wherever one of Ouzel's can stand; call it where it is imported.

    Raises OuzelError for a name that is taken, and for a module that lacks what a learner has.

    Parameters
    ----------
    name : for the command line, estimators and model files: letters, digits and hyphens, of no other learner
    module : what `docs/developer/add_a_learner.md` describes, or its name; a file of a model never imports it
    summary : one line
    preset : settings that differ from the defaults of its `Settings`

    Examples
    --------
    >>> import sys
    >>> register("ogd", sys, "not a learner")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: there is a learner 'ogd' already; choose another name
    """
    known = LEARNERS.get(name)
    home = module if isinstance(module, str) else module.__name__
    if known is not None and (known.package or known.module_name != home):
        raise OuzelError(f"there is a learner {name!r} already; choose another name")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise OuzelError(f"a learner's name has small letters, digits and hyphens; got {name!r}")
    entry = Learner(name, home, summary, tuple(preset.items()), package="")
    missing = [part for part in NEEDED if not hasattr(entry.module, part)]
    if missing:
        raise OuzelError(f"{home} is not a learner: it lacks {', '.join(missing)}; the docs say how to add one")
    LEARNERS[name] = entry


NEEDED = ("State", "Settings", *(name for name in vars(protocol.Learner) if not name.startswith("_")))
"""What every module of a learner has."""
