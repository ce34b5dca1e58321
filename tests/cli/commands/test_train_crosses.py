"""Crosses on the command line: learnt, named, saved with the model, and held to."""

import random


def stream(path, rows=4000, seed=0):
    """Whether an animal eats what it finds, which neither the animal nor the food alone tells."""
    rng = random.Random(seed)
    lines = []
    for _ in range(rows):
        animal, food = rng.choice("ab"), rng.choice("uv")
        number = rng.randint(0, 3)
        lines.append(f"{1 if (animal == 'a') == (food == 'u') else -1} |A {animal}{number} |B {food} |C x{number}\n")
    path.write_text("".join(lines))
    return path


def test_a_cross_learns_what_no_feature_tells_and_stays_with_the_model(ouzel, tmp_path):
    path, model = stream(tmp_path / "t.vw"), tmp_path / "m.ouzel"
    plain = ouzel("train", path, "--learner", "adagrad", "--json").json
    crossed = ouzel("train", path, "--learner", "adagrad", "--cross", "B*A", "--model", model, "--json").json

    top = ouzel("top", model).out
    other = stream(tmp_path / "u.vw", seed=1)
    labels = ouzel("predict", model, other, "--only", "labels").out.split()
    why = ouzel("predict", model, path, "--explain", "1").out

    assert plain["error_rate"] > 0.4
    assert crossed["error_rate"] < 0.02
    assert labels == [line.split()[0] for line in other.read_text().splitlines()]
    assert "*B^u" in top
    assert "*B^" in why.splitlines()[1]


def test_other_crosses_are_refused_in_one_line(ouzel, tmp_path):
    path, model = stream(tmp_path / "t.vw", 100), tmp_path / "m.ouzel"
    assert ouzel("train", path, "--cross", "A*B", "--learner", "ogd", "--model", model).status == 0
    numbers = tmp_path / "t.svm"
    numbers.write_text("1 1:2\n-1 3:4\n")

    for arguments, words in (
        (("train", path, "--resume", model, "--cross", "A*C"), "contradicts"),
        (("train", numbers, "--cross", "A*C"), "svmlight"),
        (("train", numbers, "--resume", model), "learnt with the crosses A*B"),
        (("predict", model, numbers), "learnt with the crosses A*B"),
        (("train", path, "--cross", "A"), "two or more columns"),
    ):
        ran = ouzel(*arguments)

        assert ran.status == 2
        assert words in ran.err
        assert len(ran.err.strip().splitlines()) == 1
    assert ouzel("train", path, "--resume", model, "--relearn").status == 0
    assert (
        "has no column or namespace Z, of which the crosses A*Z are made; there are "
        in ouzel("train", path, "--cross", "A*Z", "--learner", "ogd").err
    )
