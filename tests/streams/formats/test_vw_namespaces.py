"""Options of columns speak of namespaces in Vowpal Wabbit text."""

import pytest

import ouzel
from ouzel.sketches.hashing import feature_id

LINES = "1 'a |u age:3 city |i 7:2 price:5 | 12 x:2\n0 |u age:4 |t It's 12:30, 2016!\n1 |t:0.5 Big big\n"


def features_of(path, **options):
    """The features {id: value} of each example."""
    return [
        dict(zip(block.indices[a:b].tolist(), block.values[a:b].tolist(), strict=True))
        for block in ouzel.read(path, **options)
        for a, b in zip(block.offsets[:-1].astype(int), block.offsets[1:].astype(int), strict=True)
    ]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "t.vw").write_text(LINES)
    return tmp_path / "t.vw"


def ids(*names):
    return {feature_id(name) for name in names}


def test_namespaces_may_be_left_out_or_the_only_ones(path):
    with pytest.raises(ouzel.OuzelError, match=r"t\.vw:2:\d+: found '30,'"):
        features_of(path)

    assert set(features_of(path, ignore="t")[0]) == ids("u^age", "u^city", "i^7", "i^price", "x") | {12}
    assert [set(row) for row in features_of(path, keep=["u"])] == [ids("u^age", "u^city"), ids("u^age"), set()]
    assert set(features_of(path, ignore=["t", " "])[0]) == ids("u^age", "u^city", "i^7", "i^price")


def test_numbers_of_a_namespace_may_be_categories(path):
    first = features_of(path, ignore="t", categorical="all", numeric="u")[0]

    assert first == {
        **{feature_id(name): 1.0 for name in ("u^city", "i^7=2", "i^price=5", "x=2")},
        feature_id("u^age"): 3.0,
        12: 1.0,
    }


def test_text_of_a_namespace_is_read_by_words(path):
    _, second, third = features_of(path, text="t")

    assert set(second) == ids("u^age", "t^it's", "t^12", "t^30", "t^2016")
    assert third == {feature_id("t^big"): 1.0}


def test_places_in_messages_stay_what_they_are(tmp_path):
    (tmp_path / "t.vw").write_text("1 |u a b c |i d:x\n")

    with pytest.raises(ouzel.OuzelError, match=r"t\.vw:1:17: found 'x'"):
        features_of(tmp_path / "t.vw", ignore="u")


def test_a_namespace_that_is_not_there_is_told(path):
    stream = ouzel.read(path, ignore=["t", "z"])
    list(stream)

    assert stream.remarks == [f"{path}: has no namespace z; it has  , i, t, u"]


def test_a_model_of_a_table_reads_names_as_it_learnt_them(tmp_path):
    (tmp_path / "t.csv").write_text("y,a,b\n" + "1,1,0\n0,0,1\n" * 20)
    (tmp_path / "t.vw").write_text("1 | a:1\n0 | b:1\n" * 20)
    from ouzel.cli.app import run

    run(
        ["train", str(tmp_path / "t.csv"), "--only-columns", "a", "--only-columns", "b", "--model", str(tmp_path / "m")]
    )
    for name in ("t.csv", "t.vw"):
        run(["predict", str(tmp_path / "m"), str(tmp_path / name), "-o", str(tmp_path / f"{name}.jsonl")])

    assert (tmp_path / "t.csv.jsonl").read_text() == (tmp_path / "t.vw.jsonl").read_text()
