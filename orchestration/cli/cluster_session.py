"""A run on a cluster, shown line by line."""

import time
from collections import Counter

import typer

from spanjury.judges.core import UNANSWERED, Outcome, Usage
from spanjury.orchestration.cli.exits import ERROR, say
from spanjury.orchestration.cli.flags.run import ShowFlags
from spanjury.orchestration.cli.session import require_coverage
from spanjury.orchestration.services.cluster import ChunkRecord, ClusterJob, run_on_cluster

_EVERY = 5.0
"""Seconds between two lines of progress."""


class _Counts:
    """The counts of all chunks so far."""

    def __init__(self, *, quiet: bool) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self._judged = 0
        self._usage = Usage()
        self._quiet = quiet
        self._last = time.monotonic()

    def add(self, record: ChunkRecord) -> None:
        self.outcomes.update(record.outcomes)
        self._judged += record.judged
        self._usage += record.usage
        for reason in record.skipped:
            say(f"skipped: {reason}")
        if not self._quiet and time.monotonic() - self._last > _EVERY:
            self._last = time.monotonic()
            say(f"so far: {self}")

    def __str__(self) -> str:
        usage = self._usage
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common())
        return (
            f"{self.outcomes.total()} results ({self._judged} judged now, {usage.calls} calls,"
            f" {usage.prompt + usage.completion} tokens): {counts}"
        )


def run_cluster_job(job: ClusterJob, *, show: ShowFlags) -> None:
    """Run `job` on its cluster, and exit with a code if too little was scored."""
    counts = _Counts(quiet=show.no_progress)
    results = run_on_cluster(job, counts.add)
    say(str(counts))
    say(f"the results are in {results}")
    total = counts.outcomes.total()
    if unanswered := sum(counts.outcomes[outcome] for outcome in UNANSWERED):
        say(
            f"spanjury: {unanswered} of {total} assessments were not answered;"
            " the same command goes on"
        )
        raise typer.Exit(ERROR)
    require_coverage(counts.outcomes[Outcome.SCORED] / total, at_least=show.min_coverage)
