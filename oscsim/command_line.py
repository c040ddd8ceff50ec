"""Running a command line: one sentence for what went wrong, and an exit code."""

import io
import sys
from typing import TYPE_CHECKING

import typer

from oscsim.errors import (
    EvaluationError,
    IntegrationError,
    OscsimError,
    SimulatorError,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

WORK_FAILED, WRONG_REQUEST, INTERRUPTED = 1, 2, 130


def run_app(
    app: typer.Typer,
    name: str,
    arguments: "Sequence[str] | None" = None,
    interrupted: str = "interrupted: nothing was finished",
) -> int:
    """Run the commands of a program and return its exit code.

    0 done, 1 the work failed, 2 the request was wrong, 130 interrupted.

    Parameters
    ----------
    app : typer.Typer
        The commands.
    name : str
        The program's, in its help and before every complaint.
    arguments : sequence of str, optional
        What was asked; those of the process if absent.
    interrupted : str
        What to say when the user stops it.
    """
    from typer.main import get_command  # noqa: PLC0415 (help is faster without)

    asked = sys.argv[1:] if arguments is None else list(arguments)
    command = get_command(app)
    try:
        with command.make_context(name, asked) as context:
            code = command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return complain(name, interrupted, INTERRUPTED)
    except Exception as error:
        told = _told(error)
        if told is None:
            raise
        return complain(name, *told)
    return code if isinstance(code, int) else 0


def complain(name: str, sentence: str, code: int) -> int:
    """Print one line on standard error and return the exit code."""
    typer.echo(f"{name}: {' '.join(sentence.split())}", err=True)
    return code


def make_streams_safe() -> None:
    """Print what the terminal cannot show as "?", and survive closed streams."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _told(error: Exception) -> tuple[str, int] | None:
    """Return the sentence and exit code of an error, None for a program's fault."""
    if isinstance(error, MemoryError):
        return "there was not enough memory", WORK_FAILED
    if isinstance(error, OSError):
        reason = error.strerror or error
        return f"the output could not be written: {reason}", WORK_FAILED
    if isinstance(error, OscsimError):
        failed = isinstance(
            error, IntegrationError | EvaluationError | SimulatorError | StoreError
        )
        return str(error), WORK_FAILED if failed else WRONG_REQUEST
    # typer's own class for a wrong command line is not public
    sentence = getattr(error, "format_message", None)
    return None if sentence is None else (sentence() or "name a command", WRONG_REQUEST)
