"""`--save-to` writes weights, figures and predictions to a table of a database."""

import sqlite3

import pytest


@pytest.fixture
def trained(ouzel, small):
    model = small.with_name("m")
    ouzel("train", small, "--learner", "ogd", "--model", model)
    return model


@pytest.fixture(params=["sqlite", "duckdb"])
def database(request, tmp_path):
    """The address of a database, and what asks it."""
    pytest.importorskip({"sqlite": "adbc_driver_sqlite", "duckdb": "duckdb"}[request.param])
    path = tmp_path / "answers.db"

    def ask(sql):
        if request.param == "sqlite":
            with sqlite3.connect(path) as connection:
                found = connection.execute(sql).fetchall()
            connection.close()
            return found
        import duckdb

        with duckdb.connect(str(path)) as connection:
            return connection.execute(sql).fetchall()

    return f"{request.param}:///{path}", ask


def test_weights_are_a_table_made_anew_each_time(ouzel, trained, database):
    address, ask = database
    for n in (3, 2):
        ran = ouzel("top", trained, "-n", n, "--save-to", f"{address}#weights")
        assert ran.err == f"{n} weights written to weights\n"

    told = ouzel("top", trained, "-n", 2, "--json").json[0]
    assert ask("SELECT feature, weight FROM weights") == [tuple(pair) for pair in told["features"]]


def test_figures_and_predictions_are_added(ouzel, trained, small, database):
    address, ask = database
    for _ in range(2):
        assert ouzel("test", trained, small, "--save-to", f"{address}#tests").status == 0
        assert (
            ouzel("predict", trained, small, "--save-to", f"{address}#answers").err
            == "1,000 predictions sent to answers\n"
        )

    told = ouzel("test", trained, small, "--json").json[str(trained)]
    figures = (str(trained), 1000, told["figures"]["error_rate"], None)
    assert ask("SELECT model, examples, error_rate, rmse FROM tests") == [figures] * 2
    assert ask("SELECT count(*), min(row), max(row) FROM answers") == [(2000, 1, 1000)]


def test_reasons_are_text_in_a_table(ouzel, trained, small, database):
    address, ask = database

    assert ouzel("predict", trained, small, "--explain", 2, "--save-to", f"{address}#answers").status == 0

    told = ouzel("predict", trained, small, "--explain", 2).out.splitlines()[1].split("\t")[-1]
    assert ask("SELECT why FROM answers WHERE row = 1") == [(told,)]


def test_trainings_stand_beside_tests(ouzel, trained, small, database):
    address, ask = database
    expected = []
    for workers in ((), ("--workers", 1)):
        ran = ouzel("train", small, "--learner", "ogd", *workers, "--save-to", f"{address}#runs", "--json")
        expected.append((None, str(small), "ogd", "classification", 1000, ran.json["error_rate"], None))
    ran = ouzel("test", trained, small, "--save-to", f"{address}#runs", "--json")
    tested = ran.json[str(trained)]["figures"]
    expected.append((str(trained), str(small), "ogd", "classification", 1000, tested["error_rate"], None))

    assert ask("SELECT model, files, learner, task, examples, error_rate, rmse FROM runs") == expected


def test_what_is_not_a_table_is_one_line(ouzel, trained, small, tmp_path):
    for arguments, said in (
        (("top", trained, "--save-to", "weights.csv"), "--save-to takes a table of a database"),
        (
            ("top", trained, "--save-to", "postgresql://ann:secret@server/shop"),
            "server/shop: which table? Name it behind a #",
        ),
        (("test", trained, small, "--save-to", "sqlite:///x.db#a b"), "which table?"),
        (("train", small, "--save-to", "sqlite:///x.db"), "which table?"),
        (("predict", trained, small, "--save-to", "sqlite:///x.db#drop;table"), "which table?"),
        (("top", trained, "--save-to", f"sqlite:///{tmp_path}/absent/x.db#w"), "cannot be reached"),
    ):
        ran = ouzel(*arguments)
        assert ran.status == 2
        assert said in ran.err
        assert "secret" not in ran.err
        assert ran.err.count("\n") == 1
