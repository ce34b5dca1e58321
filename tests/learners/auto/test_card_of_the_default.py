"""The card of the default says how many bytes it takes as its layouts do."""

import re
from pathlib import Path

import pytest

from ouzel.layout import bytes_of
from ouzel.learners.auto import classification, effects, newton_block, other_numbers, ranking, regression

CARD = (Path(__file__).parents[3] / "docs" / "learners.md").read_text().partition("## auto\n")[2].partition("\n## ")[0]
SETTINGS = classification.Settings()


def a_feature(layout):
    return (bytes_of(layout(20_000)) - bytes_of(layout(10_000))) / 10_000


@pytest.mark.parametrize(
    ("said", "layout"),
    [
        (r"(\d+) bytes a feature with two classes", lambda d: classification.layout(d, 2, SETTINGS)),
        (r"(\d+) for numbers by the squared loss", lambda d: regression.layout(d, SETTINGS)),
        (r"(\d+) by another", lambda d: other_numbers.layout(d, SETTINGS)),
        (r"(\d+) for a ranking", lambda d: ranking.layout(d, SETTINGS)),
    ],
)
def test_the_card_says_the_bytes_of_a_feature(said, layout):
    (count,) = re.findall(said, " ".join(CARD.split()))

    assert float(count) == a_feature(layout)


def test_and_those_of_a_feature_and_a_class():
    ((one, each),) = re.findall(r"(\d+) and (\d+) a class with several", " ".join(CARD.split()))

    for classes in (3, 8):
        assert int(one) + classes * int(each) == a_feature(lambda d, k=classes: classification.layout(d, k, SETTINGS))


def test_and_those_beside():
    words = " ".join(CARD.split())
    ((block, columns),) = re.findall(r"beside them (\d+) KB for the covariance .* and (\d+) KB for columns", words)
    ((weights, most),) = re.findall(r"Their weights take (\d+) MB, or .* (\d+) MB", words)

    assert int(block) == round(bytes_of(newton_block.layout(1, 10)) / 1000)
    assert int(columns) == round(bytes_of(effects.layout(10, 1, 0.0)) / 1000)
    for classes, size in ((1, weights), (4, most), (8, most)):
        assert effects.layout(10, classes, SETTINGS.budget).cells.nbytes == int(size) << 20
