"""Predictions by weights as C: the steps of an expression, which are the graph's (`exporting/graph.py`).

Dense features that are standardised count where they are absent, too, as a value of 0. What that adds is in the
constants of the sums, so that an example costs its own features alone.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.exporting.comparison import check_alike
from ouzel.exporting.device.literals import array, number
from ouzel.exporting.expressions import (
    Expression,
    Linear,
    MixedMargins,
    MultiClassMixture,
    Residuals,
    TwoClassMixture,
)
from ouzel.exporting.inputs import probes
from ouzel.learners import feature_scaling
from ouzel.learners.auto.several_classes import END as END_OF_SEVERAL
from ouzel.learners.auto.sharing import LEAST
from ouzel.learners.auto.standardisation import (
    CONSTANT,
    COUNT,
    DENSE,
    FURTHEST,
    LARGEST,
    MEAN,
    SEEN,
    SQUARES,
    Features,
    meaningless_from,
    reach_of,
)
from ouzel.learners.auto.two_classes import END as END_OF_TWO
from ouzel.model.model import Model

MOST_ROWS = 1 << 24  # of tables: more than any device has room for


class Code(NamedTuple):
    """Tables and code of an expression."""

    tables: str
    margins: str
    constants: dict[str, str]


def code_of(expression: Expression, order: list[int]) -> Code:
    """The code of an expression, whose margins come in an order; OuzelError for one that a header does not have."""
    if expression.effects is not None:
        raise OuzelError(
            "the model has learnt effects of columns, which are tables that a header does not have; "
            "train it again with --set forms=raw"
        )
    weights = expression.weights
    if len(weights) > MOST_ROWS:
        raise OuzelError(f"the model has weights of {len(weights) - 1} ids; a device has names of fewer --bits")
    mixed = combined(expression.combine)
    found = {
        "ROWS": f"{len(weights)}u",
        "SUMS": str(weights.shape[1]),
        "LISTED": str(int(expression.slots is not None)),
    }
    tables, more, base = _seen(expression)
    if expression.slots is not None:
        tables.append(_table("uint32_t", "ids[OUZEL_ROWS]", np.append(0, expression.slots[1:] - 1).astype(np.uint32)))
    if expression.reach is not None:
        tables.append(_table("double", "reach[OUZEL_ROWS]", expression.reach))
    kept = weights.copy()
    kept[0] = 0.0
    narrow = (kept.astype(np.float32) == kept).all()
    kind = "float" if narrow else "double"
    tables.append(_table(kind, "weights[OUZEL_ROWS][OUZEL_SUMS]", kept.astype(np.float32) if narrow else kept))
    tables.append(_table("double", "base[OUZEL_SUMS]", base))
    shift = np.broadcast_to(np.asarray(expression.shift, float), len(order))
    tables.append(_table("double", "shift[OUZEL_COLUMNS]", shift[order]))
    tables.append(_table("uint32_t", "order[OUZEL_COLUMNS]", np.array(order, np.uint32)))
    scaled = "" if expression.scale == 1.0 else f"{number(expression.scale)} * "
    margins = f"""
static inline void ouzel_margins(const ouzel_feature *x, size_t n, double *margins) {{
    double sums[OUZEL_SUMS], all[OUZEL_COLUMNS];
    ouzel_sums(x, n, sums);
{mixed}
    for (int k = 0; k < OUZEL_COLUMNS; k++) {{
        margins[k] = OUZEL_SHOWN({scaled}all[ouzel_order[k]] + ouzel_shift[k]);
    }}
}}
"""
    return Code("".join(tables), margins, found | more)


def check(model: Model, expression: Expression) -> None:
    """Refuse a learner whose predictions are not made of its weights; learners that mix several are known to be."""
    if isinstance(expression.combine, Linear):
        limit = expression.combine.limit
        block = probes(model)
        rows = zip(block.offsets[:-1].tolist(), block.offsets[1:].tolist(), strict=True)
        found = [_sums(expression, block.indices[a:b] + 1, block.values[a:b].astype(float)) for a, b in rows]
        expected = model.task.margins(model, model.rows(block)).reshape(block.rows, -1)
        check_alike(model, np.clip(found, -limit, limit) + expression.shift, expected)


def _sums(expression: Expression, slots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The sums of an example, as `linear.h` has them."""
    known, features, reach = expression.slots, expression.features, expression.reach
    rows = slots.astype(np.int64) if known is None else np.searchsorted(known, slots)
    known_rows = rows < len(expression.weights)
    known_rows[known_rows] &= True if known is None else known[rows[known_rows]] == slots[known_rows]
    rows, seen = rows[known_rows], values[known_rows]
    if features is not None:
        seen = feature_scaling.standardised(features, rows, seen, _is_centred(features), expression.limit)
    elif expression.limit > 0.0:
        seen = feature_scaling.cut(seen)
    if reach is not None:
        seen = np.clip(seen, -reach[rows], reach[rows])
    _, _, base = _seen(expression)
    found: np.ndarray = base + seen @ expression.weights[rows]
    if features is not None:
        dense = np.intersect1d(features.dense[: int(features.totals[DENSE])], rows)
        found = found - _absent(expression, dense) @ expression.weights[dense]
    return found


