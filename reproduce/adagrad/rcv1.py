"""The four top categories of RCV1 against the rest, from the multi-label sample."""

from __future__ import annotations

from contextlib import closing

from ouzel.comparison.shuffles import join
from ouzel.streams.block import Block
from ouzel.streams.read import read
from ouzel.streams.sources.source import Source
from reproduce.provenance import DataFolder

TOPICS = ("ECAT", "CCAT", "GCAT", "MCAT")
DOCUMENTS, NAMES = "rcv1_topics_sample.svm.xz", "rcv1_topics_names.txt.xz"


def documents_of(data: DataFolder, topic: str) -> Block:
    """All documents, +1 where they are of the topic."""
    with closing(Source(data / NAMES)) as source:
        lines = source.open().read().decode().splitlines()
    number = {name: number for number, name in map(str.split, lines)}[topic]
    return join(read(data / DOCUMENTS, label_positive=number))
