"""Alarms of rising errors: a slow oracle, false alarms over the whole life, finding changes, saved and resumed."""

import json
from math import floor, sqrt

import numpy as np
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.errors import OuzelError
from ouzel.evaluation import alarm as alarms
from ouzel.evaluation.alarm import Alarm
from ouzel.evaluation.progressive import Run, progressive_validation
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

BETS = [lambda p, q, k=k: k * p ** (k - 1) for k in (3 / 4, 1 / 2, 1 / 4)]
BETS += [lambda p, q: 1 + 0.5 * (1 - 2 * p)]
BETS += [lambda p, q, o=o: (o if p < q else 1) / (1 + (o - 1) * q) for o in (1.3, 2.2, 5.0)]
PARTS = np.array([0.03] * 4 + [0.3, 0.48, 0.1])


def bin_of(error):
    return getattr(alarms._bin_of, "py_func", alarms._bin_of)(error)


def uniform(number):
    with np.errstate(over="ignore"):
        return getattr(alarms._uniform, "py_func", alarms._uniform)(number)


def level_of(errors):
    """L of errors: 4/3 of the mean of squares, weighed by squares."""
    return 4 / 3 * np.sum(errors**4) / np.sum(errors**2) if np.any(errors) else 1e-75


def slow_capital(errors, numbers):
    """The martingale after each error: p-values by counting, a product of bets for each beginning."""
    found, begun, asleep, level = [], [], 1.0, None  # begun: a bet's capital by its beginning
    ranked, references, looked = [], [], 0
    for n, error in enumerate(errors, start=1):
        left = 1.0 / sqrt(sqrt(sqrt(n + 1)))
        begun.append(np.full(len(BETS), asleep - left))
        asleep = left
        if numbers and n <= 64:
            level = level_of(errors[:64])
        elif floor(8 * sqrt(n)) > floor(8 * sqrt(n - 1)):
            references.append(error)
            if numbers and len(references) in (128, 256, 512):
                lately, looked = level_of(np.array(references[looked:])), len(references)
                if lately < level / 2:
                    level, ranked, references, looked = lately, [], [], 0
        else:
            ranked.append(bin_of(max(error**2 / (uniform(n + 2.0**40) * level), 1.0) if numbers else error))
            so_far = np.array(ranked)
            p = (np.sum(so_far > so_far[-1]) + uniform(n) * np.sum(so_far == so_far[-1])) / len(ranked)
            wrong = np.minimum(1.0, np.array(references) ** 2 / level) if numbers else np.array(references) > 0
            q = (np.sum(wrong) + 1) / (len(references) + 4)
            begun = [capital * np.array([bet(p, q if q <= 0.5 else 0.25) for bet in BETS]) for capital in begun]
        found.append(asleep + np.sum(begun, axis=0) @ PARTS)
    return np.array(found)


def streams_for_the_oracle():
    random = np.random.default_rng(3)
    yield "rare mistakes", (random.random(300) < 0.2).astype(float), False
    yield "frequent mistakes", (random.random(300) < 0.7).astype(float), False
    yield "values", 2.0 ** random.integers(-3, 4, 300), False
    yield "numbers of two values", random.choice([0.0, 1.5], 700), True
    yield "numbers whose errors fall", random.choice([0.0, 1.5], 700) * np.repeat([1.0, 0.25], [100, 600]), True


@pytest.mark.parametrize(("kind", "errors", "numbers"), list(streams_for_the_oracle()))
def test_capital_is_that_of_the_oracle(kind, errors, numbers):
    alarm, capital = Alarm(1e-100, numbers), slow_capital(errors, numbers)
    for stop in (1, 70, 150, len(errors)):
        alarm.add(errors[int(alarm.counts[alarms.EXAMPLES]) : stop])
        here = 1.0 / sqrt(sqrt(sqrt(stop + 1))) + alarm.capital @ PARTS
        assert here == pytest.approx(capital[stop - 1], rel=1e-9)


def test_false_alarms_of_10_000_stationary_streams_are_at_most_the_stated_rate():
    """Mistakes that are rare and common, and absolute errors with heavy tails; each stream is watched all its life."""
    random, rate, streams = np.random.default_rng(1), 0.05, 10_000
    false = 0
    for k in range(streams):
        drawn = random.random(500)
        errors = (drawn < (0.02, 0.1, 0.5)[k % 4]).astype(float) if k % 4 < 3 else 1.0 / drawn
        false += bool(Alarm(rate).add(errors))

    assert false <= rate * streams


def test_false_alarms_of_learners_on_stationary_streams_are_at_most_the_stated_rate():
    """Errors of a model that learns fall, which an alarm must not take for a change."""
    random, false = np.random.default_rng(5), 0
    for k in range(200):
        X = random.standard_normal((500, 3)).astype(np.float32)
        y = X @ random.standard_normal(3) + random.standard_normal(500)
        if k % 2:
            report = progressive_validation(Model("ogd"), blocks_from(X, np.where(y > 0, "a", "b")), alarm=0.05)
        else:
            report = progressive_validation(Model("ogd", loss="squared"), blocks_from(X, y), alarm=0.05)
        false += bool(report.drift)

    assert false <= 0.05 * 200


