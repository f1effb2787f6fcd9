"""What the commands that judge do once their flags are read: evaluate, resume, rescore."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from spanjury.judges.core import StoreError
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.cli.running import Showing, planned_aloud, run_job
from spanjury.orchestration.cli.told import Told
from spanjury.orchestration.cli.told_failures import failure_policy
from spanjury.orchestration.cli.told_panel import ToldPanel
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.services.evaluate import Job, plan
from spanjury.orchestration.services.runs import begin_run, change_run, job_of
from spanjury.orchestration.wiring import RunFolder, find_run, new_run

__all__ = ["judge_file", "rescore_run", "resume_run"]


def judge_file(**flags: object) -> None:
    """Judge the rows of a file as the flags of `evaluate` say."""
    told = Told.by(flags)
    log_to(told.log_file)
    job = told.job
    planned = planned_aloud(plan(job))
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
    aspect: list[str] | None,
    output: Path | None,
    max_cost: float | None,
    max_tokens_total: int | None,
    max_seconds: float | None,
    max_outage: float | None,
    no_preflight: bool,
    json: bool,
    no_progress: bool,
    log_file: Path | None,
    min_coverage: float,
    **panel: object,
) -> None:
    """Go on with the run in the folder `run`, or of that name, changed as the flags say."""
    log_to(log_file)
    folder = find_run(run)
    before = job_of(folder)
    job = replace(
        before,
        panel=ToldPanel.taken_from(panel).config(before.panel),
        aspects=tuple(aspect or before.aspects),
        limits=Limits(
            max_cost=max_cost or before.limits.max_cost,
            max_tokens=max_tokens_total or before.limits.max_tokens,
            max_seconds=max_seconds or before.limits.max_seconds,
        ),
        failures=failure_policy(max_outage, no_preflight=no_preflight, before=before.failures),
    )
    going = replace(
        job,
        output=output or job.output,
        again="failed" if retry_failed else "unanswered",
    )

    def keep_change() -> None:
        if job != before and output is None:  # elsewhere goes what is tried beside the run
            change_run(job, folder)

    run_job(
        going,
        planned_aloud(plan(going)),
        showing=Showing(as_json=json, progress=not no_progress, min_coverage=min_coverage),
        folder=folder,
        begun=keep_change,
    )


def rescore_run(  # noqa: PLR0913  a command's flags are its parameters
    *,
    run: Path,
    aggregate: str | None,
    consolidate: str | None,
    score: str | None,
    output: Path | None,
    json: bool,
    no_progress: bool,
    log_file: Path | None,
    min_coverage: float,
) -> None:
    """Make the results of a run anew, of what was said in it."""
    log_to(log_file)
    job = job_of(find_run(run))
    panel = replace(
        job.panel,
        aggregate=aggregate or job.panel.aggregate,
        consolidate=consolidate or job.panel.consolidate,
        score=score or job.panel.score,
    )
    job = replace(job, panel=panel, output=output or job.output, again="none", silent=True)
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
