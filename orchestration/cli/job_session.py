"""The session of a job, here or on a cluster: shows it, checks its gate, says how to resume it."""

import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import typer
from anyio import to_thread

from spanjury.judges.core import (
    UNANSWERED,
    DeferredError,
    EvaluationError,
    Outcome,
    Result,
    RunFailedError,
    RunStoppedError,
    Segment,
    StoreError,
    counted,
)
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.exits import ERROR, GATE, INTERRUPTED, say
from spanjury.orchestration.cli.flags.gates import GateFlags
from spanjury.orchestration.cli.flags.run import ShowFlags
from spanjury.orchestration.cli.run_view import View
from spanjury.orchestration.cli.session import Session, require_coverage, say_how_to_see_why
from spanjury.orchestration.cli.shown import Shown
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.progress import spent
from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job, Plan, plan
from spanjury.orchestration.wiring.runs import RunFolder, count_lines, part_of, runs_home

with lazily():
    from spanjury.orchestration.services.judging import batches as rounds
    from spanjury.orchestration.services.judging import failing_rows, fitted_in_use
    from spanjury.orchestration.services.runs import cluster, cluster_job, cluster_ledger
    from spanjury.orchestration.services.runs import run_folder as runs
    from spanjury.orchestration.studies.failing import gate as gates
    from spanjury.orchestration.studies.failing import lines

_NAMED = 20
"""Maximum number of failing rows that are named; the others are counted."""


def plan_job(job: Job, gate: GateFlags | None = None) -> Plan:
    """Return the plan of `job`, and print which rows it skips.

    Raise `ConfigError` if its gate names an aspect on which no row is judged.
    """
    planned = plan(job)
    for row in planned.bad_rows:
        say(f"skipped: {row}")
    if planned.likely_tasks:
        tasks = ", ".join(planned.likely_tasks)
        say(f"rows that name no task are judged as {tasks}; --task NAME changes that")
    if gate and gate.given:
        failing_rows.check_aspects(gate.terms(), job, planned)
    return planned


class GatedRun:
    """The gate of one run, and the lines that report its outcome."""

    def __init__(self, flags: GateFlags, job: Job) -> None:
        self.gate = gates.Gate(terms=flags.terms(), most=None if flags.sarif else _NAMED)
        self.flags = flags
        self._job = job

    def close(self, *, is_complete: bool) -> bool:
        """Print what fails at the end of the run; return whether the gate is passed.

        Raise `StoreError` if the SARIF file cannot be written.
        """
        missed = list(self.gate.missed())
        self._name(missed)
        flags, gate = self.flags, self.gate
        if flags.sarif is not None:
            positions = failing_rows.lines_of_rows(self._job, gate.failures)
            failing_rows.write_sarif(flags.sarif, gate.failures, positions, is_complete=is_complete)
            say(f"{counted(gate.failing, 'failing row is', 'failing rows are')} in {flags.sarif}")
        if not missed:
            counts = f"{gate.total} results, {gate.unscored} of them without a score"
            answer = "met" if is_complete else "not decided, since answers are missing"
            say(f"{answer}: {self._terms} ({counts})")
            if gate.unscored:
                say(
                    f"warning: {gate.unscored} of {gate.total} results have no score, so nothing"
                    " was tested on them; --min-coverage 1 requires a score of each"
                )
        return not missed

    def close_early(self) -> None:
        """Print what fails so far, and that nothing is decided."""
        self._name()
        count = self.gate.failing
        failing = f"{counted(count, 'row fails', 'rows fail')} so far; " if count else ""
        say(f"{failing}not decided, since the run has not ended: {self._terms}")

    @property
    def _terms(self) -> str:
        return shlex.join(replace(self.flags, annotations="none", sarif=None).arguments)

    def _name(self, missed: Sequence[str] = ()) -> None:
        """Print the first failing rows, and missed requirements, for people or workflows."""
        first = self.gate.failures[:_NAMED]
        rest = self.gate.failing - len(first)
        more = [f"and {counted(rest, 'more row fails', 'more rows fail')}"] if rest else []
        misses = [f"not met: {line}" for line in missed]
        if self.flags.annotations == "github":
            positions = failing_rows.lines_of_rows(self._job, first)
            rows = [line for failure in first for line in lines.annotations(failure, positions)]
            # GitHub shows the first ten annotations of a step, so missed requirements come before
            # the rows.
            misses = [lines.workflow_command(line, title="spanjury") for line in misses]
            written = [*misses, *rows, *more]
        else:
            written = [*map(lines.failing_line, first), *more, *misses]
        for line in written:
            say(line)


