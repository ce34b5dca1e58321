"""Plain JSON objects, read where they lie, are the examples that reading them one by one makes."""

import json
import random

import numpy as np
import pytest

from ouzel.errors import DataError, UnexpectedError
from ouzel.kernels.bytes import not_ascii
from ouzel.kernels.jit import kernel
from ouzel.kernels.sort import TURN, count_smaller_among
from ouzel.model.model import Model
from ouzel.streams.dates import PARTS, date_parts, is_iso
from ouzel.streams.dates import WORDS as WORDS_OF_PARTS
from ouzel.streams.formats import json_lines, json_names
from ouzel.streams.formats.json_lines import PlainObjects
from ouzel.streams.formats.json_python import JsonExamples, object_of
from ouzel.streams.formats.json_scalars import read_date
from ouzel.streams.kernels.lines import count_lines
from ouzel.streams.labels import labels_in
from ouzel.streams.read import read
from ouzel.streams.sources import chunks

KEYS = [
    "a",
    "b",
    "city",
    "a longer name",
    "é",
    "7",
    "12345678",
    "12345678x",
    "exactly16letters",
    "n.m",
    "t",
    "w",
    "gone",
]
WORDS = ["Rome", "", " ", "NA", "null", "x y", " padded ", "é", "日本", "a:b,c{}[]", "12", "1e5", "-", "true", "x" * 70]
NUMBERS = [
    "0",
    "-0",
    "1",
    "-1",
    "12",
    "3.25",
    "0.1",
    "-2.5e-3",
    "1E5",
    "1e-400",
    "123456789012345678",
    "0.30000000000000004",
]
NUMBERS += [
    "1234567",
    "12345678",
    "1.12345678",
    "1.123456789",
    "-0.0",
    "1.0",
    "2e0",
    "99999999999999999999999999999999999999",
]
FALLBACK = ['"a\\nb"', '"\\u00e9"', '{"x": 1}', '["p", "q"]', "[]", '"\\ud83d\\ude00"', '"\\""', '"1e1"', "NaN"]
BAD = [
    "01",
    "1.",
    ".5",
    "+1",
    "Infinity",
    "1e999",
    "tru",
    "nul",
    '"\\x"',
    '"tab\there"',
    "1e39",
    "--1",
    "[1,",
    '"\\ud800"',
]
LABELS = ["1", "-1", "0.5", '"yes"', '"no"', '" yes"', '"1"', "true", "null", '"\\u0079es"', '""', "[1]", '"inf"']
CASES = {
    "as it is": {},
    "words as categories": {"categorical": ("a", "7")},
    "all are numbers": {"numeric": ("a", "b")},
    "text and dates": {"text": ("t",)},
    "marks": {"missing": "indicator"},
    "weights": {"weight": "w"},
    "some only": {"keep": ("c*", "a", "7"), "ignore": ("b",)},
    "a class against others": {"label_positive": "yes"},
    "a number against others": {"label_positive": "1"},
    "nothing decided": {"sample": 0},
    "few bits": {"bits": 4},
    "no label needed": {"unlabelled": True},
    "crosses": {"crosses": ["city*a", "*:7", "b*b"]},
    "groups": {"group": "7"},
}


YEARS = ["1969", "1970", "1999", "2000", "2024", "2100"]
ODD_YEARS = ["0000", "0001", "1600", "9999"]
FRACTIONS = ["", ".5", ".123456", ",000001", ".999999999"]
ZONES = ["", "", "Z", "+00:00", "-05", "+0530", "-23:59"]
ODD_ZONES = ["z", "+24:00", "+01:60", "+1", "+012", " "]


def date_of(rng, odd):
    """A date or a time as programs write it; an odd one is not always what ISO 8601 knows."""

    def two(most, least=0):
        return f"{rng.randint(least, most + (odd and rng.random() < 0.1)):02}"

    year, month = rng.choice(YEARS + odd * ODD_YEARS), int(two(12, 1))
    day = two(30 if month in (4, 6, 9, 11) else 31 if month != 2 else 29 if year in ("2000", "2024") else 28, 1)
    time, second = f"{two(23)}:{two(59)}", f":{two(59)}{rng.choice(FRACTIONS + odd * ['.', ','])}"
    zoned = f"{time}{rng.choice(['', second])}{rng.choice(ZONES + odd * ODD_ZONES)}"
    date = f"{year}-{month:02}-{day}"
    whole = rng.choice([date, f"{date}T{zoned}", f"{date} {zoned}", time + second])
    if odd and rng.random() < 0.3:
        place = rng.randrange(len(whole))
        whole = rng.choice([whole[:place] + whole[place + 1 :], f"{whole[:place]}x{whole[place + 1 :]}", f" {whole}  "])
    return whole


