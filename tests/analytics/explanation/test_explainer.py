"""Explanations: planted risks are found and told in the right proportion; thresholds come in one pass."""

import numpy as np
import pytest

import ouzel
from ouzel.analytics.explanation.attribute_counts import bounds
from ouzel.analytics.explanation.conditions import Condition, RunningQuantile
from ouzel.analytics.explanation.explained import Explained
from ouzel.analytics.explanation.risks import true_risks
from ouzel.analytics.explanation.rows import Attributes, Rule
from ouzel.errors import OuzelError
from tests.forging import parts_of, write

COLUMNS = 4


def planted(seed=0, rows=100_000, values=200, common=0.05):
    """Rows of four columns by Zipf's law; some values multiply the odds of being an outlier."""
    random = np.random.default_rng(seed)
    ranks = 1.0 / np.arange(1, values + 1)
    cells = random.choice(values, (rows, COLUMNS), p=ranks / ranks.sum())
    effect = np.where(random.random((COLUMNS, values)) < 0.3, random.normal(0, 2, (COLUMNS, values)), 0.0)
    odds = common / (1 - common) * np.exp(sum(effect[column, cells[:, column]] for column in range(COLUMNS)))
    outliers = random.random(rows) < odds / (1 + odds)
    slots = (cells + values * np.arange(COLUMNS) + 1).astype(np.uint32)
    return Attributes(np.arange(rows + 1) * COLUMNS, slots.ravel(), outliers, lambda k: f"slot {slots.ravel()[k]}")


@pytest.mark.parametrize("common", [0.02, 0.2])
def test_weights_go_with_the_logarithm_of_planted_relative_risks(common):
    explained = Explained(ouzel.StreamingExplainer("32KB"), Rule(), exact=True)
    explained.learn(planted(common=common))

    kept, correlation, _ = explained.correlation()

    assert explained.explainer.bytes_used == 32768
    assert kept > 700
    assert correlation >= 0.9


def test_with_every_attribute_in_memory_risks_are_those_of_counts():
    explained = Explained(ouzel.StreamingExplainer("32KB"), Rule(), exact=True)
    explained.learn(planted())

    for side in ("high", "low"):
        for row in explained.table(1000, side):
            assert row["risk"] == pytest.approx(row["true_risk"], rel=1e-9)
            assert row["support"] == row["rows"]


@pytest.mark.parametrize("side", ["high", "low"])
def test_with_every_attribute_in_memory_the_largest_risks_are_listed(side):
    explained = Explained(ouzel.StreamingExplainer("32KB"), Rule(), exact=True)
    explained.learn(planted())
    counts = explained.exact.counts
    risks = true_risks(counts, explained.explainer.rows)[counts.sum(axis=1) >= 50]

    listed = [row["true_risk"] for row in explained.table(50, side, min_support=50)]

    np.testing.assert_allclose(listed, np.sort(risks)[::-1][:50] if side == "high" else np.sort(risks)[:50])


def test_risks_are_unbiased_where_memory_is_a_third_of_the_attributes():
    explained = Explained(ouzel.StreamingExplainer("6KB"), Rule(), exact=True)
    explained.learn(planted())

    rows = [row for row in explained.table(1000, "both") if row["rows"] >= 100 and row["support"] >= 50]
    error = np.log([row["risk"] / row["true_risk"] for row in rows])

    assert len(rows) > 50
    assert abs(np.median(error)) < 0.02
    assert np.quantile(np.abs(error), 0.75) < 0.3


@pytest.mark.parametrize("budget", ["1KB", "6KB", "20KB"])
@pytest.mark.parametrize("order", ["as they come", "outliers last", "outliers first"])
def test_true_counts_and_risks_lie_within_their_bounds_whatever_the_order(budget, order):
    rows = planted(rows=20_000)
    if order != "as they come":
        first = np.argsort(rows.outliers if order == "outliers last" else ~rows.outliers, kind="stable")
        slots = rows.slots.reshape(-1, COLUMNS)[first].ravel()
        rows = Attributes(rows.offsets, slots, rows.outliers[first], lambda k: f"slot {slots[k]}")
    explained = Explained(ouzel.StreamingExplainer(budget), Rule(), exact=True)
    explained.learn(rows)

    found = explained.explainer.counted()
    true = explained.exact.of(found.slots)
    risks = true_risks(true, explained.explainer.rows)
    low, high = found.interval

    assert (found.counts <= true).all()
    assert (true <= found.counts + found.missed).all()
    assert (low <= risks * (1 + 1e-12)).all()
    assert (risks <= high * (1 + 1e-12)).all()
    assert ((low <= found.risks) & (found.risks <= high)).all()
    outside = np.setdiff1d(explained.exact.slots, found.slots)
    assert (explained.exact.of(outside) <= bounds(explained.explainer.side, outside)).all()


