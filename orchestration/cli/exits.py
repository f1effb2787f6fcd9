"""Exit codes, the mapping of errors to them, and the output of a command."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TextIO

import typer

from spanjury.judges.core import ConfigError, EvaluationError, counted, hide, shown

ERROR = 1
"""Something failed that is not the user's input: a file, a server."""
USAGE = 2
"""The input names something that does not exist, or contradicts itself."""
COVERAGE = 3
"""Too few assessments have a score."""
LIMIT = 4
"""A limit was reached; the run can be resumed."""
GATE = 5
"""A judge, or the judged texts, miss a requirement."""
INTERRUPTED = 130
"""Ctrl-C, in the convention of shells."""
BY_SIGNAL = 128
"""Shells add this to the number of the signal that ended a process."""


@contextmanager
def exits() -> Iterator[None]:
    """Turn our errors into one line on standard error and an exit code."""
    try:
        yield
    except EvaluationError as error:
        say(f"spanjury: {error}")
        raise typer.Exit(USAGE if isinstance(error, ConfigError) else ERROR) from error


_OUTPUT: ContextVar[TextIO | None] = ContextVar("output", default=None)


@contextmanager
def reserved_output() -> Iterator[None]:
    """Reserve standard output for `standard_output`; a plugin's prints go to standard error."""
    token = _OUTPUT.set(standard_output())
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _OUTPUT.reset(token)


def standard_output() -> TextIO:
    """Return the standard output of the command."""
    return _OUTPUT.get() or sys.stdout


_NAMED = 10
"""Maximum number of names of a list that are printed."""


def say(message: str) -> None:
    """Print a line to standard error, without secrets and control characters."""
    typer.echo(shown(hide(message.replace("\n", " "))), err=True)


def say_each(names: Sequence[str], singular: str, plural: str) -> None:
    """Print what the number of names counts, and the first names; nothing if there are none."""
    if names:
        say(f"{counted(len(names), singular, plural)}:")
        for name in names[:_NAMED]:
            say(f"  {name}")
        if len(names) > _NAMED:
            say(f"  and {len(names) - _NAMED} more")
