"""Effects of columns are those of a slow transcription, and the oracle finds bugs that are planted in them."""

import copy
from functools import partial

import numpy as np
import pytest

import ouzel
from ouzel.layout import allocate, flat
from ouzel.learners.auto import effect_columns, effect_slopes, effects, simd
from ouzel.learners.rows import Rows
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.rounds import merge_onto
from ouzel.streams.memory import blocks_from
from ouzel.terms.losses import Poisson, Quantile, Squared, curvature, derivative, value
from tests.learners.planted import interpreted
from tests.oracles.effects import Effects

KINDS = {
    "two": ({}, 1),
    "rare": ({}, 1),
    "several": ({}, 3),
    "numbers": ({"loss": "squared"}, 1),
    "quantile": ({"loss": "quantile(tau=0.7)"}, 1),
    "counts": ({"loss": "poisson"}, 1),
}
CODES = {"two": effects.TWO, "rare": effects.TWO, "several": effects.SEVERAL}
TERMS = {"numbers": Squared(), "quantile": Quantile(0.7), "counts": Poisson()}


def slow_effects(kind):
    """The transcription, of the loss of a kind."""
    if kind in CODES:
        return Effects("several" if kind == "several" else "two", KINDS[kind][1])
    loss = None if kind == "numbers" else tuple(partial(rule, TERMS[kind]) for rule in (value, derivative, curvature))
    return Effects("numbers", 1, loss, kind == "counts")


