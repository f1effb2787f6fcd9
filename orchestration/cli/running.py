"""Run a job from the command line: shown while it goes on, ended by signals, closed with a code."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import typer

from spanjury.judges.core import (
    UNANSWERED,
    EvaluationError,
    Result,
    RunFailedError,
    RunStoppedError,
)
from spanjury.orchestration.cli.exits import COVERAGE, ERROR, INTERRUPTED, LIMIT, say
from spanjury.orchestration.cli.signals import Signals
from spanjury.orchestration.cli.view import View
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.stopping import StopToken, run_watched
from spanjury.orchestration.services.evaluate import Job, Plan, run
from spanjury.orchestration.wiring import RunFolder, runs_home

__all__ = ["Showing", "planned_aloud", "run_job"]

_BY_SIGNAL = 128
"""What shells add to the number of the signal that ended a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """What is shown of a run, and how much of it must have a score."""

    as_json: bool
    progress: bool
    min_coverage: float


def planned_aloud(plan: Plan) -> Plan:
    """Return `plan`, and say which rows it leaves out."""
    for row in plan.bad_rows:
        say(f"skipped: {row}")
    return plan


def run_job(
    job: Job,
    plan: Plan,
    *,
    showing: Showing,
    folder: RunFolder | None = None,
    begun: Callable[[], None] = lambda: None,
) -> None:
    """Run `job`, show it, and exit with a code if it was broken off or scored too little.

    Parameters
    ----------
    folder
        Where the run is kept; None for one that is not.
    begun
        Called when the panel is open, the run is ours alone and has its first result.
    """
    going = _Going(job=job, plan=plan, showing=showing, folder=folder, begun=begun)
    try:
        with going.view:
            anyio.run(going.run)
    except RunStoppedError as stopped:
        going.close_early(str(stopped))
        received = going.signals.received
        raise typer.Exit(_BY_SIGNAL + received if received else LIMIT) from None
    except KeyboardInterrupt:
        going.close_early("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except RunFailedError as failed:
        going.close_failed(failed)
        raise typer.Exit(ERROR) from failed
    except EvaluationError:
        if going.done:
            going.say_how_to_go_on()
        raise
    if not going.close():
        raise typer.Exit(ERROR)
    coverage = going.view.summary.whole.coverage
    if plan.assessments and (coverage < showing.min_coverage or not coverage):
        say(f"coverage {coverage:.1%}: too few assessments have a score")
        raise typer.Exit(COVERAGE)


class _Going:
    """A job with all that shows it, stops it and keeps it."""

    def __init__(
        self,
        *,
        job: Job,
        plan: Plan,
        showing: Showing,
        folder: RunFolder | None,
        begun: Callable[[], None],
    ) -> None:
        self._job = job
        self._total = plan.assessments
        self._folder = folder
        self._begun = begun
        self._stop_token = StopToken()
        self._meter = Meter(limits=job.limits, stop=self._stop_token.request)
        self.signals = Signals()
        self.view = View(
            total=self._total,
            as_json=showing.as_json,
            progress=showing.progress,
            meter=self._meter,
        )

    @property
    def done(self) -> int:
        """How many results there are."""
        return self.view.summary.whole.total

    async def run(self) -> None:
        await run_watched(self._judge, self._listen)

    async def _judge(self) -> None:
        await run(self._job, self._show, stop_token=self._stop_token, meter=self._meter)

    async def _listen(self) -> None:
        await self.signals.watch(self._stop_token)

    def _show(self, result: Result) -> None:
        if not self.done:
            if self._folder is not None:
                self._folder.mark(done=False)
            self._begun()
        self.view.show(result)

    def close(self) -> bool:
        """Say what the run came to; return whether every row was answered."""
        self.view.close()
        outcomes = self.view.summary.outcomes
        unanswered = 0 if self._job.silent else sum(outcomes[outcome] for outcome in UNANSWERED)
        if self._folder is not None and not unanswered:
            self._folder.mark(done=True)
        say(f"{self._total} results are in {self._job.output}")
        if unanswered:
            say(f"spanjury: {unanswered} of {self._total} assessments were not answered")
            self.say_how_to_go_on()
        return not unanswered

    def close_failed(self, failed: RunFailedError) -> None:
        if self.done:
            self.view.close()
        say(f"spanjury: {failed}")
        if self.done:
            say(f"{self.done} of {self._total} results are in {self._job.output}.part")
        self.say_how_to_go_on()

    def close_early(self, reason: str) -> None:
        self.view.close()
        say(f"{reason}: {self.done} of {self._total} results are in {self._job.output}.part")
        self.say_how_to_go_on()

    def say_how_to_go_on(self) -> None:
        if self._folder is not None:
            path = self._folder.path
            run = path.name if path.parent == runs_home() else path
            say(f"go on with: spanjury resume {shlex.quote(str(run))}")