class JobSession(Session):
    """A job together with its display, its stop and its folder.

    `results_of` is the run whose results are written; None if they go elsewhere, or there is no
    run. `begun` is called when the panel is open, the run is locked and its first row is judged.
    `batches` answer requests without remembered replies, instead of the models.
    """

    def __init__(
        self,
        job: Job,
        planned: Plan,
        *,
        show: ShowFlags,
        gate: GateFlags | None = None,
        folder: RunFolder | None = None,
        results_of: RunFolder | None = None,
        begun: Callable[[], None] = lambda: None,
        batches: "rounds.Batches | None" = None,
    ) -> None:
        super().__init__(job.limits)
        self._gated = GatedRun(gate, job) if gate and gate.given else None
        self._job = job
        self._results = job.outputs[-1]
        self._planned = planned
        self._total = planned.assessments
        self._min_coverage = show.min_coverage
        self._folder = folder
        self._results_of = results_of
        self._begun = begun
        self._has_begun = False
        self._batches = batches
        # A workflow executes lines that look like commands.
        hides_texts = self._gated is not None and self._gated.flags.annotations == "github"
        self.view = View(
            total=self._total,
            as_json=show.json,
            shown=Shown.parse("none" if hides_texts else show.show),
            pages=_view_command(job, results_of),
            progress=not show.no_progress,
            meter=self.meter,
        )

    def run_job(self) -> None:
        """Run the job, show it, and exit with a code if it was stopped or misses a requirement.

        A run that was stopped, or lacks answers or scores, exits with the code for that, whatever
        the gate says: it cannot pass, and its failures are incomplete.
        """
        runs.check_output(self._job)
        try:
            with self.view:
                self.run(self.judge)
            is_answered, passes = self.close()
        except RunStoppedError as stopped:
            raise typer.Exit(self.close_stopped(stopped)) from None
        except KeyboardInterrupt:
            self.close_early("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except RunFailedError as failed:
            self.close_failed(failed)
            raise typer.Exit(ERROR) from failed
        except EvaluationError:
            if self.has_begun:
                self.say_how_to_go_on()
            raise
        if not is_answered:
            raise typer.Exit(ERROR)
        if self._total:
            coverage = self.view.summary.whole.coverage
            panel = None if self.useless else self._job.panel  # the advice was printed before
            require_coverage(coverage, at_least=self._min_coverage, panel=panel)
        if self.useless:
            raise typer.Exit(ERROR)
        if not passes:
            raise typer.Exit(GATE)
        self.view.require_reader()

    @property
    def done(self) -> int:
        """The number of results so far."""
        return self.view.summary.whole.total

    @property
    def has_begun(self) -> bool:
        """True if a row was judged, or a model was called, whose replies are stored."""
        return self._has_begun or bool(self.meter.spent.calls)

    @property
    def useless(self) -> Sequence[str]:
        """The seats that should have answered but have no usable report."""
        return () if self._job.silent else self.view.summary.useless

    async def judge(self) -> None:
        """Judge all rows, and show the results."""
        await run(
            self._job,
            self._show,
            rows=self,
            planned=self._planned,
            stop_token=self.stop_token,
            meter=self.meter,
            batches=self._batches,
            begun=self._begin,
        )

    def wants(self, segment: Segment) -> bool:
        """Return whether the results of `segment` may be shown."""
        return self.view.wants(segment)

    def count(self, row: FinishedRow) -> None:
        """Count a remembered row."""
        self.view.count(row)
        if self._gated is not None:
            self._gated.gate.add_row(row)

    def _show(self, result: Result) -> None:
        self.view.show(result)
        if self._gated is not None:
            self._gated.gate.add(result)

    def _begin(self) -> None:
        """Record the beginning of the run when a row is judged, or before a batch is sent."""
        if not self._has_begun:
            self._has_begun = True
            if self._folder is not None:
                self._folder.mark(done=False)
            self._begun()

    def close(self) -> tuple[bool, bool]:
        """Print the outcome; return whether every row was answered, and whether the gate is passed.

        A shard without rows passes.
        """
        self.view.close()
        summary = self.view.summary
        unanswered = 0 if self._job.silent else summary.unanswered
        lacks_answers = bool(unanswered or self.useless)
        if self._folder is not None and not lacks_answers:
            self._folder.mark(done=True)
        say(f"{counted(self._total, 'result is', 'results are')} in {self._results}")
        if self._job.panel.is_fitted:
            for notice in fitted_in_use.notices(self._job.panel, self._results):
                say(notice)
        for seat in self.useless:
            say(f"spanjury: no reply of {seat} can be used")
        if unanswered:
            say(f"spanjury: {unanswered} of {self._total} assessments were not answered")
        if lacks_answers:
            say_how_to_see_why(self._job.panel)
            self.say_how_to_go_on()
        if self._job.silent:
            self._say_what_is_missing()
        passes = True
        if self._gated is not None and self._total:
            passes = self._gated.close(is_complete=not summary.unanswered)
        return not unanswered, passes

    def _say_what_is_missing(self) -> None:
        by_seat = self.view.summary.seats.values()
        if missing := sum(ends[outcome] for ends in by_seat for outcome in UNANSWERED):
            say(
                f"{counted(missing, 'report is', 'reports are')} missing, and this command asks no"
                " model: get them with"
                " 'spanjury resume' and the same flags"
            )

    def close_failed(self, failed: RunFailedError) -> None:
        """Print why the run failed, and where its results are."""
        if self.done:
            self.view.close()
        say(f"spanjury: {failed}")
        if self.done:
            say(self._so_far())
        self._close_gate_early()
        say_how_to_see_why(self._job.panel)
        self.say_how_to_go_on()

    def close_stopped(self, stopped: RunStoppedError) -> int:
        """Print why the run was stopped, and how to resume it; return the exit code."""
        if not isinstance(stopped, DeferredError):
            self.close_early(str(stopped))
            return self.exit_code
        say(f"{stopped}: there are no results yet")
        self._close_gate_early()
        if self._folder is not None:
            name = shlex.quote(_named(self._folder))
            say(f"continue with: spanjury resume {name} --batch-in FILE")
        return 0 if stopped.is_written else ERROR

    def close_early(self, reason: str) -> None:
        """Print why the run was stopped, and where its results are."""
        self.view.close()
        say(f"{reason}: {self._so_far()}")
        self._close_gate_early()
        self.say_how_to_go_on()

    def _so_far(self) -> str:
        """Return the number of results in the part file, and record it for the list of runs."""
        rows = self.done
        if self._job.resumes:  # an earlier session may have come further
            with suppress(OSError):
                rows = count_lines(part_of(self._results))
        if not rows:
            return f"none of {counted(self._total, 'result')} is written yet"
        if self._results_of is not None:
            with suppress(StoreError):  # the disk may be full, and only lists need the note
                self._results_of.note_stop(rows)
        total = counted(self._total, "result is", "results are")
        return f"{rows:,} of {total} in {part_of(self._results)}"

    def _close_gate_early(self) -> None:
        if self._gated is not None:
            self._gated.close_early()

    def say_how_to_go_on(self) -> None:
        """Print how to resume the run, if its replies are kept."""
        if self._folder is not None:
            ends = self.view.summary.seats
            are_kept = any(not ends[seat].keys() <= UNANSWERED for seat in self.useless)
            flags = ["--retry-failed"] if are_kept else []
            flags += self._gated.flags.arguments if self._gated is not None else []
            say(f"continue with: spanjury resume {shlex.join([_named(self._folder), *flags])}")
        elif self._job.memory is not None and not self._job.silent:
            say(f"{_GO_ON}: {self._job.memory} has the answers so far")


def _named(run: RunFolder) -> str:
    """Return the run as an argument of commands: its name, if that suffices."""
    return run.path.name if run.path.parent == runs_home() else str(run.path)


def _view_command(job: Job, run: RunFolder | None) -> str:
    if run is not None:
        return f"spanjury view {shlex.quote(_named(run))}"
    columns = [part for column in job.columns for part in ("--column", column)]
    return f"spanjury view {shlex.join([str(job.output), '--data', str(job.data), *columns])}"


_EVERY = 5.0
"""Seconds between two lines of progress."""
_PAYS_FROM = 4_000
"""Rows of rule judges up to which one process is faster than 32 cores, whose Ray starts slowly."""
_GO_ON = "run the same command to continue"


class _Counts:
    def __init__(self, *, quiet: bool) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self.unanswered = 0
        self._meter = Meter()
        self._judged = 0
        self._quiet = quiet
        self._last = time.monotonic()

    def add(self, record: "cluster_job.ChunkRecord") -> None:
        self.outcomes.update(record.outcomes)
        self.unanswered += record.unanswered
        self._judged += record.judged
        self._meter.add(record.spent, dollars=record.cost)
        self._meter.unpriced = record.unpriced or self._meter.unpriced
        for reason in record.skipped:
            say(f"skipped: {reason}")
        if not self._quiet and time.monotonic() - self._last > _EVERY:
            self._last = time.monotonic()
            say(f"so far: {self}")

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common())
        judged = f"{self.outcomes.total()} results ({self._judged} judged now): {counts}"
        return "; ".join(filter(None, (judged, spent(self._meter))))


