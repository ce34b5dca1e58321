"""`ouzel predict`: labels, margins and probabilities of a stream, printed, written to a file or sent."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ouzel.cli import log_options, options
from ouzel.cli.parameters import FILE, LEVEL, choice, option
from ouzel.cli.parameters import only as only_options
from ouzel.errors import OuzelError, printable

if TYPE_CHECKING:
    import numpy as np

    from ouzel.evaluation.predictions import Predictions
    from ouzel.model.model import Model
    from ouzel.streams.block import Block

ENOUGH = 10  # predictions that should not all be the same
LONGEST = 40  # letters of a value
LITTLE = 5e-4  # of a margin, or of 1, which would not be visible next to the others
TO_QUOTE = re.compile(r'[\t\r\n]|^"')
KINDS = ("labels", "margins", "probabilities")


def predict(
    model: options.ModelFile,
    files: options.Files,
    *,
    output: Annotated[
        str | None,
        option(
            "Write predictions to this file: csv, tsv, jsonl, parquet, arrow, by its suffix.",
            "-o",
            takes=FILE,
            panel="Report",
        ),
    ] = None,
    save_to: Annotated[
        str | None,
        option(
            "Send predictions to a log, as JSON: kafka://…/topic; or add them to a table: sqlite:///p.db#answers.",
            takes="URL",
            panel="Report",
        ),
    ] = None,
    only: Annotated[
        str | None, option("Print these only, without a header.", takes=choice(*KINDS), panel="Report")
    ] = None,
    explain: Annotated[
        int, option("Add this number of features with the largest contributions to each prediction.", panel="Report")
    ] = 0,
    interval: Annotated[
        float | None,
        option(
            "Add intervals of numbers, or sets of labels, of this level: one that the model was trained with.",
            takes=LEVEL,
            panel="Report",
        ),
    ] = None,
    alarm: Annotated[
        float | None,
        option("Say when scores change; rate of false alarms over all examples, such as 0.01.", panel="Report"),
    ] = None,
    format: options.Format = None,
    columns: Annotated[
        options.Reading,
        only_options("label", "id", options.Kinds, options.Derived, options.Lines, options.Messages),
    ],
    following: log_options.Following,
    json_: Annotated[bool, option("Print one JSON object per line.", panel="Report")] = False,
) -> None:
    """Predict a stream with a model; the model file says how columns are read.

    Example: ouzel predict a9a.ouzel a9a.t.svm.xz --only labels
    """
    options.check_counts(explain=explain)
    if only is not None and explain and not (json_ or output or save_to):
        raise OuzelError("--only prints predictions and nothing else, --explain why; leave one of them out")
    from ouzel.evaluation.predictions import Identity, check_ending, intervals_of, predictions_of
    from ouzel.files import check_place
    from ouzel.model import persistence
    from ouzel.model.intervals import level_of
    from ouzel.streams.read import read
    from ouzel.streams.sources.addresses import is_database

    if save_to is not None and output is not None:
        raise OuzelError("--save-to sends predictions, --output writes them; leave one of them out")
    in_table = save_to is not None and is_database(save_to)
    if save_to is not None and in_table:
        from ouzel.streams.sources.databases import check_table

        check_table(save_to)
    further = log_options.of_logs(following, files)
    if output is not None:
        check_place(Path(output))
        check_ending(output)
    options.check_order("predict", model, files)
    learnt, notes = persistence.load_notes(model)
    if interval is not None:
        level_of(learnt, interval)
    given = columns.keywords()
    alike, identity = Alike(), Identity(learnt)
    watch = None if alarm is None else Watch(learnt, alarm)
    reading = {**options.reading_as_learnt(learnt, notes, given, leave=("group", "query")), "unlabelled": True}
    with read(files, format=format, **reading, **further) as stream:
        as_text = output is not None or in_table or not (json_ or save_to)

        def predicted(block: Block) -> dict[str, Any]:
            predictions = alike.add(predictions_of(learnt, block))
            if watch is not None:
                watch.add(predictions)
            reasons = explanations(learnt, block, predictions, explain, as_text) if explain else {}
            intervals = {} if interval is None else intervals_of(learnt, block, interval, as_text)
            return identity.columns(block) | predictions.columns(only) | intervals | reasons

        found = map(predicted, stream)
        if output is not None or save_to is not None:
            print(_delivered(found, output, save_to, in_table), file=sys.stderr)
        else:
            for number, part in enumerate(found):
                if json_:
                    _print_json(part)
                else:
                    _print_table(part, only is not None, only is None and number == 0, second_class(learnt))
    for line in [*stream.remarks, *filter(None, [learnt.remark])]:
        print(printable(line), file=sys.stderr)
    if identity.others:
        said = f"{identity.others:,} labels are of another kind than the model's, and left out"
        print(said, file=sys.stderr)
    if alike.rows >= ENOUGH and len(alike.margins) == 1:
        sys.stdout.flush()
        print(f"all {alike.rows:,} predictions are the same: does {model} know these features?", file=sys.stderr)


def _delivered(found: Iterable[dict[str, Any]], output: str | None, save_to: str | None, in_table: bool) -> str:
    """Write the rows to a file, a table or a log; return a line that says so."""
    from ouzel.evaluation.predictions import write_predictions
    from ouzel.streams.sources.addresses import name_of

    if output is not None:
        return f"{write_predictions(found, output):,} predictions written to {output}"
    assert save_to is not None
    count = _add(found, save_to) if in_table else _send(found, save_to)
    where = save_to.rpartition("#")[2] if in_table else name_of(save_to)
    return f"{count:,} predictions sent to {where}"


class Alike:
    """Check for predictions that are all equal, as they are where a model knows no feature of a stream."""

    def __init__(self) -> None:
        self.rows = 0
        self.margins: set[bytes] = set()  # of the first two that differ

    def add(self, predictions: Predictions) -> Predictions:
        """Add the predictions of a block."""
        self.rows += len(predictions.margins)
        if len(self.margins) <= 1:
            import numpy as np

            self.margins |= {row.tobytes() for row in np.unique(predictions.margins, axis=0)[:2]}
        return predictions


class Watch:
    """Watch of the scores of a model, which prints the first change of each to standard error."""

    def __init__(self, model: Model, rate: float) -> None:
        from ouzel.evaluation.input_alarm import ScoreAlarm

        several = model.columns > 1
        self.alarm = ScoreAlarm(
            rate, [f"score of {label}" for label in model.classes.in_order()] if several else ["score"]
        )
        self.shown: set[tuple[str, bool]] = set()

    def add(self, predictions: Predictions) -> None:
        """Add the predictions of a block."""
        from ouzel.evaluation.input_alarm import first_of_each

        for change in first_of_each(self.alarm.add(predictions.margins), self.shown):
            print(change, file=sys.stderr)


def _print_table(columns: dict[str, Any], bare: bool, header: bool, positive: Any = None) -> None:
    """Print columns separated by tabs; `bare` prints the names of rows and the predictions only.

    Of two classes the heading says that the one probability is that of the `positive` class.
    """
    if bare:
        columns = {name: values for name, values in columns.items() if name not in ("row", "actual")}
    if header:
        named = {} if positive is None else {"probability": f"probability of {positive}"}
        headings = [named.get(name, name) for name in columns]
        print("\t".join(map(_cell, headings)))
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    sys.stdout.write("".join("\t".join(map(_cell, row)) + "\n" for row in rows))


def second_class(model: Model) -> Any:
    """The class of two, or the only one, that a probability is of; None where there are more, or numbers."""
    known = model.classes.in_order()
    return known[-1] if 1 <= len(known) <= 2 else None


def _print_json(columns: dict[str, Any]) -> None:
    for line in _objects(columns):
        print(line)
    sys.stdout.flush()


def _objects(columns: dict[str, Any]) -> Iterator[str]:
    """Yield each row as a JSON object."""
    for row in zip(*(values.tolist() for values in columns.values()), strict=True):
        yield json.dumps(dict(zip(columns, row, strict=True)))


def _add(found: Iterable[dict[str, Any]], address: str) -> int:
    """Add the rows to a table of a database; return their number."""
    from ouzel.evaluation.predictions import as_tables
    from ouzel.streams.sources.databases import write_table

    return write_table(address, as_tables(found), replace=False)


def _send(found: Iterable[dict[str, Any]], url: str) -> int:
    """Send the rows to a log; return their number."""
    from ouzel.streams.logs.opening import open_sink

    sink, count = open_sink(url), 0
    try:
        for columns in found:
            messages = [line.encode() for line in _objects(columns)]
            sink.send(messages)
            count += len(messages)
    finally:
        sink.close()
    return count


def _cell(value: Any) -> str:
    """Write a cell; one that would not stay one by itself stands in quotation marks, as in files."""
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    text = printable(text, but="\t\r\n")  # which stand in quotation marks
    return '"{}"'.format(text.replace('"', '""')) if TO_QUOTE.search(text) else text


def _interval(feature: dict[str, Any]) -> str:
    """The interval of what a feature adds, where it has one."""
    ends = feature.get("interval")
    return f" ({ends[0]:+.3g} to {ends[1]:+.3g})" if ends else ""


def explanations(
    model: Model, block: Block, predictions: Predictions, most: int, as_text: bool
) -> dict[str, np.ndarray]:
    """Return what contributes most to each margin, by column, and the rest of it.

    As text it is one column, `why`: `sun=2 -0.5, shop=shop77 +1.9, all else +0.2`, with intervals, where there are any.
    Otherwise there are `why`, `all_else`, `why_values` and `why_pairs` (`explanations_of`).
    """
    import numpy as np

    from ouzel.evaluation.predictions import explanations_of, reasons

    if not as_text:
        return explanations_of(model, block, most)
    listed = reasons(model, block, most)
    margins = predictions.margins.max(axis=1)
    texts = np.empty(block.rows, object)
    for row, (entries, margin) in enumerate(zip(listed, margins.tolist(), strict=True)):
        parts = [f"{_called(entry)} {entry['contribution']:+.3g}{_interval(entry)}" for entry in entries]
        beyond = margin - sum(entry["contribution"] for entry in entries)
        parts += [f"all else {beyond:+.3g}"] if abs(beyond) > LITTLE * max(1.0, abs(margin)) else []
        texts[row] = ", ".join(parts)
    return {"why": texts}


def _called(entry: dict[str, Any]) -> str:
    """A column with its number or word; a word of a text, or a feature that is 1, by its name."""
    name, value = entry["name"], entry["value"]
    if value is None or value == 1.0:
        return str(name)
    text = f"{value:.6g}" if isinstance(value, float) else value
    return f"{name}={text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}"
