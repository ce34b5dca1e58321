"""One estimator for every learner of the catalogue, its settings given by name.

What a learner takes is not known before the learner is, so settings are `**settings`, as in XGBoost and LightGBM:
`get_params` tells those that were given, `set_params` takes any that the learner has, and `clone` and a grid search,
which use these two, work on them like on parameters of the signature. None stands for the learner's own default. Names
are checked where they are given, values when a model is made.
"""

from __future__ import annotations

from typing import Any, Self

from ouzel.errors import OuzelError
from ouzel.estimators.base import Estimator
from ouzel.estimators.classifier import Classifier
from ouzel.estimators.ranking import Ranker
from ouzel.estimators.regressor import Regressor
from ouzel.learners.catalogue import DEFAULT, LEARNERS
from ouzel.model.model import Model
from ouzel.model.settings import check_names, in_words, names_of
from ouzel.terms.names import RESOLVERS


class Online(Estimator):
    """An estimator whose `learner` is a parameter."""

    learner: Any
    _given: dict[str, Any]  # settings by name

    def __init__(
        self,
        learner: str = DEFAULT,
        *,
        fit_intercept: bool = True,
        standardize: Any = "auto",
        forget: float = 0.0,
        class_weight: Any = None,
        interval: Any = None,
        interval_by: str | None = None,
        calibrate: bool | None = None,
        passes: int = 1,
        bits: int = 18,
        seed: int = 0,
        categorical: Any = None,
        numeric: Any = None,
        text: Any = None,
        dates: Any = None,
        ignore: Any = None,
        keep: Any = None,
        crosses: Any = None,
        ngrams: Any = None,
        bins: Any = None,
        hinges: Any = None,
        missing: Any = "indicator",
        **settings: Any,
    ) -> None:
        said: dict[str, Any] = {"categorical": categorical, "numeric": numeric, "text": text, "dates": dates}
        said |= {"ignore": ignore, "keep": keep, "crosses": crosses, "ngrams": ngrams}
        said |= {"bins": bins, "hinges": hinges, "missing": missing, "standardize": standardize, "forget": forget}
        some = {"class_weight": class_weight, "interval": interval, "interval_by": interval_by}
        some["calibrate"] = calibrate  # that not every task has
        said |= {name: value for name, value in some.items() if value is not None}
        super().__init__(fit_intercept=fit_intercept, passes=passes, bits=bits, seed=seed, **said)
        self.learner = learner
        self._given = {}
        self._give(learner, settings)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name: those of the signature, and the settings that were given."""
        return {**super().get_params(deep), **self._given}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, all or, if a name is wrong, none.

        A setting that was given for another learner is dropped if the new one does not have it; None brings back the
        learner's own default.
        """
        own = super().get_params(deep=False)
        settings = {name: value for name, value in params.items() if name not in own}
        self._give(params.get("learner", self.learner), settings)
        super().set_params(**{name: value for name, value in params.items() if name in own})
        return self

    @classmethod
    def around(cls, model: Model) -> Self:
        """An estimator with the parameters of a model, around it."""
        own: dict[str, Any] = {"fit_intercept": model.intercept, "interval": model.interval or None}
        own |= {"interval_by": model.interval_by, "calibrate": model.calibrate or None}
        names = ("pairs", "bits", "seed", "scale_targets", "standardize", "forget", "class_weight")
        own |= {name: getattr(model, name) for name in names}
        estimator = cls(learner=model.learner.name)
        estimator.set_params(**{name: own[name] for name in own if name in estimator.get_params(deep=False)})
        usual, said = in_words(estimator._resolved()), in_words(model.settings)
        estimator._given = {name: 0.0 for name in usual if name not in said}  # of a penalty there is not
        estimator._given |= {
            name: _said(model.settings, name, word) for name, word in said.items() if usual.get(name) != word
        }
        estimator.model_ = model
        return estimator

    def _learner_name(self) -> str:
        return self.learner

    def _settings(self) -> dict[str, Any]:
        return dict(self._given)

    def _give(self, learner: Any, settings: dict[str, Any]) -> None:
        """Add settings of a learner to those given before; keep only those that the learner has."""
        entry = LEARNERS.get(learner) if isinstance(learner, str) else None  # another is refused when a model is made
        known = None if entry is None else names_of(entry)
        if entry is not None:
            check_names(entry, settings)
        kept = {name: value for name, value in self._given.items() if known is None or name in known}
        self._given = {**kept, **settings}


def _said(settings: Any, name: str, word: Any) -> Any:
    """A setting in words, or, where it is a term of the user's own, as it is."""
    term = getattr(settings, name, None)
    try:
        known = not isinstance(term, tuple) or type(RESOLVERS[name](word)) is type(term)
    except OuzelError:
        known = False
    return word if known else term


