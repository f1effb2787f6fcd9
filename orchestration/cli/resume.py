"""`spanjury resume`: continue or change a run. `spanjury rescore`: recompute its results."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.flags.batch import BatchFlags
from spanjury.orchestration.cli.flags.data import Aspects
from spanjury.orchestration.cli.flags.gates import GateFlags
from spanjury.orchestration.cli.flags.panel import PanelFlags, ScoringFlags
from spanjury.orchestration.cli.flags.run import LimitFlags, ShowFlags

with lazily():
    from spanjury.orchestration.cli import job_session, logging
    from spanjury.orchestration.services.runs import run_folder as runs
    from spanjury.orchestration.wiring import runs as run_folders

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder or name of the run.")]
RetryFailed = Annotated[bool, Flag("Ask failed judges again.", env=True)]
Live = Annotated[
    bool,
    Flag("Ask models themselves in a run that was begun with --batch-api.", env=True, rare=True),
]
OtherOutput = Annotated[
    Path | None, Flag("File for the results; by default the run's own.", also="-o")
]


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

    Judges are not asked again for reports that the run already has, and all results are written.
    Only what the flags change, such as a judge, a model, an option or an aspect, is judged again.
    Everything else stays as it was.
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
    )
    runs.check_changed_copy(again, folder)
    planned = job_session.plan_job(again, gate)
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
    )
    runs.check_changed_copy(job, folder)
    planned = job_session.plan_job(job, gate)
    session = job_session.JobSession(
        job, planned, show=show, gate=gate, results_of=None if output else folder
    )
    session.run_job()
