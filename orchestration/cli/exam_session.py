"""The session of an exam: it says how far it is, and that the same command continues it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import typer

from spanjury.judges.core import Result, RunFailedError, RunStoppedError
from spanjury.orchestration.cli.exits import ERROR, say
from spanjury.orchestration.cli.progress import ProgressLines
from spanjury.orchestration.cli.session import Session
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.progress import Tracker
from spanjury.orchestration.engine.summary import Summary

T = TypeVar("T")


class ExamSession(Session):
    """An exam that shows how far it is.

    It is called with every result of the exam.
    """

    def __init__(self, *, total: int, limits: Limits) -> None:
        super().__init__(limits)
        self._summary = Summary()
        self.tracker = Tracker(total=total, summary=self._summary, meter=self.meter)

    def __call__(self, result: Result) -> None:
        """Count a result."""
        self._summary.add(result)

    def expect(self, total: int) -> None:
        """Expect so many results in all from now on."""
        self.tracker.total = total

    def say_what_is_kept(self, reason: str = "") -> None:
        """Say how many results the memory keeps, and that the command may be repeated."""
        done = self._summary.whole.total
        say(f"{reason}{done} assessments are kept; run the same command to continue")


def run_exam(
    exam: Callable[[ExamSession], Awaitable[T]],
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
        Shows every result to the session; raises `RunStoppedError` if it was ended early.
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
    session = ExamSession(total=total, limits=limits)
    results: list[T] = []

    async def work() -> None:
        results.append(await exam(session))

    try:
        with ProgressLines(session.tracker, write=(lambda _: None) if quiet else say):
            session.run(work)
    except RunStoppedError as stopped:
        session.say_what_is_kept(f"{stopped}: ")
        raise typer.Exit(session.exit_code) from None
    except RunFailedError as failed:
        say(f"spanjury: {failed}")
        session.say_what_is_kept()
        raise typer.Exit(ERROR) from failed
    return results[0]