def line_of(rng, odd, bad):
    """An object as people and programs write it; sometimes it is not one."""
    pieces = []
    for key in rng.sample(KEYS, rng.randint(0, len(KEYS))) if rng.random() < 0.3 else KEYS[: rng.randint(1, len(KEYS))]:
        kind = rng.random()
        value = json.dumps(rng.choice(WORDS), ensure_ascii=False) if kind < 0.35 else rng.choice(NUMBERS)
        value = rng.choice(["true", "false", "null"]) if kind > 0.9 else value
        if key == "w":
            value = rng.choice(["1", "0", "2.5"])
        value = rng.choice(FALLBACK) if rng.random() < odd else value
        value = rng.choice(BAD) if rng.random() < bad else value
        pieces.append((json.dumps(key, ensure_ascii=rng.random() < odd), value))
    pieces.insert(rng.choice([0, 0, 0, len(pieces)]), ('"y"', rng.choice(LABELS[: rng.choice([3, 3, 8, 13])])))
    if rng.random() < odd:
        pieces.append(rng.choice([*pieces, ('""', "1")]))
    colon, comma = rng.choice([(":", ","), (": ", ", "), (" :\t", "  ,\r")])
    text = rng.choice(["", "", " ", "\t"]) + "{" + comma.join(key + colon + value for key, value in pieces) + "}"
    if rng.random() < bad:
        place = rng.randint(0, len(text))
        text = rng.choice([text[:place], text[:place] + text[place + 1 :], text + "x", "[1]", "", " ", '{"a":1,}'])
    return text.replace("\n", "") + rng.choice(["", "", " ", "\r"])


def outcome(path, plain, monkeypatch, **options):
    """The rows of a file, what is known of them, and the error that ended it."""
    rows, names, error = [], {}, None
    stream = read(path, **{"label": "y", **options})
    with monkeypatch.context() as patch:
        if not plain:
            patch.setattr(PlainObjects, "supports", lambda plain, chunk: False)
        try:
            for block in stream:
                labels = labels_in(block)
                for i in range(block.rows):
                    here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
                    group = None if block.groups is None else block.groups[i]
                    rows.append((block.indices[here].tolist(), block.values[here].tobytes(), labels[i],
                                 block.weights[i], group, block.numbers[i]))  # fmt: skip
                if block.names is not None:
                    model = Model("ogd")
                    model.names.add(block.names)
                    names = dict(model.names.to_json()) | names
        except DataError as found:
            error = str(found)
    return rows, names, stream.space, stream.skipped, stream.remarks, error


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", CASES)
def test_plain_objects_are_what_they_are_read_slowly(case, seed, tmp_path, monkeypatch):
    rng = random.Random(f"{case} {seed}")
    odd, bad = [(0.0, 0.0), (0.02, 0.0), (0.05, 0.002), (0.0, 0.02)][seed]
    lines = [line_of(rng, odd, bad) for _ in range(250)]
    path = tmp_path / "t.jsonl"
    path.write_bytes("\n".join(lines).encode() + rng.choice([b"", b"\n"]))
    monkeypatch.setattr(chunks, "CHUNK", rng.choice([1 << 21, 3000]))

    for mode in ("raise", "skip"):
        found = outcome(path, True, monkeypatch, on_error=mode, **CASES[case])
        expected = outcome(path, False, monkeypatch, on_error=mode, **CASES[case])

        for here, there in zip(found, expected, strict=True):
            assert here == there


@pytest.mark.parametrize("text", [b'\xef\xbb\xbf{"y":1}\n', b'{"y":1,"a":"\xff"}\n', b"", b"{}\n", b'{"y":1}', b"\n\n"])
def test_odd_files_are_refused_as_ever(text, tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"y":1,"a":"x"}\n' + text)

    assert outcome(path, True, monkeypatch) == outcome(path, False, monkeypatch)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dates": ("d", "e")},
        {"bits": 6},
        {"categorical": ("d",)},
        {"missing": "indicator"},
        {"crosses": ["e.month*city", "city*city"]},
        {"crosses": ["d*city"]},
        {"bins": ["n=4"]},
        {"bins": ["d=4"], "hinges": ["7=3"]},
        {"text": ("city",), "ngrams": ("2",), "ignore": ("e",)},
        {"label": "d"},
        {"unlabelled": True, "sample": 0},
    ],
    ids=str,
)
def test_plain_dates_are_what_they_are_read_slowly(options, seed, tmp_path, monkeypatch):
    rng = random.Random(f"{options} {seed}")
    odd = seed % 2
    lines = []
    for k in range(300):
        line = {"y": k % 2, "d": date_of(rng, odd), "city": rng.choice("abc"), "7": date_of(rng, odd)[:10], "n": k}
        if rng.random() < 0.3:
            line |= {"e": date_of(rng, odd), "f": rng.choice([date_of(rng, False), "Rome", None, 3])}
        if odd and rng.random() < 0.1:
            line |= {"d": rng.choice([None, "NA", 86400, 0.5, True, "1/31/2024", "2024-01", "soon"]), "d.hour": "1"}
        lines.append(json.dumps(line))
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines))
    monkeypatch.setattr(chunks, "CHUNK", rng.choice([1 << 21, 3000]))

    for mode in ("raise", "skip"):
        found = outcome(path, True, monkeypatch, on_error=mode, **options)
        expected = outcome(path, False, monkeypatch, on_error=mode, **options)

        for here, there in zip(found, expected, strict=True):
            assert here == there