class ClusterSession(Session):
    """A job on a cluster, with its progress and its stop."""

    def __init__(self, job: "cluster_job.ClusterJob", *, show: ShowFlags) -> None:
        self._stop = cluster_ledger.ClusterStop()
        super().__init__(Limits(), stop_token=self._stop)  # the ledger enforces the limits
        self._job = job
        self.counts = _Counts(quiet=show.no_progress)
        self.results = ""

    async def judge(self) -> None:
        """Judge all rows; a third Ctrl-C does not wait for the cluster."""
        work = partial(cluster.run_on_cluster, self._job, self.counts.add, stop_token=self._stop)
        self.results = await to_thread.run_sync(work, abandon_on_cancel=True)

    def close_early(self, reason: str) -> None:
        """Print why the run was stopped, and where its results are."""
        say(str(self.counts))
        count = self.counts.outcomes.total()
        say(f"{reason}: {count} results are in {self._job.folder}/shards; {_GO_ON}")


def run_cluster_job(job: "cluster_job.ClusterJob", *, show: ShowFlags) -> None:
    """Run `job` on its cluster, and exit with a code if it was stopped or scored too few rows."""
    session = ClusterSession(job, show=show)
    counts = session.counts
    try:
        session.run(session.judge)
    except RunStoppedError as stopped:
        session.close_early(str(stopped))
        raise typer.Exit(session.exit_code) from None
    except KeyboardInterrupt:
        session.close_early("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except EvaluationError:
        if counts.outcomes:
            say(f"{counts}; {_GO_ON}")
        raise
    say(str(counts))
    say(f"the results are in {session.results}")
    total = counts.outcomes.total()
    if total < _PAYS_FROM:
        say(
            f"{total} results are few for a cluster: judges by rules do up to {_PAYS_FROM:,} sooner"
            " without --engine ray, whose start takes longer"
        )
    if counts.unanswered:
        say(f"spanjury: {counts.unanswered} of {total} assessments were not answered; {_GO_ON}")
        raise typer.Exit(ERROR)
    require_coverage(counts.outcomes[Outcome.SCORED] / total, at_least=show.min_coverage)
