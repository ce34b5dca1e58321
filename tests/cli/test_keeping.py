"""Passes over examples that are kept."""


def test_passes_learn_the_same_from_what_is_kept(ouzel, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,price\n" + "".join(f"{int(k % 17 < 5)},{k % 17}\n" for k in range(3000)))
    (tmp_path / "kept").mkdir()
    asked = ("train", path, "--label", "y", "--learner", "adagrad", "--passes", "3", "--bins", "price=8")
    plain = ouzel(*asked, "--model", tmp_path / "plain.ouzel")
    kept = ouzel(*asked, "--model", tmp_path / "kept.ouzel", "--cache", tmp_path / "kept")
    again = ouzel(*asked, "--model", tmp_path / "again.ouzel", "--cache", tmp_path / "kept")

    assert plain.status == kept.status == again.status == 0
    files = [(tmp_path / f"{name}.ouzel").read_bytes() for name in ("plain", "kept", "again")]
    assert files[0] == files[1] == files[2]
    assert len(list((tmp_path / "kept").iterdir())) == 1