def test_a_date_is_read_as_python_reads_it():
    rng = random.Random(1)
    words = [word for part in PARTS for word in WORDS_OF_PARTS[part]]
    count = 0
    for k in range(4000):
        text = date_of(rng, k % 2).strip(" ")
        data = np.frombuffer(f'{text}"'.encode() + bytes(32), np.uint8)
        seconds, found = map(float, read_date(data, np.uint64(0), np.uint64(len(text))))
        parts = int(found)
        if parts:
            here = [words[(parts >> 8 * part) & 255] for part in range((parts >> 24) & 255, parts >> 32)]
            expected, there = date_parts(text)
            assert is_iso(text), text
            assert (seconds, here) == (expected, list(there.values())), text
        elif is_iso(text):
            far_with_fraction = text[:4] in ODD_YEARS and ("." in text or "," in text)
            assert far_with_fraction or text.endswith("+01:60"), text
        count += parts > 0
    assert count > 2500


def test_plain_dates_make_no_object_of_python(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text(
        "".join(json.dumps({"y": k % 2, "at": f"2024-01-{k % 28 + 1:02}T12:30:00Z"}) + "\n" for k in range(5000))
    )
    slow = []
    example = JsonExamples.example
    monkeypatch.setattr(JsonExamples, "example", lambda *given: (slow.append(given), example(*given))[1])

    rows = sum(block.rows for block in read(path, label="y"))

    assert rows == 5000
    assert not slow


def test_plain_lines_make_no_object_of_python(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text(
        "".join(json.dumps({"y": k % 2, "a": k, "b": f"w{k}", "c": k % 3 == 0}) + "\n" for k in range(5000))
    )
    slow = []
    example = JsonExamples.example
    monkeypatch.setattr(JsonExamples, "example", lambda *given: (slow.append(given), example(*given))[1])

    rows = sum(block.rows for block in read(path, label="y"))

    assert rows == 5000
    assert not slow


def test_more_keys_than_are_remembered_are_read_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(json_names, "MOST", 20)
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"y": 1, f"k{k}": 1, "a": 2}) + "\n" for k in range(100)))

    assert outcome(path, True, monkeypatch) == outcome(path, False, monkeypatch)


@pytest.mark.parametrize("place", [0, 1, 5, 39])
def test_an_object_with_a_feature_twice_leaves_nothing_behind(place, tmp_path, monkeypatch):
    lines = [{"y": 1, "x": 2, "a": f"w{k}", "b": "c"} for k in range(40)]
    lines[place] |= {"n": 3, "a": "b=c", "a=b": "c"}  # one name
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    for crosses in ([], ["a*b", "x:b"]):
        found = outcome(path, True, monkeypatch, crosses=crosses)
        expected = outcome(path, False, monkeypatch, crosses=crosses)
        assert found == expected


@pytest.mark.parametrize("members", [0, 1, 15, 16, 17, 128, 129, 300])
def test_objects_of_any_size_are_the_same(members, tmp_path, monkeypatch):
    rng = random.Random(members)
    keys = ["k" * (k % 40 + 1) + str(k) for k in range(members)]
    lines = [
        {key: rng.choice([rng.randint(-9, 9), rng.random(), "w" * rng.randint(0, 40), None, True]) for key in keys}
        for _ in range(60)
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"y": 1, **line}) + "\n" for line in lines))

    assert outcome(path, True, monkeypatch) == outcome(path, False, monkeypatch)


def test_names_that_are_known_are_not_told_again(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"y": 1, "x": k, "a": f"w{k % 7}"}) + "\n" for k in range(1, 500)))

    (block,) = read(path, label="y")

    assert sorted(block.names.ids) == sorted(set(block.indices))


