"""Confidence sequences for differences of error rates: a slow oracle, errors over the whole time, reports."""

import json
from math import exp, inf, log

import numpy as np
import pytest
from scipy.integrate import quad

import ouzel
from ouzel.cli.app import run
from ouzel.comparison.confidence import LEVEL, RANGE, RHO, Differences, boundary, evidence
from ouzel.comparison.grid import candidates
from ouzel.comparison.one_pass import certainly_best, compare
from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.mistakes import mistakes_of
from ouzel.model.tasks.classification import OneAgainstRest
from ouzel.model.tasks.task import Outcome
from ouzel.streams.memory import blocks_from
from ouzel.terms.losses import Logistic


def slow_evidence(total, squares):
    """The mixture by its definition: an integral over the bets exp(λ S - ψ(λ) V), weighed by a gamma density."""

    def weight(bet):
        left = 1.0 - RANGE * bet
        return left ** (RHO / RANGE**2 - 1.0) * exp(-left * RHO / RANGE**2)

    def gain(bet):
        left = 1.0 - RANGE * bet
        psi = (-log(left) - RANGE * bet) / RANGE**2
        return weight(bet) * exp(bet * total - psi * squares)

    top = (1.0 - 1e-12) / RANGE
    return log(quad(gain, 0.0, top, limit=500)[0] / quad(weight, 0.0, top, limit=500)[0])


def slow_interval(one, other, pairs):
    """S and V of differences, example by example."""
    total, squares, mean = 0.0, 0.0, 0.0
    for count, (a, b) in enumerate(zip(one, other, strict=True)):
        mean = total / count if count else 0.0
        squares += (a - b - mean) ** 2
        total += a - b
    needed, steps = log(2.0 * pairs / (1.0 - LEVEL)), np.linspace(0.0, len(one), 4 * len(one) + 1)
    room = next(step for step in steps if slow_evidence(step, squares) >= needed)
    return (total - room) / len(one), (total + room) / len(one)


@pytest.mark.parametrize(("total", "squares"), [(0.0, 0.0), (5.0, 3.0), (20.0, 40.0), (60.0, 400.0), (3.0, 900.0)])
def test_evidence_is_the_integral_over_bets(total, squares):
    assert evidence(total, squares) == pytest.approx(slow_evidence(total, squares), abs=1e-6)


def test_intervals_are_those_of_the_oracle():
    random = np.random.default_rng(4)
    mistakes = (random.random((3, 120)) < [[0.1], [0.5], [0.9]]).astype(float)
    found = Differences(3)
    for start, stop in ((0, 1), (1, 50), (50, 120)):
        found.add(np.ascontiguousarray(mistakes[:, start:stop]))

    for one, other in ((0, 1), (1, 0), (2, 0)):
        low, high = slow_interval(mistakes[one], mistakes[other], pairs=3)
        assert found.between(one, other) == pytest.approx((max(low, -1.0), min(high, 1.0)), abs=0.25 / 120 + 1e-9)
        assert found.certain(one, other) == (found.between(one, other).low > 0.0)
    assert found.certain(2, 0)


def test_any_size_of_blocks_gives_the_same_bits():
    mistakes = (np.random.default_rng(1).random((4, 500)) < 0.3).astype(float)
    whole, cut = Differences(4), Differences(4)
    whole.add(mistakes)
    for row in range(500):
        cut.add(np.ascontiguousarray(mistakes[:, row : row + 1]))

    assert whole.sums.tobytes() == cut.sums.tobytes()
    assert whole.squares.tobytes() == cut.squares.tobytes()


def test_learners_that_are_left_out_keep_their_share_of_the_chance():
    mistakes = (np.random.default_rng(1).random((3, 300)) < [[0.2], [0.3], [0.6]]).astype(float)
    found = Differences(3)
    found.add(mistakes)
    before, chance = found.between(2, 0), found.chance

    found.keep([0, 2])

    assert (found.between(1, 0), found.chance) == (before, chance)


