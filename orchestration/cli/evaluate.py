"""`spanjury evaluate`, `resume`, `rescore`: judge the rows of a file, resume, or score again."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from spanjury.judges.core import ConfigError, StoreError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import (
    Aspects,
    Criteria,
    DataFlags,
    RubricFile,
    require_model,
)
from spanjury.orchestration.cli.flags.gates import GateFlags
from spanjury.orchestration.cli.flags.panel import PanelFlags, ScoringFlags
from spanjury.orchestration.cli.flags.run import BatchFlags, LimitFlags, ShowFlags

with lazily():
    from spanjury.judges import tasks
    from spanjury.orchestration.cli import dry_run, job_session, logging
    from spanjury.orchestration.engine import sharding
    from spanjury.orchestration.services.judging import job as jobs
    from spanjury.orchestration.services.runs import cluster_job
    from spanjury.orchestration.services.runs import run_folder as runs
    from spanjury.orchestration.wiring import checker_models, seats, sources
    from spanjury.orchestration.wiring import cluster as cluster_files
    from spanjury.orchestration.wiring import runs as run_folders

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder or name of the run.")]
RetryFailed = Annotated[bool, Flag("Ask failed judges again.", env=True)]
Live = Annotated[
    bool,
    Flag(
        "Call the models directly in a run that was started with --batch-api.", env=True, rare=True
    ),
]
OtherOutput = Annotated[
    Path | None, Flag("File for the results; by default the run's own.", also="-o")
]


class RowFlags(DataFlags):
    """The flags that select rows, and the order in which they are judged."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="JSONL, JSON, CSV, TSV or Parquet file, or a folder; a URL with --engine ray.",
        ),
    ]
    criterion: Criteria = ()
    rubric: RubricFile = None
    skip_bad_rows: Annotated[bool, Flag("Skip unreadable rows.", env=True, rare=True)] = False
    order: Annotated[
        Literal["file", "source"],
        Flag("'source' judges rows with the same inputs one after the other.", env=True, rare=True),
    ] = "file"
    shard: Annotated[
        str | None,
        Flag(
            "Judge one part of the rows: 3/16 is part 3 of 16. With 16 or auto, Kubernetes or"
            " Slurm supplies the part number.",
            "PART",
            env=True,
            rare=True,
        ),
    ] = None


