"""Base of all estimators: it makes a `Model` of parameters and blocks of arrays, and saves models.

An estimator holds no arithmetic. Its constructor stores parameters; `partial_fit` checks its input and hands blocks to
the model, `learn_one` (in `river.py`) hands over single examples, whose label and weight are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ouzel.errors import OuzelError
from ouzel.estimators.data import OF_FRAMES, FromData, first_of, warn_of_remark, warn_of_scores
from ouzel.estimators.explaining import Explaining
from ouzel.estimators.river import RiverProtocol
from ouzel.evaluation.metrics import Scores
from ouzel.learners import catalogue
from ouzel.model.answers import Feature, is_probabilistic, shown_weights
from ouzel.model.importance import heaviest, most_important
from ouzel.model.model import Model
from ouzel.model.settings import resolve_settings
from ouzel.model.tasks.choose import settings_for
from ouzel.ranges import Bits, HalfLife, Passes, Range, Seed, check, checked
from ouzel.streams.block import Block
from ouzel.streams.feature_space import NUMBER, UNDECIDED
from ouzel.streams.labels import refuse_missing
from ouzel.streams.missing import NA_FEATURE

COMMON = (
    *(
        "fit_intercept",
        "passes",
        "bits",
        "seed",
        "pairs",
        "scale_targets",
        "standardize",
        "forget",
        "class_weight",
        *("interval", "interval_by", "calibrate"),
    ),
    *OF_FRAMES,
)
"""Parameters that are not settings of the learner."""

AT_MOST = Range(1, 1 << 31, whole=True)  # features shown
CLASS = "estimator"  # what a file's note of its class is called
ORDER_MATTERS = "one pass over a stream: the result depends on the order of examples, and a weight is not a repetition"

ONE_PASS = "one pass of some learners does not fit its 50 examples; 20 do (tests/estimators/test_weighted_classes.py)"

EXPECTED_FAILURES = {
    "check_class_weight_classifiers": ONE_PASS,
    "check_sample_weight_equivalence_on_dense_data": ORDER_MATTERS,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_MATTERS,
}
"""scikit-learn's checks that no online learner can pass (its SGDClassifier is excused too), each with its reason."""