def test_over_the_whole_time_it_errs_as_rarely_as_it_says():
    """2,000 streams of two learners as good as each other, looked at after each of 2,000 examples."""
    random, streams, length = np.random.default_rng(7), 2000, 2000
    wrong = 0
    limits = np.array([boundary(float(v), (1.0 - LEVEL) / 2.0) for v in range(length + 1)])
    for rate in (0.05, 0.5):
        both = random.random((2, streams // 2, length)) < rate
        gaps = both[0].astype(float) - both[1]
        sums = gaps.cumsum(axis=1)
        means = np.concatenate([np.zeros((len(gaps), 1)), sums[:, :-1] / np.arange(1, length)], axis=1)
        squares = ((gaps - means) ** 2).cumsum(axis=1)
        outside = np.abs(sums) >= limits[np.floor(squares).astype(int)]  # of less, which is narrower
        wrong += int(outside.any(axis=1).sum())

    assert 0 < wrong <= (1.0 - LEVEL) * streams


def test_a_clear_difference_is_seen_and_a_tie_is_not():
    random = np.random.default_rng(3)
    X = random.standard_normal((4000, 5)).astype(np.float32)
    y = np.where(X @ [1.0, -1.0, 2.0, 0.0, 0.5] > 0, "a", "b")
    rates = [0.5, 0.5, 1e-9]
    found = compare(candidates(["ogd"], steps=rates[:1] + rates[2:]), blocks_from(X, y))
    tied = compare(candidates(["ogd"], steps=[0.5, 0.5]), blocks_from(X, y))

    difference = found[1].above(found[0])
    assert difference.low > 0.0
    assert difference.low < found[1].scores.error_rate - found[0].scores.error_rate < difference.high
    assert certainly_best(found) is found[0]
    assert certainly_best(tied) is None


def test_nothing_is_said_of_numbers_and_of_weights():
    X = np.random.default_rng(0).standard_normal((50, 2)).astype(np.float32)
    numbers = compare(candidates(["ogd"], steps=[0.1, 0.2], settings={"loss": "squared"}), blocks_from(X, X[:, 0]))
    block = next(blocks_from(X, np.where(X[:, 0] > 0, "a", "b")))
    weighed = compare(candidates(["ogd"], steps=[0.1, 0.2]), [block._replace(weights=np.full(50, 2.0, np.float32))])

    for found in (numbers, weighed):
        assert found[1].above(found[0]) is None
        assert certainly_best(found) is None


@pytest.mark.parametrize("classes", [2, 4])
def test_mistakes_are_those_that_scores_count(classes):
    random = np.random.default_rng(classes)
    margins = random.integers(-2, 3, (300, classes)).astype(float)  # with ties
    margins[::17] = np.nan
    targets = random.integers(0, classes, 300)
    margins = margins[:, 0].copy() if classes == 2 else margins
    outcome = Outcome(margins, targets, np.ones(300, np.float32), np.zeros(300))
    task = OneAgainstRest(Logistic())
    scores = Scores(task)
    scores.add(outcome)

    assert mistakes_of(task, outcome).mean() == pytest.approx(scores.error_rate)


def test_the_command_line_and_python_report_it(tmp_path, capsys):
    rows = [f"{k % 7},{k % 3},{'a' if k % 7 > 3 else 'b'}" for k in range(3000)]
    (tmp_path / "t.csv").write_text("x,z,y\n" + "\n".join(rows) + "\n")
    command = ["compare", str(tmp_path / "t.csv"), "--label", "y", "--learners", "ogd", "--step-sizes", "0.5,1e-9"]
    assert run([*command, "--grid", "loss=logistic,hinge"]) == 0
    assert "is better than every other" not in capsys.readouterr().err, "two of them are alike"
    assert run([*command, "--json"]) == 0
    best, other = json.loads(capsys.readouterr().out)
    assert "above_best" not in best
    assert 0.0 < other["above_best"][0] < other["error_rate"] - best["error_rate"] < other["above_best"][1]
    assert run(command) == 0
    assert "ogd step 2^-1 is better than every other after 3,000 examples" in capsys.readouterr().err

    found = ouzel.compare("ogd,adagrad", ouzel.read([str(tmp_path / "t.csv")], label="y"))
    assert "above the best" in repr(found)
    difference = found.difference("adagrad", "ogd")
    assert -1.0 <= difference.low < difference.high < inf
    with pytest.raises(ouzel.OuzelError, match="nonesuch: is not compared here; ogd, adagrad can be"):
        found.difference("nonesuch", "ogd")
