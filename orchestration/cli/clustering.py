"""`evaluate --engine ray`: the same panel on many machines."""

import time
from collections import Counter

import typer

from spanjury.judges.core import UNANSWERED, ConfigError, Outcome, Usage
from spanjury.orchestration.cli.exits import COVERAGE, ERROR, say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.cli.told import Told
from spanjury.orchestration.services.cluster import ChunkRecord, ClusterJob, run_on_cluster

__all__ = ["judge_on_cluster"]

_EVERY = 5.0
"""Seconds between two lines of progress."""


class _Tally:
    """What all chunks came to so far."""

    def __init__(self, *, progress: bool) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self._judged = 0
        self._usage = Usage()
        self._progress = progress
        self._told = time.monotonic()

    def add(self, record: ChunkRecord) -> None:
        self.outcomes.update(record.outcomes)
        self._judged += record.judged
        self._usage += record.usage
        for reason in record.skipped:
            say(f"skipped: {reason}")
        if self._progress and time.monotonic() - self._told > _EVERY:
            self._told = time.monotonic()
            say(f"so far: {self}")

    def __str__(self) -> str:
        usage = self._usage
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common())
        return (
            f"{self.outcomes.total()} results ({self._judged} judged now, {usage.calls} calls,"
            f" {usage.prompt + usage.completion} tokens): {counts}"
        )


def judge_on_cluster(**flags: object) -> None:
    """Judge as the flags say on a cluster, and exit with a code if too little was scored.

    Raises
    ------
    ConfigError
        If a flag does not work there.
    """
    told = Told.by(flags)
    log_to(told.log_file)
    job = told.job
    tally = _Tally(progress=not told.no_progress)
    results = run_on_cluster(
        ClusterJob(
            data=told.data,
            panel=job.panel,
            folder=_folder(told),
            task=job.task,
            aspects=job.aspects,
            aspects_files=job.aspects_files,
            limit=job.limit,
            skip_bad_rows=job.skip_bad_rows,
            failures=job.failures,
            address=told.ray_address,
            most_workers=told.ray_workers,
        ),
        tally.add,
    )
    say(str(tally))
    say(f"the results are in {results}")
    if unanswered := sum(tally.outcomes[outcome] for outcome in UNANSWERED):
        say(
            f"spanjury: {unanswered} of {tally.outcomes.total()} assessments were not answered;"
            " the same command goes on"
        )
        raise typer.Exit(ERROR)
    coverage = tally.outcomes[Outcome.SCORED] / tally.outcomes.total()
    if coverage < told.min_coverage or not coverage:
        say(f"coverage {coverage:.1%}: too few assessments have a score")
        raise typer.Exit(COVERAGE)


def _folder(told: Told) -> str:
    """Return the folder of the run; refuse flags that one machine alone can keep to."""
    of_no_use = {
        "--column": told.column is not None,
        "--shard": told.shard is not None,
        "--order": told.order != "file",
        "--output": told.output is not None,
        "--no-memory": told.no_memory,
        "--max-cost": told.max_cost is not None,
        "--max-tokens-total": told.max_tokens_total is not None,
        "--max-seconds": told.max_seconds is not None,
        "--json": told.json,
    }
    if given := [flag for flag, is_given in of_no_use.items() if is_given]:
        raise ConfigError(f"--engine ray does not go with {', '.join(given)}")
    if told.run_dir is None:
        raise ConfigError("--engine ray needs --run-dir, a folder that all machines see")
    return told.run_dir
