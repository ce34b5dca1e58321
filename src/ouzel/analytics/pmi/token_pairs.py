"""Pairs of tokens of a window, and sampled negative pairs, as one-sparse examples. See `pmi`."""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from ouzel.analytics.pmi import rare_pairs
from ouzel.analytics.sketch import ONE, pair_slot
from ouzel.kernels.jit import force_inline, kernel
from ouzel.learners.budget import awm
from ouzel.sketches import count_min, reservoir
from ouzel.sketches.count_sketch import cell
from ouzel.sketches.counters import raised
from ouzel.sketches.top_k import find

SETTLING = 4.0  # information from which steps fall
LARGEST_ENTRY = 15.0  # weight at entry beyond which it is the work of collisions
SLOWEST = 1e-3  # steps below are taken for it when counts stand for them


class Entries(NamedTuple):
    """Arrays of each pair in the active set, and the position of the stream."""

    information: np.ndarray  # (k,) float32
    members: np.ndarray  # (k, 2) uint32  slots of the two tokens
    counts: np.ndarray  # (k,) uint32  occurrences, estimated up to when it entered and counted since
    uncounted: np.ndarray  # (k,) uint32  how many of these are estimated, at least 1; 0 where all were counted
    window: np.ndarray  # (window - 1,) uint32  the last tokens, a ring
    position: np.ndarray  # (3,) int64  tokens in the window since the document began; tokens seen; true pairs seen
    word: np.ndarray  # (1,) uint32  the slot at work


@force_inline
def slowing(state, word, information, entry, importance, rate, settings):
    """Return the divisor of the step of the slot in `word` (1,): 1 + rate (I - 4) once I is above 4; update I.

    I is the information about an entry of the active set, the sum of importance p (1 - p) over its examples, so that
    the step is that of Newton's method.
    """
    share = 1.0 / (1.0 + exp(-awm.predict_row(state, word, ONE, settings)))
    divisor = 1.0 + rate * max(0.0, information[entry] - SETTLING)
    information[entry] += np.float32(importance * share * (1.0 - share))
    return divisor


@force_inline
def _learn(state, first, second, target, importance, inner, entries, settings):
    """Learn one pair, at the rate `inner` if it is in the active set; store its members if it is new there."""
    slot = pair_slot(first, second)
    entries.word[0] = slot
    before = find(state, slot)
    room = state.taken[0] < len(state.keys)
    if before >= 0:
        step = inner / slowing(state, entries.word, entries.information, before, importance, inner, settings)
        importance = np.float32(importance * step / settings.learning_rate)
    awm.learn_row(state, entries.word, ONE, target, importance, settings)
    if before >= 0:
        if target > 0.0:
            entries.counts[before] = raised(entries.counts[before], 1)
        return
    entry = find(state, slot)
    if entry >= 0:
        entries.information[entry] = 0.0
        entries.members[entry, 0] = first
        entries.members[entry, 1] = second
        entries.counts[entry] = 1 if target > 0.0 else 0
        entries.uncounted[entry] = 0
        if not room:  # n steps from 0 in one direction lead to log(1 + rate n), nearly: so often it had occurred
            weight = min(max(state.weights[entry] * state.scale[0], 0.0), LARGEST_ENTRY)
            entries.counts[entry] = np.uint32((exp(weight) - 1.0) / max(settings.learning_rate, SLOWEST) + 0.5)
            entries.uncounted[entry] = max(entries.counts[entry], np.uint32(1))


@force_inline
def count_token(often, token):
    """Count a token by conservative update (Estan & Varghese 2002); return the upper bound of its count."""
    count = raised(count_min.query(often, token), 1)
    for r in range(often.counters.shape[0]):
        column, _ = cell(often.tables[r], token, often.counters.shape[1])
        often.counters[r, column] = max(often.counters[r, column], count)
    return count


@kernel
def counts_of_tokens(often, tokens, out):
    """Write upper bounds of the counts of tokens (n,) to `out` (n,)."""
    for k in range(len(tokens)):
        out[k] = count_min.query(often, tokens[k])


@kernel
def learn_tokens(state, sample, often, rare, ceiling, tokens, ends, negatives, renewed, inner, entries, settings):
    """Learn documents that end before the positions `ends`; the rest continues with the next call.

    Pairs of tokens that occurred `ceiling` times at most are counted by `rare`, too.
    """
    room = np.int64(len(entries.window))
    share = np.float32(1.0 / negatives)
    document = 0
    for k in range(len(tokens)):
        while document < len(ends) and ends[document] <= k:
            entries.position[0] = 0
            document += 1
        token = tokens[k]
        reservoir.renew(sample, token, renewed)
        count = np.int64(count_token(often, token))
        reach = min(entries.position[0], room)
        for back in range(reach):
            other = entries.window[(entries.position[0] - reach + back) % room]
            entries.position[2] += 1
            if count <= ceiling:
                before = np.int64(rare.often[(entries.position[0] - reach + back) % room])
                if before <= ceiling:
                    slot, most = pair_slot(other, token), room * min(before, count)
                    rare_pairs.count_pair(rare, slot, other, token, most, often, ceiling)
            _learn(state, other, token, 1.0, np.float32(1.0), inner, entries, settings)
            for _ in range(negatives):
                u = reservoir.draw(sample)
                v = reservoir.draw(sample)
                _learn(state, u, v, -1.0, share, inner, entries, settings)
        entries.window[entries.position[0] % room] = token
        rare.often[entries.position[0] % room] = np.uint32(count)
        entries.position[0] += 1
    while document < len(ends) and ends[document] <= len(tokens):
        entries.position[0] = 0
        document += 1
    entries.position[1] += len(tokens)


@kernel
def true_pairs(tokens, ends, window, position):
    """Return slots (n,) and members (n, 2) of the pairs that `learn_tokens` makes of the same tokens.

    `window` and `position` are updated as there.
    """
    room = np.int64(len(window))
    found = np.empty(len(tokens) * room, np.uint32)
    members = np.empty((len(tokens) * room, 2), np.uint32)
    filled = document = 0
    for k in range(len(tokens)):
        while document < len(ends) and ends[document] <= k:
            position[0] = 0
            document += 1
        reach = min(position[0], room)
        for back in range(reach):
            members[filled, 0] = window[(position[0] - reach + back) % room]
            members[filled, 1] = tokens[k]
            found[filled] = pair_slot(members[filled, 0], members[filled, 1])
            filled += 1
        window[position[0] % room] = tokens[k]
        position[0] += 1
    return found[:filled], members[:filled]
