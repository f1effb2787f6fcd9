"""A session of judges: its progress is shown, limits and signals end it, an exit code closes it."""

import shlex
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import anyio
import typer
from anyio import open_signal_receiver, sleep_forever

from spanjury.judges.core import (
    UNANSWERED,
    EvaluationError,
    Result,
    RunFailedError,
    RunStoppedError,
    Segment,
    StoreError,
)
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.exits import COVERAGE, ERROR, GATE, INTERRUPTED, LIMIT, say
from spanjury.orchestration.cli.flags.gates import GateFlags
from spanjury.orchestration.cli.flags.run import ShowFlags
from spanjury.orchestration.cli.progress import ProgressLines
from spanjury.orchestration.cli.run_view import View
from spanjury.orchestration.cli.shown import Shown
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.progress import Tracker
from spanjury.orchestration.engine.stopping import GRACE, StopToken, run_watched
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.services.evaluate import Job, Plan, plan, run
from spanjury.orchestration.wiring.runs import RunFolder, runs_home

with lazily():
    from spanjury.orchestration.cli import gated_run
    from spanjury.orchestration.services import failing_rows, fitted_in_use

T = TypeVar("T")

_BY_SIGNAL = 128
"""The number that shells add to the number of the signal that ended a process."""
_SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "asked to end"}


class Session:
    """A count of calls, which stops judges at a limit or a signal.

    The first signal lets what is under way come to its end, the second does not, and a third
    has its usual effect.
    """

    def __init__(self, limits: Limits, *, stop_token: StopToken | None = None) -> None:
        self.stop_token = stop_token or StopToken()
        self.meter = Meter(limits=limits, stop=self.stop_token.request)
        self._signal = 0

    def run(self, work: Callable[[], Coroutine[object, object, None]]) -> None:
        """Do `work` until it is done, or stopped; raise what it raises."""
        anyio.run(run_watched, work, self._stop_at_signals)

    @property
    def exit_code(self) -> int:
        """The code for what was stopped: by a signal, or by a limit."""
        return _BY_SIGNAL + self._signal if self._signal else LIMIT

    async def _stop_at_signals(self) -> None:
        if sys.platform != "win32":  # there, Ctrl-C stays a KeyboardInterrupt
            with open_signal_receiver(*_SIGNALS) as signals:
                async for number in signals:
                    if self._signal:
                        self.stop_token.request(_SIGNALS[number], grace=0.0)
                        break
                    self._signal = number
                    self.stop_token.request(_SIGNALS[number], grace=GRACE)
                    say(
                        f"{_SIGNALS[number]}: what is under way may take {GRACE:g} s more;"
                        " Ctrl-C again to drop it"
                    )
        await sleep_forever()


def plan_job(job: Job, gate: GateFlags | None = None) -> Plan:
    """Return the plan of `job`, and say which rows it skips.

    Raise `ConfigError` if its gate is about an aspect on which none of them is judged.
    """
    planned = plan(job)
    for row in planned.bad_rows:
        say(f"skipped: {row}")
    if gate and gate.given:
        failing_rows.check_aspects(gate.terms(), job, planned)
    return planned


