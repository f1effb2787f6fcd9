"""`spanjury resume` and `spanjury rescore`: go on with a run, or make its results again."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.flags.data import Aspects
from spanjury.orchestration.cli.flags.gates import GateFlags
from spanjury.orchestration.cli.flags.panel import PanelFlags, ScoringFlags
from spanjury.orchestration.cli.flags.run import LimitFlags, ShowFlags

with lazily():
    from spanjury.orchestration.cli import job_session, logging
    from spanjury.orchestration.services import runs
    from spanjury.orchestration.wiring import runs as run_folders

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder or name of the run.")]
RetryFailed = Annotated[bool, Flag("Ask again where a judge failed.", env=True)]
OtherOutput = Annotated[
    Path | None, Flag("File for the results; that of the run by default.", also="-o")
]


def resume(
    *,
    run: Run,
    retry_failed: RetryFailed = False,
    aspect: Aspects = (),
    output: OtherOutput = None,
    judges: PanelFlags,
    limits: LimitFlags,
    gate: GateFlags,
    show: ShowFlags,
) -> None:
    """Go on with a run that was interrupted, or change it.

    What was answered is not asked again, and all results are written. What the flags change, as
    a judge, a model, an option or an aspect, is judged again, and nothing else; what no flag
    names stays as it was.
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
    )

    def keep_change() -> None:
        if job != before and output is None:  # elsewhere goes what is tried beside the run
            runs.change_run(job, folder, assessments=planned.assessments)

    again = replace(
        job,
        output=output or job.output,
        again="failed" if retry_failed else "unanswered",
    )
    planned = job_session.plan_job(again, gate)
    job_session.run_job(
        again,
        planned,
        show=show,
        gate=gate,
        folder=folder,
        results_of=None if output else folder,
        begun=keep_change,
    )


def rescore(
    *,
    run: Run,
    output: OtherOutput = None,
    scoring: ScoringFlags,
    gate: GateFlags,
    show: ShowFlags,
) -> None:
    """Make the results of a run again, without a call to any model.

    The replies of the run are read, aggregated and consolidated again; what was never answered
    has no score.
    """
    logging.log_to(show.log_file)
    folder = run_folders.find_run(run)
    before = runs.job_of(folder)
    job = replace(
        before,
        panel=scoring.applied(before.panel),
        output=output or before.output,
        again="none",
        silent=True,
    )
    planned = job_session.plan_job(job, gate)
    job_session.run_job(job, planned, show=show, gate=gate, results_of=None if output else folder)
