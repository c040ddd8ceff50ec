"""Running a command line: one sentence for what went wrong, and an exit code."""

import io
import signal
import sys
import threading
from contextlib import contextmanager
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
    from collections.abc import Iterator, Sequence
    from types import FrameType

WORK_FAILED, WRONG_REQUEST, INTERRUPTED = 1, 2, 130


def run_app(
    app: typer.Typer,
    name: str,
    arguments: "Sequence[str] | None" = None,
    interrupted: str = "interrupted: nothing was finished",
) -> int:
    """Run the commands of a program and return its exit code.

    0 done, 1 the work failed, 2 the request was wrong, 130 interrupted; 143 and 129
    ended by SIGTERM and SIGHUP where `ended_by_signals` holds.

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
    except (KeyboardInterrupt, typer.Abort) as stop:
        return complain(name, interrupted, getattr(stop, "code", INTERRUPTED))
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


class Ended(KeyboardInterrupt):
    """A signal has asked the program to end.

    Attributes
    ----------
    code : int
        Exit code, 128 and the signal's number.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


class Ending:
    """Lets signals end a command as Ctrl-C does.

    Attributes
    ----------
    code : int
        Exit code of a command that was stopped.
    """

    code = INTERRUPTED

    def leave(self, number: int, _frame: "FrameType | None") -> None:
        """Stop the command; what comes while it tidies up changes nothing."""
        signal.signal(number, signal.SIG_IGN)
        stop = Ended(number)
        self.code = stop.code
        raise stop


@contextmanager
def ended_by_signals() -> "Iterator[Ending]":
    """Take SIGTERM and SIGHUP like Ctrl-C, so that nothing is left behind.

    Gives what knows the exit code of a command that catches the interrupt. A signal
    that is ignored, as SIGHUP under nohup, stays ignored; outside the main thread,
    where Python takes no signals, all stay as they are.
    """
    ending = Ending()
    before = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, n, None) for n in ("SIGTERM", "SIGHUP")]
        before = {one: signal.getsignal(one) for one in numbers if one is not None}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, ending.leave)
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
