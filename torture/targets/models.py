"""Model files, damaged and forged: each is refused in one line, or is a model that predicts and learns soundly."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from torture import mutation
from torture.forging import Parts, forge
from torture.learners import chosen, settings_of
from torture.targets.base import Target, check_finite, check_margins
from torture.targets.commands import check_ran, invoke
from torture.targets.numbers import warm_catalogue
from torture.verdicts import Failure

CORPUS = "TORTURE_MODELS"  # the environment variable that names the folder of sound models
LARGEST = 1 << 21  # bytes of a model worth forging

ROWS = [({"a": 1.0, "b": -0.5, "word=x": 1.0}, "spam"), ({"a": -1.0, "c": 2.0}, "ham"), ({"b": 3.0}, "spam")] * 8
NUMBERS = [({"a": 1.0, "b": -0.5}, 1.5), ({"a": -1.0, "c": 2.0}, -2.0), ({"b": 3.0, "word=x": 1.0}, 0.25)] * 8
BITS = 10  # of hashed names: what a learner with a whole matrix has room for
TEXTS = ["the prime minister said", "he said the price rose"] * 20


def corpus() -> Path:
    """The folder of sound models; each is made once, in an order that does not change."""
    return Path(os.environ[CORPUS])


def sound_models(folder: Path) -> None:
    """Write a model of each learner and analysis that is not there yet."""
    import ouzel
    from ouzel.model import persistence

    for learner in chosen():
        for task, rows in (("classes", ROWS), ("numbers", NUMBERS), ("three", [*ROWS, ({"a": 2.0}, "eggs")])):
            path = folder / f"{learner}-{task}.ouzel"
            if path.exists() or (
                task != "classes" and learner not in ("ogd", "auto", "adagrad", "arow", "son-fd", "awm")
            ):
                continue
            try:
                loss = {"loss": "squared"} if task == "numbers" else {}
                model = ouzel.Model(learner, bits=BITS, **settings_of(learner), **loss)
            except ouzel.OuzelError:
                continue
            for block in ouzel.blocks_from(rows, bits=BITS):
                model.learn(block)
            persistence.save(model, path, {"reading": {"label": "y"}})
            whole = folder / f"{learner}-{task}-whole.ouzel"  # a changed byte is a changed number there
            persistence.save(model, whole, {"reading": {"label": "y"}}, whole=True)
    explainer = ouzel.StreamingExplainer("4KB").partial_fit(
        [{"city": "Rome", "kind": "rent"}, {"city": "Bonn", "kind": "fee"}] * 20, [True, False] * 20
    )
    explainer.save(folder / "explainer.ouzel")
    ouzel.RelativeDeltoids("4KB").partial_fit(["a", "b", "a"] * 9, [0, 1, 1] * 9).save(folder / "deltoids.ouzel")
    ouzel.StreamingPMI(budget="64KB", sample_size=50, heap_size=16).partial_fit(TEXTS).save(folder / "pmi.ouzel")


class Models(Target):
    name = "models"
    weight = 3
    share = 12.0
    about = "model files, damaged, and forged with a right digest"
    binary = True
    breeding = 0.15
    patience = 120.0

    def prepare(self) -> None:
        sound_models(corpus())
        super().prepare()

    def warm(self) -> None:
        warm_catalogue()

    def start(self) -> None:
        super().start()
        self.paths = sorted(path for path in corpus().glob("*.ouzel") if path.stat().st_size < LARGEST)

    def make(self, random: Random) -> bytes:
        path = random.choice(self.paths)
        if random.random() < 0.15:
            return mutation.mutate(path.read_bytes(), random, (), mutation.BINARY)
        parts = Parts.of(path)
        forge(parts, random)
        try:
            return parts.forged()
        except (UnicodeEncodeError, ValueError, TypeError):  # what no file can hold
            return path.read_bytes()

    def mutate(self, data: bytes, random: Random) -> bytes:
        path = self.place(data, ".parent")
        try:
            parts = Parts.of(path)
            forge(parts, random)
            return parts.forged()
        except Exception:  # it was damaged, not forged
            return mutation.mutate(data, random, (), mutation.BINARY)

    def run(self, data: bytes, random: Random) -> str:
        path = self.place(data, ".ouzel")
        sys.modules.pop("torture.trap", None)
        try:
            if random.random() < 0.03:
                return check_ran(invoke("top", path, "--json"), as_json=True)
            return self._use(path, random)
        finally:
            if "torture.trap" in sys.modules:
                raise Failure("unsound", "a model file ran code", f"{sys.modules['torture.trap'].SPRUNG}")

    def _use(self, path: Path, random: Random) -> str:
        import ouzel
        from ouzel.layout import flat

        if random.random() < 0.2:
            for kind in (ouzel.StreamingExplainer, ouzel.RelativeDeltoids, ouzel.StreamingPMI):
                try:
                    analysis = kind.load(path)
                except ouzel.OuzelError as error:
                    if "holds" in str(error):
                        continue
                    raise
                return self._use_analysis(analysis)
        estimator = ouzel.load(path)
        model = getattr(estimator, "model_", estimator)
        for layout, state in zip(model.layouts(), model.states, strict=True):
            for (_, part), (name, array) in zip(flat(layout), flat(state), strict=True):
                if not part.scratch and array.dtype.kind == "f" and np.isnan(array).any():
                    raise Failure("nan", f"a loaded state holds NaN in {name}", model.learner.name)
        rows = NUMBERS if model.task.name == "regression" else ROWS
        if model.task.name == "ranking":
            return f"loaded {model.learner.name} ranking"
        where = f"{model.learner.name} {model.settings}"
        for block in ouzel.blocks_from(rows, bits=min(max(model.bits, 1), 31)):
            if model.classes.known:
                check_finite("a margin of a loaded model", model.margins(block), where)
            check_margins("a margin of learning on", model.learn(block).margins, where)
            check_finite("a margin after learning on", model.margins(block), where)
        model.top(5)
        estimator.save(self.folder / "again.ouzel") if hasattr(estimator, "save") else None
        return f"loaded {model.learner.name}"

    def _use_analysis(self, analysis: Any) -> str:
        import ouzel

        if isinstance(analysis, ouzel.StreamingPMI):
            analysis.partial_fit(TEXTS)
        elif isinstance(analysis, ouzel.RelativeDeltoids):
            analysis.partial_fit(["a", "b", "a"] * 9, [0, 1, 1] * 9)
        else:
            analysis.partial_fit([{"city": "Rome"}, {"city": "Bonn", "kind": "fee"}] * 9, [True, False] * 9)
        for row in analysis.top(5):
            check_finite("a row of an analysis", [value for value in row if isinstance(value, float)])
        analysis.save(self.folder / "again.ouzel")
        return f"loaded {analysis.kind}"
