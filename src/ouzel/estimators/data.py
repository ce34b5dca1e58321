"""From arrays, data frames and lists of dictionaries to blocks.

Arrays and sparse matrices keep scikit-learn's rules: numbers, as many columns as were met before. A data frame (pandas,
polars, Arrow) goes by the names of its columns and by the path of tables in files, so that it gives the digits that a
file of the same table gives. Dictionaries give the digits that they give one by one.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ouzel.errors import DataError, OuzelError
from ouzel.estimators.dictionaries import NO_ARRAY, DictionaryRows, rows_of_dictionaries
from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.warnings import warnings_of
from ouzel.model.model import Model
from ouzel.model.room import slots_of
from ouzel.model.tasks.task import Outcome
from ouzel.streams.arrays import ArrayRows, check_sparse, marks_missing, unmasked
from ouzel.streams.block import Block, Slots
from ouzel.streams.feature_space import NOTHING_KNOWN, NUMBER, FeatureSpace, reconcile
from ouzel.streams.feature_specs import DerivedFeatures
from ouzel.streams.frames import as_table, goes_by_name, is_table, table_blocks
from ouzel.streams.labels import refuse_missing
from ouzel.streams.limits import UNLIMITED
from ouzel.streams.options import OF_COLUMNS, Options, make_options
from ouzel.streams.tables.arrow_types import is_number, types

OF_ARRAYS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float32, np.float64],
    "ensure_all_finite": False,  # `ArrayRows` looks at the values
}
LEAST_WEIGHT = float(np.finfo(np.float32).smallest_subnormal) / 2  # this and less is 0 in single precision
OF_FRAMES = (*OF_COLUMNS, "dates", *DerivedFeatures._fields, "missing")
"""Parameters that say what the columns of data frames, and the features of dictionaries, hold."""


class FromData:
    """Input of estimators: arrays, sparse matrices, data frames and lists of dictionaries."""

    model_: Model

    @property
    def n_features_in_(self) -> int:
        """Columns of arrays or data frames that `predict` takes; there are none of examples given one by one."""
        space = self._known_space()
        if space.width is not None:
            return space.width
        if space.fixed_columns:
            return len(space.kinds)
        if space.highest is None or space.named:
            raise AttributeError("features are known by name, and have no number")
        return space.highest + 1

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns of data frames."""
        space = self._known_space()
        if not space.fixed_columns:
            raise AttributeError("features did not come as columns with names")
        return np.array([*space.kinds], object)

    def _known_space(self) -> FeatureSpace:
        """Return the feature space of the model; raise AttributeError, as scikit-learn expects, if it is not fitted."""
        if not hasattr(self, "model_"):
            raise AttributeError("nothing was learnt yet")
        return self.model_.space

    def columns_said(self) -> dict[str, Any]:
        """Return the parameters about columns that are given: names, patterns, and the treatment of missing values."""
        given = {name: getattr(self, name) for name in OF_FRAMES}
        options = make_options({name: value for name, value in given.items() if value is not None})
        return {name: said for name in OF_FRAMES if (said := getattr(options, name)) != getattr(Options, name)}

    def _refuse_names(self) -> None:
        """Refuse an array where columns are called by name: they would be taken without effect."""
        said = {name: given for name, given in self.columns_said().items() if name != "missing"}
        if said:
            raise OuzelError("columns of an array have no names; give a data frame, or leave out", **said)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check X and y, against known features if there are any; return them, a data frame as a table of Arrow."""
        rows = self._named_rows(X)
        if rows is not None:
            if y is None:
                raise OuzelError(f"{type(self).__name__} requires y to be passed, but the target y is None")
            with explaining_missing_labels(y):
                y = _check_y(y, estimator=self)
            check_consistent_length(X, y)
            return rows, y
        self._refuse_names()
        with explaining_missing_labels(y):
            rows, y = self._checked(X, y)
        with self._as_bad_values(rows):
            rows.check()
        return rows, y

    def _named_rows(self, X: Any) -> Any:
        """A data frame as a table of Arrow, or a list of dictionaries as rows; None of an array."""
        if not goes_by_name(X):
            return rows_of_dictionaries(X)
        if not X.shape[1]:  # scikit-learn's words, as those of no row are
            raise OuzelError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
        table = as_table(X)
        if not table.num_rows:
            raise OuzelError(f"Found array with 0 sample(s) (shape={table.shape}) while a minimum of 1 is required.")
        return table

    def _checked(self, X: Any, *y: Any) -> Any:
        """Let scikit-learn check an array, and y, but not the values; return it as rows, and y as it is to be used."""
        X = unmasked(X)
        filled = check_sparse(X)  # before scikit-learn looks at the matrix
        self._check_width(X)
        try:
            found = validate_data(self, X, *y, reset=False, **OF_ARRAYS)
        except (TypeError, ValueError) as error:
            if hasattr(X, "dtype") or not (isinstance(error, TypeError) or "could not convert" in str(error)):
                raise
            raise OuzelError(f"{NO_ARRAY}; got {X!r:.40}") from None
        X, labels = (found[0], found[1:]) if y else (found, ())
        space = self.model_.space if hasattr(self, "model_") else NOTHING_KNOWN
        rows = ArrayRows(X, filled, missing=marks_missing(Options(space=space, **self.columns_said())))
        return (rows, *labels) if y else rows

    @contextmanager
    def _as_bad_values(self, rows: ArrayRows) -> Iterator[None]:
        """Have scikit-learn say that a value is infinite, where one is."""
        try:
            yield
        except DataError:
            assert_all_finite(rows.X, allow_nan=True, estimator_name=type(self).__name__, input_name="X")
            raise

    def _check_width(self, X: Any) -> None:
        """Refuse an array for a model that knows its features otherwise, before scikit-learn looks at it."""
        space = getattr(getattr(self, "model_", None), "space", NOTHING_KNOWN)
        if space.known and space.width is None:
            shape = getattr(X, "shape", None) or np.shape(X)
            if len(shape) == 2:
                reconcile(space, FeatureSpace(width=shape[1]))

    def _blocks(
        self, model: Model, X: Any, sample_weight: Any, labels: np.ndarray, label_names: list[Any] | None
    ) -> Iterable[Block]:
        """Checked rows, or a table, as blocks for a model to learn; examples of weight 0 are left out.

        They can be gone through again, for another pass.
        """
        n = X.shape[0]
        weights = None
        if sample_weight is not None:
            rows = np.zeros((n, 1), np.float32)
            given = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
            if given.max() <= LEAST_WEIGHT:
                raise OuzelError(
                    f"nothing to learn: every weight is at most {given.max()}, which single precision rounds "
                    "to 0; multiply all weights by one number"
                )
            weights = _check_sample_weight(given, rows, dtype=np.float32)
        if isinstance(X, DictionaryRows):
            blocks: Iterable[Block] = list(X.blocks(self._reading(model, model.space), labels, label_names, weights))
        elif is_table(X):
            space = model.space if model.space.known else first_space(X, model, self._reading(model, NOTHING_KNOWN))
            blocks = list(table_blocks(X, (labels, label_names), weights, self._reading(model, space), _warn))
        else:
            blocks = _Pieces(X, labels, label_names, weights)
        if weights is None or weights.all():
            return blocks
        if not weights.any():
            raise OuzelError("nothing to learn: every example has weight 0")
        return _Weighed(blocks)

    def _unlabelled(self, X: Any, slots: Slots | None = None) -> Iterator[Block]:
        """Arrays, a data frame or dictionaries as blocks to predict; columns are read as the model knows them.

        With the slots that the learner has, blocks of numbers are `in_slots`.
        """
        check_is_fitted(self, "model_")
        rows = self._named_rows(X)
        if rows is not None:
            options = self._reading(self.model_, self.model_.space, unlabelled=True)
            named = isinstance(rows, DictionaryRows)
            yield from rows.blocks(options) if named else table_blocks(rows, None, None, options, _warn, slots=slots)
            return
        rows = self._checked(X)
        with self._as_bad_values(rows):
            yield from rows.blocks(slots=slots)

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        model = self.model_  # another thread may begin a new one, with fewer slots
        margins = np.concatenate([model.margins(block) for block in self._unlabelled(X, slots_of(model))])
        warn_of_remark(model)
        return margins

    def _groups(self, X: Any) -> np.ndarray | None:
        """The groups (n,) that intervals and sets are kept by, by key; None where there are none."""
        found = (self.model_.preparation.group_keys(self.model_, block) for block in self._unlabelled(X))
        keys = [part for part in found if part is not None] if self.model_.interval_by is not None else []
        return np.concatenate(keys) if keys else None

    def _reading(self, model: Model, space: FeatureSpace, unlabelled: bool = False) -> Options:
        """Return the options that read a data frame for a model with a feature space."""
        given: dict[str, Any] = self.columns_said()
        return Options(bits=model.bits, seed=model.seed, space=space, limits=UNLIMITED, unlabelled=unlabelled, **given)


@contextmanager
def explaining_missing_labels(y: Any) -> Iterator[None]:
    """If labels (n,) cannot be used because one of them is missing, say so."""
    try:
        yield
    except (TypeError, ValueError):
        refuse_missing(y)
        raise


class _Pieces:
    """Blocks of checked rows, made anew whenever they are gone through: only one of them is there at a time."""

    def __init__(self, rows: ArrayRows, labels: np.ndarray, label_names: list[Any] | None, weights: Any) -> None:
        self.rows, self.labels, self.label_names, self.weights = rows, labels, label_names, weights

    def __iter__(self) -> Iterator[Block]:
        return self.rows.blocks(labels=self.labels, label_names=self.label_names, weights=self.weights)


class _Weighed:
    """Blocks without examples of weight 0."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[Block]:
        return (block.select(np.flatnonzero(block.weights)) for block in self.blocks)


