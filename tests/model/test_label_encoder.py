"""Classes by their labels."""

import datetime

import pytest

from ouzel.errors import OuzelError
from ouzel.model.label_encoder import Classes


def test_more_than_a_thousand_classes_must_be_asked_for():
    classes = Classes(range(1000))
    classes.allow(None)

    with pytest.raises(OuzelError, match=r"label 1000 would be class number 1001; .* say --max-classes 10000"):
        classes.position(1000)
    classes.allow(1001)

    assert classes.position(1000) == 1000


def test_a_model_of_so_many_classes_goes_on_without_asking_again():
    classes = Classes(range(1001))
    classes.allow(None)

    assert classes.position("new") == 1001


def test_what_is_not_a_label_is_refused():
    with pytest.raises(OuzelError, match="a label is text, a number, or true or false; got datetime"):
        Classes().position(datetime.datetime(2026, 1, 1))
