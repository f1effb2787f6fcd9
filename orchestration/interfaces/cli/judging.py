"""What the commands that judge do once their flags are read: evaluate, resume, rescore."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from spanjury.judges.core import StoreError
from spanjury.orchestration.interfaces.cli.clustering import judge_on_cluster
from spanjury.orchestration.interfaces.cli.dry_run import print_estimate
from spanjury.orchestration.interfaces.cli.exits import say
from spanjury.orchestration.interfaces.cli.logging import log_to
from spanjury.orchestration.interfaces.cli.running import Showing, planned_aloud, run_job
from spanjury.orchestration.interfaces.cli.told import Told
from spanjury.orchestration.interfaces.job import Job, plan
from spanjury.orchestration.interfaces.runs import begin_run, job_of
from spanjury.orchestration.metering import Limits
from spanjury.orchestration.wiring import RunFolder, find_run, new_run

__all__ = ["judge_file", "rescore_run", "resume_run"]


def judge_file(**flags: object) -> None:
    """Judge the rows of a file as the flags of `evaluate` say."""
    told = Told(**flags)  # type: ignore[arg-type]  # the command line has checked their types
    log_to(told.log_file)
    if told.engine == "ray":
        judge_on_cluster(told)
        return
    job = told.job
    planned = planned_aloud(plan(job))
    if told.dry_run:
        print_estimate(job, planned)
        return
    folder: RunFolder | None = None
    if told.run_dir is not None:
        path = Path(told.run_dir)
        folder = RunFolder(job.shard.folder(path) if job.shard else path)
        job = begin_run(job, folder, output=told.output and job.output)
    elif not told.no_memory:
        job, folder = _among_users_data(job)
    run_job(job, planned, showing=told.showing, folder=folder)


def resume_run(  # noqa: PLR0913  a command's flags are its parameters
    *,
    run: Path,
    retry_failed: bool,
    aggregate: str | None,
    consolidate: str | None,
    output: Path | None,
    max_cost: float | None,
    max_tokens_total: int | None,
    max_seconds: float | None,
    json: bool,
    no_progress: bool,
    log_file: Path | None,
    min_coverage: float,
) -> None:
    """Go on with the run in the folder `run`, or of that name."""
    log_to(log_file)
    folder = find_run(run)
    job = _changed(job_of(folder), aggregate=aggregate, consolidate=consolidate)
    job = replace(
        job,
        output=output or job.output,
        again="failed" if retry_failed else "unanswered",
        limits=Limits(
            max_cost=max_cost or job.limits.max_cost,
            max_tokens=max_tokens_total or job.limits.max_tokens,
            max_seconds=max_seconds or job.limits.max_seconds,
        ),
    )
    showing = Showing(as_json=json, progress=not no_progress, min_coverage=min_coverage)
    run_job(job, planned_aloud(plan(job)), showing=showing, folder=folder)


def rescore_run(
    *,
    run: Path,
    aggregate: str | None,
    consolidate: str | None,
    output: Path | None,
    json: bool,
    no_progress: bool,
    log_file: Path | None,
    min_coverage: float,
) -> None:
    """Make the results of a run anew, of what was said in it."""
    log_to(log_file)
    job = _changed(job_of(find_run(run)), aggregate=aggregate, consolidate=consolidate)
    job = replace(job, output=output or job.output, again="none", silent=True)
    showing = Showing(as_json=json, progress=not no_progress, min_coverage=min_coverage)
    run_job(job, planned_aloud(plan(job)), showing=showing)


def _among_users_data(job: Job) -> tuple[Job, RunFolder | None]:
    """Begin a run among the user's data, if that can be written."""
    names = (job.data.name.partition(".")[0], str(job.shard or ""))
    try:
        folder = new_run("-".join(filter(None, names)), now=datetime.now().astimezone())
        return begin_run(job, folder, output=job.output), folder
    except StoreError as error:
        say(f"this run cannot be resumed: {error}")
        return job, None


def _changed(job: Job, *, aggregate: str | None, consolidate: str | None) -> Job:
    panel = replace(
        job.panel,
        aggregate=aggregate or job.panel.aggregate,
        consolidate=consolidate or job.panel.consolidate,
    )
    return replace(job, panel=panel)
