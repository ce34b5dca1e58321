"""Pictures are drawn of whatever was found, be it nothing."""

import numpy as np
import pytest

import ouzel
from ouzel.analytics import plots
from ouzel.analytics.deltoids.two_streams import TwoStreams
from ouzel.analytics.explanation.explained import Explained
from ouzel.analytics.explanation.rows import Attributes, Rule
from ouzel.analytics.plots import draw_bars, draw_deltoids, draw_explanation, draw_pmi
from ouzel.analytics.pmi.corpus import Corpus


@pytest.mark.parametrize("exact", [False, True])
def test_what_was_found_is_drawn_be_it_nothing(tmp_path, exact):
    reader = TwoStreams.start(ouzel.RelativeDeltoids("2KB"), exact=exact)
    explained = Explained(ouzel.StreamingExplainer("2KB"), Rule(), exact=exact)
    corpus = Corpus(ouzel.StreamingPMI(), exact=exact)
    rows = Attributes(np.array([0, 1, 2]), np.array([3, 3], np.uint32), np.array([True, False]), str)

    for _ in range(2):
        draw_deltoids(reader, str(tmp_path / "deltoids.png"))
        draw_explanation(explained, str(tmp_path / "explanation.png"))
        draw_pmi(corpus, str(tmp_path / "pmi.png"))
        reader.learn(np.array([1, 2, 1, 2], np.uint32), np.array([0, 1, 1, 0], np.uint8))
        explained.learn(rows)
        corpus.learn(["a b c"])

    assert all(path.stat().st_size > 2000 for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 3


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    figures = []
    monkeypatch.setattr(plots, "save", lambda figure, path: figures.append(figure))
    return figures


def test_as_many_bars_as_asked_for_are_drawn_under_a_title_that_says_of_what(drawn):
    reader = TwoStreams.start(ouzel.RelativeDeltoids("2KB"), exact=False)
    reader.learn(np.repeat(np.arange(40, dtype=np.uint32), 3), np.zeros(120, np.uint8))

    draw_deltoids(reader, "x.png", "a.csv against b.csv", 7)

    (axes,) = drawn[0].axes
    assert len(axes.patches) == 7
    assert drawn[0].get_suptitle() == "a.csv against b.csv: 120 items against 0"


def test_bars_stand_in_the_order_of_what_they_show_and_their_colours_are_explained(drawn):
    draw_bars([("b", -1.0), ("a", 3.0), ("c", np.inf), ("d", -np.inf)], "x.png", "size", "title", ("more", "less"))

    (axes,) = drawn[0].axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "a", "b", "d"]
    assert np.abs([bar.get_width() for bar in axes.patches]).max() == pytest.approx(3.3)
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["more", "less"]
