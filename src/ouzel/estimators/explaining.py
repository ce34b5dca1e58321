"""Contributions of columns to the predictions of an estimator, and their importance."""

from __future__ import annotations

from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ouzel.errors import OuzelError
from ouzel.learners.rows import Rows
from ouzel.model.importance import column_importance, overall, pair_importance
from ouzel.model.model import Model
from ouzel.ranges import COUNT, Range, check

if TYPE_CHECKING:
    import pandas

DECIMALS = Range(0, 17, whole=True)


class Explanations(list[dict[str, Any]]):
    """Why an example is predicted as it is, an entry a class; a notebook shows tables of each."""

    def _repr_html_(self) -> str:
        from ouzel.evaluation.html_tables import Records

        return "".join(
            f"<p>{escape('' if entry.get('class') is None else str(entry['class']))} margin {entry['margin']:.4g}</p>"
            + "".join(Records(entry[kind])._repr_html_() for kind in ("columns", "features", "pairs") if entry[kind])
            for entry in self
        )


class Explaining:
    """Contributions of columns to predictions, and their importance."""

    model_: Model
    feature_names_in_: Any
    n_features_in_: Any
    _row_one: Any
    _unlabelled: Any

    def explain(self, X: Any) -> pandas.DataFrame:
        """Return the contribution of each column to the predictions for X, a data frame with a row for each row of X.

        It has one column for each column of the table and one, `(average example)`, for the margin of the average
        example. A row adds up to `decision_function`; of numbers to the prediction, by the Poisson loss to its
        logarithm. With three classes or more, columns have two levels, class and column. `pred_contrib` of LightGBM
        and the values of SHAP are of this shape. Without pandas it is a table of Arrow.

        What a pair of columns adds is parted half and half. How models inside `auto` are parted:
        `ouzel.learners.auto.attribution`. Of learners with a byte budget, which keep no means, the average example has
        no features. `ouzel explain` on the command line is something else: it finds what marks the outliers of a table.

        Examples
        --------
        >>> import numpy as np, ouzel, pandas
        >>> X = pandas.DataFrame({"sun": [1.0, 0.0] * 200, "day": ["Mon", "Tue", "Wed", "Sun"] * 100})
        >>> model = ouzel.OnlineClassifier().fit(X, ["dry", "wet"] * 200)
        >>> found = model.explain(X)
        >>> list(found.columns)
        ['sun', 'day', '(average example)']
        >>> bool(np.allclose(found.sum(axis=1), model.decision_function(X)))
        True
        """
        from ouzel.model.contributions import AVERAGE, by_column

        check_is_fitted(self, "model_")
        parts = [by_column(self.model_, block) for block in self._unlabelled(X)]
        names: list[Any] = [*dict.fromkeys(column for part in parts for column in part.columns)]
        place = {name: number for number, name in enumerate(names)}
        count = sum(len(part.average) for part in parts)
        found = np.zeros((count, parts[0].average.shape[1], len(names) + 1))
        row = 0
        for part in parts:
            rows = slice(row, row + len(part.average))
            found[rows, :, [place[name] for name in part.columns]] = part.added.transpose(0, 2, 1)
            found[rows, :, -1] = part.average
            row = rows.stop
        heads = [*map(self._column_key, names), AVERAGE]
        if found.shape[1] == 1:
            return _frame(found[:, 0], heads, None if isinstance(X, list) else getattr(X, "index", None))
        heads = [(label, head) for label in parts[0].classes for head in heads]
        return _frame(found.reshape(count, -1), heads, None if isinstance(X, list) else getattr(X, "index", None))

    def explain_one(self, x: dict[Any, Any], n: int = 10) -> Explanations:
        """Why one example is predicted as it is: its margin, and what columns, values and pairs of columns add to it.

        A list of one entry for two classes and for numbers, of one a class for more: `class` (that of a positive
        margin), `margin`, and three lists, the largest first, of `n` rows at most and one for everything else.
        `columns` has name, value and contribution of each column; these add up to the margin, with the last row, that
        of the average example. `features` has the same by value, with the weight of each; `pairs` what pairs of columns
        add that neither does by itself. `remainder` is rounding. `ouzel.model.contributions` says more.

        >>> import ouzel
        >>> model = ouzel.OnlineClassifier("ogd").learn_one({"sun": 1.0}, "dry").learn_one({"cloud": 1.0}, "wet")
        >>> (why,) = model.explain_one({"sun": 2.1})
        >>> why["class"], [(column["name"], round(column["contribution"], 2)) for column in why["columns"]]
        ('wet', [('sun', -0.4), ('cloud', -0.1), ('(average example)', -0.08)])
        """
        from ouzel.model.contributions import contributions

        n = int(check("n", COUNT, n))
        slots, values = self._row_one(x)
        margins = self.model_.margins_one(slots, values)
        rows = Rows(np.array([0, len(slots)], np.uint64), slots, values)
        shaped = np.array(margins if len(margins) == 1 else [margins])
        return Explanations(next(contributions(self.model_, rows, shaped, n)))

    def debug_one(self, x: dict[Any, Any], decimals: int = 5) -> str:
        """Why one example is predicted as it is, as a table of text: what River's linear models have by this name.

        >>> import ouzel
        >>> model = ouzel.OnlineClassifier("ogd").learn_one({"sun": 1.0}, "dry").learn_one({"cloud": 1.0}, "wet")
        >>> print(model.debug_one({"sun": 2.1}, decimals=2))
        wet, margin -0.58
        Name               Value  Contribution
        sun                 2.10         -0.40
        cloud               0.00         -0.10
        (average example)                -0.08
        """
        decimals = int(check("decimals", DECIMALS, decimals))
        lines: list[str] = []
        for entry in self.explain_one(x):
            label = "" if entry["class"] is None else f"{entry['class']}, "
            lines.append(f"{label}margin {entry['margin']:.{decimals}f}")
            rows = [("Name", "Value", "Contribution")]
            for column in entry["columns"]:
                value = column["value"]
                shown = "" if value is None else f"{value:.{decimals}f}" if isinstance(value, float) else str(value)
                rows.append((column["name"], shown, f"{column['contribution']:.{decimals}f}"))
            widths = [max(len(row[k]) for row in rows) for k in range(3)]
            lines += [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows]
        return "\n".join(lines)

    def column_importance(self) -> list[tuple[Any, float]]:
        """All columns with their importance, the most important first: how far they usually move the margin.

        It is how far the margin moves where the values of a column are exchanged among examples like those learnt: the
        root of half the mean square, which is the standard deviation of what the column adds to a sum. It follows
        permutation importance, and needs no data. Of several classes it is the root mean square of theirs. A learner of
        a byte budget does not know the spread of features; there it is the root of the sum of squared weights.

        >>> import ouzel, pandas
        >>> X = pandas.DataFrame({"sun": [1.0, 0.0] * 200, "day": ["Mon", "Mon", "Tue", "Tue"] * 100})
        >>> [column for column, importance in ouzel.OnlineClassifier().fit(X, ["dry", "wet"] * 200).column_importance()]
        ['sun', 'day']
        """
        check_is_fitted(self, "model_")
        return [(self._column_key(name), size) for name, size in overall(column_importance(self.model_))]

    def pair_importance(self, n: int = 20) -> list[tuple[str, float]]:
        """The n most important pairs of columns: how far what only both together add moves the margin."""
        check_is_fitted(self, "model_")
        return overall(pair_importance(self.model_))[: int(check("n", COUNT, n))]

    @property
    def feature_importances_(self) -> np.ndarray:
        """The importance of each of `get_feature_names_out` (columns,), as parts of 1."""
        check_is_fitted(self, "model_")
        known = dict(overall(column_importance(self.model_)))
        sizes = np.array([known.get(name, 0.0) for name in self._columns()])
        total = sizes.sum()
        return sizes / total if total > 0.0 else sizes

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `feature_importances_` is of; x0, x1, … of arrays, as scikit-learn has it."""
        check_is_fitted(self, "model_")
        names, columns = self._columns() if input_features is None else [*input_features], len(self._columns())
        if len(names) != columns:
            raise OuzelError(f"the model has {columns} columns, and input_features has {len(names)}; give one for each")
        is_array = self.model_.space.width is not None and not self.model_.space.kinds
        if input_features is None and is_array:
            names = [f"x{name}" for name in names]
        return np.array(names, object)

    def _columns(self) -> list[str]:
        """The columns of the table, or all that the model knows."""
        space = self.model_.space
        if space.kinds and not space.open_vocabulary:
            return [*space.kinds]
        if space.width is not None:
            return [*map(str, range(space.width))]
        return sorted(name for name, _ in overall(column_importance(self.model_)))

    def _column_key(self, name: str) -> Any:
        """Return the name of a column for people: a number, where features are numbers."""
        return int(name) if not self.model_.space.named and not self.model_.space.kinds and name.isdigit() else name


def _frame(values: np.ndarray, heads: list[Any], index: Any) -> Any:
    """Values as a data frame of pandas, or a table of Arrow where that is not there."""
    several = isinstance(heads[0], tuple)
    if find_spec("pandas") is None:
        import pyarrow

        names = [f"{head[0]}: {head[1]}" if several else str(head) for head in heads]
        return pyarrow.table(dict(zip(names, values.T, strict=True)))
    import pandas

    columns = pandas.MultiIndex.from_tuples(heads, names=["class", "column"]) if several else heads
    return pandas.DataFrame(values, columns=columns, index=index)