def stream(kind, count=700, seed=0):
    """Columns of numbers, of few numbers, one that is mostly 0 and one that comes late; bends, steps and a pair."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3)).astype(np.float32)
    few, rare = rng.integers(0, 4, count), rng.uniform(1.0, 3.0, count) * (rng.random(count) < 0.4)
    late = np.where(np.arange(count) < 100, 0.0, rng.random(count))
    X = np.column_stack([X, few, np.full(count, 3.0), rare, late]).astype(np.float32)
    two = rng.random((count, 2)) < 0.7
    score = 2.0 * np.abs(X[:, 0]) - 1.6 + 1.5 * np.sign(X[:, 1]) * np.sign(X[:, 2]) + (few == 2) + (rare > 2)
    score += 2.0 * (two[:, 0] == two[:, 1]) - 1.0  # of which no line, and no column alone, says anything
    X = np.column_stack([X, two]).astype(np.float32)
    if kind == "counts":
        return X, rng.poisson(np.exp(score)).astype(float)
    if kind not in CODES:
        return X, 5.0 + 3.0 * score + rng.standard_t(3, count)
    cuts = {"two": [0.3], "rare": [5.0], "several": [-0.7, 1.5]}[kind]
    return X, np.digitize(score + 0.3 * rng.normal(size=count), cuts)


def margins(kind, forms, X, y, weights, rows=64):
    given, classes = KINDS[kind]
    given = given or {"classes": range(max(classes, 2))}
    model, found = Model("auto", forms=forms, **given), []
    for start in range(0, len(X), rows):
        here = slice(start, start + rows)
        block = next(blocks_from(X[here], y[here]))
        found.append(model.learn(block._replace(weights=weights[here].astype(np.float32))).margins)
    return np.concatenate(found)


@pytest.mark.parametrize("kind", KINDS)
def test_what_all_predict_is_what_a_slow_transcription_says(kind):
    X, y = stream(kind)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0, 20.0], len(X))
    lines, found = (margins(kind, forms, X, y, weights) for forms in ("raw", "made"))
    slow = slow_effects(kind)

    rows = zip(X.tolist(), lines.tolist(), y.tolist(), weights.tolist(), strict=True)
    expected = np.array([slow.learn(*row) for row in rows])

    assert np.abs(found - lines).max() > 0.1  # they have something to say
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def driven(kind, X, lines, y, weights, rule=effects, columns=effect_columns, cells=4e6):
    """Effects that have learnt rows, of which the linear models predict `lines`, and what all predicted of each."""
    classes, count = KINDS[kind][1], X.shape[1]
    state = allocate(effects.layout(count + 1, classes, cells, totals=10))
    two, counts = CODES.get(kind) == effects.TWO, np.zeros(2)
    out = np.zeros((len(X), 2 if two else classes))
    out[:, out.shape[1] - classes :] = lines.reshape(len(X), classes)
    offsets = np.arange(0, (len(X) + 1) * count, count, dtype=np.uint64)
    slots = np.tile(np.arange(1, count + 1, dtype=np.uint32), len(X))
    rows, number = Rows(offsets, slots, X.ravel()), CODES.get(kind, effects.NUMBERS)
    loss = TERMS.get(kind, Squared())
    for i in range(len(X)):
        due = weights[i] > 0.0 and rule.note_example(state)
        rule.learn_effects(state, rows, i, i, y, weights, number, loss, out, tuple(counts.tolist()))
        counts[int(two and y[i])] += weights[i]
        if due:
            columns._open(state, int(state.totals[effects.SEEN]))
            if not state.totals[effects.COUNT]:
                columns._take(state, np.arange(1, count + 1))
    return state, out[:, 1] - out[:, 0] if two else out.reshape(lines.shape)


def given(kind, count=1100):
    """Columns (n, 5), two of two values; what linear models may predict, labels, strays among numbers, importances."""
    X, y = stream(kind, count)
    classes, rng = KINDS[kind][1], np.random.default_rng(3)
    lines = rng.normal(size=(count, classes) if classes > 1 else count)
    lines[::9] *= 10.0 if kind in CODES else 1.0  # beyond what is pooled
    if kind == "counts":
        y[600::97] = 1e3
    elif kind not in CODES:
        lines, y = lines + 5.0, np.where(y > 6.0, 8.0, 3.0)  # of few values, whose range is soon left
        y[600::97] = 1e3
    weights = rng.choice([0.0, 0.5, 1.0, 20.0], count, p=[0.04, 0.32, 0.32, 0.32])
    return X[:, [0, 1, 3, 7, 8]], lines, y, weights.astype(np.float32)


def expected(kind, X, lines, y, weights):
    slow = slow_effects(kind)
    slow.categories_from = 0  # all columns are taken at once
    rows = zip(X.tolist(), lines.tolist(), y.tolist(), weights.tolist(), strict=True)
    return np.array([slow.learn(*row) for row in rows])


def fits(kind, rule):
    """Whether effects learnt by these kernels are those of the transcription."""
    parts = given(kind)
    return np.allclose(driven(kind, *parts, rule)[1], expected(kind, *parts), rtol=1e-5, atol=1e-5)


BUGS = {
    "an edge is below its bin": ("np.int32(edges[j] <= number)", "np.int32(edges[j] < number)"),
    "the last edge is left out": ("(size - 1) << shift, room.x[c])", "((size - 1) << shift) - 1, room.x[c])"),
    "there is nothing between knots": ("np.float32(passed - (knot << shift))", "np.float32(0 * passed)"),
    "the knot behind counts whole": ("knot, one - share, share)", "knot, one, share)"),
    "the next knot of a pair is another one": ("place + size, a * (one - b)", "place + 2, a * (one - b)"),
    "a corner of a pair is left out": ("a * (one - b), a * b)", "a * (one - b), np.float32(0.0))"),
    "slopes are not those of the parts that count": ("slope = part * slopes[c]", "slope = slopes[c]"),
    "pairs share cells": ("(pair * size + room.knots[level, first])", "(pair + room.knots[level, first])"),
    "two values have curves of their own": ("= 0.0\n                continue\n", "= 0.0\n"),
    "a value on the one edge is below it": ("room.x[c] >= effects", "room.x[c] > effects"),
    "pairs of two values have cells at each level": ("level > PAIRED and", "level > LEVELS and"),
    "the sample is not thinned out": ("sample[i, c] = sample[kept, c]", "sample[i, c] = sample[i, c]"),
    "the sample has a period": ("return np.int64(finish_hash(", "return 0 * np.int64(finish_hash("),
    "steps are not shared by the cells of a sum": ("np.float64(max(room.counts[e - 1], 1))", "1.0"),
    "pairs go down the loss of columns": ("chances[e, c] - (target == c", "chances[1, c] - (target == c"),
    "squares are of what is not weighed": ("squares[c] += slope * slope", "squares[c] += abs(slope)"),
    "nothing is shared": ("(1.0 - ALPHA) * believed[e] / total + ALPHA * SHARED[e]", "believed[e] / total"),
    "who was right is not asked": ("believed[e] *= likely", "believed[e] *= 1.0"),
    "the other class is believed in": ("if kind == TWO and not target > 0.0:", "if kind == TWO and target > 0.0:"),
    "the mean is of two": ("for e in range(EXPERTS):\n            chances", "for e in range(2):\n            chances"),
    "the pool does not learn": ("weight * slope, weight * bend)", "0.0, 0.0)"),
    "the pool of numbers learns in their own unit": ("min(max(margins[e, 0] / unit, -END), END)", "margins[e, 0]"),
    "what is pooled is not cut": ("min(max(scores[e, c], -END), END)", "scores[e, c]"),
    "classes are pooled as they are": ("max(scores[e, c] - best, -END)", "scores[e, c]"),
    "how far the pool is believed is not kept": ("effects.pooled[0] = believed[SCORES]", "pass"),
    "the pool goes down the slope of the lines": ("logistic(room.scores[SCORES, 0])", "logistic(room.scores[0, 0])"),
    "steps to a rare class are as long as others": ("second, BALANCED)", "second, 1e9)"),
    "the classes are not counted": ("(first, second + weight) if", "(first, second) if"),
    "the range of numbers is not kept": ("max(scores[e, 0], effects.totals[LOW])", "scores[e, 0]"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_in_plain_python_too_they_are_those_of_the_transcription(kind):
    parts = given(kind)

    found = driven(kind, *parts)[1], driven(kind, *parts, interpreted(effects))[1]

    for each in found:
        np.testing.assert_allclose(each, expected(kind, *parts), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bug", BUGS)
def test_the_transcription_finds_a_planted_bug(bug):
    rule = interpreted(effects, *BUGS[bug])

    assert not all(fits(kind, rule) for kind in KINDS)


LANE_BUGS = {
    "slopes of one margin are not those of the parts that count": ("slope * parts[k, side]", "slope"),
    "squares of one margin are of before": ("sqrt(cell[1, 0] + damping)", "sqrt(cell[1, 0] - gradient**2 + damping)"),
    "weights of one margin count whole": (", 0, 0] * parts", ", 0, 0]"),
    "the cell counts for the next one": ("at[:, None] + [0, 1]", "at[:, None] + [0, 0]"),
}  # fmt: skip


@pytest.mark.parametrize("bug", LANE_BUGS)
def test_the_transcription_finds_a_bug_that_is_planted_in_what_is_done_to_four_cells(bug):
    rule = interpreted(effects)
    lanes = interpreted(simd, *LANE_BUGS[bug])
    vars(rule).update({name: getattr(lanes, name) for name in ("move_weights", "sum_weights")})

    assert not fits("two", rule)


LOSS_BUGS = {
    "stray numbers set the unit": ("number = min(max(number, -most), most)", "pass"),
    "slopes are not in units": ("return min(max(derivative(loss, score, target) / scale", "return min(max(0.3"),
    "bends are not in units": ("curvature(loss, score, target) * unit / scale", "curvature(loss, score, target)"),
    "slopes have no bend": ("STRIKING), slope * slope)", "STRIKING), 0.0)"),
    "losses are not in units": ("/ (unit * scale)", "/ unit"),
    "counts are their own logarithms": ("log(target) - line", "target - line"),
    "rates have no end": ("totals[HIGH] = reached if begins else max(totals[HIGH], reached)", "totals[HIGH] = 1e9"),
}  # fmt: skip


@pytest.mark.parametrize("bug", LOSS_BUGS)
def test_the_transcription_finds_a_bug_that_is_planted_in_losses(bug):
    rule = interpreted(effects)
    losses = interpreted(effect_slopes, *LOSS_BUGS[bug])
    vars(rule).update({name: getattr(losses, name) for name in ("bend_of", "cost_of", "note_number", "slope_of")})

    assert not all(fits(kind, rule) for kind in TERMS)


PAIRS_BUGS = {
    "means do not move": ("(b - pairs.means[c]) / pairs.counted[0]", "0.0"),
    "all classes have one sign": ("slopes[c] if c // many % 2 == 0 else -slopes[c]", "abs(slopes[c])"),
    "slopes of one column": ("row[other] += slope * z[other]", "row[other] += slope"),
    "squares are not squared": ("row[other] += bend * z[other] * z[other]", "row[other] += bend * abs(z[other])"),
}


@pytest.mark.parametrize("bug", PAIRS_BUGS)
def test_the_transcription_finds_a_bug_that_is_planted_in_slopes_of_pairs(bug):
    rule = interpreted(effects)
    rule.note_slopes = interpreted(effect_slopes, *PAIRS_BUGS[bug]).note_slopes

    assert not all(fits(kind, rule) for kind in KINDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "counts"])
def test_where_there_is_no_room_better_pairs_take_the_place_of_others(monkeypatch, kind):
    monkeypatch.setattr(effect_columns, "PAIRS", 2)  # of three of numbers, and of the one that decides
    X, rng, classes = given(kind)[0], np.random.default_rng(4), KINDS[kind][1]
    decides = (X[:, 3] == X[:, 4]) ^ (rng.random(len(X)) < 0.05)
    lines, y = np.zeros((len(X), classes) if classes > 1 else len(X)), decides * (2.0 if kind == "numbers" else 1.0)
    parts = X, lines, y, np.ones(len(X), np.float32)

    state, found = driven(kind, *parts)

    np.testing.assert_allclose(found, expected(kind, *parts), rtol=1e-5, atol=1e-5)
    assert [4, 3] in state.pairs.columns[:2].tolist()
    for wrong in ("_worth_is_all", "_all_is_chance"):
        with pytest.MonkeyPatch.context() as patch:
            if wrong == "_worth_is_all":
                patch.setattr(effect_columns, "worth_of_pairs", lambda _: np.full(2, np.inf))
            else:
                patch.setattr(effect_columns, "CHANCE", np.inf)
            assert not np.allclose(driven(kind, *parts)[1], found, rtol=1e-5, atol=1e-5)


def table(count, seed=0):
    """Forty columns of numbers and four categories of five words; a pair of either decides."""
    rng = np.random.default_rng(seed)
    X, words = rng.normal(size=(count, 40)).astype(np.float32), rng.integers(0, 5, (count, 4))
    indicators = (words[:, :, None] == np.arange(5)).reshape(count, 20).astype(np.float32)
    return np.column_stack([X, indicators]), X, words


def test_of_many_columns_the_pair_that_decides_is_found():
    rows, X, _ = table(3000)
    y = X[:, 37] * X[:, 5] > 0.0  # no neighbours

    made, raw = (learn(model_of("two", forms=forms), rows, y) for forms in ("made", "raw"))

    assert [38, 6] in (made.states[0].effects.columns[made.states[0].effects.pairs.columns[:276]]).tolist()
    rows, X, _ = table(2000, 1)
    y = X[:, 37] * X[:, 5] > 0.0
    assert error_of(made, rows, y) < 0.6 * error_of(raw, rows, y)


def test_of_categories_the_pair_that_decides_is_found():
    rows, _, words = table(3000)
    rule = (words[:, 0] < 2) ^ (words[:, 3] < 2)
    test, _, others = table(2000, 1)

    made, raw = (learn(model_of("two", forms=forms), rows[:, 40:], rule) for forms in ("made", "raw"))

    truth = (others[:, 0] < 2) ^ (others[:, 3] < 2)
    assert error_of(made, test[:, 40:], truth) < 0.4 * error_of(raw, test[:, 40:], truth)


def test_where_labels_are_chance_hardly_any_pair_of_categories_is_taken():
    taken = 0
    for seed in range(6):
        rows, _, _ = table(3000, seed)
        y = np.random.default_rng(100 + seed).integers(0, 2, 3000)
        model = learn(model_of("two"), rows[:, 40:], y)
        taken += model.states[0].effects.opened[effects.OF_TWO].max()

    assert taken <= 2  # of 6 · 190 at seven looks


def test_workers_that_list_other_pairs_are_merged_into_one_of_them():
    rows, X, words = table(3000)
    rows, halves = rows[:, 36:], (slice(200, 1600), slice(1600, 3000))
    rules = ((words[:, 0] < 2) ^ (words[:, 3] < 2), (words[:, 1] < 2) ^ (words[:, 2] < 2))
    base = learn(model_of("two"), rows[:200], X[:200, 36] > 0)
    workers = [learn(copy.deepcopy(base), rows[half], rule[half]) for half, rule in zip(halves, rules, strict=True)]
    listed = [worker.states[0].effects.pairs.columns.tolist() for worker in workers]

    merged = merge_onto(base, workers).states[0].effects

    assert listed[0] != listed[1]
    effects.check(merged)
    assert merged.pairs.columns.tolist() in listed
    place = listed.index(merged.pairs.columns.tolist())
    np.testing.assert_array_equal(merged.cells, workers[place].states[0].effects.cells)


def _late(columns, state, seen):
    columns(state, seen // 2)


def _one_edge_too_many(edges_of, numbers, knots, steps):
    return np.append(numbers.min(), edges_of(numbers, knots, steps))[: (knots - 1) * steps]


def _edges_move(columns, state, seen):
    columns(state, seen)
    state.edges[0, state.edges[0, :, 0] < np.inf, 0] += np.float32(0.1)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("_open", _late), ("_open", _edges_move), ("edges_of", _one_edge_too_many)],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_the_transcription_finds_wrong_edges_and_openings(monkeypatch, name, wrong):
    monkeypatch.setattr(effect_columns, name, partial(wrong, getattr(effect_columns, name)))
    parts = given("two")

    assert not np.allclose(driven("two", *parts)[1], expected("two", *parts), rtol=1e-5, atol=1e-5)


def test_the_sample_of_a_column_with_a_period_has_all_of_its_numbers():
    hours = (np.arange(20_000) % 24).astype(np.float32)
    y = (hours >= 12).astype(float)

    model = learn(Model("auto", classes=[0, 1]), hours[:, None], y)

    found = model.states[0].effects
    kept = int(found.totals[effects.KEPT])
    assert 128 <= kept <= 256
    assert set(found.sample[:kept, 0]) == set(range(24))


def test_a_few_frequent_words_of_a_text_are_no_columns():
    rng = np.random.default_rng(0)
    words = np.where(rng.random((1200, 1000)) < 0.05, rng.uniform(0.1, 1.0, (1200, 1000)), 0.0)  # 50 a text
    words[:, 0] = np.where(rng.random(1200) < 0.5, rng.uniform(0.1, 1.0, 1200), 0.0)

    text, table = (
        learn(Model("auto", classes=[0, 1]), X.astype(np.float32), words[:, 0] > 0.3) for X in (words, words[:, :3])
    )

    assert text.states[0].effects.totals[effects.COUNT] == 0
    assert table.states[0].effects.totals[effects.COUNT] >= 1


def test_the_only_number_among_many_categories_is_a_column_and_the_first():
    rng = np.random.default_rng(0)
    numbers, words = rng.normal(size=1000), rng.integers(0, 5, (1000, 20))
    rows = [
        {"number": float(x), **{f"c{j}": f"w{word}" for j, word in enumerate(row)}}
        for x, row in zip(numbers, words, strict=True)
    ]
    model = ouzel.OnlineClassifier()
    for row, x in zip(rows, numbers, strict=True):
        model.learn_one(row, bool(abs(x) > 0.7))

    assert model.model_.states[0].effects.pairs.two_valued[:64].tolist() == [0] + [1] * 63  # the number, and categories
    assert ouzel.effect(model, "number").values.any()


@pytest.mark.parametrize("kind", KINDS)
def test_no_monotone_change_of_a_column_matters(kind):
    X, *rest = given(kind)
    changed = [np.exp(X[:, 0]), X[:, 1] ** 3, np.where(X[:, 2] > 0.0, 1e6 * X[:, 2], X[:, 2] - 7.0), *X[:, 3:].T]
    changed = np.column_stack(changed)

    states, found = zip(*(driven(kind, each.astype(np.float32), *rest) for each in (X, changed)), strict=True)

    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(*(state.cells for state in states))


@pytest.mark.parametrize("kind", KINDS)
def test_bits_are_the_same_whatever_the_blocks_and_through_a_file(kind, tmp_path):
    X, y = stream(kind)
    whole, blocks, halves = (model_of(kind) for _ in range(3))
    learn(whole, X, y, len(X))
    learn(blocks, X, y, 37)
    persistence.save(learn(halves, X[:333], y[:333], 50), tmp_path / "half")
    halves = learn(persistence.load_model(tmp_path / "half"), X[333:], y[333:], 1)

    for other in (blocks, halves):
        for (name, mine), (_, theirs) in zip(flat(whole.states[0]), flat(other.states[0]), strict=True):
            np.testing.assert_array_equal(theirs, mine, err_msg=name)
    opened = whole.states[0].effects.opened
    assert opened[effects.OF_ONE].all()
    assert opened[effects.OF_TWO].astype(bool).tolist() == (effects.PAIRS_OF_LEVELS > 0).tolist()


def model_of(kind, **how):
    given, classes = KINDS[kind]
    return Model("auto", **(given or {"classes": range(max(classes, 2))}), **how)


def learn(model, X, y, rows=100):
    for start in range(0, len(X), rows):
        model.learn(next(blocks_from(X[start : start + rows], y[start : start + rows])))
    return model


def error_of(model, X, y):
    outcome = model.evaluate(next(blocks_from(X, y)))
    if model.task.numbers:
        return np.sqrt(np.mean((outcome.margins - y) ** 2))
    chosen = outcome.margins.argmax(axis=1) if outcome.margins.ndim > 1 else outcome.margins > 0
    return np.mean(chosen != outcome.targets)


def changing_unit(factor):
    """Numbers that a bend decides, in one unit and then in another."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3)).astype(np.float32)
    y = 5.0 * np.abs(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=6000)
    y[2000:] *= factor
    return X, y


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_effects_follow_labels_that_change_their_unit(factor):
    X, y = changing_unit(factor)
    model, raw = Model("auto", loss="squared"), Model("auto", loss="squared", forms="raw")

    found, lines = (error_of(learn(each, X[:5000], y[:5000]), X[5000:], y[5000:]) for each in (model, raw))

    assert found < 0.5 * lines
    assert found < 1.5 * factor


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_workers_whose_labels_change_their_unit_are_merged_in_the_new_one(factor, tmp_path):
    X, y = changing_unit(factor)
    parts, errors = (slice(2000, 3500), slice(3500, 5000)), {}

    for forms in ("made", "raw"):
        base = learn(model_of("numbers", forms=forms), X[:2000], y[:2000])
        merged = merge_onto(base, [learn(copy.deepcopy(base), X[part], y[part]) for part in parts])
        persistence.save(merged, tmp_path / forms)  # nothing is refused
        errors[forms] = error_of(learn(merged, X[5000:5500], y[5000:5500]), X[5500:], y[5500:])

    assert errors["made"] < errors["raw"]