@pytest.mark.parametrize("text", [b"", b"a\n", b"x" * 63 + b"\n", b"\n" * 200, "é\n".encode(), b"x" * 200 + b"\x80"])
def test_lines_are_counted_and_whether_all_is_ascii_is_told(text):
    data = np.frombuffer(b"\xff" + text + b"\n\xff" * 64, np.uint8)

    assert count_lines(data, 1, 1 + len(text)) == (text.count(b"\n"), text.isascii())


def test_a_kernel_does_what_the_plain_bodies_say():
    rng = np.random.default_rng(1)
    data, numbers = rng.integers(0, 256, 64, np.uint8), rng.integers(0, 2**32, 80, np.uint32)

    @kernel
    def in_a_kernel(data, numbers, counts):
        count_smaller_among(numbers, np.uint64(21), np.uint64(40), counts)
        return not_ascii(data, np.uint64(0))

    plain = getattr(in_a_kernel, "py_func", in_a_kernel)
    counts, expected = np.zeros(48, np.uint32), np.zeros(48, np.uint32)
    assert in_a_kernel(data, numbers, counts) == plain(data, numbers, expected)
    assert counts[:40].tolist() == expected[:40].tolist() == np.argsort(np.argsort(numbers[21:61] ^ TURN)).tolist()


def test_keys_are_found_by_name():
    table = json_names.KeyTable()
    words = [b"k" * size + bytes([97 + size % 26]) for size in range(40)]
    for word in words:
        table.add(word, json_names.PLAIN)
    keys = table.arrays
    text = np.frombuffer(b"".join(words) + bytes(8), np.uint8)
    starts = np.cumsum([0] + [len(word) for word in words]).astype(np.uint64)

    found = [
        json_names.find_key(keys, text, start, np.uint64(len(word))) for start, word in zip(starts, words, strict=False)
    ]

    assert found == list(range(1, 41))
    assert json_names.find_key(keys, text, np.uint64(0), np.uint64(7)) == 0


def walked(lines, monkeypatch, tmp_path):
    """How often the walk was begun to read lines, and how many rows of tables of keys were copied on the way."""
    begun, made = [], []
    walk, grow = json_lines.read_objects, json_names.KeyTable._make_room

    def grown(table):
        before = len(table.arrays.table)
        grow(table)
        made.append(len(table.arrays.table) if len(table.arrays.table) > before else 0)

    monkeypatch.setattr(json_lines, "read_objects", lambda *given: (begun.append(given), walk(*given))[1])
    monkeypatch.setattr(json_names.KeyTable, "_make_room", grown)
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert sum(block.rows for block in read(path, label="y")) == len(lines)
    return len(begun), sum(made)


def test_the_work_for_an_object_of_many_members_grows_with_their_number(tmp_path, monkeypatch):
    walks, copied = walked([{"y": 0, **{f"k{k}": 1 for k in range(3000)}}], monkeypatch, tmp_path)

    assert walks <= 3
    assert copied <= 4 * 3000


def test_the_work_for_many_new_members_grows_with_their_number(tmp_path, monkeypatch):
    lines = [{"y": 0, **{f"k{start + k}": 1 for k in range(10)}} for start in range(0, 3000, 10)]
    walks, copied = walked(lines, monkeypatch, tmp_path)

    assert walks <= len(lines) + 2
    assert copied <= 4 * 3000


def test_an_object_that_is_no_json_leaves_its_keys_unknown(tmp_path, monkeypatch):
    walks = []
    walk = json_lines.read_objects
    monkeypatch.setattr(json_lines, "read_objects", lambda *given: (walks.append(given), walk(*given))[1])
    path = tmp_path / "t.jsonl"
    path.write_text('{"y": 0}\n{"y": 1, ' + ", ".join(f'"k{k}": 1' for k in range(500)) + ", oops}\n")

    with pytest.raises(DataError, match=r"t\.jsonl:2:\d+: found no JSON"):
        list(read(path, label="y"))

    assert len(walks) <= 4


def test_two_members_whose_ids_are_equal_by_chance_are_two_features_of_any_large_object(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"y": 1, **{f"k{k}": k % 7 + 1 for k in range(2000)}}) + "\n")

    fast, slow = outcome(path, True, monkeypatch, bits=10), outcome(path, False, monkeypatch, bits=10)

    assert fast == slow


@pytest.mark.parametrize(("text", "said"), [
    (b"5", "a number"), (b"null", "null"), (b'"x"', "a string"), (b"true", "a truth value"), (b"[1]", "a list"),
])  # fmt: skip
def test_what_is_no_object_is_named_by_a_word_of_json(text, said):
    with pytest.raises(UnexpectedError) as raised:
        object_of(text)
    assert raised.value.found == said
