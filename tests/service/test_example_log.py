"""The log and the snapshots: what is damaged is named, and what is sound is used."""

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.errors import OuzelError
from ouzel.files import locked
from ouzel.model.persistence import load_model
from ouzel.service.example_log import Entry, Log, LogFullError
from ouzel.service.folder import Folder, begin
from ouzel.streams.formats.records import framed, record_of_rows, records_in
from ouzel.streams.limits import UNLIMITED
from tests.printed import check


def entries(count, start=1):
    return [Entry(k, None, json.dumps({"label": k % 2, "x": k}).encode()) for k in range(start, start + count)]


@pytest.fixture
def folder(tmp_path):
    """A model with a log of 100 examples in groups, and snapshots after 40 and 60 of them."""
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    owner, log = folder.open()
    for start, count in ((1, 40), (41, 20), (61, 10), (71, 1), (72, 29)):
        log.append(entries(count, start))
        log.close()
        owner, log = folder.open()
        if start < 61:
            folder.snapshot(owner)
    log.close()
    return folder


def learnt(folder, path, name="out.ouzel"):
    owner, log = folder.open()
    log.close()
    owner.save(path / name)
    return (path / name).read_bytes()


def test_a_model_is_the_same_from_any_snapshot_and_from_none(folder, tmp_path):
    whole = learnt(folder, tmp_path)
    for snapshot in reversed(folder.snapshots()):
        snapshot.unlink()
        assert learnt(folder, tmp_path) == whole


def test_a_damaged_snapshot_is_named_and_the_one_before_it_is_used(folder, tmp_path):
    whole = learnt(folder, tmp_path)
    newest = folder.snapshots()[-1]
    content = bytearray(newest.read_bytes())
    content[-9] ^= 1
    newest.write_bytes(content)
    said = []
    owner, log = folder.open(said.append)
    log.close()
    owner.save(tmp_path / "again.ouzel")

    assert (tmp_path / "again.ouzel").read_bytes() == whole
    (line,) = said
    assert str(newest) in line
    assert "damaged" in line


def test_a_damaged_example_is_named(folder):
    connection = sqlite3.connect(folder.path / "log.sqlite")
    connection.execute("UPDATE examples SET line = ? WHERE number = 71", (b'{"label": 1, "x": 0}',))
    connection.commit()
    connection.close()

    with pytest.raises(
        OuzelError, match=r"log.sqlite: example 71 is damaged \(its checksum does not match\); put back"
    ):
        folder.open()


def test_damage_that_a_snapshot_covers_is_no_obstacle(folder):
    connection = sqlite3.connect(folder.path / "log.sqlite")
    connection.execute("UPDATE examples SET line = ? WHERE number = 7", (b'{"label": 1, "x": 0}',))
    connection.commit()
    connection.close()

    owner, log = folder.open()
    assert owner.learnt == 100
    log.close()


def test_a_missing_example_is_named(folder):
    connection = sqlite3.connect(folder.path / "log.sqlite")
    connection.execute("DELETE FROM examples WHERE number = 71")
    connection.commit()
    connection.close()

    with pytest.raises(OuzelError, match="example 71 is missing"):
        folder.open()


def test_a_damaged_group_of_examples_is_named(folder):
    connection = sqlite3.connect(folder.path / "log.sqlite")
    connection.execute("UPDATE examples SET line = CAST(replace(line, '62', '26') AS BLOB) WHERE number = 70")
    connection.commit()
    connection.close()

    with pytest.raises(OuzelError, match=r"examples 61 to 70 are damaged \(their checksum does not match\); put back"):
        folder.open()


