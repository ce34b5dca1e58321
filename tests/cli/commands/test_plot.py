"""`ouzel plot`."""

import json

import numpy as np
import pytest

from tests.cli.test_schemas import check


@pytest.fixture
def people(ouzel, tmp_path):
    """A model of ages and hours, of which the one steps at 40 and both have a pair."""
    rng = np.random.default_rng(0)
    age, hours = rng.integers(18, 80, 3000), rng.integers(10, 60, 3000)
    yes = np.where((age > 40) == (hours > 35), age > 40, rng.random(3000) < 0.5)
    rows = [f"{a},{h},{'yes' if y else 'no'}" for a, h, y in zip(age, hours, yes, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["age,hours,rich", *rows]) + "\n")
    ouzel("train", tmp_path / "people.csv", "--label", "rich", "--model", tmp_path / "m")
    return tmp_path / "m"


@pytest.mark.parametrize("name", ["age", "age*hours", "hours * age"])
def test_a_column_and_a_pair_are_drawn(ouzel, people, tmp_path, name):
    ran = ouzel("plot", people, "--effect", name, "-o", tmp_path / "drawn.png", "--json")

    assert ran.status == 0
    check("plot", ran.json)
    assert ran.json["columns"] == [part.strip() for part in name.split("*")]
    assert ran.json["classes"] == ["yes"]
    sizes = [len(edges) + 1 for edges in ran.json["edges"]]
    assert np.shape(ran.json["values"]) == (sizes[0], sizes[-1] if len(sizes) > 1 else 1, 1)
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    assert "picture drawn in" in ouzel("plot", people, "--effect", name, "-o", tmp_path / "drawn.svg").out


def test_what_cannot_be_drawn_is_one_line(ouzel, people, small, tmp_path):
    ouzel("train", small, "--learner", "ogd", "--model", tmp_path / "line")
    drawn = "-o", tmp_path / "x.png"

    said = {
        ouzel("plot", people, "--effect", "agee", *drawn).err: "column 'agee' has no effect. Did you mean 'age'? "
        "Columns that have one: ",
        ouzel("plot", people, "--effect", "age*our", *drawn).err: "column 'our' has no effect. Did you mean 'hours'?",
        ouzel("plot", tmp_path / "line", "--effect", "age", *drawn).err: "has no effects of columns; the default",
        ouzel("plot", people, *drawn).err: "--effect needs the name of a column",
        ouzel("plot", people, "--effect", "age", "-o", tmp_path / "x.txt").err: "a plot's name ends in .svg, .png",
        ouzel("plot", tmp_path / "absent", "--effect", "age", *drawn).err: "there is no such model file",
    }

    for line, part in said.items():
        assert part in line
        assert line.count("\n") == 1
    assert not (tmp_path / "x.png").exists()


def test_the_figures_are_the_curve(ouzel, people, tmp_path):
    found = ouzel("plot", people, "--effect", "age", "-o", tmp_path / "a.svg", "--json").json

    edges, values = np.array(found["edges"][0]), np.array(found["values"])[:, 0, 0]
    low, high = (values[np.searchsorted(edges, age, "right")] + found["slopes"][0] * age for age in (30.0, 60.0))
    assert high > low + 1.0
    assert json.dumps(found)