def test_what_was_counted_on_less_than_half_of_its_rows_is_not_ranked():
    explained = Explained(ouzel.StreamingExplainer("6KB"), Rule(), exact=True)
    explained.learn(planted())
    explainer = explained.explainer

    found = explainer.found("both")
    true = explained.exact.of(found.slots).sum(axis=1)

    assert (true <= 7 * found.support).all()
    assert np.mean(true <= 2 * found.support) > 0.95
    assert explainer.unranked() == len(explainer.counted().slots) - len(found.slots) > 50
    listed = {row.attribute for row in explainer.top(1000, "both")}
    assert len(listed) == len(found.slots)


def test_an_attribute_that_comes_to_outliers_late_is_not_listed_as_one_of_inliers():
    # as in an intrusion log: whatever is common has its place before the attack begins, and half of it is not seen
    random = np.random.default_rng(5)
    calm = [{"flag": "SF", "size": int(size)} for size in random.integers(0, 3000, 10_000)]
    attack = [{"flag": "SF", "size": int(size)} for size in random.integers(0, 40, 10_000)]
    explainer = ouzel.StreamingExplainer("2KB")
    explainer.partial_fit(calm[:5000] + [{"flag": "S0", "size": 1}] * 5000 + calm[5000:], [False] * 15_000)
    explainer.partial_fit(attack, [True] * 10_000)
    rows = np.array([15_000, 10_000])
    true = float(true_risks(np.array([[10_000, 10_000]]), rows)[0])

    low, high = explainer.risk_interval("flag=SF")

    assert low <= true <= high
    for row in explainer.top(100, "both"):
        assert row.attribute != "flag=SF" or row.support >= 2800


def test_an_attribute_is_counted_since_its_first_row_as_long_as_there_is_room():
    explainer = ouzel.StreamingExplainer("4KB")
    explainer.partial_fit([{"kind": "a"}] * 100 + [{"kind": "b"}] * 50, [False] * 100 + [True] * 50)

    (row,) = explainer.top(1)

    assert (row.attribute, row.since, row.support, row.missed) == ("kind=b", 101, 50, 0)
    assert row.risk_low == row.risk == row.risk_high


@pytest.mark.parametrize("budget", [52, 64, 100, 1000, 6144, 2**15, 10**6 + 1, 2**20])
def test_bytes_used_are_those_of_the_budget(budget):
    used = ouzel.StreamingExplainer(budget).bytes_used

    assert budget - 4 < used <= budget


def test_an_explanation_of_an_older_format_is_refused_in_a_line(tmp_path):
    path = tmp_path / "m"
    ouzel.StreamingExplainer("1KB").partial_fit([{"kind": "a"}], [True]).save(path)
    described, arrays = parts_of(path)
    assert described["notes"].pop("version") == 2
    write(path, described, arrays)

    with pytest.raises(
        OuzelError, match=r"m: holds an explanation of format 1, this .* reads format 2; learn it again"
    ):
        ouzel.StreamingExplainer.load(path)


def test_rare_outliers_leave_attributes_that_say_nothing_at_zero():
    random = np.random.default_rng(1)
    rows = [{"kind": kind} for kind in random.choice(["a", "b", "c"], 20_000)]
    outliers = random.random(20_000) < 0.02
    balanced = ouzel.StreamingExplainer("4KB", learning_rate=0.1).partial_fit(rows, outliers)
    paper = ouzel.StreamingExplainer("4KB", learning_rate=0.1, balanced=False).partial_fit(rows, outliers)

    assert abs(balanced.weight("kind=a")) < 0.5
    assert paper.weight("kind=a") < -3
    assert 0.5 < balanced.risk("kind=a") < 2
    assert 0.3 < paper.risk("kind=a") < 3