def test_examples_without_keys_share_a_row_and_are_given_one_by_one(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    one, *rest = entries(6)
    log.append([one, *rest[:2], Entry(4, "k", b'{"x": 4}'), *rest[3:]])
    rows = sqlite3.connect(tmp_path / "log.sqlite").execute("SELECT number, key FROM examples").fetchall()

    assert rows == [(3, None), (4, "k"), (6, None)]
    assert [entry.number for entry in log.entries()] == [1, 2, 3, 4, 5, 6]
    assert [entry.record for entry in log.entries(after=1)][:2] == [entry.record for entry in rest[:2]]
    assert (log.first(), log.last()) == (1, 6)


def test_a_log_of_before_that_has_a_row_for_each_example_is_read_on(folder, tmp_path):
    whole = learnt(folder, tmp_path)
    given = list(Log(folder.path / "log.sqlite").entries())
    for file in [*folder.snapshots(), *folder.path.glob("log.sqlite*")]:
        file.unlink()
    log = Log(folder.path / "log.sqlite")
    for entry in given[:90]:
        log.append([entry])
    log.append(given[90:])
    log.close()

    assert learnt(folder, tmp_path) == whole


def test_a_log_that_ends_before_a_snapshot_is_refused(folder):
    (folder.path / "log.sqlite").unlink()

    with pytest.raises(OuzelError, match="ends with example 0, and a snapshot has learnt 60"):
        folder.open()


def test_a_file_that_is_not_a_log_is_one_line(folder):
    (folder.path / "log.sqlite").write_bytes(b"no database at all" * 1000)

    with pytest.raises(OuzelError, match="log is damaged"):
        folder.open()


def test_a_group_is_in_the_log_whole_or_not_at_all(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    log.append(entries(3))
    with pytest.raises(OuzelError):
        log.append([*entries(2, start=4), Entry(6, "k", b"{}"), Entry(7, "k", b"{}")])

    assert [entry.number for entry in log.entries()] == [1, 2, 3]


def test_a_full_disk_is_one_line_and_the_log_goes_on_when_there_is_room(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    log.append(entries(1))
    pages = log._connection.execute("PRAGMA page_count").fetchone()[0]
    log._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LogFullError, match=r"log.sqlite: cannot be written or read \(database or disk is full\)"):
        log.append([Entry(2, None, b"x" * 100_000)])
    log._connection.execute("PRAGMA max_page_count = 1000000")
    log.append(entries(1, start=2))

    assert log.last() == 2


def test_a_log_is_kept_as_far_back_as_a_snapshot_needs_it(folder, tmp_path):
    whole = learnt(folder, tmp_path)
    log = Log(folder.path / "log.sqlite")
    folder.compact(log, keep=5)
    assert (log.first(), log.last()) == (41, 100)
    log.close()
    assert learnt(folder, tmp_path) == whole

    newest = folder.snapshots()[-1]
    newest.write_bytes(newest.read_bytes()[:-1])
    assert learnt(folder, tmp_path) == whole


def test_a_log_keeps_whole_groups_and_always_the_last(folder):
    log = Log(folder.path / "log.sqlite")
    folder.compact(log, keep=70)
    assert log.first() == 1
    folder.compact(log, keep=55)
    assert log.first() == 41
    log.forget(1000)
    assert (log.first(), log.last()) == (72, 100)


EARLIER = Path(__file__).parent / "earlier_log"
"""What a service left that was killed before logs held packed rows, and the model that it had learnt."""


def test_a_log_of_an_earlier_version_is_replayed_to_the_model_that_was_learnt(tmp_path):
    folder = Folder(shutil.copytree(EARLIER / "model", tmp_path / "model"))
    expected = load_model(EARLIER / "expected.ouzel")

    owner, log = folder.open()
    rows = list(log.rows())

    assert (owner.learnt, log.last(), [row.number for row in rows]) == (114, 114, [1, 20, 21, 32, 33, 113, 114])
    assert owner.model.classes.known == expected.classes.known
    np.testing.assert_array_equal(owner.model.weights(), expected.weights())
    assert set(log.find(["a1", "a2", "a3"])) == {"a1", "a2"}
    exported = tmp_path / "log.records"
    exported.write_bytes(b"".join(framed(row.record for row in rows)))
    assert sum(block.rows for block in ouzel.read(exported, label="label", weight="w")) == 114
    log.close()


def test_it_goes_on_with_rows_of_today(tmp_path):
    folder = Folder(shutil.copytree(EARLIER / "model", tmp_path / "model"))
    owner, log = folder.open()
    packed = record_of_rows(next(ouzel.blocks_from([({"x": 1.0}, 1), ({"x": 2.0}, 0)])), owner.reading.options)
    log.append([Entry(116, None, packed)])
    log.close()

    owner, log = folder.open()

    assert (owner.learnt, owner.model.examples) == (116, 116)
    log.close()


@pytest.mark.parametrize("to", [100, 99, 65, 60, 45, 40])  # within rows of the log, between them, and at snapshots
def test_a_model_that_is_rolled_back_is_the_one_of_that_example(folder, tmp_path, to):
    shorter = Folder(tmp_path / "shorter" / "model")
    begin(shorter, None, "adagrad", {}, {})
    _, log = shorter.open()
    log.append(entries(to))
    log.close()
    _, log = folder.open()
    removed = folder.rolled_back(log, to)
    kept = [entry.record for entry in log.entries(after=log.first() - 1)]
    log.close()

    assert learnt(folder, tmp_path) == learnt(shorter, tmp_path, "shorter.ouzel")
    assert kept == [entry.record for entry in entries(to)]
    if to == 100:
        assert removed is None
    else:
        with removed.open("rb") as file:
            behind = b"\n".join(records_in(file, "removed", UNLIMITED)).split(b"\n")
        assert behind == [entry.record for entry in entries(100 - to, to + 1)]


def test_a_model_that_is_rolled_back_goes_on(folder, tmp_path):
    whole = learnt(folder, tmp_path)
    _, log = folder.open()
    folder.rolled_back(log, 45)
    log.append(entries(55, 46))
    log.close()

    assert learnt(folder, tmp_path) == whole


def test_a_state_that_is_not_kept_is_refused(folder):
    _, log = folder.open()
    log.forget(60)
    with pytest.raises(OuzelError, match="can go back to any of examples 60 to 100; got 50"):
        folder.rolled_back(log, 50)
    with pytest.raises(OuzelError, match="got 101"):
        folder.rolled_back(log, 101)

    assert log.last() == 100
    log.close()


def test_the_command_lists_snapshots_and_rolls_back(folder, capsys):
    assert run(["rollback", str(folder.path.parent)]) == 0
    listed = capsys.readouterr().out
    assert "log of examples 1 to 100" in listed
    assert "snapshot after 60 examples" in listed
    assert run(["rollback", str(folder.path.parent), "--example", "60", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert (check("rollback", found).last, found["removed"]) == (60, 40)
    assert Path(found["file"]).exists()
    with locked(folder.base):
        assert run(["rollback", str(folder.path.parent), "--example", "50"]) == 2
    assert "is at work on this file" in capsys.readouterr().err
    assert run(["rollback", str(folder.path.parent), "--name", "other"]) == 2
    assert "has no model; give the folder of a service" in capsys.readouterr().err