def test_numbers_that_begin_with_a_stretch_of_zeros_have_effects():
    X, y = changing_unit(1.0)
    y[:40] = 0.0

    made, raw = (learn(model_of("numbers", forms=forms), X[:5000], y[:5000]) for forms in ("made", "raw"))

    assert error_of(made, X[5000:], y[5000:]) < 0.5 * error_of(raw, X[5000:], y[5000:])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("counts", "rare")])
def test_effects_of_workers_are_one_model_that_knows_what_they_know(kind):
    X, y = stream(kind, 4000)
    test, parts = slice(3000, None), [slice(1000, 2000), slice(2000, 3000)]
    base = learn(model_of(kind), X[:1000], y[:1000])
    workers = [learn(copy.deepcopy(base), X[part], y[part]) for part in parts]

    merged = merge_onto(base, workers)
    turned = merge_onto(base, workers[::-1])
    fresh = ouzel.merge([learn(model_of(kind), X[part], y[part]) for part in parts])

    raw = error_of(learn(model_of(kind, forms="raw"), X[:3000], y[:3000]), X[test], y[test])
    assert error_of(merged, X[test], y[test]) < 0.9 * raw
    assert error_of(fresh, X[test], y[test]) < 0.9 * raw
    one, two, first, after = (model.states[0].effects for model in (*workers, base, merged))
    grown = [np.maximum(each.cells[:, 1] - first.cells[:, 1], 0.0).astype(float) for each in (one, two)]
    moved = [each.cells[:, 0].astype(float) - first.cells[:, 0] for each in (one, two)]
    total = np.maximum(grown[0] + grown[1], 1e-300)
    means = first.cells[:, 0] + (grown[0] * moved[0] + grown[1] * moved[1]) / total
    np.testing.assert_allclose(after.cells[:, 0], means, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(after.cells[:, 1], first.cells[:, 1] + grown[0] + grown[1], rtol=1e-5)
    np.testing.assert_allclose(turned.states[0].effects.cells, after.cells, rtol=1e-5, atol=1e-6)
    assert after.totals[effects.SEEN] == 3000
    effects.check(after)


@pytest.mark.parametrize("budget", [0, 100, 8_000, 30_000, 200_000])
@pytest.mark.parametrize("classes", [2, 3, 40])
def test_cells_never_take_more_than_the_budget(budget, classes):
    X, y = stream("two", 600)
    y = np.where(np.arange(600) < 100, y, np.arange(600) % classes)  # more classes come as the stream goes
    model, raw = Model("auto", derived_budget=budget), Model("auto", forms="raw")

    for start in range(0, 600, 50):
        block = next(blocks_from(X[start : start + 50], y[start : start + 50]))
        found, lines = model.learn(block).margins, raw.learn(block).margins
        cells = model.states[0].effects.cells
        assert cells.nbytes <= budget
        assert not np.isnan(found).any()
        assert budget or np.array_equal(found, lines)

    opened = model.states[0].effects.opened
    assert opened.any() == (budget > 0)
    last = effects.OF_PAIRS + opened[effects.OF_TWO] * effects.KNOTS**2
    assert classes > 2 or (last[opened[effects.OF_TWO] > 0] <= len(cells)).all()


def test_of_wide_sparse_rows_none_are_made():
    rng = np.random.default_rng(0)
    rows = [{int(j): float(rng.integers(1, 4)) for j in rng.choice(3000, 20)} for _ in range(700)]
    examples = [(row, int(min(row) < 70)) for row in rows]
    model, raw = Model("auto"), Model("auto", forms="raw")

    same = [np.array_equal(model.learn(b).margins, raw.learn(b).margins) for b in blocks_from(examples, block_rows=50)]

    assert all(same)
    assert model.states[0].effects.totals[effects.COUNT] == 0
