"""Exit codes, and how errors become them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from spanjury.judges.core import ConfigError, EvaluationError, hide, shown

ERROR = 1
"""Something failed that is not the user's wording: a file, a server."""
USAGE = 2
"""A request names something that does not exist, or does not fit together."""
COVERAGE = 3
"""Too few assessments have a score."""
LIMIT = 4
"""A limit was reached; the run can be resumed."""
GATE = 5
"""A judge, or what a run judged, is not as good as was demanded."""
INTERRUPTED = 130
"""Ctrl-C, as shells count it."""
BY_SIGNAL = 128
"""The number that shells add to the number of the signal that ended a process."""


@contextmanager
def exits() -> Iterator[None]:
    """Turn our errors into one line on standard error and an exit code."""
    try:
        yield
    except ConfigError as error:
        say(f"spanjury: {error}")
        raise typer.Exit(USAGE) from error
    except EvaluationError as error:
        say(f"spanjury: {error}")
        raise typer.Exit(ERROR) from error


_NAMED = 10
"""Names of a list that are shown one by one."""


def say(message: str) -> None:
    """Write a line for the user to standard error, without secrets and control characters."""
    typer.echo(shown(hide(message.replace("\n", " "))), err=True)


def say_each(names: Sequence[str], what: str) -> None:
    """Write how many there are of what, and the first names; nothing for none."""
    if names:
        say(f"{len(names)} {what}:")
        for name in names[:_NAMED]:
            say(f"  {name}")
        if len(names) > _NAMED:
            say(f"  and {len(names) - _NAMED} more")
