"""Simulated news of `ouzel demo --write`: stories of topics, whose names go together as those of real ones do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ouzel.cli.simulated import Columns

TOPICS = {
    "earnings": "profit net loss quarter dividend shares revenue earnings year record split annual per results payable",
    "grain": "wheat corn tonnes harvest crop soybeans farmers bushels export acreage yield grain maize planting silo",
    "oil": "crude barrels oil refinery drilling output gas pipeline wells tanker opec fuel rig petroleum field",
    "interest": "rate bank percent prime lending deposit cut discount monetary credit bills notes reserve loans bond",
    "trade": "tariff exports imports deficit surplus goods quota dispute treaty duties sanctions market talks ban pact",
    "ships": "vessel port cargo strike dock freight harbour tonnage seamen canal shipping ferry crew anchor route",
    "metals": "copper gold mine ounces silver zinc smelter ore tin lead aluminium nickel reserves shaft assay",
}
COMMON = (
    "the of to in and said a for it on was is by from that with its at as be will which he not has have an would were"
    " this are after new company last more than government also been week market up about one other some under two"
    " first we expected no had but or may three down could there against they day before between price total major end"
)
PHRASES = (  # words of which the second hardly comes without the first
    "kuala lumpur|prime minister|hong kong|white house|burkina faso|buenos aires|abu dhabi|rolls royce|los angeles"
    "|west german|joint venture|natural gas|chief executive|central bank|stock exchange|spot check|press conference"
)
SYLLABLES = "ba be bo da del do fa fen ga gor ha hul ka ken lo lin ma mer no nar pa pol ra ros sa sten ta tor va ver"


def stories(random: np.random.Generator, rows: int = 8_000, length: int = 50) -> Columns:
    """Stories of seven topics: common words, words of the topic, names, and phrases of two words."""
    import numpy as np

    from ouzel.cli.simulated import zipf

    topics, common = list(TOPICS), COMMON.split()
    own = np.array([words.split() for words in TOPICS.values()], dtype=object)
    syllables = np.array(SYLLABLES.split(), dtype=object)
    names = syllables[random.integers(0, len(syllables), (3, 3_000))].sum(axis=0)
    phrases = np.array(PHRASES.split("|"), dtype=object)
    topic = zipf(random, len(topics), rows)
    shape = (rows, length)
    about = np.where(random.random(shape) < 0.75, topic[:, None], random.integers(0, len(topics), shape))
    words = np.array(common, dtype=object)[zipf(random, len(common), rows * length)].reshape(shape)
    kind = random.random(shape)
    words = np.where(kind < 0.2, own[about, zipf(random, own.shape[1], rows * length).reshape(shape)], words)
    words = np.where(
        (kind >= 0.2) & (kind < 0.35), names[zipf(random, len(names), rows * length)].reshape(shape), words
    )
    words = np.where(kind > 0.98, phrases[zipf(random, len(phrases), rows * length)].reshape(shape), words)
    sizes = random.integers(length // 2, length + 1, rows).tolist()
    return {
        "story": list(range(1, rows + 1)),
        "topic": [topics[number] for number in topic.tolist()],
        "text": [" ".join(line[:size]) for line, size in zip(words.tolist(), sizes, strict=True)],
    }
