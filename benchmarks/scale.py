"""Error and predicted speed of learning in rounds, by simulation: virtual workers in one process.

    python benchmarks/scale.py --rows 2000000 --workers 1,4,16,64 --merge-every 10000 --learners adagrad,auto

Every virtual worker learns its share of one stream (a sparse rule, Zipf-distributed features, noise) through the very
functions of `ouzel.distributed`: gains onto a base, added up in a tree of neighbours. Log loss is progressive, over the
last half of the stream, beside that of one pass over the same rows. From the measured seconds of learning and merging
a round, the bytes of gains and base, and a link of 1, 10 and 100 Gbit/s follow the speed-ups predicted for as many
machines: a round takes a worker's learning, then log2(workers) merges and moves up the tree, and as many moves of the
base down it.
"""

from __future__ import annotations

import argparse
import json
import math
import time

import numpy as np
from threadpoolctl import threadpool_limits

from ouzel.distributed.packing import packed, unpacked
from ouzel.distributed.rounds import FIRST_ROUND
from ouzel.evaluation.metrics import Scores
from ouzel.learners.gains.parts import add, bytes_of
from ouzel.model.model import Model
from ouzel.model.rounds import common, gains_of, model_of, shape_of
from ouzel.plotting.axes import Line, draw_panels
from ouzel.streams.block import Block

FEATURES, ACTIVE = 1 << 14, 20
LINKS = (1.0, 10.0, 100.0)  # Gbit/s
LONG = 1_000_000  # examples that a worker learns a round, where links are slow beside learning
LATENCY = 1e-3  # seconds a task takes to be handed over