def _is_centred(features: Features) -> bool:
    return bool(features.moments[0, COUNT] > 0.0)


def _absent(expression: Expression, dense: np.ndarray) -> np.ndarray:
    """The values that the models see of dense features (n,) that an example does not have."""
    features: Any = expression.features
    found = feature_scaling.standardised(features, dense, np.zeros(len(dense)), _is_centred(features), 0.0)
    return found if expression.reach is None else np.clip(found, -expression.reach[dense], expression.reach[dense])


def _table(kind: str, name: str, values: np.ndarray) -> str:
    return f"static const {kind} ouzel_{name} = {array(values)};\n"


def _seen(expression: Expression) -> tuple[list[str], dict[str, str], np.ndarray]:
    """Tables and constants by which values are seen, and what the sums are of an example without features."""
    weights, reach, features = expression.weights, expression.reach, expression.features
    constants = {"STANDARDISED": str(int(features is not None)), "REACHING": str(int(reach is not None))}
    constants |= {"LIMITED": str(int(expression.limit > 0.0)), "LIMIT": number(expression.limit)}
    base = weights[0] * (1.0 if reach is None else min(1.0, reach[0]))
    if features is None:
        return [], constants, base
    dense = features.dense[: int(features.totals[DENSE])].astype(np.int64)
    far, absent = reach_of(features.totals), _absent(expression, dense)
    near = meaningless_from(features, dense)
    places, rows = np.zeros(len(weights), np.uint32), len(weights)
    places[dense] = 1 + np.arange(len(dense))
    about = np.column_stack([*(features.moments[dense, k] for k in (MEAN, SQUARES)), near, absent])
    watched = bool(np.isfinite(near).all())
    if not watched:  # all or none: it goes by the number of examples, but for constants, which are seen as 0 anyway
        watched = bool(np.isfinite(near).any())
        about[~np.isfinite(near), 2] = np.finfo(float).max
    sizes = np.maximum(features.moments[:rows][:, [LARGEST, SQUARES]], 0.0)
    sizes[dense] = 0.0
    return (
        [
            _table("uint32_t", "dense[OUZEL_ROWS]", places),
            _table("double", f"moments[{max(1, len(dense))}][4]", about if len(dense) else np.zeros((1, 4))),
            _table("double", "sizes[OUZEL_ROWS][2]", sizes),
        ],
        constants
        | {
            "PART": number(1.0 / (float(features.totals[SEEN]) + 1.0)),
            "CONSTANT": number(CONSTANT),
            "FURTHEST": number(FURTHEST),
            "CENTRED": str(int(_is_centred(features))),
            "WATCHED": str(int(watched)),
            "FAR": str(int(far > 1.0)),
            "FAR_PART": number(1.0 / max(far, 1.0)),
        },
        base + absent @ weights[dense],
    )


@singledispatch
def combined(combine: Any) -> str:
    """The lines that make `all` margins of `sums`."""
    raise OuzelError(
        "the model mixes experts that take logarithms, which a header does not have; "
        "learn with another loss, such as squared, or another learner, such as adagrad"
    )