LABELS = {
    "two values": lambda random, n: random.choice([1.5, 2.5], n),
    "two values, one rare": lambda random, n: random.choice([0.0, 1.0], n, p=[0.8, 0.2]),
    "three values": lambda random, n: random.choice([1.5, 2.5, 4.5], n),
    "integers": lambda random, n: random.integers(0, 10, n).astype(float),
    "counts": lambda random, n: random.poisson(1.0, n).astype(float),
    "rare counts": lambda random, n: random.poisson(0.1, n).astype(float),
    "rounded prices": lambda random, n: np.round(2.0 * np.exp(random.standard_normal(n) / 2.0 + 1.0)) / 2.0,
    "Gaussian": lambda random, n: random.standard_normal(n),
}


def errors_of(labels, learner):
    """Absolute errors of a model that learns numbers, each predicted before it is learnt."""
    run, errors = Run(Model(learner, loss="squared"), alarm=0.01), []
    add, run.alarm.add = run.alarm.add, lambda more: errors.append(more) or add(more)
    run.over(blocks_from(np.ones((len(labels), 1), np.float32), labels))
    return np.concatenate(errors), run.alarm


@pytest.mark.parametrize("kind", LABELS)
def test_numbers_of_few_values_raise_no_more_false_alarms_than_stated(kind):
    """A rate of .01: of 16 streams without a change 2 have an alarm with a probability of .01."""
    false = 0
    for seed in range(16):
        labels = LABELS[kind](np.random.default_rng(seed), 10_000)
        false += errors_of(labels, ("adagrad", "ogd")[seed % 2])[1].raised > 0

    assert false <= 1


def test_ranks_of_the_errors_themselves_would_raise_false_alarms_on_numbers_of_few_values():
    """The law above can fail: so it was before errors of numbers were ranked by e² / U."""
    false = 0
    for seed in range(16):
        labels = LABELS["two values, one rare"](np.random.default_rng(seed), 10_000)
        false += bool(Alarm(0.01).add(errors_of(labels, "adagrad")[0]))

    assert false >= 8


@pytest.mark.parametrize(("rise", "most"), [(1.2, 2500), (1.5, 400), (3.0, 80)])
def test_a_rise_of_errors_of_numbers_is_found(rise, most):
    random, delays = np.random.default_rng(4), []
    for _ in range(10):
        alarm = Alarm(0.01, numbers=True)
        assert alarm.add(np.abs(random.standard_normal(5000))) == []
        found = alarm.add(rise * np.abs(random.standard_normal(5000)))
        delays.append(found[0].example - 5000 if found else 5000)

    assert np.median(delays) < most


def test_a_small_rise_of_mistakes_is_found_in_most_streams():
    """10 to 13 %: without a bet on odds of 1.3 the median was 4,250 examples."""
    random, delays = np.random.default_rng(3), []
    for _ in range(40):
        errors = np.concatenate([random.random(20_000) < 0.1, random.random(20_000) < 0.13]).astype(float)
        delays.append(Alarm(0.01).add(errors)[0].example - 20_000)

    assert min(delays) > 0
    assert np.median(delays) < 4000


# cases of `test_compute_p_value_with_history_and_ties` and `test_compute_p_value_transcribes_algorithm_1`, in
# mapie/tests/exchangeability_testing/test_online_tests.py of MAPIE 1.6, and their neighbours
TIES = [[1.0, 2.0, 2.0, 3.0, 2.0], [0.3, 0.9, 0.1, 0.7, 0.5], [0.3, 0.5, 0.5, 0.5, 0.7, 0.5], [2.0] * 6, [1.0]]


@pytest.mark.parametrize("scores", TIES)
def test_p_values_of_ties_are_those_of_algorithm_1(scores):
    """Fedorova, Gammerman, Nouretdinov & Vovk (2012), "Plug-in Martingales", algorithm 1: each score counts itself."""
    alarm, line, seen = Alarm(1e-100), 3, 10_000  # none of the examples after these is a reference
    alarm.counts[[alarms.SEEN, alarms.EXAMPLES]] = seen
    for n, score in enumerate(scores, start=1):
        before = alarm.capital[line] + (seen + n) ** -0.125 - (seen + n + 1) ** -0.125
        alarm.add(np.array([score]))

        p = 1.5 - alarm.capital[line] / before
        larger, ties = sum(s > score for s in scores[:n]), scores[:n].count(score)
        assert p == pytest.approx((larger + uniform(seen + n) * ties) / n, abs=1e-9)
        assert alarm.counts[alarms.RANKED] == n


@pytest.mark.parametrize("before", [500, 50_000])
def test_a_rise_is_found_early_and_late_in_a_stream(before):
    random = np.random.default_rng(2)
    alarm = Alarm(0.01)

    assert alarm.add((random.random(before) < 0.1).astype(float)) == []
    (found,) = alarm.add((random.random(300) < 0.5).astype(float))

    assert before < found.example < before + 150
    assert 0.08 < found.before < 0.2
    assert alarm.add((random.random(2000) < 0.5).astype(float)) == [], "after an alarm all is counted anew"


