"""A file is written whole or not at all, by many at once; one process at a time works on it for long."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ouzel import files
from ouzel.errors import OuzelError
from ouzel.files import locked, write_atomically


def write(path, content=b"new"):
    with write_atomically(path) as file:
        file.write(content)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_an_error_leaves_the_old_content_and_nothing_beside(tmp_path):
    (tmp_path / "m").write_bytes(b"old")

    with pytest.raises(TypeError), write_atomically(tmp_path / "m") as file:
        file.write(b"half") + "of the n"

    assert (tmp_path / "m").read_bytes() == b"old"
    assert names(tmp_path) == ["m"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_is_one_line_and_leaves_the_old_content(tmp_path, monkeypatch, failing):
    (tmp_path / "m").write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, failing, full)
    with pytest.raises(OuzelError, match=r"m: cannot be written \(No space left on device\)$"):
        write(tmp_path / "m")

    assert (tmp_path / "m").read_bytes() == b"old"
    assert names(tmp_path) == ["m"]


def test_the_mode_of_a_file_is_kept_and_a_new_one_has_that_of_the_umask(tmp_path):
    private, new = tmp_path / "private", tmp_path / "new"
    private.write_bytes(b"old")
    private.chmod(0o600)

    before = os.umask(0o027)
    try:
        with write_atomically(private) as file:
            beside = next(entry for entry in tmp_path.iterdir() if entry.name.endswith(".partial"))
            meanwhile = stat.S_IMODE(beside.stat().st_mode)
            file.write(b"new")
        write(new)
    finally:
        os.umask(before)

    assert private.read_bytes() == b"new"
    assert (meanwhile, stat.S_IMODE(private.stat().st_mode)) == (0o600, 0o600)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
def test_a_symbolic_link_stays_and_what_it_leads_to_is_written(tmp_path, there):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "m", tmp_path / "m"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(Path("store") / "m")

    write(link)

    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()
    assert names(tmp_path / "store") == ["m"]


def test_places_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "loop").symlink_to("loop")

    for path, message in (
        (tmp_path / "none" / "m", "there is no folder"),
        (tmp_path, "is not an ordinary file"),
        (Path("/dev/null"), "is not an ordinary file"),
        (tmp_path / "loop", "leads to itself"),
    ):
        with pytest.raises(OuzelError, match=message):
            write(path)


def test_a_long_name_leaves_room_for_the_names_beside_it(tmp_path):
    path = tmp_path / ("n" * 250)

    with locked(path):
        write(path)

    assert path.read_bytes() == b"new"


def test_many_writers_leave_one_whole_file(tmp_path):
    path, failed = tmp_path / "m", []

    def work(letter):
        try:
            for _ in range(30):
                write(path, letter * 200_000)
                content = path.read_bytes()
                assert len(content) == 200_000
                assert len(set(content)) == 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert names(tmp_path) == ["m"]


HALF = """
import sys, time
from ouzel.files import locked, write_atomically
with locked(sys.argv[1]), write_atomically(sys.argv[1]) as file:
    file.write(b"half"), file.flush(), print("writing", flush=True), time.sleep(60)
"""


@pytest.fixture
def writer(tmp_path):
    """A process that holds the lock of `m` and is in the midst of writing it."""
    process = subprocess.Popen([sys.executable, "-c", HALF, tmp_path / "m"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    yield process
    process.kill()
    process.communicate()


def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path, writer):
    path = tmp_path / "m"
    write(path)
    while_alive = [name for name in names(tmp_path) if name.endswith(".partial")]

    writer.send_signal(signal.SIGKILL)
    writer.wait()
    left = names(tmp_path)
    with locked(path):
        write(path, b"newer")

    assert len(while_alive) == 1
    assert set(while_alive) < set(left)
    assert path.read_bytes() == b"newer"
    assert names(tmp_path) == ["m"]


def test_who_comes_second_is_told_who_holds_the_lock(tmp_path, writer):
    told = rf"m: process {writer.pid} on \S+ \(since \d+-.*: ouzel .*m\) is at work on this file; wait for it to end"
    with pytest.raises(OuzelError, match=told), locked(tmp_path / "m"):
        pass

    writer.kill()
    writer.wait()
    with locked(tmp_path / "m"):
        pass
    assert not [name for name in names(tmp_path) if name.endswith(".lock")]


def test_the_lock_of_a_link_is_that_of_the_file(tmp_path):
    (tmp_path / "link").symlink_to("m")

    with (
        locked(tmp_path / "m"),
        pytest.raises(OuzelError, match="is at work on this file"),
        locked(tmp_path / "link"),
    ):
        pass