def test_conjunctions_are_found_that_no_single_attribute_tells():
    random = np.random.default_rng(2)
    rows = [{"a": int(a), "b": int(b)} for a, b in random.integers(0, 2, (20_000, 2))]
    outliers = [row["a"] != row["b"] for row in rows]

    explainer = ouzel.StreamingExplainer("8KB", order=2).partial_fit(rows, outliers)

    assert {row.attribute for row in explainer.top(2)} == {"a=0 & b=1", "a=1 & b=0"}
    assert {row.attribute for row in explainer.top(2, side="low")} == {"a=0 & b=0", "a=1 & b=1"}


def test_blocks_can_be_cut_anywhere_and_a_saved_explanation_goes_on(tmp_path):
    rows = planted(rows=5000)
    names = [{"slot": name} for name in rows.slots.tolist()]
    outliers = np.repeat(rows.outliers, COLUMNS)
    whole = ouzel.StreamingExplainer("2KB").partial_fit(names, outliers)
    part = ouzel.StreamingExplainer("2KB").partial_fit(names[:777], outliers[:777])
    part.save(tmp_path / "part")

    part = ouzel.StreamingExplainer.load(tmp_path / "part").partial_fit(names[777:], outliers[777:])

    assert part.top(64, "both") == whole.top(64, "both")
    assert all(row.attribute.startswith("slot=") for row in part.top(64, "both"))


def test_a_data_frame_is_a_table_of_rows():
    rows = [{"kind": "a", "size": 1}, {"kind": "b", "size": None}] * 50
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows).astype({"size": "Int64"})
    flags = [True, False] * 50

    assert ouzel.StreamingExplainer().partial_fit(frame, flags).top() == (
        ouzel.StreamingExplainer().partial_fit(rows, flags).top()
    )


def test_true_risks_are_ratios_of_shares():
    counts, rows = np.array([[900, 100], [0, 0]]), np.array([9000, 500])

    risks = true_risks(counts, rows)

    assert risks[0] == pytest.approx((100 / 1000) / (400 / 8500), rel=0.01)
    assert np.isfinite(risks).all()


@pytest.mark.parametrize("cuts", [[1], [7, 500, 1024], [1024] * 9, [5000, 5000]])
def test_a_running_quantile_is_near_the_true_one_and_the_same_for_all_blocks(cuts):
    values = np.random.default_rng(3).lognormal(size=10_000)
    whole = RunningQuantile(0.8).thresholds(values)
    quantile, found, start = RunningQuantile(0.8), [], 0
    for cut in [*cuts, len(values)]:
        found.append(quantile.thresholds(values[start : start + cut]))
        start += cut

    np.testing.assert_array_equal(np.concatenate(found), whole)
    for k in (10, 1023, 5000, 9999):
        rank = (values[: k + 1] < whole[k]).mean()
        assert abs(rank - 0.8) < (0.1 if k < 100 else 0.02)


def test_a_running_quantile_goes_on_after_being_stored():
    values = np.random.default_rng(4).lognormal(size=9000)
    whole, part, again = RunningQuantile(0.95), RunningQuantile(0.95), RunningQuantile(0.95)
    expected = whole.thresholds(values)

    part.thresholds(values[:3333])
    again.restore(part.notes())

    np.testing.assert_array_equal(again.thresholds(values[3333:]), expected[3333:])


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("amount > 5", [5.0, 6.0], [False, True]),
        ("amount<=5", [5.0, 6.0], [True, False]),
        ("two words != 5", [5.0, 6.0], [False, True]),
        ("state = CA", np.array(["CA", "NY", None], object), [True, False, False]),
        ("state != CA", np.array(["CA", "NY"], object), [False, True]),
    ],
)
def test_conditions_hold_where_they_say(text, values, expected):
    assert Condition(text).holds(np.asarray(values)).tolist() == expected


@pytest.mark.parametrize("text", ["amount", "> 5", "amount > high", ""])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(OuzelError, match=r"condition is|expected a number"):
        Condition(text)


def test_wrong_arguments_are_refused():
    with pytest.raises(OuzelError, match="order must be a whole number from 1 to 2"):
        ouzel.StreamingExplainer(order=3)
    with pytest.raises(OuzelError, match="budget must be a size in bytes, such as 8KB, from 32 to"):
        ouzel.StreamingExplainer("8B")
    with pytest.raises(OuzelError, match="side must be one of"):
        ouzel.StreamingExplainer().top(side="middle")
    with pytest.raises(OuzelError, match="2 rows, but 1"):
        ouzel.StreamingExplainer().partial_fit([{}, {}], [True])
