"""Warming a model up: what it will learn and predict is compiled before the first request, whatever its options."""

import pytest

from ouzel.cli.app import run
from ouzel.errors import OuzelError
from ouzel.model.importance import most_important
from ouzel.service.folder import Folder, begin
from ouzel.service.limits import ServiceLimits
from ouzel.service.owner import Owner
from ouzel.service.predictor import Predictor

READINGS = {
    "none": {},
    "weight": {"weight": "cost"},
    "weight that is a sampled name": {"weight": "sample word"},
    "label": {"label": "sample number"},
    "numbers alone": {"numeric": ["*"]},
    "words alone": {"categorical": ["*"]},
    "texts": {"text": ["*"]},
    "dates alone": {"dates": ["*"]},
    "columns to keep": {"keep": ["x", "z"]},
    "columns to ignore": {"ignore": ["sample*"]},
    "positive label": {"label_positive": "late"},
    "missing marked": {"missing": "indicator"},
    "many": {"weight": "cost", "numeric": ["*"], "label": "y"},
}


@pytest.fixture
def compiled(monkeypatch):
    """The rows of the blocks that owners learn and predict, by kind of call."""
    rows = {"learn": [], "predict": []}

    def recorded(kind, call):
        def recording(self, block, *more):
            rows[kind].append(block.rows)
            return call(self, block, *more)

        return recording

    for kind in rows:
        monkeypatch.setattr(Owner, f"{kind}_block", recorded(kind, getattr(Owner, f"{kind}_block")))
    return rows


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_a_model_is_warmed_up_by_examples_with_all_columns_that_its_options_require(tmp_path, compiled, reading):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, reading)
    owner, log = folder.open()
    log.close()

    owner.warm_up()

    assert compiled == {"learn": [2, 1], "predict": [2, 1]}
    assert (owner.learnt, owner.model.examples) == (0, 0)


def test_a_trained_model_is_warmed_up_whatever_its_columns_are_called(tmp_path, compiled):
    (tmp_path / "t.csv").write_text("a,b,sample word,y\n1,2,3,0\n3,4,5,1\n")
    model = str(tmp_path / "m.ouzel")
    run(["train", str(tmp_path / "t.csv"), "--label", "y", "--learner", "adagrad", "-m", model])
    folder = Folder(tmp_path / "model")
    begin(folder, model, None, {}, {})
    owner, log = folder.open()
    log.close()

    owner.warm_up()

    assert compiled == {"learn": [2, 1], "predict": [2, 1]}


def test_a_rise_of_errors_is_an_alarm_and_a_metric(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {"label": "y"})
    owner, log = folder.open()
    log.close()
    predictor = Predictor("model", owner, ServiceLimits())

    for start, stop in ((0, 2000), (2000, 2300)):
        labels = ["ab"[(k % 3 == 0) ^ (start > 0 and k % 2 == 0)] for k in range(start, stop)]
        texts = [b'{"x": "%d", "y": "%s"}' % (k % 3, label.encode()) for k, label in enumerate(labels, start)]
        owner.learn([line.example for line in owner.reading.lines(texts, [None] * len(texts))])
        if not start:
            assert (predictor.described()["drift"], predictor.figures()["alarms"]) == ([], 0.0)

    (event,) = predictor.described()["drift"]
    assert 2000 < event["example"] < 2100
    assert event["before"] < 0.05
    assert predictor.figures()["alarms"] == 1.0


def test_options_that_contradict_a_served_model_name_a_way_on_that_a_service_has(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {"label": "y"})

    with pytest.raises(OuzelError, match="trained with --learner adagrad; leave the option out to go on, or begin"):
        begin(folder, None, "ogd", {}, {"label": "y"})


def test_what_is_most_important_is_computed_once_for_each_state_of_a_model(tmp_path, monkeypatch):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    owner, log = folder.open()
    computed = []
    monkeypatch.setattr(
        "ouzel.service.owner.most_important", lambda *given: computed.append(1) or most_important(*given)
    )
    for _ in range(2):
        owner.learn([owner.reading.line(b'{"label": 1, "x": 2}', None, False).example])
        for n in (5, 5, 3):
            owner.top(n)
    log.close()

    assert len(computed) == 4
