"""`ouzel convert`: converts files to another format, which is faster to read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ouzel.cli import options
from ouzel.cli.parameters import argument, choice, option
from ouzel.errors import OuzelError

if TYPE_CHECKING:
    from ouzel.streams.block import Block


def convert(
    files: Annotated[list[str], argument("Files in any format, and the one to write.", "IN... OUT")],
    *,
    format: options.Format = None,
    columns: options.Reading,
    compression: Annotated[
        str | None,
        option("Compression of an arrow or parquet file.", takes=choice("lz4", "zstd", checked=False)),
    ] = None,
    json_: options.Json = False,
) -> None:
    """Convert files to another format, by the suffix of the output: .arrow, .parquet, .svm, .ffm or .vw.

    An Arrow file holds examples that are ready to learn: names are hashed, interactions are features.

    Example: ouzel convert clicks.csv.gz clicks.arrow --cross city*device
    """
    *given, output = files
    if not given:
        raise OuzelError("give the files to read, and behind them the one to write: ouzel convert IN OUT")
    from ouzel.cli.ui.progress import Screen
    from ouzel.streams.convert import convert as convert_blocks
    from ouzel.streams.convert import format_of
    from ouzel.streams.read import read

    format_of(output, compression)
    begun = time.perf_counter()
    with read(given, format=format, **columns.keywords()) as stream:
        with Screen(Path(given[0]).name, stream, quiet=json_) as screen:

            def show(written: Block) -> None:
                screen.update(f"{stream.examples:,} examples", stream.position if stream.size else 0, stream.size)

            examples = convert_blocks(stream, output, packed=compression, on_block=show)
            for line in stream.remarks:
                screen.say(line)
        skipped = stream.skipped
    report = {"examples": examples, "skipped": skipped, "bytes": Path(output).stat().st_size, "output": output}
    if json_:
        print(json.dumps(report | {"seconds": time.perf_counter() - begun}))
        return
    left_out = f", {skipped:,} bad line{'s' if skipped > 1 else ''} left out" if skipped else ""
    print(f"{examples:,} examples written to {output} ({report['bytes']:,} bytes){left_out}")