@combined.register
def _(combine: Linear) -> str:
    limit = number(combine.limit) if np.isfinite(combine.limit) else ""
    value = f"ouzel_cut(sums[k], -{limit}, {limit})" if limit else "sums[k]"
    return f"    for (int k = 0; k < OUZEL_COLUMNS; k++) {{\n        all[k] = {value};\n    }}"


def _given(**arrays: np.ndarray) -> str:
    return "\n".join(
        f"    static const double {name}[{len(values)}] = {array(np.asarray(values, float))};"
        for name, values in arrays.items()
    )


@combined.register
def _(combine: TwoClassMixture) -> str:
    given = _given(scales=combine.scales, mixture=combine.mixture, shares=combine.shares)
    end = number(END_OF_TWO)
    return f"""{given}
    double mixed = 0.0, with = 0.0, without = 0.0;
    for (int k = 0; k <= OUZEL_SUMS; k++) {{
        double cut = k < OUZEL_SUMS ? ouzel_cut(sums[k], -{end}, {end}) : mixed;
        double margin = k < OUZEL_SUMS ? cut * scales[k] : mixed, part = OUZEL_EXP(-ouzel_size(margin));
        mixed += k < OUZEL_SUMS ? cut * mixture[k] : 0.0;
        with += shares[k] * (margin > 0.0 ? 1.0 : part) / (1.0 + part);
        without += shares[k] * (margin > 0.0 ? part : 1.0) / (1.0 + part);
    }}
    with = with > {number(LEAST)} ? with : {number(LEAST)};
    without = without > {number(LEAST)} ? without : {number(LEAST)};
    all[0] = ouzel_log(with / without);"""


@combined.register
def _(combine: MultiClassMixture) -> str:
    given = _given(scales=combine.scales, mixture=combine.mixture, shares=combine.shares)
    models, least = len(combine.scales), f"-{number(END_OF_SEVERAL)}"
    return f"""{given}
    double mixed[OUZEL_COLUMNS] = {{0}};
    for (int k = 0; k < OUZEL_COLUMNS; k++) {{
        all[k] = 0.0;
    }}
    for (int model = 0; model <= {models}; model++) {{
        double *scores = model < {models} ? sums + model * OUZEL_COLUMNS : mixed, best, total = 0.0;
        best = scores[0];
        for (int k = 1; k < OUZEL_COLUMNS; k++) {{
            best = scores[k] > best ? scores[k] : best;
        }}
        for (int k = 0; k < OUZEL_COLUMNS; k++) {{
            if (model < {models}) {{
                double cut = scores[k] - best > {least} ? scores[k] - best : {least};
                mixed[k] += mixture[model] * cut;
                scores[k] = cut * scales[model];
            }} else {{
                scores[k] -= best;
            }}
            scores[k] = OUZEL_EXP(scores[k]);
            total += scores[k];
        }}
        for (int k = 0; k < OUZEL_COLUMNS; k++) {{
            all[k] += shares[model] * scores[k] / total;
        }}
    }}
    for (int k = 0; k < OUZEL_COLUMNS; k++) {{
        all[k] = ouzel_log(all[k] > {number(LEAST)} ? all[k] : {number(LEAST)});
    }}"""


@combined.register
def _(combine: Residuals) -> str:
    low, high = number(combine.low), number(combine.high)
    least, most = number(combine.low - combine.mean), number(combine.high - combine.mean)
    return f"""{_given(mixture=combine.mixture)}
    all[0] = {number(combine.mean)};
    for (int k = 0; k < OUZEL_SUMS; k++) {{
        all[0] += mixture[k] * ouzel_cut(sums[k], {least}, {most});
    }}
    all[0] = ouzel_cut(all[0], {low}, {high});"""


@combined.register
def _(combine: MixedMargins) -> str:
    columns, models = combine.weights.shape
    end = number(combine.end)
    return f"""{_given(mixture=combine.weights.ravel())}
    for (int k = 0; k < {columns}; k++) {{
        all[k] = 0.0;
        for (int model = k * {models}; model < (k + 1) * {models}; model++) {{
            all[k] += mixture[model] * ouzel_cut(sums[model], -{end}, {end});
        }}
    }}"""


def needs_logarithm(expression: Expression) -> bool:
    """Whether its margins are logarithms of mixed probabilities."""
    return isinstance(expression.combine, TwoClassMixture)
