"""The attack sees what it is there to see: a planted death, hang, memory hog, traceback, NaN and unsound answer."""

import json
import os
import signal
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

from torture import command, forging, journal, mutation, report
from torture.campaign import Campaign, scratch
from torture.names import Name
from torture.slot import Slot
from torture.targets import TARGETS
from torture.targets.base import Target, check_block, check_finite
from torture.targets.commands import Ran, check_ran
from torture.verdicts import Failure, judge

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning"
)  # workers do nothing with the tests' threads
NUMBER = 40  # inputs of a campaign
HOG = 128 << 20  # numbers that take 1 GiB


def memory_for(more):
    """A limit for workers, which begin with what this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") + more


class Planted(Target):
    """A target whose fifth input in ten does what its subclass says."""

    weight = 1.0
    about = "planted"
    breeding = 0.0
    patience = 60.0

    def prepare(self):
        pass

    def make(self, random):
        return str(random.random()).encode()

    def run(self, data, random):
        if self.slot.at_work.seed % 10 == 5:
            self.fail()
        return "well"


class Dead(Planted):
    name = "dead"

    def fail(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Hang(Planted):
    name = "hang"
    patience = 1.0

    def fail(self):
        time.sleep(60)


class Hog(Planted):
    name = "memory"

    def fail(self):
        self.held = np.ones(HOG)
        time.sleep(0.3)


class Brief(Planted):
    name = "brief"

    def fail(self):
        np.ones(HOG)


class Raising(Planted):
    name = "traceback"

    def fail(self):
        raise IndexError("list index out of range")


class NotANumber(Planted):
    name = "nan"

    def fail(self):
        check_finite("a margin", np.array([1.0, np.nan]))


CAUSES = {kind.name: kind for kind in (Dead, Hang, Hog, Brief, Raising, NotANumber)}


@pytest.mark.parametrize("name", CAUSES)
def test_a_planted_failure_is_found_named_and_kept(name, tmp_path):
    book = journal.Journal(7, [], tmp_path)
    with scratch(tmp_path / "models"):
        campaign = Campaign(
            [name],
            seed=7,
            inputs=10,
            kinds=CAUSES,
            memory=memory_for(400 << 20),
            journal=book,
            failures=tmp_path / "kept",
        )
        campaign.run(lambda _: None)
    book.close()

    tally = campaign.tallies[name]
    kind = "memory" if name == "brief" else name
    assert (tally.inputs, tally.broken, tally.kinds[kind]) == (10, 1, 1)
    ((signature, names),) = tally.failures.items()
    assert signature.startswith(f"{kind}: ")
    assert names == [f"{name}:70000005"]
    assert (tmp_path / "kept" / name / "70000005").exists()
    outcomes = [json.loads(line) for line in book.path.read_text().splitlines()]
    assert any(line["event"] == "outcome" and line["outcome"] == kind for line in outcomes)


def test_a_death_costs_one_input_and_the_counts_stay():
    with scratch():
        campaign = Campaign(["dead"], seed=0, inputs=NUMBER, kinds=CAUSES, workers=1, memory=memory_for(4 << 30))
        campaign.run(lambda _: None)

    kinds = campaign.tallies["dead"].kinds
    assert kinds["ok"] + kinds["dead"] == NUMBER
    assert kinds["dead"] >= NUMBER // 10  # a new worker goes on with other seeds


def test_a_name_alone_makes_the_input_again():
    target, same = TARGETS["csv"](), TARGETS["csv"]()
    target.known = same.known = list(target.samples())
    name = Name("csv", (12, 944, 3))

    assert target.data(name) == same.data(Name.parse(str(name)))
    assert target.data(name) != target.data(Name("csv", (12, 944)))
    assert name.generation == 2


def test_a_refusal_is_one_line_and_anything_else_is_not():
    from ouzel import OuzelError

    def refuse(message):
        raise OuzelError(message)

    assert judge(lambda: refuse("a.csv:3: found 'x'")).kind == "refused"
    assert judge(lambda: refuse("two\nlines")).kind == "refused"  # the exception itself makes one line of them
    assert judge(lambda: refuse("x" * 5000)).kind == "unsound"
    assert judge(lambda: {}["x"]).signature.startswith("KeyError at test_harness.py:")


@pytest.mark.parametrize(
    ("ran", "kind"),
    [
        (Ran(1, "", "Traceback (most recent call last):\nValueError: no\n"), "traceback"),
        (Ran(1, "", ""), "noise"),
        (Ran(2, "", ""), "noise"),
        (Ran(2, "", "ouzel: one\nouzel: two\n"), "noise"),
        (Ran(0, "", "x.py:3: RuntimeWarning: overflow\n"), "noise"),
        (Ran(0, '{"loss": NaN}', ""), "nan"),
    ],
)
def test_what_a_command_should_not_leave_is_seen(ran, kind):
    with pytest.raises(Failure) as caught:
        check_ran(ran, as_json=True)

    assert caught.value.kind == kind


def test_an_unsound_block_is_seen():
    from ouzel import blocks_from

    block = next(blocks_from(np.eye(3), [0, 1, 0]))

    check_block(block)
    for wrong in (
        block._replace(offsets=np.array([0, 2, 1, 3], np.uint64)),
        block._replace(offsets=np.array([0, 1, 2, 9], np.uint64)),
        block._replace(values=np.array([1, np.nan, 1], np.float32)),
        block._replace(weights=np.array([1, -1, 1], np.float32)),
    ):
        with pytest.raises(Failure):
            check_block(wrong)


def test_a_forged_model_has_a_right_digest(tmp_path):
    from ouzel import Model
    from ouzel.model import persistence

    persistence.save(Model("ogd"), tmp_path / "m")
    parts = forging.Parts.of(tmp_path / "m")
    parts.described["examples"] = 12
    (tmp_path / "forged").write_bytes(parts.forged())

    assert persistence.load_model(tmp_path / "forged").examples == 12


def test_mutations_stay_within_bounds():
    random = Random(1)
    data = b"+1 1:0.5 2:3\n"
    for _ in range(2000):
        data = mutation.mutate(data, random, [b"1,2\n"])
        assert 0 < len(data) <= mutation.LONGEST


def test_counts_are_shared_with_a_process_that_dies():
    slot = Slot()
    process = os.fork()
    if not process:
        slot.begin(Name("csv", (5,)))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)

    assert str(slot.at_work) == "csv:5"


def test_the_page_takes_the_figures_of_a_run(tmp_path):
    with scratch(tmp_path):
        campaign = Campaign(
            ["traceback"], seed=7, inputs=10, kinds=CAUSES, memory=memory_for(4 << 30), failures=tmp_path
        )
        campaign.run(lambda _: None)
    (tmp_path / "last.json").write_text(json.dumps(report.figures(campaign, ["run"])))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")

    report.refresh(tmp_path / "last.json", page)

    text = page.read_text()
    assert "| `traceback` | planted | 10 | 9 | 0 | 1 traceback |" in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "traceback" in report.table(json.loads((tmp_path / "last.json").read_text()))


def test_every_target_has_a_share_and_a_line():
    assert command.TARGETS is TARGETS
    assert all(target.weight > 0 and target.about for target in TARGETS.values())
    whole = sum(target.weight for target in TARGETS.values())
    assert sum(target.weight for target in TARGETS.values() if target.binary) / whole >= 0.27
