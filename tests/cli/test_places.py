"""Files by address on the command line."""

import pytest

pytest.importorskip("upath")

ROWS = "price,size\n" + "".join(f"{100.5 + 3 * k},{k % 7}\n" for k in range(200))


def test_the_command_reads_a_file_by_its_address_and_resumes(ouzel, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    address, model = (tmp_path / "rows.csv").as_uri(), tmp_path / "m.ouzel"
    first = ouzel("train", address, "--label", "price", "--learner", "ogd", "--model", model, "--json")
    assert first.json["examples"] == 200
    again = ouzel("train", address, "--label", "price", "--resume", model, "--model", model)
    assert again.status == 0
    assert ouzel("predict", model, address).out.count("\n") == 201
