"""The application of all commands, which turns errors into one line and exit status 2, without a traceback."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any

import typer
from typer.exceptions import Exit, TyperException

from ouzel.cli.command import Command, Commands, Group
from ouzel.cli.parameters import expanded, option
from ouzel.cli.ui.interrupts import Interrupted, Signals
from ouzel.errors import OuzelError

BAD_INPUT = 2
INTERRUPTED = 130
CLOSED_PIPE = 141  # what a shell shows for a program that writes to a pipe nobody reads
COMMANDS = {
    "demo": "Train three learners on built-in streams.",
    "train": "Train a model on a stream in one pass.",
    "predict": "Predict a stream with a model.",
    "test": "Test models on labelled examples.",
    "top": "Show the most important features of a model.",
    "plot": "Draw what a column adds to the prediction of a model.",
    "info": "Show what a model file holds.",
    "compare": "Train many learners and settings in one pass.",
    "convert": "Convert files to another format, which is faster to read.",
    "export": "Export a model for other programs, as ONNX or C.",
    "import": "Take back what a model has learnt on a device.",
    "compile": "Compile kernels before they are needed.",
    "learners": "List the learners, or the settings of one.",
    "explain": "Find the attributes that mark the outliers of a stream.",
    "deltoids": "Find the items whose counts differ most between two streams.",
    "pmi": "Find the words, or events, that occur together.",
    "serve": "Serve a model that learns while it predicts.",
    "rollback": "Take a served model back to an earlier example.",
    "send": "Send files to a service, which learns them.",
    "schema": "Print the JSON schema of what a command prints with --json.",
    "reproduce": "Reproduce an experiment of the papers.",
    "vw": "Translate a command line of Vowpal Wabbit, and run it.",
}
"""Each is the module of its name in `commands`, and the function there of that name, or `run_` and it."""
SETTINGS = {"help_option_names": ["-h", "--help"]}
"""Settings of Typer's contexts; a command's module may have more, of the same name."""


class Application(Group):
    """Group of the commands of Ouzel."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Commands(COMMANDS, _make)


def application() -> typer.Typer:
    """Make the application; a command is imported when it is looked up."""
    app = typer.Typer(
        cls=Application,
        help="Linear models from data streams: one pass, second-order accuracy, a memory budget that holds.",
        epilog="Start with `ouzel demo`, or `ouzel train FILE`.",
        context_settings=SETTINGS,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help starts in half the time
    )
    app.callback(invoke_without_command=True)(expanded(_first))
    return app


def _make(name: str) -> Any:
    """Import a command, and make it one of Typer's."""
    module = import_module(f"ouzel.cli.commands.{name}{'_' if iskeyword(name) else ''}")
    function = getattr(module, name, None) or getattr(module, f"run_{name}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    settings = SETTINGS | getattr(module, "SETTINGS", {})
    app.command(name, cls=Command, short_help=COMMANDS[name], context_settings=settings)(expanded(function))
    return typer.main.get_command(app)


def _first(
    version: Annotated[bool, option("Print the version.")] = False,
    modules: Annotated[
        list[str] | None, option("Import this first, for its learners; may be repeated.", "--import", takes="MODULE")
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
    """Run `ouzel` with these arguments; return the exit status."""
    with Signals() as signals:
        return signals.status(answered(arguments))


def answered(arguments: list[str]) -> int:
    """Run a command, turn an error into one line, and return the exit status."""
    try:
        status = application()(arguments or ["--help"], prog_name="ouzel", standalone_mode=False)
        if status == INTERRUPTED:  # Typer makes this of Ctrl-C
            raise Interrupted
        sys.stdout.flush()
        return int(status or 0)
    except OuzelError as error:
        return _complain("; ".join([error.as_typed(arguments), *_notes(error)]))
    except TyperException as error:
        foreign = _of_another_program(error, arguments)
        if foreign is not None:
            return _complain(foreign)
        return _complain(_message(error, arguments))
    except (Interrupted, KeyboardInterrupt) as interrupt:
        print(f"\nouzel: stopped{f'; {interrupt}' if str(interrupt) else ''}", file=sys.stderr)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as left:  # Typer leaves so when a pipe is closed, and after a completion
        if isinstance(left, SystemExit) and not left.code:
            return 0
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # it is flushed once more
        return CLOSED_PIPE
    except MemoryError:
        return _complain("out of memory; use a learner with a byte budget (--learner awm), or fewer --bits")
    except OSError as error:
        reason = f"{error.filename or 'standard output'}: {error.strerror or error}"
        return _complain("; ".join([reason, *_notes(error)]))


def _message(error: Any, arguments: list[str]) -> str:
    """Return the sentence of an error of the arguments, with the help to see."""
    from ouzel.cli.renamed_options import COMMANDS_ELSEWHERE

    here = COMMANDS_ELSEWHERE.get(next(iter(arguments), ""))
    if here is not None:
        return f"{arguments[0]} is called {here} here; see `ouzel {here} --help`"
    message = str(error.format_message()).rstrip(".")
    if message == "Missing argument 'FILE'":
        message += ": a file, or - for standard input"
    return f"{message}; see `ouzel {_command(arguments)}--help`"


def _of_another_program(error: Any, arguments: list[str]) -> str | None:
    """Return a hint on an option of another program, or of Python; None for others."""
    from ouzel.cli.renamed_options import RENAMED, named_elsewhere
    from ouzel.cli.vowpal_wabbit import answer

    unknown, ctx = getattr(error, "option_name", ""), getattr(error, "ctx", None)
    if not unknown or unknown in RENAMED:
        return None
    known = {name for param in ctx.command.get_params(ctx) for name in param.opts} if ctx is not None else set()
    found = named_elsewhere(unknown, _command(arguments), known)
    return answer(unknown, arguments) if found is None else f"{found}; see `ouzel {_command(arguments)}--help`"


def _notes(error: Exception) -> list[str]:
    """Lines that a command has added to an error."""
    return list(getattr(error, "__notes__", ()))


def _complain(message: str) -> int:
    print(f"ouzel: {' '.join(message.split())}", file=sys.stderr)
    return BAD_INPUT


def _command(arguments: list[str]) -> str:
    return f"{arguments[0]} " if _names_one(arguments) else ""


def _names_one(arguments: list[str]) -> bool:
    """Return whether the first argument is a command."""
    return bool(arguments) and arguments[0] in COMMANDS
