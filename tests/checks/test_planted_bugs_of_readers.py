"""The laws of formats and of entry points can fail: bugs planted in readers one by one are found by them."""

import numpy as np
import pytest

import ouzel
from ouzel.model.label_encoder import Classes
from ouzel.streams import files, labels, values
from ouzel.streams.formats import catalogue, libffm, svmlight
from ouzel.streams.formats.catalogue import FORMATS
from ouzel.streams.formats.json_lines import PlainObjects
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.sources import chunks, source
from tests.checks import test_entry_points as entries
from tests.streams.formats import test_laws as formats

parse, text_of_messages, fill, date_parts = files._parse_chunk, Decoder._text, chunks._fill, values.date_parts


def a_chunk_ends_within_a_line(patch):
    patch.setattr(chunks, "_after_last_newline", lambda buffer, start, stop: stop)


def contents_are_taken_for_csv(patch):
    patch.setattr(catalogue, "by_content", lambda head, place: FORMATS["csv"])


def an_archive_is_read_as_it_lies_there(patch):
    patch.setattr(source, "find_unpacker", lambda head: None)


def the_first_byte_of_a_pipe_is_lost(patch):
    def wrong(given, buffer):
        filled, error = fill(given, buffer)
        if given.size is None and filled:
            buffer[: filled - 1] = bytes(buffer[1:filled])
        return max(filled - 1, 0) if given.size is None else filled, error

    patch.setattr(chunks, "_fill", wrong)


def the_last_message_of_a_batch_is_lost(patch):
    def wrong(decoder, batch):
        return text_of_messages(decoder, batch._replace(values=[*batch.values[:-1], b"{}"]))

    patch.setattr(Decoder, "_text", wrong)


def a_bad_line_takes_its_neighbour_along(patch):
    def wrong(*given):
        parsed = parse(*given)
        return parsed._replace(block=parsed.block.slice(1, parsed.block.rows)) if parsed.skipped else parsed

    patch.setattr(files, "_parse_chunk", wrong)


def repeated_ids_count_once(patch):
    def wrong(*given):
        parsed = parse(*given)
        return parsed._replace(block=parsed.block._replace(values=np.minimum(parsed.block.values, 1.0)))

    patch.setattr(files, "_parse_chunk", wrong)


def fields_are_written_as_ids(patch):
    patch.setattr(libffm, "lines_of", lambda block: svmlight.lines_of(block, "", "libffm"))


def labels_of_json_are_words(patch):
    patch.setattr(PlainObjects, "_encoded", lambda self, targets, codes: (np.zeros(len(targets)), ["1"]))


def options_of_columns_are_ignored(patch):
    patch.setattr(files, "check_format", lambda *given: None)


FORMAT_BUGS = {
    a_chunk_ends_within_a_line: (formats.test_examples_are_the_same_wherever_chunks_end, "svmlight"),
    contents_are_taken_for_csv: (formats.test_a_format_is_detected_by_the_name_and_by_the_contents_of_a_file, "vw"),
    an_archive_is_read_as_it_lies_there: (formats.test_a_compressed_file_has_the_examples_of_the_file, "csv"),
    the_first_byte_of_a_pipe_is_lost: (formats.test_a_pipe_brings_the_examples_of_the_file, "svmlight"),
    the_last_message_of_a_batch_is_lost: (formats.test_messages_of_a_log_are_the_examples_of_the_file, "jsonl"),
    a_bad_line_takes_its_neighbour_along: (
        formats.test_a_bad_line_is_left_out_wherever_it_stands_and_named_by_its_number,
        "svmlight",
    ),
    repeated_ids_count_once: (
        formats.test_repeated_ids_add_up_and_zeros_are_left_out_in_lines_of_every_format,
        "libffm",
    ),
    fields_are_written_as_ids: (formats.test_lines_of_every_format_have_the_same_examples, "libffm"),
    labels_of_json_are_words: (formats.test_tables_of_every_format_have_the_same_examples, "jsonl"),
    options_of_columns_are_ignored: (formats.test_an_option_of_columns_is_refused_where_there_are_none, "vw"),
}


@pytest.mark.parametrize("bug", FORMAT_BUGS, ids=lambda bug: bug.__name__)
def test_the_laws_of_formats_find_a_planted_bug(bug, monkeypatch, tmp_path):
    law, name = FORMAT_BUGS[bug]
    more = {"packer": "gz", "monkeypatch": monkeypatch}
    given = {key: more[key] for key in more if key in law.__code__.co_varnames[: law.__code__.co_argcount]}
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir(), after.mkdir()
    law(name, tmp_path=before, **given)
    bug(monkeypatch)

    with pytest.raises((AssertionError, ouzel.OuzelError, pytest.fail.Exception)):
        law(name, tmp_path=after, **given)


def truths_stay_as_they_are_written(patch):
    patch.setattr(values, "TRUTHS", {})


def a_word_for_nothing_is_a_word(patch):
    patch.setattr(values, "is_missing", lambda value: value is None)


def dates_are_a_day_late(patch):
    def wrong(value):
        seconds, parts = date_parts(value)
        return seconds + 86_400.0, parts

    patch.setattr(values, "date_parts", wrong)


def truths_are_words_as_labels(patch):
    patch.setattr(labels, "TRUTHS", {})


def truths_are_words_as_labels_of_lines(patch):
    patch.setattr(svmlight, "TRUTHS", {})


def classes_are_known_as_they_are_written_alone(patch):
    patch.setattr(Classes, "find", lambda self, label: self._position.get(label, -1))


same_values = entries.test_the_same_table_is_the_same_ids_and_values_at_every_entry_point
same_chances = entries.test_a_model_gives_the_same_probabilities_at_every_entry_point
one_class = entries.test_a_truth_value_is_one_class_at_every_entry_point_however_it_is_written
ENTRY_BUGS = {
    truths_stay_as_they_are_written: (same_chances, {"kind": "truths as words", "variant": "full", "trained": "csv"}),
    a_word_for_nothing_is_a_word: (
        entries.test_words_for_nothing_are_missing_in_a_column_of_numbers_at_every_entry_point,
        {"word": "NA"},
    ),
    dates_are_a_day_late: (same_values, {"kind": "day", "variant": "full"}),
    truths_are_words_as_labels: (one_class, {"entry": "csv", "way": "words"}),
    truths_are_words_as_labels_of_lines: (one_class, {"entry": "vw", "way": "words"}),
    classes_are_known_as_they_are_written_alone: (
        entries.test_a_model_of_python_whose_classes_are_words_knows_them_in_files,
        {},
    ),
}


@pytest.mark.parametrize("bug", ENTRY_BUGS, ids=lambda bug: bug.__name__)
def test_the_laws_of_entry_points_find_a_planted_bug(bug, monkeypatch, tmp_path):
    law, given = ENTRY_BUGS[bug]
    given = {**given, "path": tmp_path} if law.__code__.co_argcount > len(given) else given
    law(**given)
    bug(monkeypatch)

    with pytest.raises((AssertionError, ouzel.OuzelError)):
        law(**given)
