"""All commands as one application, and what becomes of errors: one line, exit status 2, no traceback."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer
from typer.exceptions import Exit, TyperException

from ouzel.cli.commands import (
    compare,
    compile,
    convert,
    deltoids,
    demo,
    explain,
    export,
    learners,
    pmi,
    predict,
    reproduce,
    schema,
    send,
    serve,
    test,
    top,
    train,
)
from ouzel.cli.groups import expanded
from ouzel.cli.panels import Command
from ouzel.cli.ui.interrupts import Interrupted, Signals
from ouzel.cli.vowpal_wabbit import answer
from ouzel.errors import OuzelError

BAD_INPUT = 2
INTERRUPTED = 130
CLOSED_PIPE = 141  # what a shell shows for a program that writes to a pipe nobody reads

app = typer.Typer(
    help="Linear models from data streams: one pass, second-order accuracy, a memory budget that holds.",
    epilog="Start with `ouzel demo`, or `ouzel train FILE`.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
)
for command, line in (
    (demo.demo, "Learn three built-in streams, and show who wins."),
    (train.train, "Learn a stream in one pass."),
    (predict.predict, "Predict a stream with a model."),
    (test.run_test, "Test models on labelled examples."),
    (top.top, "Show the heaviest features of a model."),
    (compare.compare, "Train many learners and settings in one reading."),
    (convert.convert, "Write files in another format, to be read faster."),
    (export.export, "Write a model for other programs, as ONNX."),
    (compile.compile_, "Compile kernels before they are needed."),
    (learners.learners, "List the learners, or the settings of one."),
    (explain.explain, "Find the attributes that mark the outliers of a stream."),
    (deltoids.deltoids, "Find the items whose numbers differ most between two streams."),
    (pmi.pmi, "Find the words, or events, that go together."),
    (serve.serve, "Serve a model that learns while it answers."),
    (send.send, "Send files to a service, which learns them."),
    (schema.schema, "Print the JSON schema of what a command prints with --json."),
    (reproduce.reproduce, "Run an experiment of the papers again."),
):
    app.command(command.__module__.rpartition(".")[2], cls=Command, short_help=line)(expanded(command))


@app.callback(invoke_without_command=True)
def _first(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    modules: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="Import this first, for its learners; may be repeated."),
    ] = None,
) -> None:
    for name in modules or ():
        from ouzel.learners.plugins import import_module

        import_module(name)
    if version:
        from ouzel import __version__

        print(f"ouzel {__version__}")
        raise Exit()


def run(arguments: list[str]) -> int:
    """The exit status of `ouzel` with these arguments."""
    with Signals() as signals:
        return signals.status(_run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        status = app(arguments or ["--help"], prog_name="ouzel", standalone_mode=False)
        sys.stdout.flush()
        return int(status or 0)
    except OuzelError as error:
        return _complain("; ".join([error.on_command_line, *_notes(error)]))
    except TyperException as error:
        foreign = answer(getattr(error, "option_name", ""), arguments)
        if foreign is not None:
            return _complain(foreign)
        return _complain(f"{error.format_message().rstrip('.')}; see `ouzel {_command(arguments)}--help`")
    except (Interrupted, KeyboardInterrupt) as interrupt:
        print(f"\nouzel: stopped{f'; {interrupt}' if str(interrupt) else ''}", file=sys.stderr)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # Typer leaves so when a pipe is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # it is flushed once more
        return CLOSED_PIPE
    except MemoryError:
        return _complain("out of memory; use a learner with a byte budget (--learner awm), or fewer --bits")
    except OSError as error:
        reason = f"{error.filename or 'standard output'}: {error.strerror or error}"
        return _complain("; ".join([reason, *_notes(error)]))


def _notes(error: Exception) -> list[str]:
    """What a command adds to an error that is not its own."""
    return list(getattr(error, "__notes__", ()))


def _complain(message: str) -> int:
    print(f"ouzel: {' '.join(message.split())}", file=sys.stderr)
    return BAD_INPUT


def _command(arguments: list[str]) -> str:
    names = {command.callback.__name__ for command in app.registered_commands if command.callback}
    return f"{arguments[0]} " if arguments and arguments[0] in names else ""
