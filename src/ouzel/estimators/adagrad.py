"""Named estimators, adagrad. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Learners, Named, Term
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradClassifier(Named, Classifier):
    """AdaGrad with a diagonal metric (Duchi, Hazan & Singer 2011), lazily regularised.

    Parameters
    ----------
    update : mirror descent (their eq. 4) or dual averaging (eq. 3, sparser under l1); one of "mirror-descent",
        "dual-averaging"
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    learning_rate : step size; nearly scale-free, 0.1 to 1 suits most streams; a number from 1e-30 to 1e9
    damping : added to the root of the sum of squared gradients; a number from 0 to 1e9
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AdaGradClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "adagrad"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad", ("dual-averaging",): "adagrad-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "logistic"
    l1: float = 0.0
    l2: float = 0.0
    learning_rate: float = 0.25
    damping: float = 1e-06


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradRegressor(Named, Regressor):
    """AdaGrad on numbers: parameters of `AdaGradClassifier`, losses of regression.

    Examples
    --------
    >>> model = AdaGradRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "adagrad"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad", ("dual-averaging",): "adagrad-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "squared"
    l1: float = 0.0
    l2: float = 0.0
    learning_rate: float = 0.5
    damping: float = 1e-06


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradEagerClassifier(Named, Classifier):
    """AdaGrad, diagonal, kept to a ball or under a norm of all weights (Duchi, Hazan & Singer 2011).

    Parameters
    ----------
    update : mirror descent or dual averaging: see `AdaGradClassifier`; one of "mirror-descent", "dual-averaging"
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    penalty : a penalty, or a domain for the weights; l1 and l2 are strengths; l2-norm, max-norm, l1-ball, l2-ball,
        box; not all learners take all
    learning_rate : step size; a number from 1e-30 to 1e9
    damping : added to the root of the sum of squared gradients; a number from 0 to 1e9
    from_domain : step size and damping from the domain (Corollaries 1, 6, 11)
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AdaGradEagerClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "adagrad-eager"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad-eager", ("dual-averaging",): "adagrad-eager-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "logistic"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.25
    damping: float = 1e-06
    from_domain: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradEagerRegressor(Named, Regressor):
    """AdaGradEager on numbers: parameters of `AdaGradEagerClassifier`, losses of regression.

    Examples
    --------
    >>> model = AdaGradEagerRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "adagrad-eager"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad-eager", ("dual-averaging",): "adagrad-eager-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "squared"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.5
    damping: float = 1e-06
    from_domain: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradFullClassifier(Named, Classifier):
    """AdaGrad with the full matrix, for up to 2,048 features (Duchi, Hazan & Singer 2011).

    Parameters
    ----------
    update : mirror descent or dual averaging: see `AdaGradClassifier`; one of "mirror-descent", "dual-averaging"
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    penalty : a penalty, or a domain for the weights; l1 and l2 are strengths; l2-norm, max-norm, l1-ball, l2-ball,
        box; not all learners take all
    learning_rate : step size; a number from 1e-30 to 1e9
    damping : added to the root of the sum of squared gradients; a number from 0 to 1e9
    from_domain : step size and damping from the domain (Corollaries 1, 6, 11)
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AdaGradFullClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "adagrad-full"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad-full", ("dual-averaging",): "adagrad-full-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "logistic"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.25
    damping: float = 1e-06
    from_domain: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradFullRegressor(Named, Regressor):
    """AdaGradFull on numbers: parameters of `AdaGradFullClassifier`, losses of regression.

    Examples
    --------
    >>> model = AdaGradFullRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "adagrad-full"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad-full", ("dual-averaging",): "adagrad-full-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "squared"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.5
    damping: float = 1e-06
    from_domain: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradBlockClassifier(Named, Classifier):
    """AdaGrad with a block-diagonal matrix (Duchi, Hazan & Singer 2011).

    Parameters
    ----------
    update : mirror descent or dual averaging: see `AdaGradClassifier`; one of "mirror-descent", "dual-averaging"
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    penalty : a penalty, or a domain for the weights; l1 and l2 are strengths; l2-norm, max-norm, l1-ball, l2-ball,
        box; not all learners take all
    learning_rate : step size; a number from 1e-30 to 1e9
    damping : added to the root of the sum of squared gradients; a number from 0 to 1e9
    block_size : features in a block; a whole number from 1 to 512
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AdaGradBlockClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "adagrad-block"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad-block", ("dual-averaging",): "adagrad-block-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "logistic"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.25
    damping: float = 1e-06
    block_size: int = 8


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradBlockRegressor(Named, Regressor):
    """AdaGradBlock on numbers: parameters of `AdaGradBlockClassifier`, losses of regression.

    Examples
    --------
    >>> model = AdaGradBlockRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "adagrad-block"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad-block", ("dual-averaging",): "adagrad-block-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "squared"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.5
    damping: float = 1e-06
    block_size: int = 8
