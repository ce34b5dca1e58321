"""N-grams on the command line: learnt, named, and saved with the model."""

import random


def test_an_ngram_learns_what_no_word_tells_and_stays_with_the_model(ouzel, tmp_path):
    rng = random.Random(0)
    rows = [(rng.choice(["not", "very"]), rng.choice(["good", "bad"])) for _ in range(3000)]
    path, model = tmp_path / "t.csv", tmp_path / "m.ouzel"
    lines = [f"{int((a == 'very') == (b == 'good'))},it is {a} {b}" for a, b in rows]
    path.write_text("\n".join(["y,note", *lines, ""]))
    reading = ("train", path, "--label", "y", "--text", "note", "--learner", "adagrad", "--json")
    plain = ouzel(*reading).json
    joined = ouzel(*reading, "--ngrams", "note=2", "--model", model).json
    skipping = ouzel(*reading, "--ngrams", "2", "--skips", "1").json

    top = ouzel("top", model).out
    labels = ouzel("predict", model, path, "--only", "labels").out.split()

    assert plain["error_rate"] > 0.4
    assert joined["error_rate"] < 0.02
    assert skipping["error_rate"] < 0.02
    assert labels == [line.split(",")[0] for line in lines]
    assert "not good" in top
