"""A log whose library is not installed is refused in a line that names the extra."""

import sys
from pathlib import Path

import pytest

from ouzel.cli.app import run
from ouzel.errors import OuzelError
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources import addresses

READERS = ("kafka_client", *(kind.module_name for kind in addresses.LOGS if kind.extra))  # which import a library
LIBRARIES = {"kafka": "confluent_kafka", "redis": "redis", "nats": "nats"}  # by the extra that brings each
LOGS = {kind.example: (LIBRARIES[kind.extra], f"ouzel[{kind.extra}]") for kind in addresses.LOGS if kind.extra}


@pytest.fixture
def without(monkeypatch):
    """`without(library)`: an environment that does not have it."""

    def absent(library):
        for name in list(sys.modules):
            if name.partition(".")[0] == library or name in [f"ouzel.streams.logs.{reader}" for reader in READERS]:
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)

    return absent


@pytest.mark.parametrize("url", LOGS)
def test_the_extra_of_a_log_is_named_where_it_is_missing(without, url):
    library, extra = LOGS[url]
    without(library)

    with pytest.raises(OuzelError) as caught:
        open_log(url, Reading())
    assert extra in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", LOGS)
def test_training_on_a_log_without_its_library_ends_in_a_line(without, url, capsys):
    library, extra = LOGS[url]
    without(library)

    assert run(["train", url, "--learner", "adagrad"]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert extra in said[-1]
    assert not any(line.startswith("Traceback") for line in said)


def test_the_documentation_names_every_kind_of_log_with_its_schemes_and_its_extra():
    page = (Path(__file__).parents[3] / "docs/logs.md").read_text()
    for kind in addresses.LOGS:
        assert kind.name.split()[0] in page
        assert not kind.extra or f"ouzel[{kind.extra}]" in page
        assert all(f"{scheme}://" in page for scheme in kind.schemes)
