"""What `spanjury evaluate` and `spanjury resume` do once their flags are read."""

from dataclasses import replace
from pathlib import Path

import anyio
import typer

from spanjury.judges.core import ConfigError
from spanjury.orchestration.config import ModelConfig, PanelConfig, parse_seat, read_panel_file
from spanjury.orchestration.interfaces.cli.exits import COVERAGE, INTERRUPTED, say
from spanjury.orchestration.interfaces.cli.logging import log_to_standard_error
from spanjury.orchestration.interfaces.cli.view import View
from spanjury.orchestration.interfaces.job import Job, plan
from spanjury.orchestration.interfaces.job import run as run_job
from spanjury.orchestration.interfaces.manifest import manifest_of, read_job
from spanjury.orchestration.wiring import RunFolder

__all__ = ["judge_file", "resume_run"]


def judge_file(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: Path,
    task: str | None,
    aspect: list[str] | None,
    aspects_file: list[Path] | None,
    judge: list[str] | None,
    panel: Path | None,
    model: list[str] | None,
    model_base_url: list[str] | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
    timeout: float | None,
    connections: int | None,
    attempts: int | None,
    aggregate: str | None,
    consolidate: str | None,
    limit: int | None,
    output: Path | None,
    run_dir: Path | None,
    json: bool,
    no_progress: bool,
    seed: int | None,
    skip_bad_rows: bool,
    min_coverage: float,
) -> None:
    """Judge the rows of `data` as the flags say."""
    log_to_standard_error()
    models = tuple(
        ModelConfig(
            name=name,
            base_url=tuple(model_base_url or ()),
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            connections=connections,
            timeout=timeout,
            attempts=attempts,
        )
        for name in model or ()
    )
    config = _panel(panel, judges=judge or [], models=models)
    job = Job(
        panel=replace(
            config,
            aggregate=aggregate or config.aggregate,
            consolidate=consolidate or config.consolidate,
            seed=config.seed if seed is None else seed,
        ),
        data=data,
        output=output or Path("results.jsonl"),
        task=task,
        aspects=tuple(aspect or ()),
        aspects_files=tuple(aspects_file or ()),
        limit=limit,
        skip_bad_rows=skip_bad_rows,
    )
    if run_dir is not None:
        job = _begun(job, RunFolder(run_dir), output=output)
    _judge(job, as_json=json, progress=not no_progress, min_coverage=min_coverage)


def resume_run(
    *,
    run: Path,
    retry_failed: bool,
    aggregate: str | None,
    consolidate: str | None,
    output: Path | None,
    json: bool,
    no_progress: bool,
    min_coverage: float,
) -> None:
    """Go on with the run in the folder `run`."""
    log_to_standard_error()
    folder = RunFolder(run)
    job = read_job(folder.manifest())
    panel = replace(
        job.panel,
        aggregate=aggregate or job.panel.aggregate,
        consolidate=consolidate or job.panel.consolidate,
    )
    job = replace(
        job,
        panel=panel,
        output=output or folder.results,
        memory=folder.memory,  # the folder may have moved since
        again="failed" if retry_failed else "unanswered",
    )
    _judge(job, as_json=json, progress=not no_progress, min_coverage=min_coverage)


def _begun(job: Job, folder: RunFolder, *, output: Path | None) -> Job:
    """Make the folder of a run of `job`, once nothing is wrong with it."""
    job = replace(
        job,
        data=job.data.absolute(),
        aspects_files=tuple(path.absolute() for path in job.aspects_files),
        output=output or folder.results,
        memory=folder.memory,
    )
    plan(job)
    folder.create(manifest_of(job))
    return job


def _panel(file: Path | None, *, judges: list[str], models: tuple[ModelConfig, ...]) -> PanelConfig:
    if file is None:
        return PanelConfig(seats=tuple(map(parse_seat, judges)), models=models)
    if judges or models:
        raise ConfigError("--panel names judges and models; leave out --judge and --model")
    return read_panel_file(file)


def _judge(job: Job, *, as_json: bool, progress: bool, min_coverage: float) -> None:
    """Run `job`, show it, and exit with a code if it was broken off or scored too little."""
    planned = plan(job)
    for row in planned.bad_rows:
        say(f"skipped: {row}")
    view = View(total=planned.assessments, as_json=as_json, progress=progress)
    try:
        with view:
            anyio.run(run_job, job, view.show)
    except KeyboardInterrupt:
        done = view.summary.whole.total
        say(f"interrupted: {done} of {planned.assessments} results are in {job.output}.part")
        if job.memory is not None:
            say(f"go on with: spanjury resume {job.memory.parent}")
        raise typer.Exit(INTERRUPTED) from None
    view.close()
    say(f"{planned.assessments} results are in {job.output}")
    coverage = view.summary.whole.coverage
    if coverage < min_coverage or not coverage:
        say(f"coverage {coverage:.1%}: too few assessments have a score")
        raise typer.Exit(COVERAGE)