class OnlineClassifier(Online, Classifier):
    """A classifier by any learner of the catalogue.

    Parameters
    ----------
    learner : name in the catalogue, see docs/learners.md
    fit_intercept : whether every example has a constant feature
    standardize : whether the learner sees dense features centred and scaled, as the stream tells their mean and spread:
        "auto" once rows have values as large as those of raw tables, True from the first row on, False never
    forget : half-life of what the learner has accumulated, in examples, for streams that change; 0: none
    class_weight : what importances are multiplied by: a dict from classes to weights, 1 for those not in it, or
        "balanced", by the classes' shares of the stream so far, see docs/imbalanced.md
    interval : the share of examples, or several, that sets of labels shall hold, see docs/guarantees.md; None for none
    interval_by : a column of categories or numbers; sets and intervals hold that share for each value; None for all
    calibrate : whether probabilities are recalibrated as the stream goes, see docs/guarantees.md
    passes : passes of `fit` over its data
    bits, seed : names of features hash to 2^bits ids with this seed, which is that of a learner's sketch, too
    categorical, numeric, text, dates : names of columns of data frames, or of features of dictionaries, that hold such;
        lists of names, of patterns such as "C*", or "all"; without them types and first rows tell
    ignore, keep : columns to leave out, or the only ones to take, in the same way
    crosses : columns whose features are multiplied, such as [("city", "device")], see docs/crosses.md
    ngrams : words of texts joined with those that follow, up to so many: 2, or {"review": "3+1"} with a word left out
    bins : columns whose numbers are categories, by bins of like size that the first examples tell: {"price": 16}
    hinges : columns beside whose numbers stand how far they are above so many edges: {"price": 8}
    missing : "indicator": what is missing is a feature, `fare=(missing)`, or "absent": it is none
    settings : settings of the learner by name, see docs/settings.md; a name that it does not have is an OuzelError

    Examples
    --------
    >>> model = OnlineClassifier("adagrad-rda", l1=1e-4)
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 5, ["wet", "dry"] * 5).predict([[1.0, 0.0]]).tolist()
    ['dry']
    >>> model.set_params(learner="awm", budget="8KB")
    OnlineClassifier(budget='8KB', l1=0.0001, learner='awm')
    >>> OnlineClassifier("awm", buget="8KB")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: learner 'awm' has no setting 'buget'. Did you mean 'budget'? It has: ...
    """


class OnlineRegressor(Online, Regressor):
    """Numbers predicted by any learner of the catalogue whose one state is of numbers.

    Parameters are those of `OnlineClassifier`; `loss` is one of numbers, "squared" by default.

    Parameters
    ----------
    scale_targets : whether numbers are learnt in units of their spread, about their mean, as the stream tells them
    interval : the share of examples, or several, that intervals shall hold, see docs/guarantees.md; None for none

    Examples
    --------
    >>> model = OnlineRegressor("adagrad", loss="absolute", learning_rate=0.5)
    >>> round(model.fit([[0.0], [1.0], [2.0]] * 200, [0.0, 1.0, 2.0] * 200).predict([[1.0]]).item(), 1)
    1.0
    """

    def __init__(
        self,
        learner: str = DEFAULT,
        *,
        scale_targets: bool = True,
        fit_intercept: bool = True,
        standardize: Any = "auto",
        forget: float = 0.0,
        interval: Any = None,
        interval_by: str | None = None,
        passes: int = 1,
        bits: int = 18,
        seed: int = 0,
        categorical: Any = None,
        numeric: Any = None,
        text: Any = None,
        dates: Any = None,
        ignore: Any = None,
        keep: Any = None,
        crosses: Any = None,
        ngrams: Any = None,
        bins: Any = None,
        hinges: Any = None,
        missing: Any = "indicator",
        **settings: Any,
    ) -> None:
        said: dict[str, Any] = {"categorical": categorical, "numeric": numeric, "text": text, "dates": dates}
        said |= {"ignore": ignore, "keep": keep, "crosses": crosses, "ngrams": ngrams}
        said |= {"bins": bins, "hinges": hinges, "missing": missing, "standardize": standardize, "forget": forget}
        given = {"passes": passes, "bits": bits, "seed": seed, **said, **settings}
        super().__init__(learner, fit_intercept=fit_intercept, interval=interval, interval_by=interval_by, **given)
        self.scale_targets = scale_targets


class OnlineRanker(Online, Ranker):
    """Groups ranked by any binary learner of the catalogue, which learns pairs of a group, the better one first.

    Parameters are those of `OnlineClassifier`, but for the intercept, which cancels.

    Parameters
    ----------
    pairs : drawn from each group with `seed`, evenly and with repetition; 0 takes all pairs once

    Examples
    --------
    >>> X, relevance, query = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0.0, 3.0]], [1, 0, 1, 0], [7, 7, 8, 8]
    >>> OnlineRanker("ogd").fit(X, relevance, qid=query).score(X, relevance, qid=query)
    1.0
    """

    def __init__(
        self,
        learner: str = DEFAULT,
        *,
        pairs: int = 0,
        standardize: Any = "auto",
        forget: float = 0.0,
        passes: int = 1,
        bits: int = 18,
        seed: int = 0,
        categorical: Any = None,
        numeric: Any = None,
        text: Any = None,
        dates: Any = None,
        ignore: Any = None,
        keep: Any = None,
        crosses: Any = None,
        ngrams: Any = None,
        bins: Any = None,
        hinges: Any = None,
        missing: Any = "indicator",
        **settings: Any,
    ) -> None:
        said: dict[str, Any] = {"categorical": categorical, "numeric": numeric, "text": text, "dates": dates}
        said |= {"ignore": ignore, "keep": keep, "crosses": crosses, "ngrams": ngrams}
        said |= {"bins": bins, "hinges": hinges, "missing": missing, "standardize": standardize, "forget": forget}
        given = {"passes": passes, "bits": bits, "seed": seed, **said, **settings}
        super().__init__(learner, fit_intercept=False, **given)
        self.pairs = pairs
