"""Pictures are drawn of whatever was found, be it nothing."""

import numpy as np
import pytest

import ouzel
from ouzel.analytics.deltoids.two_streams import TwoStreams
from ouzel.analytics.explanation.explained import Explained
from ouzel.analytics.explanation.rows import Attributes, Rule
from ouzel.analytics.pmi.corpus import Corpus
from ouzel.plotting.analyses import draw_deltoids, draw_explanation, draw_pmi


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
