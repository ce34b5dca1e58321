"""Errors of data say to programs, in fields, what their sentences say to people; nothing reads a sentence back."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest

import ouzel
from ouzel.errors import DataError, EmptyError, UnexpectedError, bad_line
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.protocol import Batch, gap
from ouzel.streams.options import Options

PACKAGE = Path(__file__).parents[1] / "src" / "ouzel"
FIELDS = ("source", "line", "row", "column", "found", "expected", "advice")
FINITE = "expected a finite number that fits 32-bit floating point, or nothing"
LINES, ROWS = "fix it, or skip such lines with", "fix it, or skip such rows with"
LIMIT = "raise the limit, or skip such {}, with"


def fields_of(error):
    return tuple(getattr(error, name) for name in FIELDS)


def raised_by(folder, name, text, **options):
    (folder / name).write_bytes(text)
    with pytest.raises(DataError) as raised:
        list(ouzel.read(str(folder / name), **options))
    return raised.value


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.svm", b"1 1:2\n0 x:1\n", (2, None, 3, "'x:1'", "expected a feature id:value (or is this another format?)")),
        ("a.vw", b"1 | a\n1 -2 | a\n", (2, None, 3, "'-2'", None)),
        ("a.jsonl", b'{"label": 1, "a": 2}\n{"label": [1]}\n', (2, None, 1, "'label': [1]", None)),
        ("a.csv", b"label,a\n1,2\n0,inf\n", (None, 3, "a", "'inf'", FINITE)),
        ("a.csv", b"label,a\n1,2,3\n", (None, 2, None, "3 cells (1,2,3)", "expected 2, as there are columns")),
        ("a.csv", b"label,a\n1\n", (None, 2, None, "1 cell (1)", "expected 2, as there are columns")),
    ],
)
def test_an_error_of_a_line_or_row_says_where_it_is_and_what_was_found(tmp_path, name, text, expected):
    error = raised_by(tmp_path, name, text)

    line, row, column, found, wanted = expected
    assert error.source == str(tmp_path / name)
    assert (error.line, error.row, error.column, error.found) == (line, row, column, found)
    assert error.expected is not None
    assert wanted in (None, error.expected)
    assert error.advice == (LINES if row is None else ROWS)
    assert error.options == {"on_error": "skip"}
    place = f":{line}:{column}" if row is None else f": row {row}" + (f", column {column!r}" if column else "")
    said = f"{error.source}{place}: found {found}; {error.expected}; {error.advice}"
    assert str(error) == f"{said} on_error='skip'"
    assert error.on_command_line == f"{said} --on-error skip"
    assert error.reason == f"{error.source}{place}: found {found}; {error.expected}"


def test_an_error_of_a_whole_source_names_it_and_says_what_is_wrong(tmp_path):
    missing = tmp_path / "none.csv"
    with pytest.raises(DataError) as raised:
        list(ouzel.read(str(missing)))

    assert fields_of(raised.value) == (str(missing), None, None, None, "there is no such file", None, None)
    assert str(raised.value) == raised.value.reason == f"{missing}: there is no such file"


def test_an_error_of_a_column_names_it(tmp_path):
    error = raised_by(tmp_path, "a.csv", b"a,b\n1,2\n", label="z")
    other = DataError.at("t", "holds lists", column="a", advice="leave it out with", ignore="a")

    assert (error.source, error.found) == (str(tmp_path / "a.csv"), "has no column 'z'; its columns are a, b")
    assert str(other) == "t: column 'a' holds lists; leave it out with ignore='a'"
    assert (other.column, other.reason) == ("a", "t: column 'a' holds lists")


def test_an_error_of_a_cell_of_an_array_has_no_source():
    with pytest.raises(DataError) as raised:
        list(ouzel.blocks_from(np.array([[1.0, np.inf]]), np.array([1])))

    wanted = "expected a finite number below 3.4e38"
    assert fields_of(raised.value) == (None, None, 0, 1, "inf", wanted, None)
    assert str(raised.value) == f"row 0, column 1: found inf; {wanted}"


def test_a_sentence_without_a_place_has_no_fields():
    error = DataError("the model knows its features by name; name them with", columns=("a",))

    assert fields_of(error) == (None,) * 7
    assert error.reason == str(error) == "the model knows its features by name; name them with columns=('a',)"


@pytest.mark.parametrize(
    "error",
    [
        bad_line("a.svm", "'x'", "expected a label", line=3, column=4, limits={"label": "8KB"}),
        bad_line("b.csv", "'red'", "expected a number", row=3, column="price", unit="rows"),
        EmptyError.at("a.svm", "there are no examples in it"),
        gap("log", "3", "offset 5", "offset 9", 3),
        DataError("one sentence, with", label="NAME"),
    ],
)
def test_fields_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))

    assert type(copy) is type(error)
    assert fields_of(copy) == fields_of(error)
    assert (str(copy), copy.on_command_line, copy.reason) == (str(error), error.on_command_line, error.reason)
    assert copy.options == error.options


def test_what_is_quoted_in_a_sentence_is_never_mistaken_for_its_parts():
    error = bad_line("a; fix it.svm", "'x; fix it'", "expected: row 1, text", line=1, column=2)

    moved = error.elsewhere("log: offset 5", "messages")

    assert (moved.source, moved.line, moved.column) == ("log: offset 5", None, 2)
    assert moved.reason == "log: offset 5, column 2: found 'x; fix it'; expected: row 1, text"
    assert str(moved) == f"{moved.reason}; fix it, or skip such messages with on_error='skip'"


def test_an_error_elsewhere_keeps_the_limits_that_would_let_it_pass():
    error = bad_line("a.jsonl", "'x…'", "expected a label of at most 4KB", line=2, column=1, limits={"label": "8KB"})

    moved = error.elsewhere("log: offset 5", "messages")

    assert moved.advice == LIMIT.format("messages")
    assert moved.options == {"limits": {"label": "8KB"}, "on_error": "skip"}


def test_an_error_of_a_whole_message_keeps_its_own_advice_before_that_to_leave_it_out():
    error = DataError.at("log", "has 9 bytes", advice="raise it with", limits={"batch": "2GB"})

    moved = error.elsewhere("log: offset 5", "messages")

    said = "log: offset 5: has 9 bytes; raise it with limits={'batch': '2GB'}"
    assert moved.reason == said
    assert str(moved) == f"{said}; fix it, or skip such messages with on_error='skip'"


def test_a_bad_message_has_fields():
    batch = Batch("3", [5, 6], [b'{"label": 1, "a": 2}', b'{"label": 1, "a; fix it": [[1]]}'])

    (bad,) = Decoder("jsonl", Options(), "log", lambda line: None).decode(batch).bad

    assert (bad.error.source, bad.error.column) == ("log: partition 3, offset 6", 1)
    assert bad.error.found == "'a; fix it': [1] in a list"
    assert bad.reason == (
        "log: partition 3, offset 6, column 1: found 'a; fix it': [1] in a list; expected words and numbers there"
    )


def test_too_long_a_label_in_a_message_gets_one_advice():
    batch = Batch("", [0], [b'{"label": "%s", "a": 1}' % (b"x" * 5000)])

    (bad,) = Decoder("jsonl", Options(), "log", lambda line: None).decode(batch).bad

    assert str(bad.error).count("skip such") == 1
    assert bad.error.options == {"limits": {"label": "8KB"}, "on_error": "skip"}


def test_what_an_object_holds_is_found_in_a_member():
    error = UnexpectedError("[1]", "expected a label", member="it's")

    assert (error.member, error.found, str(error)) == ("it's", '"it\'s": [1]', '"it\'s": [1]; expected a label')


ERRORS = {"error", "err", "exception", "refusal", "problem"}
LOOKS = {"partition", "rpartition", "split", "rsplit", "replace", "removeprefix", "removesuffix"}
LOOKS |= {"startswith", "endswith", "find", "rfind", "index", "match", "search", "fullmatch", "sub", "findall"}
OURS = ("; ", "fix it", "skip such", "found ", "expected ", ": row ")
OF_LIBRARIES = {
    "streams/formats/csv.py": ["straddling", "Empty CSV file"],  # what PyArrow says
    "estimators/data.py": ["could not convert"],  # what NumPy says of words
}


def is_sentence(node, names):
    """Whether an expression is the text of an error."""
    if isinstance(node, ast.Name):
        return node.id in names
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr")):
        return False
    (given,) = node.args[:1] or [None]
    name = getattr(given, "id", getattr(given, "attr", ""))
    return name.strip("_") in ERRORS


def parsed_sentences(source):
    """Lines of a file that take an error's text apart, or look for words of our own in a text."""
    tree = ast.parse(source)
    names = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and is_sentence(node.value, ())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if is_sentence(node.comparators[0], names):
                yield node.lineno, getattr(node.left, "value", "")
        elif isinstance(node, ast.Subscript) and is_sentence(node.value, names):
            yield node.lineno, ""
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS:
            tidying = node.func.attr == "split" and not node.args  # into words, which are joined again
            words = [part.value for given in node.args for part in ast.walk(given) if isinstance(part, ast.Constant)]
            ours = any(mark in word for word in words if isinstance(word, str) for mark in OURS)
            of_error = any(is_sentence(part, names) for part in (node.func.value, *node.args))
            if ours or (of_error and not tidying):
                yield node.lineno, ""


def test_nothing_reads_back_a_sentence_of_our_own():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, words in parsed_sentences(path.read_text())
        if words not in OF_LIBRARIES.get(str(path.relative_to(PACKAGE)), ["no words"])
    ]

    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'said = str(self.error).partition("; fix it")[0]',
        'raise DataError(str(error).replace(": row 1,", ",", 1))',
        "said = str(error)\nfound = said.startswith(where)",
        'found, parted, expected = text.rpartition("; ")',
        "field = FIELD.match(str(error))",
        'if "no column" in str(error): pass',
        "first = str(error)[:10]",
    ],
)
def test_a_sentence_that_is_read_back_is_noticed(line):
    assert list(parsed_sentences(line))
