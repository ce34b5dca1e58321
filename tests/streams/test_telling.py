"""Names are told by each block that meets them, or once by a stream if who learns keeps them."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from pyarrow import parquet as pq
from pyarrow.csv import read_csv

from ouzel import Model, convert, progressive_validation
from ouzel.model.importance import heaviest
from ouzel.streams.read import read
from ouzel.streams.sources import chunks

ROWS = 6_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same rows of names in every format."""
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(0)
    rows = [(random.choice([-1, 1]), f"w{random.zipf(1.3) % 5000}", f"c{random.integers(40)}") for _ in range(ROWS)]
    texts = {
        "vw": "".join(f"{label} |word {word} |city {city}\n" for label, word, city in rows),
        "csv": "label,word,city\n" + "".join(f"{label},{word},{city}\n" for label, word, city in rows),
        "jsonl": "".join(f'{{"label": {label}, "word": "{word}", "city": "{city}"}}\n' for label, word, city in rows),
    }
    for format, text in texts.items():
        (folder / f"rows.{format}").write_text(text)
    convert(read(folder / "rows.csv"), folder / "rows.arrow")
    pq.write_table(read_csv(folder / "rows.csv"), folder / "rows.parquet", row_group_size=500)
    return {path.suffix[1:]: path for path in folder.iterdir()}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", 1 << 12)


def names_told(stream):
    return sum(0 if block.names is None else len(block.names.ids) for block in stream)


@pytest.mark.parametrize("format", ["vw", "csv", "jsonl", "parquet", "arrow"])
def test_a_model_that_keeps_names_gets_the_same_of_a_stream_that_tells_them_once(files, format):
    each, once = Model("adagrad"), Model("adagrad")

    progressive_validation(each, iter(list(read(files[format]))))
    progressive_validation(once, lambda: read(files[format]))

    assert len(each.names) > 1000
    assert once.names.to_json() == each.names.to_json()
    assert once.weights().tobytes() == each.weights().tobytes()


@pytest.mark.parametrize("options", [{}, {"categorical": ("city",)}])
def test_a_stream_that_tells_names_once_tells_few_again(files, options):
    stream, once = read(files["vw"], **options), read(files["vw"], **options)
    once.emit_names_once()

    assert names_told(once) < names_told(stream) / 2


def test_a_learner_that_forgets_names_is_told_them_again(files):
    model = Model("awm", budget="2KB")

    progressive_validation(model, lambda: read(files["vw"]))

    assert all(isinstance(name, str) for name, _, _ in heaviest(model, 20)[0][1] if name != "(intercept)")


def test_who_takes_the_rest_of_a_stream_is_told_its_names(files):
    stream, second = read(files["vw"]), Model("adagrad")

    progressive_validation(Model("adagrad"), [next(stream), next(stream)])
    progressive_validation(second, stream)

    assert len(second.names) > 1000


def test_examples_that_are_kept_have_the_names_of_their_own_file(files, tmp_path):
    for given in ([files["vw"], files["jsonl"]], [files["jsonl"]]):
        model = Model("adagrad")
        progressive_validation(model, partial(read, given, cache=tmp_path))

    assert len(model.names) > 1000


@pytest.mark.parametrize("format", ["vw", "csv", "jsonl", "parquet"])
def test_a_program_that_ends_while_a_stream_is_read_ends_quietly(files, format):
    program = "import sys, ouzel\nfor block in ouzel.read(sys.argv[1]):\n    break\n"

    ended = subprocess.run([sys.executable, "-c", program, str(files[format])], capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, b"")
