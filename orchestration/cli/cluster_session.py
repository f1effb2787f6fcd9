"""A run on a cluster, with its progress as lines."""

import time
from collections import Counter
from functools import partial

import typer
from anyio import to_thread

from spanjury.judges.core import EvaluationError, Outcome, RunStoppedError
from spanjury.orchestration.cli.exits import ERROR, INTERRUPTED, say
from spanjury.orchestration.cli.flags.run import ShowFlags
from spanjury.orchestration.cli.session import Session, require_coverage
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.progress import spent
from spanjury.orchestration.services.runs.cluster import run_on_cluster
from spanjury.orchestration.services.runs.cluster_job import ChunkRecord, ClusterJob
from spanjury.orchestration.services.runs.cluster_ledger import ClusterStop

_EVERY = 5.0
"""Seconds between two lines of progress."""
_PAYS_FROM = 4_000
"""Rows of rule judges up to which one process is faster than 32 cores, whose Ray starts slowly."""
_GO_ON = "run the same command to continue"


class _Counts:
    """The counts over all finished chunks."""

    def __init__(self, *, quiet: bool) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self.unanswered = 0
        self._meter = Meter()
        self._judged = 0
        self._quiet = quiet
        self._last = time.monotonic()

    def add(self, record: ChunkRecord) -> None:
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

    def __init__(self, job: ClusterJob, *, show: ShowFlags) -> None:
        self._stop = ClusterStop()
        super().__init__(Limits(), stop_token=self._stop)  # the ledger enforces the limits
        self._job = job
        self.counts = _Counts(quiet=show.no_progress)
        self.results = ""

    async def judge(self) -> None:
        """Judge all rows; a third Ctrl-C does not wait for the cluster."""
        work = partial(run_on_cluster, self._job, self.counts.add, stop_token=self._stop)
        self.results = await to_thread.run_sync(work, abandon_on_cancel=True)

    def close_early(self, reason: str) -> None:
        """Print why the run was stopped, and where its results are."""
        say(str(self.counts))
        count = self.counts.outcomes.total()
        say(f"{reason}: {count} results are in {self._job.folder}/shards; {_GO_ON}")


def run_cluster_job(job: ClusterJob, *, show: ShowFlags) -> None:
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
