"""The session of an exam: it says how far it is, and that the same command continues it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import typer

from spanjury.judges.core import RunFailedError, RunStoppedError
from spanjury.orchestration.cli.exits import ERROR, say
from spanjury.orchestration.cli.progress import ProgressLines
from spanjury.orchestration.cli.session import Session
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.services.exams.study import Watch

T = TypeVar("T")


def run_exam(
    exam: Callable[[Watch], Awaitable[T]],
    *,
    total: int,
    limits: Limits,
    memory: Path | None,
    quiet: bool,
) -> T:
    """Run an exam and return what was found, or exit if it is ended early.

    Parameters
    ----------
    exam
        Shows every result to the watch over it; raises `RunStoppedError` if it was ended early.
    total
        How many results there will be, unless the exam knows better.
    limits
        What it may cost.
    memory
        Where it keeps replies; the folder is made.
    quiet
        Do not show how far it is.
    """
    if memory is not None:
        memory.parent.mkdir(parents=True, exist_ok=True)
    session = Session(limits)
    watch = Watch(total=total, stop_token=session.stop_token, meter=session.meter)
    results: list[T] = []

    async def work() -> None:
        results.append(await exam(watch))

    try:
        with ProgressLines(watch.tracker, write=(lambda _: None) if quiet else say):
            session.run(work)
    except RunStoppedError as stopped:
        _say_what_is_kept(watch, f"{stopped}: ")
        raise typer.Exit(session.exit_code) from None
    except RunFailedError as failed:
        say(f"spanjury: {failed}")
        _say_what_is_kept(watch)
        raise typer.Exit(ERROR) from failed
    return results[0]


def _say_what_is_kept(watch: Watch, reason: str = "") -> None:
    """Say how many results the memory keeps, and that the command may be repeated."""
    done = watch.summary.whole.total
    say(f"{reason}{done} assessments are kept; run the same command to continue")