WATCHED = 1 << 16  # examples of `fit` whose progressive loss is compared with that of a constant


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(Explaining, RiverProtocol, FromData, BaseEstimator):
    """A learner of the catalogue as an estimator; a subclass says which, and with what settings."""

    task: ClassVar[str]  # as a `Model` takes it
    _file_options: ClassVar[dict[str, Any]] = {}  # of the file it was loaded from: how files are read, but for columns

    fit_intercept: bool = True
    standardize: Any = "auto"
    forget: HalfLife = 0.0
    passes: Passes = 1
    bits: Bits = 18
    seed: Seed = 0
    categorical: Any = None
    numeric: Any = None
    text: Any = None
    dates: Any = None
    ignore: Any = None
    keep: Any = None
    crosses: Any = None
    ngrams: Any = None
    bins: Any = None
    hinges: Any = None
    missing: Any = "indicator"

    def top_weights(
        self, n: int = 20, feature_names: Any = None
    ) -> list[tuple[Any, float]] | dict[Any, list[tuple[Any, float]]]:
        """The n heaviest (feature, weight), heaviest first; features are names where names are known.

        Weights of features in different units do not compare; see `feature_importance`.

        With three classes or more: a dict from each class to such a list. Positive weights speak for `classes_[1]`.
        `feature_names` are those of the columns of arrays and sparse matrices, which have none of their own: of a
        pipeline, `pipeline[:-1].get_feature_names_out()`.
        """
        check_is_fitted(self, "model_")
        n = int(check("n", AT_MOST, n))
        return self._by_class(heaviest(self.model_, n), feature_names, lambda feature: feature[:2])

    def feature_importance(self, n: int = 20, feature_names: Any = None) -> list[Feature] | dict[Any, list[Feature]]:
        """The n most important features (name, weight, importance), most important first; the intercept comes last.

        The importance of a feature is |weight| × its standard deviation in the examples learnt, with its curve where
        `auto` has one: how far it usually moves the margin. Learners of a byte budget do not know it: it is None, and
        the heaviest come first. Otherwise as `top_weights`. `column_importance` is that of whole columns, and
        `pair_importance` that of pairs.

        >>> import ouzel
        >>> examples = [({"rate": rate / 100, "income": 1000.0 * rate}, rate > 5) for rate in range(11)] * 20
        >>> model = ouzel.OnlineClassifier("adagrad", standardize=True)
        >>> for features, label in examples:
        ...     _ = model.learn_one(features, label)
        >>> sorted(feature.name for feature in model.feature_importance(2))  # equally important, whatever their units
        ['income', 'rate']
        """
        check_is_fitted(self, "model_")
        n = int(check("n", AT_MOST, n))
        return self._by_class(most_important(self.model_, n), feature_names, lambda feature: feature)

    def _by_class(self, columns: list[Any], feature_names: Any, as_shown: Callable[[Feature], Any]) -> Any:
        """The features of the one column, or a dict from each class to its features."""
        names = {} if feature_names is None else self._names_of_columns(feature_names)
        found = {
            label: [as_shown(feature._replace(name=names.get(feature.name, feature.name))) for feature in column]
            for label, column in columns
        }
        return next(iter(found.values())) if len(columns) == 1 else found

    def _names_of_columns(self, names: Any) -> dict[Any, str]:
        """Names by column of an array."""
        width = self.model_.space.width
        if width is None:
            raise OuzelError("the model knows its features by names or numbers of their own; leave out feature_names")
        if len(names) != width:
            raise OuzelError(f"the model was learnt from arrays of {width} columns; got {len(names)} feature_names")
        marks = {f"{column}={NA_FEATURE}": f"{name}={NA_FEATURE}" for column, name in enumerate(names)}
        return {**dict(enumerate(map(str, names))), **marks}

    def save(self, path: str | Path) -> None:
        """Write the model to one file that `ouzel.load` reads; the file holds no code."""
        from ouzel.model import persistence

        check_is_fitted(self, "model_")
        said = {**self._file_options, **self.columns_said()}
        persistence.save(self.model_, path, {CLASS: type(self).__name__, **({"reading": said} if said else {})})

    def __getstate__(self) -> dict[str, Any]:
        """Parameters, and the model as the bytes of its file: a pickle is as small, and has no path in it."""
        from ouzel.model import persistence

        state = {name: value for name, value in vars(self).items() if name != "_slots"}  # which are looked up again
        if isinstance(state.get("model_"), Model):
            with suppress(OuzelError):  # of a model that no file can hold, the arrays
                state["model_"] = persistence.to_bytes(self.model_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was pickled, also by earlier versions, whose models are objects."""
        from ouzel.model import persistence

        model = state.get("model_")
        self.__dict__.update(state, **({"model_": persistence.from_bytes(model)} if isinstance(model, bytes) else {}))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(deepcopy({name: value for name, value in vars(self).items() if name != "_slots"}, memo))
        return copied

    @property
    def bytes_used_(self) -> int:
        """Bytes the learner's state takes."""
        check_is_fitted(self, "model_")
        return self.model_.bytes_used

    # What a subclass says.

    def _learner_name(self) -> str:
        """Name in the catalogue."""
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """The settings of the learner that were given."""
        raise NotImplementedError

    @classmethod
    def around(cls, model: Model) -> Self | None:
        """An estimator with the parameters of a model, around it; None if this class cannot say what the model is."""
        raise NotImplementedError

    # From parameters to a model.

    def _resolved(self) -> Any:
        """The learner's `Settings`; the seed is that of its sketch, too, unless that has one of its own."""
        learner, given = catalogue.find(self._learner_name()), self._settings()
        if "sketch_seed" in learner.settings._fields and given.get("sketch_seed") is None:
            given["sketch_seed"] = checked(Estimator, {"seed": self.seed})["seed"]
        return resolve_settings(learner, settings_for(self.task, learner, given))

    def _new_model(self, classes: Iterable[Any] | None = None) -> Model:
        given = checked(Estimator, {name: getattr(self, name) for name in ("bits", "seed", "forget")})
        settings = self._resolved()._asdict()
        return Model(
            self._learner_name(), task=self.task, classes=classes, **self._model_options(), **given, **settings
        )

    def _model_options(self) -> dict[str, Any]:
        """Return the further keyword arguments of the model."""
        return {"intercept": self.fit_intercept, "standardize": self.standardize}

    def _is_probabilistic(self) -> bool:
        """Whether margins estimate probabilities."""
        if hasattr(self, "model_"):
            return is_probabilistic(self.model_.loss)
        try:
            return is_probabilistic(getattr(self._resolved(), "loss", None))
        except OuzelError:
            return False  # `fit` says what is wrong

    def _train(self, model: Model, blocks: Iterable[Block], passes: int, watched: int = 0) -> Self:
        """Let the model learn blocks, `passes` times; warn if the first `watched` examples say that it is of no use."""
        scores = Scores(model.task)
        for number in range(checked(Estimator, {"passes": passes})["passes"]):
            for block in blocks:
                watches = not number and scores.examples < watched
                learnt = model.learn(block, unseen=not number, losses=watches)
                if watches:
                    scores.add(first_of(learnt, watched - scores.examples))
                warn_of_remark(model)
        if watched:
            warn_of_scores(model, scores)
        self.model_ = model
        return self

    def _shown_weights(self) -> np.ndarray:
        """Weights (columns, 1 + features) in the order and with the signs of margins as shown."""
        check_is_fitted(self, "model_")
        space = self.model_.space
        if self.model_.budgeted:
            raise AttributeError("a byte budget keeps no weight vector; ask for top_weights")
        if space.fixed_columns and space.width is None and not {*space.kinds.values()} <= {NUMBER, UNDECIDED}:
            raise AttributeError("columns of words, dates or texts have many weights each; ask for top_weights")
        table = shown_weights(self.model_.classes, self.model_.weights())
        if space.fixed_columns and space.width is None:
            ids = [space.id_of(name, self.model_.seed, self.model_.bits) for name in space.kinds]
            slots = [0, *(feature + 1 for feature in ids if feature is not None)]
            table = np.pad(table, ((0, 0), (0, max(0, max(slots) + 1 - table.shape[1]))))
            return table[:, slots]
        width = 1 + (space.width or table.shape[1] - 1)  # what says that a column is missing stands behind
        return np.pad(table, ((0, 0), (0, max(0, width - table.shape[1]))))[:, :width]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


def as_numbers(y: Any, what: str) -> np.ndarray:
    """Numbers (n,) to predict or to rank by, or an error of one line."""
    try:
        numbers = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        refuse_missing(y)
        odd = next((value for value in np.asarray(y).ravel().tolist() if not isinstance(value, (int, float))), y)
        raise OuzelError(f"y must be {what}; got {odd!r}") from None
    if np.isnan(numbers).any():
        refuse_missing(y)
    return numbers