class Rows:
    """A stream of one distribution: so many rows from any place, the same whoever asks."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.seed = seed
        self.rule = rng.normal(size=FEATURES) * (rng.random(FEATURES) < 0.3)
        share = 1.0 / np.arange(1, FEATURES + 1) ** 1.1
        self.cumulated = np.cumsum(share) / share.sum()

    def block(self, part: int, rows: int) -> Block:
        """The rows of a part, a number of the stream."""
        rng = np.random.default_rng((self.seed, part))
        ids = np.searchsorted(self.cumulated, rng.random((rows, ACTIVE)))
        ids = np.minimum(ids, FEATURES - 1)
        ids.sort(axis=1)
        first = np.ones(ids.shape, bool)
        first[:, 1:] = ids[:, 1:] != ids[:, :-1]
        margins = np.where(first, self.rule[ids], 0.0).sum(axis=1)
        labels = np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-margins)), 1.0, -1.0)
        offsets = np.concatenate([[0], np.cumsum(first.sum(axis=1))]).astype(np.uint64)
        values = np.ones(int(offsets[-1]), np.float32)
        return Block(offsets, ids[first].astype(np.uint32), values, labels, np.ones(rows, np.float32))


def simulate(learner: str, workers: int, rows: int, merge_every: int, stream: Rows) -> dict[str, float]:
    """Learn so many rows in all; what was found."""
    base = Model(learner, classes=[-1.0, 1.0])
    scores, seconds = Scores(base.task), dict.fromkeys(("learning", "gaining", "adding", "settling"), 0.0)
    done = rounds = part = moved = 0
    size = len(packed(base))
    while done < rows:
        each = min(merge_every, FIRST_ROUND << min(rounds, 40)) if workers > 1 else merge_every
        each = max(1, min(each, (rows - done) // workers))
        parts = []
        for _ in range(workers):
            model = unpacked(packed(base)) if workers > 1 else base
            block = stream.block(part, each)
            part += 1
            begun = time.perf_counter()
            outcome = model.learn(block)
            seconds["learning"] += time.perf_counter() - begun
            if done >= rows // 2:
                scores.add(outcome)
            if workers > 1:
                begun = time.perf_counter()
                shape = common([shape_of(base), shape_of(model)])
                parts.append((gains_of(base, model, shape), shape))
                seconds["gaining"] += time.perf_counter() - begun
        if workers > 1:
            shape = common([shape for _, shape in parts])
            gains = [found for found, own in parts if own.dimension >= 0]
            moved += bytes_of(gains[0])
            begun = time.perf_counter()
            while len(gains) > 1:
                gains = [add(*gains[k : k + 2]) if k + 1 < len(gains) else gains[k] for k in range(0, len(gains), 2)]
            seconds["adding"] += time.perf_counter() - begun
            begun = time.perf_counter()
            base = model_of(base, gains[0], shape)
            seconds["settling"] += time.perf_counter() - begun
            size = len(packed(base))
        done += each * workers
        rounds += 1
    return {
        "learner": learner, "workers": workers, "merge_every": merge_every, "rows": done, "rounds": rounds,
        "log_loss": scores.sums[3] / scores.sums[0] if scores.log_loss is None else scores.log_loss,
        "error_rate": scores.error_rate or 0.0,
        "gain_bytes": moved / max(rounds, 1), "base_bytes": size, **seconds,
    }  # fmt: skip


def speed_up(found: dict[str, float], alone: dict[str, float], link: float, every: float | None = None) -> float:
    """How many times as fast as one machine as many machines are, by the seconds measured here and a link's.

    `every` is how many examples a worker learns a round, if not as many as here.
    """
    workers, rounds = found["workers"], found["rounds"]
    if workers == 1:
        return 1.0
    levels = math.ceil(math.log2(workers))
    learning = alone["learning"] / alone["rows"] * (every or found["rows"] / workers / rounds)
    adding = found["adding"] / max(rounds * (workers - 1), 1) * levels
    gaining = found["gaining"] / (rounds * workers)
    moving = levels * ((found["gain_bytes"] + found["base_bytes"]) * 8.0 / (link * 1e9) + 2 * LATENCY)
    a_round = learning + gaining + adding + found["settling"] / rounds + moving
    return learning * workers / a_round


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", default="1,4,16,64")
    parser.add_argument("--merge-every", default="10000")
    parser.add_argument("--learners", default="adagrad,adagrad-rda,arow,awm,auto,son-oja")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", help="a picture, PNG, SVG or PDF, of the first number of --merge-every")
    asked = parser.parse_args()
    stream = Rows()
    drawn: dict[str, list[dict[str, float]]] = {}
    if not asked.json:
        print(f"{'learner':<14}{'workers':>8}{'every':>8}{'log loss':>10}{'to one':>9}{'KB a gain':>11}", end="")
        print("".join(f"{f'x at {link:g}G':>11}" for link in LINKS))
    for learner in asked.learners.split(","):
        alone = None
        simulate(learner, 2, 1000, 100, stream)  # compiles
        for workers in map(int, asked.workers.split(",")):
            for every in map(int, asked.merge_every.split(",")):
                with threadpool_limits(1, "blas"):  # as workers have it
                    found = simulate(learner, workers, asked.rows, every, stream)
                alone = alone or found
                if every == int(asked.merge_every.split(",")[0]):
                    drawn.setdefault(learner, []).append(found)
                if asked.json:
                    print(json.dumps({**found, "speed_up": {link: speed_up(found, alone, link) for link in LINKS}}))
                    continue
                ratio = found["log_loss"] / alone["log_loss"] - 1.0
                print(
                    f"{learner:<14}{workers:>8}{every:>8}{found['log_loss']:>10.4f}{ratio:>+9.2%}"
                    f"{found['gain_bytes'] / 1e3:>11.1f}",
                    "".join(f"{speed_up(found, alone, link):>11.1f}" for link in LINKS),
                    sep="", flush=True,
                )  # fmt: skip
                if workers == 1:
                    break
    if asked.plot:
        every = int(asked.merge_every.split(",")[0])
        rounds = f"speed as predicted for {LONG:,} and {LINKS[1]:g} Gbit/s"
        draw(drawn, asked.plot, f"{asked.rows:,} rows, merged every {every:,} of a worker; {rounds}")


def draw(drawn: dict[str, list[dict[str, float]]], path: str, title: str) -> None:
    """What is lost, and what is gained at the middle link if workers learn longer, by the number of workers."""
    lost, gained = "log loss, % above one worker's", "times as fast as one"
    panels: dict[str, dict[str, Line]] = {lost: {}, gained: {}}
    for learner, found in drawn.items():
        workers = [part["workers"] for part in found]
        panels[lost][learner] = workers, [100.0 * (part["log_loss"] / found[0]["log_loss"] - 1.0) for part in found]
        panels[gained][learner] = workers, [speed_up(part, found[0], LINKS[1], LONG) for part in found]
    draw_panels(panels, path, x="workers", log_x=True, log_y=[gained], title=title)


if __name__ == "__main__":
    main()
