"""Pointwise mutual information of pairs in a stream: words, or events, that co-occur more often than by chance.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8.3 (after Levy
& Goldberg 2014). A pair (u, v) whose second member follows the first within a window is a positive example, one-sparse;
pairs of tokens drawn from a reservoir are negative ones, five for each true pair. The weight of a pair tends to
    w_uv = log(p(u, v) / (p(u) p(v))) = PMI(u, v).

Our readings, and where we depart from the paper:
- A negative example counts 1 / 5: weights tend to the PMI itself, and pairs that occur by chance have the weight 0.
- A pair learns slowly until it is in the active set, fast when it enters, and then ever more slowly: once the
  information about it, the sum I of importance p (1 - p), exceeds 4, its step is 1 / (1 / rate + I - 4), that of
  Newton's method.
- So pairs are found. Those in the active set are counted, from the (e^w - 1) / rate occurrences that the weight w of
  their entry tells of, and a CountMin sketch counts tokens, so that the PMI shown is one of counts: weights of rare
  words' pairs rarely occur in a negative example, and stay 1 to 2 below it.
- Pairs of rare tokens, which have the largest PMI, are counted apart (`rare_pairs`), and so no frequent
  pair is missed. With `rare=0` pairs are found by the sketch alone, as in the paper.
- The reservoir renews itself: 4,000 tokens of a uniform sample say too little of the frequencies of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Annotated, Any, Self

import numpy as np

from ouzel.analytics.pmi import budget as budgeting
from ouzel.analytics.pmi import rare_pairs
from ouzel.analytics.pmi.listing import Association, Estimate, Estimates, Stream, of_active, of_rare
from ouzel.analytics.pmi.token_pairs import learn_tokens
from ouzel.analytics.pmi.tokens import Tokens, label_of, shortened, tokeniser
from ouzel.analytics.sketch import Analysis, Bytes, Width, pair_slot, slots_of_items
from ouzel.errors import OuzelError
from ouzel.learners.shared_settings import L2, Rate
from ouzel.model.model import Model
from ouzel.ranges import Range, Seed, check_stored, ranged
from ouzel.sketches import reservoir, top_k
from ouzel.sketches.hashing import MOST_ID, tabulation

SETTLED = 25  # occurrences from which pairs are listed, if none is missing from there on
RARE = 24 * SETTLED  # occurrences up to which a token is rare
RENEWED = 0.2  # share of tokens that enter the reservoir: it is a sample of some 20,000 recent ones


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
    heap_size, width : most pairs that are kept, in the active set and the table of rare ones, as the budget allows;
        and counters of the sketch, 0 for what the budget leaves
    rare : occurrences up to which a token is rare: pairs of such are counted in half of the budget; 0 for the paper's
    seed : of the hash functions and of the sample

    Examples
    --------
    >>> model = StreamingPMI(window=3).partial_fit(["the prime minister said", "he said the price rose"] * 500)
    >>> ("prime", "minister") in {(first, second) for first, second, _ in model.top(3)}
    True
    """

    kind = "pointwise mutual information"
    version = 2  # 1: pairs of rare tokens were not counted

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
        learning_rate: Rate = 0.3,
        inner_rate: Annotated[Rate, "first step of pairs in the active set"] = 1.0,
        l2: L2 = 1e-9,
        schedule: Any = "inverse-time",
        heap_size: Annotated[int, Range(1, whole=True, each=200), "most pairs in the active set"] = 4096,
        width: Width = 0,
        rare: Annotated[int, Range(0, 10**9, whole=True), "occurrences up to which a token is rare"] = RARE,
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
            "rare": rare,
            "seed": seed,
        }
        super().__init__(parameters)
        reservoir.begin(self.sample.counts, self.seed)
        self.side.often.tables[...] = tabulation(len(self.side.often.tables), self.seed)
        rare_pairs.begin(self.side.rare, self.seed)
        self.tokenise = tokeniser(tokens)

    def _assemble(self, parameters: dict[str, Any], model: Model, side: Any) -> None:
        """Set the parts of the analysis: new ones, or those of a file."""
        super()._assemble(parameters, model, side)
        self.names: dict[int, str] = {}  # of the tokens in the sample, in the window and in pairs of the active set
        self.longest_name = budgeting.LONGEST_EVENT if parameters["events"] else budgeting.LONGEST_NAME

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        """Return the type of each parameter."""
        return {**super().kinds(), "own_tokens": str}

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the sizes of the sketch: the rest of the budget after the other parts."""
        return budgeting.sizes(parameters)

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> budgeting.SideArrays:
        """Return the layout of the arrays next to the sketch."""
        return budgeting.layout(parameters)

    @classmethod
    def upgraded(cls, version: int, notes: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Upgrade the arrays and `notes` of an older file."""
        return budgeting.upgraded(notes, arrays) if version == 1 else super().upgraded(version, notes, arrays)

    @property
    def sample(self) -> reservoir.State:
        """Reservoir of tokens."""
        return self.side.sample

    @property
    def bytes_used(self) -> int:
        """Memory in bytes: 4 for each id, weight, counter, count and sampled token, and the bytes of all names."""
        names = sum(len(name.encode()) for name in self.names.values())
        return self.model.bytes_used + budgeting.side_bytes(self.parameters) + names

    @property
    def seen(self) -> int:
        """Number of tokens learnt."""
        return int(self.entries.position[1])

    def partial_fit(self, documents: Iterable[str | Sequence[str]]) -> StreamingPMI:
        """Learn documents: texts, sequences of tokens, or names of events. No pair spans two documents."""
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
        """Learn tokens; unless `ended`, the last document continues with the next."""
        options, ends = self.parameters, tokens.ends if ended else tokens.ends[:0]
        learn_tokens(
            self.state,
            self.sample,
            self.side.often,
            self.side.rare,
            options["rare"],
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
        """Return the k pairs with the largest estimated PMI; `settled`: of `least_count()` occurrences or more."""
        members, weights = self.pairs(settled)
        return [
            Association(self.name_of(members[i, 0]), self.name_of(members[i, 1]), float(weights[i]))
            for i in range(min(max(k, 0), len(weights)))
        ]

    def estimates(self, k: int = 20, least: int = SETTLED) -> list[Estimate]:
        """Return the k pairs of `top` with intervals of their PMI and counts, from `least_count(least)` on."""
        found, pmi = self.listed(least)
        return found.named(pmi, self.stream, self.name_of, k)

    def pairs(self, settled: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return members (n, 2) and estimated PMI (n,) of the listed pairs, or of all stored ones, sorted."""
        found, pmi = self.listed(SETTLED if settled else 0)
        return found.members, pmi

    def least_count(self, least: int = SETTLED) -> int:
        """Return the count, `least` or more, from which no pair of rare tokens is missing."""
        if self.complete or not self.parameters["rare"]:
            return least
        return max(least, rare_pairs.missing(self.side.rare) + 1)

    @property
    def complete(self) -> bool:
        """Whether every pair of the stream is stored: the active set is not full."""
        return bool(self.state.taken[0] < len(self.state.keys))

    @property
    def complete_above(self) -> float:
        """PMI above which no pair of `least_count()` occurrences or more is missing; -inf if none is missing."""
        return -inf if self.complete else self.stream.pmi_above(self.parameters["rare"] - self.stream.margin)

    @property
    def stream(self) -> Stream:
        """Totals of the stream from which PMI is estimated."""
        return Stream(self.seen, int(self.entries.position[2]), self.parameters["window"] - 1, self.side.often)

    def listed(self, least: int = SETTLED) -> tuple[Estimates, np.ndarray]:
        """Return pairs from `least_count(least)` on, or all stored ones if `least` is 0, and their PMI (n,), sorted."""
        taken = int(self.state.taken[0])
        ceiling, weights = self.parameters["rare"], self.state.weights[:taken] * self.state.scale[0]
        counted = of_rare(self.side.rare, self.stream, ceiling)
        found = of_active(self.entries, weights, self.stream, ceiling)
        found = Estimates.joined(counted, found, self.least_count(least) if least else 0)
        pmi = found.pmi(self.stream)
        order = np.argsort(-pmi, kind="stable")
        return found.where(order), pmi[order]

    def pmi(self, first: str, second: str) -> float:
        """Return the estimated PMI of a pair: of its counts if stored, else the sketch's; 0 if unseen."""
        slots = slots_of_items([first, second], self.seed)
        found, pmi = self.listed(0)
        kept = pmi[(found.members == slots).all(axis=1)]
        return float(kept[0] if len(kept) else self.weights_of(np.array([pair_slot(*slots)], np.uint32))[0])

    def name_of(self, slot: int) -> str:
        """Return the name of a token."""
        return self.names.get(int(slot), f"#{int(slot) - 1}")

    def _name(self, tokens: Tokens) -> None:
        """Update the names to those of all stored tokens."""
        taken = int(self.state.taken[0])
        rare = self.side.rare.members[: int(self.side.rare.table.taken[0])]
        parts = (self.sample.items, self.entries.window, self.entries.members[:taken].ravel(), rare.ravel())
        wanted = set(np.unique(np.concatenate(parts)).tolist())
        self.names = {slot: name for slot, name in self.names.items() if slot in wanted}
        missing = np.array(sorted(wanted - self.names.keys()), np.uint32)
        found, where = np.unique(tokens.slots, return_index=True)
        at = np.searchsorted(found, missing)
        for slot, place in zip(missing.tolist(), at.tolist(), strict=True):
            if place < len(found) and found[place] == slot:
                self.names[slot] = shortened(tokens.name_of(int(where[place])), self.longest_name)

    def notes(self) -> dict[str, Any]:
        """Return the metadata of a file: the names of tokens."""
        return {"tokens": [[slot, name] for slot, name in self.names.items()]}

    def restore(self, notes: dict[str, Any]) -> None:
        """Check and restore the metadata that `notes` returned."""
        slot = Annotated[int, Range(0, MOST_ID + 1, whole=True)]
        check_stored(notes, {"tokens": list[tuple[slot, str]]}, "the analysis")
        self.names = dict(notes["tokens"])
        top_k.check(self.side.rare.table)

    @classmethod
    def load(cls, path: Any, tokens: str | Callable[[str], Iterable[str]] | None = None) -> Self:
        """Load the analysis that `save` wrote. No code of the file is run: give a tokeniser of your own again."""
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
        """Save the analysis to one file, which `load` reads."""
        for first, second in self.entries.members[: int(self.state.taken[0])].tolist():
            slot = int(pair_slot(first, second))
            self.model.names.remember(slot - 1, f"{self.name_of(first)} {self.name_of(second)}")
        super().save(path)