class RunFlags(Flags, title="Run", have_env=True):
    """The flags about what a run stores, and where."""

    output: Annotated[
        Path | None,
        Flag(
            "File for the results; by default results.jsonl, here or in the run's folder.",
            also="-o",
        ),
    ] = None
    run_dir: Annotated[
        str | None,
        Flag("Folder of the run; by default a new one in your user data folder.", "FOLDER"),
    ] = None
    dry_run: Annotated[
        Literal["offline", "live"] | None,
        Flag(
            "Print the cost of the run without asking a model; =live judges a sample.",
            "[=live]",
            bare="offline",
        ),
    ] = None
    no_memory: Annotated[bool, Flag("Keep no replies; the run cannot be resumed.", rare=True)] = (
        False
    )
    memory: Annotated[
        Path | None,
        Flag(
            "Keep replies and reports in this file instead of a run, and ask nothing that it"
            " answers.",
            rare=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        refused = {"--run-dir": self.run_dir is not None, "--no-memory": self.no_memory}
        for flag, is_given in refused.items():
            if self.memory is not None and is_given:
                raise ConfigError(f"--memory cannot be combined with {flag}")


class ClusterFlags(Flags, title="Cluster", are_rare=True, have_env=True):
    """The flags about the machines that judge."""

    engine: Annotated[
        Literal["local", "ray"], Flag("'ray' judges on a cluster; needs --run-dir.")
    ] = "local"
    ray_address: Annotated[
        str | None,
        Flag(
            "Address of a running cluster; by default this machine is used.",
            "ADDRESS",
            env="RAY_ADDRESS",
        ),
    ] = None
    ray_workers: Annotated[
        int | None, Flag("Number of panels that work at once; as many as fit by default.", min=1)
    ] = None
    ray_gpus: Annotated[
        int | None,
        Flag(
            "GPUs for each panel; by default 1 for a model vllm/NAME, otherwise none.",
            "GPUS",
            min=0,
        ),
    ] = None
    ray_chunk_rows: Annotated[
        int | None, Flag("Rows per chunk and per shard of results; 64 by default.", "ROWS", min=1)
    ] = None


def evaluate(
    *,
    rows: RowFlags,
    judges: PanelFlags,
    kept: RunFlags,
    batch: BatchFlags,
    limits: LimitFlags,
    gate: GateFlags,
    show: ShowFlags,
    machines: ClusterFlags,
) -> None:
    """Judge every row of DATA and write the results.

    Without --judge and --model, the offline judges are used; they need no model, key or network.
    """
    logging.log_to(show.log_file)
    job = replace(_job(rows, kept, judges=judges, limits=limits), batch_api=batch.batch_api)
    _require_no_batches(batch, kept, machines)
    if kept.dry_run:
        _require_no_gate(gate, "--dry-run, which judges a sample at most,")
        estimate = dry_run.print_estimate if kept.dry_run == "live" else dry_run.print_reckoning
        estimate(job)
    elif machines.engine == "ray":
        _require_no_gate(gate, "--engine ray")
        job_session.run_cluster_job(
            _cluster_job(job, rows=rows, kept=kept, show=show, machines=machines), show=show
        )
    else:
        planned = job_session.plan_job(job, gate)
        for notice in checker_models.notices(job.panel):
            say(notice)
        with _begun(job, kept, planned) as begun:
            begun.session = job_session.JobSession(
                begun.job,
                planned,
                show=show,
                gate=gate,
                folder=begun.folder,
                results_of=begun.folder,
                batches=batch.batches(batch_api=job.batch_api, folder=begun.folder),
            )
            begun.session.run_job()


def _require_no_batches(batch: BatchFlags, kept: RunFlags, machines: ClusterFlags) -> None:
    refused = {
        "--no-memory": batch.given and kept.no_memory,
        "--memory": batch.given and kept.memory is not None,
        "--engine ray": batch.given and machines.engine == "ray",
        "--dry-run=live, which asks models now,": batch.given and kept.dry_run == "live",
        "--dry-run": batch.by_file and kept.dry_run is not None,
    }
    if given := [flag for flag, is_given in refused.items() if is_given]:
        raise ConfigError(f"{given[0]} cannot be combined with batches")


def _require_no_gate(gate: GateFlags, what: str) -> None:
    """Raise `ConfigError` for flags that need every result in this process."""
    if gate.given:
        raise ConfigError(f"{what} cannot be combined with {', '.join(gate.given)}")


def _job(rows: RowFlags, kept: RunFlags, *, judges: PanelFlags, limits: LimitFlags) -> "jobs.Job":
    """Return the job, with the memory that the flags name; that of a folder comes later."""
    panel = judges.config()
    aspects = (*rows.aspect, *map(tasks.criterion, rows.criterion))
    require_model(panel, aspects=aspects, rubric=rows.rubric)
    seats.named_seats(panel)  # refuses an unknown judge before the rows are read
    shard = sharding.parse_shard(rows.shard, os.environ) if rows.shard else None
    output = kept.output or Path("results.jsonl")
    return jobs.Job(
        data=Path(rows.data),
        panel=panel,
        output=shard.path(output) if shard else output,
        task=rows.task,
        aspects=aspects,
        aspects_files=rows.aspects_file,
        rubric=tasks.Rubric.read(rows.rubric) if rows.rubric else None,
        columns=sources.columns_for(rows.task, rows.column),
        limit=rows.limit,
        shard=shard,
        order=rows.order,
        skip_bad_rows=rows.skip_bad_rows,
        memory=kept.memory,
        limits=limits.limits(),
        failures=limits.failures(),
    )


@dataclass(slots=True)
class _BegunRun:
    """A run that has begun, with or without a folder; its session is created later."""

    job: "jobs.Job"
    folder: "run_folders.RunFolder | None" = None
    session: "job_session.JobSession | None" = None

    @property
    def is_kept(self) -> bool:
        """True if the run has begun to judge."""
        if self.session is None:  # an existing run was begun by another process
            return self.folder is not None and self.folder.exists
        return self.session.has_begun


@contextmanager
def _begun(job: "jobs.Job", kept: RunFlags, planned: "jobs.Plan") -> "Iterator[_BegunRun]":
    """Begin the run of `job`: in the named folder, among the user's data, or without a folder.

    If an error occurs before anything is judged, all that this has created is removed.
    """
    begun = _BegunRun(job)
    with ExitStack() as stack:
        if folder := _folder(job, kept):
            unmaking = partial(run_folders.unmade_if_refused, folder, is_made=kept.run_dir is None)
            stack.enter_context(unmaking(is_kept=lambda: begun.is_kept))
        if kept.output is None and kept.run_dir is None:
            pairs = partial(jobs.pairs, job, planned=planned)
            runs.check_replaced(job.output, is_keeping=folder is not None, planned=pairs)
        if folder:
            copy = job.output if kept.output or kept.run_dir is None else None
            try:
                begun.job = runs.begin_run(job, folder, copy=copy, assessments=planned.assessments)
                begun.folder = folder
            except StoreError as error:
                if kept.run_dir is not None:
                    raise
                say(f"this run cannot be resumed: {error}")
        yield begun


def _folder(job: "jobs.Job", kept: RunFlags) -> "run_folders.RunFolder | None":
    """Return the folder of the run; None if it has none, or none can be created."""
    if kept.run_dir is not None:
        path = Path(kept.run_dir)
        return run_folders.RunFolder(job.shard.folder(path) if job.shard else path)
    if kept.no_memory or kept.memory is not None:
        return None
    names = (job.data.name.partition(".")[0], str(job.shard or ""))
    try:
        return run_folders.new_run("-".join(filter(None, names)), now=datetime.now().astimezone())
    except StoreError as error:
        say(f"this run cannot be resumed: {error}")
        return None


def _cluster_job(
    job: "jobs.Job",
    *,
    rows: RowFlags,
    kept: RunFlags,
    show: ShowFlags,
    machines: ClusterFlags,
) -> "cluster_job.ClusterJob":
    """Return the same job for a cluster; raise `ConfigError` for flags of a single machine."""
    refused = {
        "--column": rows.column,
        "--rubric": rows.rubric is not None,
        "--shard": rows.shard is not None,
        "--order": rows.order != "file",
        "--output": kept.output is not None,
        "--no-memory": kept.no_memory,
        "--memory": kept.memory is not None,
        "--json": show.json,
        "--show": show.show not in {ShowFlags().show, "none"},
    }
    if given := [flag for flag, is_given in refused.items() if is_given]:
        raise ConfigError(f"--engine ray cannot be combined with {', '.join(given)}")
    if kept.run_dir is None:
        raise ConfigError("--engine ray needs --run-dir, a folder that all machines can reach")
    return cluster_job.ClusterJob(
        data=rows.data,
        panel=job.panel,
        folder=kept.run_dir,
        task=job.task,
        aspects=job.aspects,
        aspects_files=job.aspects_files,
        limit=job.limit,
        skip_bad_rows=job.skip_bad_rows,
        limits=job.limits,
        failures=job.failures,
        address=machines.ray_address,
        most_workers=machines.ray_workers,
        gpus=int(job.panel.uses_gpu) if machines.ray_gpus is None else machines.ray_gpus,
        chunk_rows=machines.ray_chunk_rows or cluster_files.CHUNK_ROWS,
    )


def resume(  # noqa: PLR0913  groups of flags
    *,
    run: Run,
    retry_failed: RetryFailed = False,
    live: Live = False,
    aspect: Aspects = (),
    output: OtherOutput = None,
    judges: PanelFlags,
    batch: BatchFlags,
    limits: LimitFlags,
    gate: GateFlags,
    show: ShowFlags,
) -> None:
    """Continue an interrupted run, or change it.

    Reports that the run already has are reused, and all results are written. Only what the flags
    change, such as a judge, a model, an option or an aspect, is judged again.
    """
    logging.log_to(show.log_file)
    folder = run_folders.find_run(run)
    before = runs.job_of(folder)
    job = replace(
        before,
        panel=judges.config(before.panel),
        aspects=aspect or before.aspects,
        limits=limits.limits(before.limits),
        failures=limits.failures(before.failures),
        batch_api=batch.batch_api or (before.batch_api and not live),
    )
    if live:
        batch.require_none(folder)

    def keep_change() -> None:
        if job != before and output is None:  # a trial's results go elsewhere
            runs.change_run(job, folder, assessments=planned.assessments)

    again = replace(
        job,
        output=output or job.output,
        copy=None if output else job.copy,
        again="failed" if retry_failed else "unanswered",
        resumes=(job.panel, job.aspects) == (before.panel, before.aspects),
    )
    runs.check_changed_copy(again, folder)
    planned = job_session.plan_job(again, gate)
    runs.check_lost_texts(again, folder, planned=planned)
    job_session.JobSession(
        again,
        planned,
        show=show,
        gate=gate,
        folder=folder,
        results_of=None if output else folder,
        begun=keep_change,
        batches=batch.batches(batch_api=job.batch_api, folder=folder),
    ).run_job()


def rescore(
    *,
    run: Run,
    output: OtherOutput = None,
    scoring: ScoringFlags,
    gate: GateFlags,
    show: ShowFlags,
) -> None:
    """Recompute the results of a run without calling any model.

    The stored replies of the run are read, aggregated and consolidated again. An assessment
    that was never answered has no score.
    """
    logging.log_to(show.log_file)
    folder = run_folders.find_run(run)
    before = runs.job_of(folder)
    job = replace(
        before,
        panel=scoring.applied(before.panel),
        output=output or before.output,
        copy=None if output else before.copy,
        again="none",
        silent=True,
        resumes=True,
    )
    runs.check_changed_copy(job, folder)
    planned = job_session.plan_job(job, gate)
    runs.check_lost_texts(job, folder, planned=planned)
    session = job_session.JobSession(
        job, planned, show=show, gate=gate, results_of=None if output else folder
    )
    session.run_job()
