"""Pointwise mutual information: planted and real associations are found, and estimated well."""

import subprocess
import sys

import numpy as np
import pytest

import ouzel
from ouzel.analytics.pmi.corpus import Corpus
from ouzel.analytics.pmi.tokens import tokeniser
from ouzel.errors import OuzelError
from ouzel.sketches import reservoir
from tests.forging import parts_of, write


def planted(seed=0, documents=4000, length=40, words=300, pairs=30):
    """Documents of words by Zipf's law, into which pairs of neighbours are set; and those pairs."""
    random = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, words + 1) ** 0.7
    texts = random.choice(words, (documents, length), p=shares / shares.sum())
    members = random.choice(np.arange(20, words), (pairs, 2), replace=False)
    often = random.integers(50, 800, pairs)
    for (first, second), count in zip(members, often, strict=True):
        places = random.integers(0, length - 1, count)
        rows = random.integers(0, documents, count)
        texts[rows, places], texts[rows, places + 1] = first, second
    return [" ".join(f"w{word}" for word in row) for row in texts], {(f"w{u}", f"w{v}") for u, v in members.tolist()}


def test_planted_pairs_are_found_and_their_estimates_go_with_exact_counts():
    texts, pairs = planted()
    corpus = Corpus(ouzel.StreamingPMI("1.4MB", window=3), exact=True)
    corpus.learn(texts)

    found = {(first, second) for first, second, _ in corpus.model.top(30)}
    retrieved, correlation, ranks = corpus.correlation()

    assert len(found & pairs) > 20
    assert retrieved >= 30
    assert len(corpus.model.pairs(settled=False)[0]) > 1000
    assert correlation >= 0.9
    assert ranks >= 0.8


@pytest.mark.long
def test_estimates_of_newswire_go_with_exact_counts(data):
    pd = pytest.importorskip("pandas")
    text = pd.read_csv(data("reuters21578.tsv.xz"), sep="\t", quoting=3)["text"].dropna().tolist()
    corpus = Corpus(ouzel.StreamingPMI("1.4MB"), exact=True)
    for start in range(0, len(text), 1000):
        corpus.learn(text[start : start + 1000])
    members, estimated = corpus.model.pairs()
    exact, _ = corpus.exact_pmi(members)
    positive = estimated > 0

    assert corpus.model.bytes_used <= 1.4 * 2**20
    assert len(members) > 500
    assert min(corpus.correlation()[1:]) >= 0.9
    assert np.corrcoef(estimated[positive], exact[positive])[0, 1] >= 0.9
    assert abs(np.median((estimated - exact)[exact > 6])) < 0.1
    assert ("merrill", "lynch") in {(first, second) for first, second, _ in corpus.model.top(250)}  # the 217th
    assert corpus.model.least_count() == 25
    assert recall(corpus, text, 25, 10) == 1.0
    assert recall(corpus, text, 25) >= 0.99
    assert recall(corpus, text, 50) >= 0.99


def recall(corpus, texts, least, number=100):
    """Share of the pairs of largest PMI, among those that occur `least` times, that are told of."""
    tokens = tokeniser("word")(texts, 0)
    document = np.repeat(np.arange(len(tokens.ends)), np.diff(tokens.ends, prepend=0))
    pairs = []
    for apart in range(1, 6):
        same = document[apart:] == document[:-apart]
        pairs.append(np.stack([tokens.slots[:-apart][same], tokens.slots[apart:][same]], axis=1))
    found, counts = np.unique(np.concatenate(pairs), axis=0, return_counts=True)
    found = found[counts >= least]
    best = found[np.argsort(-corpus.exact_pmi(found)[0])[:number]]
    told = set(map(tuple, corpus.model.pairs()[0].tolist()))
    return np.mean([tuple(pair) in told for pair in best.tolist()])


def test_the_pmi_of_pairs_that_are_held_is_that_of_counts():
    texts, _ = planted(words=40, pairs=8)
    corpus = Corpus(ouzel.StreamingPMI("1.4MB", window=3), exact=True)
    corpus.learn(texts)

    members, estimated = corpus.model.pairs()

    assert len(members) > 1000
    np.testing.assert_allclose(estimated, corpus.exact_pmi(members)[0], atol=1e-5)


@pytest.mark.parametrize("how", ["word", "punctuation"])
def test_a_quotation_mark_is_not_a_word(how):
    found = tokeniser(how)(["'The' o'clock ' news' 'tis"], 0)

    names = [found.name_of(k) for k in range(len(found.slots))]
    assert [name for name in names if name != "'"] == ["the", "o'clock", "news", "tis"]
    assert how == "punctuation" or "'" not in names


def test_exact_pmi_is_that_of_counting():
    texts = ["a b c a b", "b a", "c"]
    corpus = Corpus(ouzel.StreamingPMI("1.4MB", window=3), exact=True)
    corpus.learn(texts)
    slots = {name: slot for slot, name in corpus.model.names.items()}

    exact, counts = corpus.exact_pmi(np.array([[slots["a"], slots["b"]], [slots["c"], slots["b"]]], np.uint32))

    # pairs at most two apart: ab ac bc ba ca cb ab | ba
    assert counts.tolist() == [2, 1]
    np.testing.assert_allclose(exact, np.log([2 / 8 / (3 / 8 * 3 / 8), 1 / 8 / (2 / 8 * 3 / 8)]))


