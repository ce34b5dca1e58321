"""Databases: what a query answers is learnt as a file is, and a table that grows as a log is."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import ouzel
from tests.streams.logs.killing import LONGEST, train, train_to_the_end, train_with_kills
from tests.streams.logs.servers import Server, messages
from torture.killing import reached, written

__all__ = ["ouzel"]  # a fixture

ROWS = "SELECT * FROM clicks"
SETTINGS = ("--learner", "adagrad", "--checkpoint-every", 1000)
TABLE = "CREATE TABLE clicks (id INTEGER PRIMARY KEY, label INTEGER, price FLOAT, city TEXT, number INTEGER)"


def values_of(count, seed=0):
    return [tuple(json.loads(message).values()) for message in messages(count, seed)]


@pytest.fixture
def sqlite(tmp_path):
    pytest.importorskip("adbc_driver_sqlite")
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO clicks (label, price, city, number) VALUES (?, ?, ?, ?)", values_of(3000))
    connection.close()
    return f"sqlite:///{path}"


@pytest.fixture
def duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
        rows = ",".join(str((k + 1, *row)) for k, row in enumerate(values_of(3000)))
        connection.execute(f"INSERT INTO clicks VALUES {rows}")
    return f"duckdb:///{path}"


class PostgreSQL(Server):
    """A PostgreSQL server, which root may not run."""

    def __init__(self, folder: Path) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not programs:
            pytest.skip("postgres is absent (Debian's package postgresql)")
        user = "postgres" if os.getuid() == 0 else None
        if user is not None:
            shutil.chown(folder, user)
            for above in folder.parents:
                if above.owner() != "root" or not above.name.startswith(("pytest-", "popen-")):
                    break
                above.chmod(0o755)
        data, here = folder / "data", programs[-1]
        asked = [here / "initdb", "-D", data, "-A", "trust", "-U", "me", "-E", "UTF8"]
        subprocess.run(asked, check=True, user=user, cwd="/", stdout=subprocess.DEVNULL)
        command = [str(here / "postgres"), "-D", str(data), "-k", "", "-h", "127.0.0.1", "-c", "max_connections=20"]
        super().__init__(lambda port: [*command, "-p", str(port)], folder, user)

    @property
    def address(self) -> str:
        return f"postgresql://me@127.0.0.1:{self.port}/postgres"

    def ask(self, *questions: str) -> None:
        from adbc_driver_postgresql import dbapi

        end = time.monotonic() + 60
        while True:
            try:
                with dbapi.connect(self.address, autocommit=True) as connection, connection.cursor() as cursor:
                    for question in questions:
                        cursor.execute(question)
                return
            except dbapi.Error:  # it is starting, or has ended when others could connect already
                assert time.monotonic() < end
                time.sleep(0.05)
                if not self.alive:
                    self.start()

    def add(self, table: str, rows: list[tuple[object, ...]]) -> None:
        listed = ",".join(str(row) for row in rows)
        self.ask(f"INSERT INTO {table} (label, price, city, number) VALUES {listed}")

    def make(self, table: str, rows: list[tuple[object, ...]]) -> None:
        columns = "id BIGSERIAL PRIMARY KEY, label INT, price FLOAT8, city TEXT, number INT"
        self.ask(f"CREATE TABLE {table} ({columns})")
        for start in range(0, len(rows), 10_000):
            self.add(table, rows[start : start + 10_000])


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    pytest.importorskip("adbc_driver_postgresql")
    server = PostgreSQL(tmp_path_factory.mktemp("postgresql"))
    server.start()
    yield server
    server.kill()


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_rows_are_learnt_as_those_of_a_file(database, request, ouzel, tmp_path):
    address = request.getfixturevalue(database)
    rows = [dict(zip(("label", "price", "city", "number"), row, strict=True)) for row in values_of(3000)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    file = ouzel("train", tmp_path / "rows.jsonl", "--learner", "adagrad", "--json").json
    asked = "SELECT label, price, city, number FROM clicks ORDER BY id"
    query = ouzel("train", "--sql", asked, "--database", address, "--learner", "adagrad", "--json").json
    log = ouzel("train", "--sql", ROWS, "--database", address, "--cursor", "id", "--learner", "adagrad", "--json").json

    figures = [[found[name] for name in ("examples", "mean_loss", "nonzeros")] for found in (file, query, log)]
    assert figures[0] == figures[1] == figures[2]


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_table_that_grows_goes_on_from_its_last_row(database, request, ouzel, tmp_path):
    address = request.getfixturevalue(database)
    table = ("--sql", ROWS, "--database", address, "--cursor", "id")
    whole, parts = tmp_path / "whole", tmp_path / "parts"

    assert ouzel("train", *table, *SETTINGS, "--model", whole).status == 0
    for until in ("examples 1234", "offset 2000", "lag 0"):
        command = ("train", *table, *SETTINGS, "--model", parts, "--resume", parts, "--until", until)
        assert ouzel(*command).status == 0

    assert whole.read_bytes() == parts.read_bytes()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (("--sql", "SELECT * FROM absent"), "no such table"),
        (("--sql", ROWS, "--cursor", "number"), "twice; a cursor is a column whose values differ"),
        (("--sql", ROWS, "--cursor", "price"), "holds fractions"),
        (("--sql", ROWS, "--label", "nothing"), "has no column 'nothing'"),
        (("--sql", ""), "Ask with --sql"),
    ],
)
def test_what_cannot_be_answered_is_one_line(sqlite, ouzel, question, said):
    ran = ouzel("train", *question, "--database", sqlite)

    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sql", "SELECT 1"), "--sql needs --database"),
        (("--database", "sqlite:///a"), "--database goes with --sql"),
        (("a.svm", "--sql", "SELECT 1", "--database", "sqlite:///a"), "in place of files"),
        (("--sql", "SELECT 1", "--database", "a.db"), "postgresql://server/name"),
        (("--sql", "SELECT 1", "--database", "sqlite:///absent.db"), "there is no such file"),
        (("--sql", "SELECT 1", "--database", "adbc+nothing://x"), "adbc-driver-nothing"),
        ((), "Missing argument 'FILE'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(ouzel, arguments, said):
    if "sqlite:///absent.db" in arguments:
        pytest.importorskip("adbc_driver_sqlite")
    ran = ouzel("train", *arguments)

    assert ran.status == 2
    assert said in ran.err


def test_a_secret_is_not_told(ouzel):
    pytest.importorskip("adbc_driver_postgresql")
    ran = ouzel("train", "--sql", "SELECT 1", "--database", "postgresql://ann:secret@127.0.0.1:1/shop")

    assert ran.status == 2
    assert "secret" not in ran.err


def test_bad_rows_are_told_by_their_cursor(tmp_path, ouzel):
    pytest.importorskip("adbc_driver_sqlite")
    path = tmp_path / "bad.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE clicks (id INTEGER, label FLOAT, a FLOAT)")
        connection.executemany("INSERT INTO clicks VALUES (?, ?, ?)", [(1, 1, 1), (5, 1e999, 2), (7, 0, 3)])
    connection.close()
    table = ("--sql", ROWS, "--database", f"sqlite:///{path}", "--cursor", "id", "--learner", "ogd")

    refused = ouzel("train", *table)
    gone_on = ouzel("train", *table, "--on-error", "skip", "--quarantine", tmp_path / "bad.jsonl", "--json")

    assert "row with cursor 5" in refused.err
    assert (gone_on.json["examples"], gone_on.json["skipped"]) == (2, 1)
    assert json.loads((tmp_path / "bad.jsonl").read_text())["offset"] == 5


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.long)])
def test_a_training_outlives_kills_of_the_server(postgresql, tmp_path, kills):
    chance, table, model = random.Random(kills), f"outlive{kills}", tmp_path / "model"
    postgresql.make(table, values_of(1000))
    question = ("--sql", f"SELECT * FROM {table}", "--database", postgresql.address, "--cursor", "id")
    until = ("--until", f"examples {1000 * (kills + 1)}")
    process = train(*question, *SETTINGS, "--model", model, *until)
    for seed in range(1, kills + 1):
        assert reached(process, written(model))
        assert process.poll() is None
        postgresql.kill()
        (postgresql.folder / "data" / "postmaster.pid").unlink()
        time.sleep(chance.random() * 0.3)
        postgresql.start()
        postgresql.add(table, values_of(1000, seed))
    _, said = process.communicate(timeout=LONGEST)
    whole = tmp_path / "whole"
    train_to_the_end(*question, *SETTINGS, "--model", whole, *until)

    assert process.returncode == 0, said.decode()
    assert whole.read_bytes() == model.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("kills", [100])
def test_a_training_that_is_killed_ends_as_the_unbroken_one(postgresql, tmp_path, kills):
    postgresql.make("kills", values_of(300_000))
    question = ("--sql", "SELECT * FROM kills", "--database", postgresql.address, "--cursor", "id")
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    train_to_the_end(*question, *SETTINGS, "--model", whole)
    struck = train_with_kills(killed, *question, *SETTINGS, kills=kills)

    assert struck >= kills // 2
    assert whole.read_bytes() == killed.read_bytes()
