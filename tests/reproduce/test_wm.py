"""The WM-Sketch paper's experiments run, in their small variants, and leave their files."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.streams.block import Block
from reproduce import find
from reproduce.wm_sketch.budget_trials import (
    LEARNERS,
    Outcome,
    best,
    configurations,
    load,
    published_shape,
    range_of,
    trials,
)


@pytest.mark.long
@pytest.mark.parametrize("figure", [3, 4, 5, 6, 7])
def test_a_figure_leaves_a_table_and_a_plot(figure, data, tmp_path):
    name = f"wm-figure-{figure}"
    find(name).load()(data("rcv1_binary_sample.svm.xz").parent, tmp_path, quick=True)

    assert "| --" in (tmp_path / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


@pytest.mark.parametrize("kilobytes", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_configuration_keeps_to_its_budget(learner, kilobytes):
    from ouzel.learners import catalogue
    from ouzel.model.settings import resolve_settings

    module = catalogue.find(learner).module
    for chosen in configurations(learner, 1024 * kilobytes):
        settings = resolve_settings(catalogue.find(learner), {"budget": 1024 * kilobytes, **chosen})

        assert module.bytes_used(module.init(0, settings)) <= 1024 * kilobytes


@pytest.mark.parametrize(
    ("kilobytes", "ids", "width", "depth"),
    [(2, 128, 128, 2), (4, 256, 256, 2), (8, 128, 128, 14), (16, 128, 128, 30), (32, 128, 256, 31)],
)
def test_the_published_shape_of_the_wm_sketch_is_that_of_table_2(kilobytes, ids, width, depth):
    assert published_shape(1024 * kilobytes) == {"heap_size": ids, "width": width, "depth": depth}


def test_the_best_configuration_is_that_of_the_lowest_median():
    entries = [[Outcome(error, (), 0.0) for error in errors] for errors in ([0.1, 0.5, 0.6], [0.4, 0.4, 0.9])]

    chosen = best({"awm": entries}, lambda outcome: outcome.error)["awm"]

    assert chosen is entries[1]
    assert range_of(chosen, lambda outcome: outcome.error) == (0.4, 0.4, 0.9)


def test_trials_repeat_and_seeds_differ():
    rng = np.random.default_rng(0)
    slots = np.sort(rng.integers(0, 3000, (200, 6)), axis=1).astype(np.uint32).ravel()
    labels = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    offsets = np.arange(0, 1201, 6).astype(np.uint64)
    block = Block(offsets, slots, np.ones(1200, np.float32), labels, np.ones(200, np.float32))
    one, two = (trials(block, ["hashing"], 2, 2, tops=[4]) for _ in range(2))

    assert [outcome[:2] for outcome in one["hashing"][0]] == [outcome[:2] for outcome in two["hashing"][0]]
    assert one["hashing"][0][0].recovery != one["hashing"][0][1].recovery
    assert [outcome.recovery for outcome in one["unbounded"][0]] == [(1.0,), (1.0,)]


def test_a_file_of_one_class_is_refused(tmp_path):
    path = tmp_path / "one.svm"
    path.write_text("1 1:1\n1 2:1\n")

    with pytest.raises(OuzelError, match="two classes; it has 1"):
        load(tmp_path, [path], False, [])
