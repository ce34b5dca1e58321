"""`ouzel export`."""

import sys


def test_a_model_is_written_with_its_rule_beside_it(ouzel, small, tmp_path):
    ouzel("train", small, "--learner", "ogd", "--model", tmp_path / "m")

    ran = ouzel("export", tmp_path / "m", tmp_path / "m.onnx", "--json")

    assert ran.status == 0
    assert ran.json["outputs"] == ["label", "margin", "probability"]
    assert (tmp_path / "m.onnx").exists()
    assert (tmp_path / "m.onnx.json").exists()


def test_what_the_graph_does_not_make_is_said(ouzel, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("city,device,y\n" + "Rome,phone,a\nOslo,desk,b\n" * 9)
    for options in ([], ["--cross", "city*device"]):
        ouzel("train", table, "--label", "y", "--learner", "ogd", *options, "--model", tmp_path / "m")

        told = ouzel("export", tmp_path / "m", tmp_path / "m.onnx").out

        assert ("its crosses are inputs too" in told) == bool(options)


def test_what_cannot_be_written_is_one_line(ouzel, small, tmp_path, monkeypatch):
    ouzel("train", small, "--learner", "ogd", "--model", tmp_path / "m")

    assert "ends in .onnx" in ouzel("export", tmp_path / "m", tmp_path / "m.txt").err
    assert "there is no folder" in ouzel("export", tmp_path / "m", tmp_path / "absent" / "m.onnx").err
    monkeypatch.setitem(sys.modules, "onnx", None)
    ran = ouzel("export", tmp_path / "m", tmp_path / "m.onnx")
    assert ran.status == 2
    assert 'pip install "ouzel[onnx]"' in ran.err
    assert ran.err.count("\n") == 1


def test_a_header_says_whether_it_learns(ouzel, small, tmp_path):
    ouzel("train", small, "--learner", "ogd", "--model", tmp_path / "m")

    ran = ouzel("export", tmp_path / "m", tmp_path / "m.h")

    assert "does not learn: of the learners awm, adagrad, ftrl-proximal" in ran.out
    assert ouzel("export", tmp_path / "m", tmp_path / "m.h", "--json").json["rule"] is None
    wrong = ouzel("export", tmp_path / "m", tmp_path / "m.h", "--prefix", "2 b")
    assert wrong.err.startswith("ouzel: names in C begin with a letter")
    assert wrong.err.count("\n") == 1