def first_space(table: Any, model: Model, options: Options) -> FeatureSpace:
    """Return the feature space for the first data frame of a model: by name, unless the learner stores a matrix.

    A number for every pair of ids is too much for hashed names; columns of numbers have their places then. Booleans
    are words, as they are in dictionaries of the same rows.
    """
    fields = [field for field in table.schema if options.wants(field.name)]  # two of them may share a name
    columns = [field.name for field in fields]
    numbers = all(
        options.kind_of(field.name) == NUMBER
        if types.is_boolean(field.type)
        else (is_number(field.type) or types.is_null(field.type)) and options.kind_of(field.name) in (None, NUMBER)
        for field in fields
    )
    if model.keeps_pairs and numbers:
        return FeatureSpace(width=len(columns), kinds=dict.fromkeys(columns, NUMBER), indicator=options.indicator)
    return NOTHING_KNOWN


def _warn(line: str) -> None:
    """Warn at the line outside of this package that the data were given at."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ouzel":
        frame, level = frame.f_back, level + 1
    warnings.warn(line, stacklevel=level)


def warn_of_scores(model: Model, scores: Scores) -> None:
    """Warn of a model that diverged, or that is no better than a constant."""
    for line in warnings_of(model, scores):
        _warn(line)


def first_of(learnt: Outcome, most: int) -> Outcome:
    """Return the outcome of the first `most` examples."""
    return learnt if len(learnt.targets) <= most else Outcome(*[part[:most] for part in learnt[:4]])  # type: ignore


def warn_of_remark(model: Model) -> None:
    """Warn, once, of what the model has to say of the data."""
    if model.remark is not None:
        _warn(model.remark)
        model.remark = None