def run_job(
    job: Job,
    planned: Plan,
    *,
    show: ShowFlags,
    gate: GateFlags | None = None,
    folder: RunFolder | None = None,
    results_of: RunFolder | None = None,
    begun: Callable[[], None] = lambda: None,
) -> None:
    """Run `job`, show it, and exit with a code if it was stopped, scored too little or fails.

    A run that was stopped, or lacks answers or scores, ends with the code for that, whatever the
    gate says: it cannot pass, and what it fails by is not all.

    Parameters
    ----------
    gate
        What its results are held to; None for nothing.
    folder
        Where the run is kept; None for one that is not.
    results_of
        The run whose results are written; None where they are tried beside it, or none is kept.
    begun
        Called when the panel is open, the run is ours alone and has its first result.
    """
    gated = gated_run.GatedRun(gate, job) if gate and gate.given else None
    session = JobSession(
        job,
        planned,
        show=show,
        gated=gated,
        folder=folder,
        results_of=results_of,
        begun=begun,
    )
    try:
        with session.view:
            session.run(session.judge)
    except RunStoppedError as stopped:
        session.close_early(str(stopped))
        raise typer.Exit(session.exit_code) from None
    except KeyboardInterrupt:
        session.close_early("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except RunFailedError as failed:
        session.close_failed(failed)
        raise typer.Exit(ERROR) from failed
    except EvaluationError:
        if session.done:
            session.say_how_to_go_on()
        raise
    is_answered, passes = session.close()
    if not is_answered:
        raise typer.Exit(ERROR)
    if planned.assessments:
        require_coverage(session.view.summary.whole.coverage, at_least=show.min_coverage)
    if not passes:
        raise typer.Exit(GATE)


def require_coverage(coverage: float, *, at_least: float) -> None:
    """Exit with 3 if too few assessments have a score, or none."""
    if coverage < at_least or not coverage:
        say(f"coverage {coverage:.1%}: too few assessments have a score")
        raise typer.Exit(COVERAGE)


class JobSession(Session):
    """A job with all that shows it, stops it and keeps it."""

    def __init__(
        self,
        job: Job,
        planned: Plan,
        *,
        show: ShowFlags,
        gated: "gated_run.GatedRun | None",
        folder: RunFolder | None,
        results_of: RunFolder | None,
        begun: Callable[[], None],
    ) -> None:
        super().__init__(job.limits)
        self._gated = gated
        self._job = job
        self._planned = planned
        self._total = planned.assessments
        self._folder = folder
        self._begun = begun
        self.view = View(
            total=self._total,
            as_json=show.json,
            shown=Shown.parse("none" if gated and gated.hides_texts else show.show),
            pages=_view_command(job, results_of),
            progress=not show.no_progress,
            meter=self.meter,
        )

    @property
    def done(self) -> int:
        """The number of results so far."""
        return self.view.summary.whole.total

    async def judge(self) -> None:
        """Judge everything, and show it."""
        await run(
            self._job,
            self._show,
            rows=self,
            planned=self._planned,
            stop_token=self.stop_token,
            meter=self.meter,
        )

    def wants(self, segment: Segment) -> bool:
        """Whether the results of `segment` may be shown."""
        return self.view.wants(segment)

    def count(self, row: FinishedRow) -> None:
        """Count a row that is remembered."""
        self._begin()
        self.view.count(row)
        if self._gated is not None:
            self._gated.gate.add_row(row)

    def _show(self, result: Result) -> None:
        self._begin()
        self.view.show(result)
        if self._gated is not None:
            self._gated.gate.add(result)

    def _begin(self) -> None:
        """Say at the first result that the run has begun."""
        if not self.done:
            if self._folder is not None:
                self._folder.mark(done=False)
            self._begun()

    def close(self) -> tuple[bool, bool]:
        """Say what the run came to; return whether every row was answered, and whether it passes.

        A shard without a row passes.
        """
        self.view.close()
        outcomes = self.view.summary.outcomes
        unanswered = 0 if self._job.silent else sum(outcomes[outcome] for outcome in UNANSWERED)
        if self._folder is not None and not unanswered:
            self._folder.mark(done=True)
        say(f"{self._total} results are in {self._job.output}")
        if self._job.panel.is_fitted:
            for notice in fitted_in_use.notices(self._job.panel, self._job.output):
                say(notice)
        if unanswered:
            say(f"spanjury: {unanswered} of {self._total} assessments were not answered")
            self.say_how_to_go_on()
        passes = True
        if self._gated is not None and self._total:
            passes = self._gated.close(is_complete=not UNANSWERED & outcomes.keys())
        return not unanswered, passes

    def close_failed(self, failed: RunFailedError) -> None:
        """Say why the run failed, and where its results are."""
        if self.done:
            self.view.close()
        say(f"spanjury: {failed}")
        if self.done:
            say(f"{self.done} of {self._total} results are in {self._job.output}.part")
            self._note_stop()
        self._close_gate_early()
        self.say_how_to_go_on()

    def close_early(self, reason: str) -> None:
        """Say why the run was stopped, and where its results are."""
        self.view.close()
        say(f"{reason}: {self.done} of {self._total} results are in {self._job.output}.part")
        self._note_stop()
        self._close_gate_early()
        self.say_how_to_go_on()

    def _note_stop(self) -> None:
        if self._folder is not None and self.done:
            with suppress(StoreError):  # the disk may be full, and only lists lack it
                self._folder.note_stop(self.done)

    def _close_gate_early(self) -> None:
        if self._gated is not None:
            self._gated.close_early()

    def say_how_to_go_on(self) -> None:
        """Say by which command the run is resumed, if it is kept."""
        if self._folder is not None:
            flags = self._gated.arguments if self._gated is not None else []
            say(f"go on with: spanjury resume {shlex.join([_named(self._folder), *flags])}")


def _named(run: RunFolder) -> str:
    """Return the run as commands take it: by its name, where that suffices."""
    return run.path.name if run.path.parent == runs_home() else str(run.path)


def _view_command(job: Job, run: RunFolder | None) -> str:
    """Return the command that shows the results of `job` on a page."""
    if run is not None:
        return f"spanjury view {shlex.quote(_named(run))}"
    columns = [part for column in job.columns for part in ("--column", column)]
    return f"spanjury view {shlex.join([str(job.output), '--data', str(job.data), *columns])}"


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
        say(f"{reason}{done} assessments are kept; the same command goes on")


def run_exam(
    exam: Callable[[ExamSession], Coroutine[object, object, T]],
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
    found: list[T] = []

    async def work() -> None:
        found.append(await exam(session))

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
    return found[0]