def test_errors_that_fall_raise_no_alarm():
    random = np.random.default_rng(2)
    alarm = Alarm(0.5)

    for share in np.linspace(0.9, 0.0, 200):
        alarm.add((random.random(50) < share).astype(float))

    assert alarm.raised == 0


@pytest.mark.parametrize("numbers", [False, True])
def test_any_size_of_blocks_saved_in_between_gives_the_same_bits(numbers):
    errors = np.abs(np.random.default_rng(0).standard_normal(900)) * np.repeat([4.0, 1.0, 9.0], 300)
    whole, cut = Alarm(0.01, numbers), Alarm(0.01, numbers)
    whole.add(errors)
    for error in errors:
        cut.add(np.array([error]))
        cut = Alarm.from_json(json.loads(json.dumps(cut.to_json())))

    assert whole.raised == 1
    assert json.dumps(whole.to_json()) == json.dumps(cut.to_json())


@pytest.mark.parametrize(
    "forged",
    [
        {"bins": [[9999], [1]]},
        {"counts": [1.0]},
        {"capital": [-1.0] * 7},
        {"capital": [0.0] * 8},
        {"counts": [0.0] * 9 + [float("nan")]},
        {"rate": 2.0},
        {"events": [[1]]},
        {"bins": 3},
    ],
)
def test_what_no_alarm_can_have_noted_is_refused(forged):
    stored = Run(Model("ogd"), alarm=0.1).to_json()
    stored["alarm"] |= forged
    with pytest.raises(OuzelError, match="is not sound"):
        Run(Model("ogd")).restore(stored)


def of_version_0_2_0(errors):
    """What 0.2.0 saved of an alarm: ranks of the errors themselves, seven bets."""
    bins = np.bincount([bin_of(error) for error in errors])
    places = np.flatnonzero(bins)
    counts = [float(len(errors)), float(len(errors)), 0.0, float(np.sum(errors))]
    stored = {"rate": 0.01, "counts": counts, "capital": [0.1] * 7, "events": []}
    return {**stored, "bins": [places.tolist(), bins[places].tolist()]}


def test_an_alarm_that_version_0_2_0_saved_goes_on():
    mistakes, numbers = (
        Alarm.from_json(of_version_0_2_0(errors)) for errors in (np.zeros(500), np.linspace(1, 2, 500))
    )

    assert not mistakes.numbers
    assert mistakes.add(np.ones(20))[0].example < 510
    assert numbers.numbers
    assert numbers.add(np.linspace(1, 2, 2000)[np.random.default_rng(0).permutation(2000)]) == []
    assert numbers.add(np.full(100, 9.0))[0].example < 2600


def changed(path, n=6000):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 2)).round(3)
    y = np.where((X[:, 0] > 0) ^ (np.arange(n) >= n // 2), "a", "b")
    rows = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    path.write_text("x,z,y\n" + "\n".join(rows) + "\n")
    return str(path)


def test_training_says_when_errors_rise_and_nothing_is_lost_between_two_parts(tmp_path, capsys):
    file, whole, part = changed(tmp_path / "t.csv"), str(tmp_path / "whole.ouzel"), str(tmp_path / "part.ouzel")
    common = ["train", file, "--label", "y", "--learner", "ogd"]
    assert run([*common, "--alarm", "0.01", "-m", whole]) == 0
    told = capsys.readouterr().err
    assert told.count("alarm at example 3,0") == 1
    assert run([*common, "--alarm", "0.01", "-m", str(tmp_path / "w.ouzel"), "--json"]) == 0
    (event,) = json.loads(capsys.readouterr().out)["drift"]
    assert 3000 < event["example"] < 3100

    lines = (tmp_path / "t.csv").read_text().splitlines(keepends=True)
    (tmp_path / "one.csv").write_text("".join(lines[:2001]))
    (tmp_path / "two.csv").write_text("".join([lines[0], *lines[2001:]]))
    begin = ["train", str(tmp_path / "one.csv"), "--label", "y", "--learner", "ogd", "-m", part]
    assert run([*begin, "--alarm", "0.01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["drift"] == []
    assert run(["train", str(tmp_path / "two.csv"), "--resume", part, "-m", part, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["drift"] == [event], "counted from the first example of the model"
    assert run(["train", file, "--resume", part, "--alarm", "0.3"]) == 2
    assert "--alarm 0.3 contradicts" in capsys.readouterr().err


def test_without_alarms_nothing_is_noted(tmp_path, capsys):
    file = changed(tmp_path / "t.csv", 100)
    assert run(["train", file, "--label", "y", "--learner", "ogd", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["drift"] is None
    assert "alarm" not in Run(Model("ogd")).to_json()
    for rate in ("0.7", "-1", "nan"):
        assert run(["train", file, "--label", "y", "--alarm", rate]) == 2
        assert "alarm must be" in capsys.readouterr().err
    assert run(["train", file, "--label", "y", "--alarm", "0.1", "--workers", "2"]) == 2
    with pytest.raises(ouzel.OuzelError, match="a ranking learns groups"):
        Run(Model("adagrad-rda", task="ranking"), alarm=0.1)