def test_texts_can_be_cut_anywhere_and_a_saved_model_goes_on(tmp_path):
    texts, _ = planted(documents=300)
    whole = ouzel.StreamingPMI("1.4MB").partial_fit(texts)
    part = ouzel.StreamingPMI("1.4MB").partial_fit(texts[:77])
    part.save(tmp_path / "part")

    part = ouzel.StreamingPMI.load(tmp_path / "part").partial_fit(texts[77:200]).partial_fit(texts[200:])

    assert part.top(100, settled=False) == whole.top(100, settled=False)
    assert part.names == whole.names
    np.testing.assert_array_equal(part.state.weights, whole.state.weights)


def test_texts_and_sequences_of_tokens_are_the_same():
    texts, _ = planted(documents=100)
    text = ouzel.StreamingPMI("1.4MB").partial_fit(texts)
    tokens = ouzel.StreamingPMI("1.4MB").partial_fit([text.split() for text in texts])

    assert text.top(50, settled=False) == tokens.top(50, settled=False)


def test_every_pair_has_the_names_of_both_members_and_no_other_name_is_kept():
    model = ouzel.StreamingPMI("80KB", sample_size=500, heap_size=64)
    for block in range(10):
        model.partial_fit([" ".join(f"w{block}x{k}" for k in range(1000))])

    pairs = model.top(64, settled=False)

    assert not any(name.startswith("#") for pair in pairs for name in pair[:2])
    assert len(model.names) <= 500 + 2 * 64 + 5
    assert model.bytes_used <= 80 * 1024


def test_windows_of_events_go_over_lines():
    events = ["disk full", "write failed", "login", "logout"] * 500
    model = ouzel.StreamingPMI("1.4MB", window=2, events=True)
    model.partial_fit(events[:777]).partial_fit(events[777:])

    assert {(first, second) for first, second, _ in model.top(4)} == {
        ("disk full", "write failed"),
        ("write failed", "login"),
        ("login", "logout"),
        ("logout", "disk full"),
    }
    assert model.pmi("disk full", "write failed") == pytest.approx(np.log(4), abs=0.5)
    assert model.pmi("disk full", "login") < -1


@pytest.mark.parametrize(
    ("how", "tokens"),
    [
        ("word", ["the", "u", "s", "price", "10", "5"]),
        ("punctuation", ["the", "u", ".", "s", ".", "price", ":", "10", ".", "5"]),
        ("whitespace", ["The", "U.S.", "price:", "10.5"]),
        ("[A-Z]", ["T", "U", "S"]),
        ("shlex:split", ["The", "U.S.", "price:", "10.5"]),
    ],
)
def test_text_becomes_tokens_as_it_was_said(how, tokens):
    found = tokeniser(how)(["The U.S. price: 10.5", ""], 0)

    assert [found.name_of(k) for k in range(len(found.slots))] == tokens
    assert found.ends.tolist() == [len(tokens), len(tokens)]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("[a-z", "regular expression"),
        ("absent_module:f", "cannot import"),
        ("os:sep", "not a function"),
        ("(a)(b)", "group"),
    ],
)
def test_what_makes_no_tokens_is_refused(how, message):
    with pytest.raises(OuzelError, match=message):
        tokeniser(how)


def test_a_file_runs_nothing_that_it_names(tmp_path):
    path = tmp_path / "model"
    ouzel.StreamingPMI("400KB").partial_fit(["the prime minister said"] * 50).save(path)
    described, arrays = parts_of(path)
    (tmp_path / "spy.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'w')\ndef split(text): return text.split()\n")
    described["notes"]["parameters"]["tokens"] = "spy:split"
    write(path, described, arrays)

    ran = subprocess.run(
        [sys.executable, "-c", f"import ouzel; ouzel.StreamingPMI.load({str(path)!r})"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert "names the function 'spy:split' to run, which no file of Ouzel does" in ran.stderr
    assert not (tmp_path / "RAN").exists()


@pytest.mark.parametrize("tokens", [str.split, "shlex:split"])
def test_a_tokeniser_of_ones_own_is_given_again(tmp_path, tokens):
    whole = ouzel.StreamingPMI("400KB", tokens=tokens).partial_fit(["The Prime Minister said"] * 50)
    whole.save(tmp_path / "model")

    with pytest.raises(OuzelError, match=r"a tokeniser of your own, '.*:(str\.)?split'; give it again as tokens="):
        ouzel.StreamingPMI.load(tmp_path / "model")
    again = ouzel.StreamingPMI.load(tmp_path / "model", tokens=tokens)

    again.partial_fit(["The Prime Minister said"])
    assert again.top(3, settled=False) == whole.partial_fit(["The Prime Minister said"]).top(3, settled=False)


def test_other_tokens_than_those_learnt_are_refused(tmp_path):
    ouzel.StreamingPMI("400KB", tokens="whitespace").save(tmp_path / "model")

    assert ouzel.StreamingPMI.load(tmp_path / "model", tokens="whitespace").seen == 0
    with pytest.raises(OuzelError, match="was learnt with tokens='whitespace', not 'word'; leave tokens out"):
        ouzel.StreamingPMI.load(tmp_path / "model", tokens="word")


def test_wrong_arguments_are_refused():
    with pytest.raises(OuzelError, match="window must be a whole number from 2 to 10,000"):
        ouzel.StreamingPMI(window=1)
    with pytest.raises(OuzelError, match=r"too small; .* need [\d,]+ bytes"):
        ouzel.StreamingPMI("100KB")


def test_a_renewed_reservoir_is_a_sample_of_recent_items():
    sample = reservoir.init(100, seed=1)
    for item in range(20_000):
        reservoir.renew(sample, np.uint32(item), 0.2)

    ages = 20_000 - sample.items

    assert 300 < ages.mean() < 700  # of the mean 100 / 0.2
