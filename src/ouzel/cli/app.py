"""All commands as one application, and what becomes of errors: one line, exit status 2, no traceback."""

from __future__ import annotations

import os
import sys

import typer
from typer.exceptions import Exit, TyperException

from ouzel.cli import compare, deltoids, demo, explain, pmi, predict, reproduce, top, train
from ouzel.cli.interrupted import Interrupted
from ouzel.errors import OuzelError

BAD_INPUT = 2
INTERRUPTED = 130
CLOSED_PIPE = 141  # what a shell shows for a program that writes to a pipe nobody reads

app = typer.Typer(
    help="Linear models from data streams: one pass, second-order accuracy, a memory budget that holds.",
    epilog="Start with `ouzel demo`, or `ouzel train FILE`.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
)
for command in (
    demo.demo,
    train.train,
    predict.predict,
    top.top,
    compare.compare,
    explain.explain,
    deltoids.deltoids,
    pmi.pmi,
    reproduce.reproduce,
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        from ouzel import __version__

        print(f"ouzel {__version__}")
        raise Exit()


def run(arguments: list[str]) -> int:
    """The exit status of `ouzel` with these arguments."""
    try:
        status = app(arguments, prog_name="ouzel", standalone_mode=False)
        sys.stdout.flush()
        return int(status or 0)
    except OuzelError as error:
        return _complain("; ".join([error.on_command_line, *_notes(error)]))
    except TyperException as error:
        if not error.format_message():  # asked for no command at all: the help has been shown
            return BAD_INPUT
        return _complain(f"{error.format_message().rstrip('.')}; see `ouzel {_command(arguments)}--help`")
    except (Interrupted, KeyboardInterrupt) as interrupt:
        print(f"\nouzel: stopped{f'; {interrupt}' if interrupt.args else ''}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        return CLOSED_PIPE
    except MemoryError:
        return _complain("out of memory; use a learner with a byte budget (--learner awm), or fewer --bits")
    except OSError as error:
        return _complain("; ".join([f"{error.filename or 'output'}: {error.strerror or error}", *_notes(error)]))


def _notes(error: Exception) -> list[str]:
    """What a command adds to an error that is not its own."""
    return list(getattr(error, "__notes__", ()))


def _complain(message: str) -> int:
    print(f"ouzel: {' '.join(message.split())}", file=sys.stderr)
    return BAD_INPUT


def _command(arguments: list[str]) -> str:
    names = {command.callback.__name__ for command in app.registered_commands if command.callback}
    return f"{arguments[0]} " if arguments and arguments[0] in names else ""
