"""A training: what its report says it waited for."""

import time

import pytest

from ouzel.kernels import jit
from ouzel.streams.block_stream import BlockIterator
from ouzel.training.session import Session, SessionOptions


@pytest.mark.parametrize("labels", ["ab", (1.5, 2.25)])
def test_kernels_that_are_compiled_for_the_first_block_are_waited_for(tmp_path, monkeypatch, labels):
    path = tmp_path / "t.csv"
    path.write_text("label,price\n" + "".join(f"{labels[k % 2]},{k}\n" for k in range(20)))
    compiled, first = [0.0], BlockIterator.first

    def compile_first(stream):
        time.sleep(0.02)
        compiled[0] += 0.02
        return first(stream)

    monkeypatch.setattr(BlockIterator, "first", compile_first)
    monkeypatch.setattr(jit, "seconds_compiling", lambda: compiled[0])

    none = dict.fromkeys(("learner", "format", "passes", "holdout_every", "output", "resume"))
    options = SessionOptions(
        settings={}, intercept=True, prepared={}, reading={"label": "label"}, checkpoint_every=0, **none
    )
    session = Session.start([str(path)], options)
    session.recognise()
    session.run.over(session.open)

    assert session.run.report().seconds_compiling == pytest.approx(0.02)
