"""A digest tells streams apart, and does not see how they were cut."""

import numpy as np
import pytest

from ouzel.streams.digest import Digest
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read
from ouzel.streams.sources import chunks

LINES = [f"{(-1) ** k:+d} 1:{k % 13 / 4} {k % 5 + 2}:1\n" for k in range(300)]


def digest_of(blocks):
    digest = Digest()
    for block in blocks:
        digest.add(block)
    return digest.examples, digest.text


def digest_of_text(tmp_path, lines):
    (tmp_path / "a.svm").write_text("".join(lines))
    return digest_of(read(tmp_path / "a.svm"))


@pytest.mark.parametrize("lines", [LINES, [*LINES[:200], "yes 1:1\n", *LINES[200:]]], ids=["numbers", "a name"])
def test_cuts_do_not_matter(tmp_path, monkeypatch, lines):
    whole = digest_of_text(tmp_path, lines)
    sliced = Digest()
    for block in read(tmp_path / "a.svm"):
        for start in range(0, block.rows, 7):
            sliced.add(block.slice(start, min(start + 7, block.rows)))
    monkeypatch.setattr(chunks, "CHUNK", 100)

    assert digest_of(read(tmp_path / "a.svm")) == whole == (sliced.examples, sliced.text)


CHANGES = {
    "a value": "-1 1:0.5000001 4:1\n",
    "an id": "-1 1:0.25 7:1\n",
    "a label": "+1 1:0.25 4:1\n",
    "no label": "1:0.25 4:1\n",
    "a feature more": "-1 1:0.25 4:1 9:1\n",
    "no feature": "-1\n",
    "ids and values exchanged": "-1 1:1 4:0.25\n",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("row", [0, 170, 299])
def test_every_change_is_seen(tmp_path, change, row):
    before, after = LINES.copy(), LINES.copy()
    before[row], after[row] = "-1 1:0.25 4:1\n", CHANGES[change]

    assert digest_of_text(tmp_path, before) != digest_of_text(tmp_path, after)


def test_the_order_of_rows_is_seen(tmp_path):
    assert digest_of_text(tmp_path, LINES) != digest_of_text(tmp_path, [*LINES[1:], LINES[0]])


def test_weights_and_groups_are_seen():
    X, y = np.eye(3, dtype=np.float32), np.array([1.0, 0.0, 1.0])
    block = next(blocks_from(X, y))
    weighted = block._replace(weights=np.array([1, 2, 1], np.float32))
    grouped = block._replace(groups=np.array([1, 1, 2]))

    assert len({digest_of([part]) for part in (block, weighted, grouped)}) == 3
