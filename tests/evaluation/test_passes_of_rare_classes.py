"""Further passes that may rank a rare class worse are said; with examples held out, whether they do."""

from types import SimpleNamespace

import pytest

from ouzel.evaluation.holdout import warning_of_passes


def run(share=0.02, passed=3, held_out=(), class_of_it="fraud"):
    def scores(**figures):
        return SimpleNamespace(figures=lambda: figures)

    whole = SimpleNamespace(figures=lambda: {"rare_share": share}, rare_class=1)
    holdouts = [SimpleNamespace(scores=scores(average_precision=one)) for one in held_out]
    model = SimpleNamespace(classes=SimpleNamespace(known=["ok", class_of_it]))
    return SimpleNamespace(scores=whole, passed=passed, holdouts=holdouts, model=model)


def test_average_precision_that_fell_is_said_with_its_figures():
    assert warning_of_passes(run(held_out=(0.80, 0.79, 0.76))) == (
        "average precision of class fraud among the examples held out fell from 0.8 after one pass to 0.76 after 3: "
        "one pass ranks a rare class better here"
    )


@pytest.mark.parametrize("held_out", [(0.8, 0.82, 0.85), (0.8, 0.8, 0.795), (None, None, None)])
def test_nothing_is_said_where_it_did_not_fall(held_out):
    assert warning_of_passes(run(held_out=held_out)) is None


def test_without_examples_held_out_the_line_says_how_to_find_out():
    assert "see whether they do with --holdout-every 10" in warning_of_passes(run())


@pytest.mark.parametrize("how", [{"passed": 1}, {"share": 0.3}, {"share": None}])
def test_nothing_is_said_of_one_pass_or_of_classes_that_are_not_rare(how):
    assert warning_of_passes(run(**how)) is None
