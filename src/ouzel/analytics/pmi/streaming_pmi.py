"""Pointwise mutual information of pairs in a stream: which words, or events, occur near each other more than by chance.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8.3 (after Levy
& Goldberg 2014). A pair (u, v) whose second member follows the first within a window is a positive example, one-sparse;
pairs of tokens drawn from a reservoir are negative ones, five for each true pair. The weight of a pair tends to
    w_uv = log(p(u, v) / (p(u) p(v))) = PMI(u, v).

Our readings, and where we depart from the paper:
- A negative example counts 1 / 5: weights tend to the PMI itself, and pairs that occur by chance have the weight 0.
- A pair learns slowly until it is in the active set, fast when it enters, and then ever more slowly: once the
  information about it, the sum I of importance p (1 - p), exceeds 4, its step is 1 / (1 / rate + I - 4), that of
  Newton's method. What is told of are pairs that far: their weight's standard error is at most a half.
- The reservoir renews itself: of a uniform sample, which hardly changes late in a stream, 4,000 tokens tell too little
  of the frequencies of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from ouzel.analytics.pmi.token_pairs import SETTLING, Entries, learn_tokens
from ouzel.analytics.pmi.tokens import Tokens, label_of, tokeniser
from ouzel.analytics.sketch import Analysis, Bytes, Width, pair_slot, slots_of_items
from ouzel.errors import OuzelError
from ouzel.layout import float32, int64, uint32
from ouzel.learners.shared_settings import L2, Rate
from ouzel.model.description import Rule, check, list_of, pair_of, text, whole
from ouzel.model.model import Model
from ouzel.ranges import Range, Seed, ranged
from ouzel.sketches import reservoir
from ouzel.sketches.hashing import MOST_ID

ENTRY = 20  # bytes of a pair in the active set: id, weight, information, and the ids of its members
RENEWED = 0.2  # share of tokens that enter the reservoir: it is a sample of some 20,000 recent ones
LONGEST_NAME = 32  # bytes of a token's name that are kept
LONGEST_EVENT = 128


class Association(NamedTuple):
    """A pair of `StreamingPMI.top`."""

    first: str
    second: str
    pmi: float  # estimated, in natural units (nats)


class Beside(NamedTuple):
    """What is kept beside the sketch."""

    sample: reservoir.State
    entries: Entries


class StreamingPMI(Analysis):
    """Pairs of tokens by estimated pointwise mutual information, in one pass within a byte budget.

    Parameters
    ----------
    budget : bytes, a number or a size such as "1.4MB": of the sketch, the pairs, the reservoir and the names
    window : tokens in which both members of a pair must lie
    negatives : examples by chance for each true pair
    sample_size : tokens in the reservoir
    tokens : how text becomes tokens: "word", "punctuation", "whitespace", a regular expression, a function from a text
        to its tokens, or "module:function", which is imported; `load` is given either function again
    events : whether a document is one token, an event's name, and windows go over documents
    learning_rate, schedule, l2 : of the AWM-Sketch, for pairs outside of the active set; see `AWMSketchClassifier`
    inner_rate : first step of pairs in the active set
    heap_size, width : pairs in the active set and counters of the sketch; 0 for what the budget leaves
    seed : of the hash functions and of the sample

    Examples
    --------
    >>> model = StreamingPMI(window=3).partial_fit(["the prime minister said", "he said the price rose"] * 500)
    >>> ("prime", "minister") in {(first, second) for first, second, _ in model.top(3)}
    True
    """

    kind = "pointwise mutual information"

    @ranged
    def __init__(
        self,
        budget: Bytes | str = "1.4MB",
        *,
        window: Annotated[int, Range(2, 10_000, whole=True), "tokens in which both members of a pair lie"] = 6,
        negatives: Annotated[int, Range(1, 10_000, whole=True), "examples by chance for each true pair"] = 5,
        sample_size: Annotated[int, Range(1, whole=True, each=36), "tokens in the reservoir"] = 4000,
        tokens: str | Callable[[str], Iterable[str]] = "word",
        events: bool = False,
        learning_rate: Rate = 0.05,
        inner_rate: Annotated[Rate, "first step of pairs in the active set"] = 1.0,
        l2: L2 = 1e-9,
        schedule: Any = "inverse-time",
        heap_size: Annotated[int, Range(1, whole=True, each=200), "pairs in the active set"] = 1024,
        width: Width = 0,
        seed: Seed = 0,
    ) -> None:
        label = label_of(tokens)
        parameters = {
            "budget": budget,
            "window": window,
            "negatives": negatives,
            "sample_size": sample_size,
            "tokens": "" if label else tokens,
            "own_tokens": label,
            "events": events,
            "learning_rate": learning_rate,
            "inner_rate": inner_rate,
            "l2": l2,
            "schedule": schedule,
            "heap_size": heap_size,
            "width": width,
            "seed": seed,
        }
        super().__init__(parameters)
        reservoir.begin(self.sample.counts, self.seed)
        self.tokenise = tokeniser(tokens)

    def hold(self, parameters: dict[str, Any], model: Model, beside: Any) -> None:
        """Be of these parts: new ones, or those of a file."""
        super().hold(parameters, model, beside)
        self.names: dict[int, str] = {}  # of the tokens in the sample, in the window and in pairs of the active set
        self.longest_name = LONGEST_EVENT if parameters["events"] else LONGEST_NAME

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        """What each parameter must be."""
        return {**super().rules(), "own_tokens": text}

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The sizes of the sketch: what the other parts leave of the budget."""
        sample_size, heap_size, width = (parameters[name] for name in ("sample_size", "heap_size", "width"))
        window, size = parameters["window"], parameters["budget"]
        if window < 2 or parameters["negatives"] < 1 or sample_size < 1 or heap_size < 1:
            raise OuzelError("window is 2 tokens or more; negatives, sample_size and heap_size are 1 or more")
        longest = LONGEST_EVENT if parameters["events"] else LONGEST_NAME
        fixed = ENTRY * heap_size + 4 * (sample_size + window) + longest * (sample_size + 2 * heap_size + window)
        counters = width or (size - fixed) // 4
        if counters < 1 or (width and fixed + 4 * width > size):
            raise OuzelError(
                f"a budget of {size:,} bytes is too small; {sample_size} tokens of a sample, {heap_size} pairs and "
                f"their names need {fixed + 4 * max(width, 1):,} bytes: give more, or less sample_size or heap_size"
            )
        return {"heap_size": heap_size, "width": counters}

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> Beside:
        """What the arrays beside the sketch are made of."""
        pairs = parameters["heap_size"]
        entries = Entries(
            information=float32(pairs, least=0.0),
            members=uint32(pairs, 2),
            window=uint32(parameters["window"] - 1),
            position=int64(2),
            word=uint32(1, scratch=True),
        )
        return Beside(sample=reservoir.layout(parameters["sample_size"]), entries=entries)

    @property
    def sample(self) -> reservoir.State:
        """The reservoir of tokens."""
        return self.beside.sample

    @property
    def entries(self) -> Entries:
        """What is noted of the pairs in the active set, and where the stream stands."""
        return self.beside.entries

    @property
    def bytes_used(self) -> int:
        """4 bytes for each id, weight, counter and token of the sample, and the bytes of all names that are kept."""
        names = sum(len(name.encode()) for name in self.names.values())
        held = len(self.sample.items) + len(self.entries.window)
        return self.model.bytes_used + (ENTRY - 8) * len(self.entries.information) + 4 * held + names

    @property
    def seen(self) -> int:
        """Tokens learnt."""
        return int(self.entries.position[1])

    def partial_fit(self, documents: Iterable[str | Sequence[str]]) -> StreamingPMI:
        """Learn documents: texts, or sequences of tokens; of events, their names. No pair reaches over documents."""
        if isinstance(documents, str):
            documents = [documents]
        if self.parameters["events"]:
            return self.learn(Tokens.of_sequences([[str(event) for event in documents]], self.seed), ended=False)
        given = list(documents)
        if all(isinstance(document, str) for document in given):
            return self.learn(self.tokenise(given, self.seed))  # type: ignore[arg-type]
        parts = [Tokens.of_text(d, self.tokenise) if isinstance(d, str) else list(map(str, d)) for d in given]
        return self.learn(Tokens.of_sequences(parts, self.seed))

    def learn(self, tokens: Tokens, ended: bool = True) -> StreamingPMI:
        """Learn tokens; unless `ended`, the last document goes on with the next."""
        options = self.parameters
        ends = tokens.ends if ended else tokens.ends[:0]
        learn_tokens(
            self.state,
            self.sample,
            tokens.slots,
            ends,
            options["negatives"],
            RENEWED,
            options["inner_rate"],
            self.entries,
            self.model.settings,
        )
        self.model.examples += len(tokens.slots)
        self._name(tokens)
        return self

    def top(self, k: int = 20, settled: bool = True) -> list[Association]:
        """The k pairs of largest estimated PMI; `settled` leaves out those of which too little is known."""
        members, weights = self.pairs(settled)
        return [
            Association(self.name_of(members[i, 0]), self.name_of(members[i, 1]), float(weights[i]))
            for i in range(min(max(k, 0), len(weights)))
        ]

    def pairs(self, settled: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Members (n, 2) and estimated PMI (n,) of the pairs in the active set, the largest first."""
        slots, weights = self.active()
        place = {slot: entry for entry, slot in enumerate(self.state.keys.tolist())}
        at = np.array([place[slot] for slot in slots.tolist()], np.int64)
        wanted = self.entries.information[at] >= SETTLING if settled else np.ones(len(at), np.bool_)
        order = np.flatnonzero(wanted)[np.argsort(-weights[wanted], kind="stable")]
        return self.entries.members[at[order]], weights[order]

    def pmi(self, first: str, second: str) -> float:
        """The estimated PMI of one pair, 0 if it has not been seen."""
        slots = slots_of_items([first, second], self.seed)
        return float(self.weights_of(np.array([pair_slot(slots[0], slots[1])], np.uint32))[0])

    def name_of(self, slot: int) -> str:
        """The name of a token."""
        return self.names.get(int(slot), f"#{int(slot) - 1}")

    def _name(self, tokens: Tokens) -> None:
        """Have the names of all tokens that are kept, and no others."""
        taken = int(self.state.taken[0])
        parts = (self.sample.items, self.entries.window, self.entries.members[:taken].ravel())
        wanted = set(np.unique(np.concatenate(parts)).tolist())
        self.names = {slot: name for slot, name in self.names.items() if slot in wanted}
        missing = np.array(sorted(wanted - self.names.keys()), np.uint32)
        found, where = np.unique(tokens.slots, return_index=True)
        at = np.searchsorted(found, missing)
        for slot, place in zip(missing.tolist(), at.tolist(), strict=True):
            if place < len(found) and found[place] == slot:
                self.names[slot] = _cut(tokens.name_of(int(where[place])), self.longest_name)

    def notes(self) -> dict[str, Any]:
        """What a file holds beside the model and arrays: the names of tokens."""
        return {"tokens": [[slot, name] for slot, name in self.names.items()]}

    def restore(self, notes: dict[str, Any]) -> None:
        """Take back what `notes` gave, once it is found sound."""
        check(notes, {"tokens": list_of(pair_of(whole(0, MOST_ID + 1), text))}, "the analysis")
        self.names = dict(notes["tokens"])

    @classmethod
    def load(cls, path: Any, tokens: str | Callable[[str], Iterable[str]] | None = None) -> Self:
        """The analysis that `save` wrote. Nothing that the file names is run: give a tokeniser of your own again."""
        analysis = super().load(path)
        stored, label = analysis.parameters["tokens"], analysis.parameters["own_tokens"]
        if label_of(stored):
            raise OuzelError(f"{path}: names the function {stored!r} to run, which no file of Ouzel does")
        if not label and tokens not in (None, stored):
            raise OuzelError(f"{path}: was learnt with tokens={stored!r}, not {tokens!r}; leave tokens out")
        if label and tokens is None:
            raise OuzelError(f"{path}: was learnt with a tokeniser of your own, {label!r}; give it again as tokens=…")
        analysis.tokenise = tokeniser(tokens if label and tokens is not None else stored)
        return analysis

    def save(self, path: Any) -> None:
        """Write all that was learnt to one file; `load` gives it back."""
        members, _ = self.pairs(settled=False)
        for first, second in members.tolist():
            slot = int(pair_slot(first, second))
            self.model.names.remember(slot - 1, f"{self.name_of(first)} {self.name_of(second)}")
        super().save(path)


def _cut(name: str, longest: int) -> str:
    """A name in so many bytes."""
    if len(name.encode()) <= longest:
        return name
    return name.encode()[: longest - 3].decode("utf-8", "ignore") + "…"
