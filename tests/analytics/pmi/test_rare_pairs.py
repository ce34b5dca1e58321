"""Pairs of rare tokens are counted so that none above a number of occurrences is missing, which is known."""

import numpy as np
import pytest

import ouzel
from ouzel.analytics.pmi import rare_pairs
from ouzel.analytics.pmi.corpus import Corpus
from ouzel.analytics.pmi.listing import of_rare
from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.layout import allocate
from ouzel.sketches import count_min
from tests.forging import parts_of, write


def texts(order, seed=0, documents=3000, length=20, words=20_000):
    """Documents of many rare words, some of which stand together, in one of several orders."""
    random = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, words + 1)
    drawn = random.choice(words, (documents, length), p=shares / shares.sum())
    for pair in range(60):
        rows = random.integers(0, documents, random.integers(5, 60))
        drawn[rows, random.integers(0, length - 1, len(rows))] = words + 2 * pair
        columns = np.argmax(drawn[rows] == words + 2 * pair, axis=1)
        drawn[rows, np.minimum(columns + 1, length - 1)] = words + 2 * pair + 1
    if order != "as they come":
        drawn = drawn[np.argsort(drawn.max(axis=1), kind="stable")]
    return [" ".join(f"w{word}" for word in row) for row in (drawn[::-1] if order == "falling" else drawn)]


@pytest.fixture(params=["as they come", "rising", "falling"])
def corpus(request):
    corpus = Corpus(ouzel.StreamingPMI("60KB", window=4, sample_size=400, heap_size=128, rare=200), exact=True)
    corpus.learn(texts(request.param))
    return corpus


def true_pairs(corpus):
    """Members (n, 2) and occurrences (n,) of all pairs of rare tokens, as far as those are counted."""
    joined = np.concatenate(corpus._members)
    _, first = np.unique(joined[:, 0], return_index=True)
    members = joined[first][:, 1:]
    rare = (corpus.model.stream.counts_of(members.ravel()).reshape(-1, 2) <= 200).all(axis=1)
    return members[rare], corpus.pairs.counts[rare, 0]


def test_no_pair_of_rare_tokens_above_the_number_known_is_missing(corpus):
    model = corpus.model
    members, counts = true_pairs(corpus)
    missing = rare_pairs.missing(model.side.rare)
    kept = of_rare(model.side.rare, model.stream, 200)

    often = {tuple(pair) for pair in members[counts > missing].tolist()}

    assert model.side.rare.totals[0] > 0
    assert 3 < missing < 40
    assert len(often) > 10
    assert often <= {tuple(pair) for pair in kept.members.tolist()}


def test_occurrences_lie_between_those_counted_and_those_that_may_have_been_missed(corpus):
    kept = of_rare(corpus.model.side.rare, corpus.model.stream, 200)
    _, true = corpus.exact_pmi(kept.members)

    assert len(kept.counts) > 50
    assert (kept.counts <= true).all()
    assert (true <= kept.most).all()
    assert (kept.counts < true).any()


def test_pairs_outside_of_the_table_occurred_no_oftener_than_their_cells_say(corpus):
    rare = corpus.model.side.rare
    slots = corpus.pairs.slots
    members, counts = true_pairs(corpus)
    kept = {tuple(pair) for pair in rare.members[: rare.table.taken[0]].tolist()}
    outside = np.array([tuple(pair) not in kept for pair in members.tolist()])
    joined = np.concatenate(corpus._members)
    where = {tuple(row[1:]): row[0] for row in joined.tolist()}
    wanted = np.array([where[tuple(pair)] for pair in members[outside].tolist()], np.uint32)

    assert np.isin(wanted, slots).all()
    assert (counts[outside] <= rare_pairs.bounds_outside(rare, wanted)).all()


def test_recall_is_whole_above_the_number_and_the_information_told(corpus):
    model = corpus.model
    above = [row for row in corpus.recalls(1) if row["pmi"] > model.complete_above and row["pairs"]]

    assert model.least_count(1) == rare_pairs.missing(model.side.rare) + 1
    assert above
    assert all(row["recall"] == 1.0 for row in above)
    for row in corpus.table(50, 1):
        assert row["count_high"] >= model.least_count(1)
        assert row["pmi_low"] <= row["pmi"] <= row["pmi_high"]
        assert row["count_low"] <= row["count"] <= row["count_high"]


@kernel
def count(state, slot, often):
    rare_pairs.count_pair(state, slot, np.uint32(1), np.uint32(2), np.int64(10_000), often, np.int64(10_000))


def test_cells_that_stop_are_no_bounds():
    state = allocate(rare_pairs.layout(1, 1024, 3))
    rare_pairs.begin(state, 0)
    often = count_min.init(width=16, depth=2)
    true = {7: 400, 8: 300, 9: 300}
    for slot, occurrences in true.items():
        for _ in range(occurrences):
            count(state, np.uint32(slot), often)

    bounds = dict(zip(true, rare_pairs.bounds_outside(state, np.array([*true], np.uint32)).tolist(), strict=True))
    kept = int(state.table.keys[0])

    assert all(bounds[slot] >= true[slot] for slot in true if slot != kept)
    assert state.table.weights[0] >= true[kept]


def test_a_small_stream_is_counted_whole():
    model = ouzel.StreamingPMI("400KB", sample_size=400).partial_fit(["the prime minister said"] * 50)

    assert model.complete
    assert model.complete_above == -np.inf
    assert all(row.count_low == row.count_high == 50 for row in model.estimates(10))


def test_a_file_of_the_first_format_is_one_of_the_sketch_alone(tmp_path):
    path = tmp_path / "m"
    before = ouzel.StreamingPMI("400KB", rare=0).partial_fit(["the prime minister said"] * 50)
    before.save(path)
    described, arrays = parts_of(path)
    del described["notes"]["version"], described["notes"]["parameters"]["rare"]
    new = [name for name in arrays if name.startswith("beside.rare.") or name == "beside.entries.uncounted"]
    write(path, described, {name: array for name, array in arrays.items() if name not in new})

    after = ouzel.StreamingPMI.load(path)

    assert after.parameters["rare"] == 0
    assert after.top(10) == before.top(10)
    assert after.partial_fit(["he said so"]).top(10) == before.partial_fit(["he said so"]).top(10)
    described["notes"]["version"] = 9
    write(path, described, arrays)
    with pytest.raises(OuzelError, match="of format 9, this version of Ouzel reads format 2; learn it again"):
        ouzel.StreamingPMI.load(path)


def test_a_table_of_a_file_in_which_pairs_cannot_be_found_is_refused(tmp_path):
    path = tmp_path / "m"
    ouzel.StreamingPMI("400KB", sample_size=400).partial_fit(["the prime minister said"] * 50).save(path)
    described, arrays = parts_of(path)
    arrays["beside.rare.table.places"][:] = 7
    write(path, described, arrays)

    with pytest.raises(OuzelError, match="places of keys"):
        ouzel.StreamingPMI.load(path)


def test_rare_pairs_are_the_same_whatever_the_blocks_and_after_loading(tmp_path):
    documents = texts("as they come", documents=800)
    settings = {"window": 4, "sample_size": 400, "heap_size": 128, "rare": 200}
    whole = ouzel.StreamingPMI("60KB", **settings).partial_fit(documents)
    part = ouzel.StreamingPMI("60KB", **settings).partial_fit(documents[:333])
    part.save(tmp_path / "m")

    again = ouzel.StreamingPMI.load(tmp_path / "m").partial_fit(documents[333:334]).partial_fit(documents[334:])

    assert again.estimates(100, 1) == whole.estimates(100, 1)
    for ours, theirs in zip(again.side.rare[1:], whole.side.rare[1:], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("budget", ["160KB", "400KB", "1.4MB"])
def test_what_is_allocated_beside_names_fits_the_budget(budget):
    model = ouzel.StreamingPMI(budget, sample_size=400)
    names = 32 * (400 + 6 + 2 * len(model.state.keys) + 2 * len(model.side.rare.missed))

    assert model.parameters["budget"] * 0.98 < model.bytes_used + names <= model.parameters["budget"]
