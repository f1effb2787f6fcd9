"""What `spanjury evaluate` does once its flags are read."""

from dataclasses import replace
from pathlib import Path

import anyio
import typer

from spanjury.judges.core import ConfigError
from spanjury.orchestration.config import ModelConfig, PanelConfig, parse_seat, read_panel_file
from spanjury.orchestration.interfaces.cli.exits import COVERAGE, INTERRUPTED, say
from spanjury.orchestration.interfaces.cli.logging import log_to_standard_error
from spanjury.orchestration.interfaces.cli.view import View
from spanjury.orchestration.interfaces.job import Job, plan, run

__all__ = ["judge_file"]


def judge_file(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: Path,
    task: str | None,
    aspect: list[str] | None,
    aspects_file: list[Path] | None,
    judge: list[str] | None,
    panel: Path | None,
    model: list[str] | None,
    model_base_url: str | None,
    timeout: float | None,
    connections: int | None,
    attempts: int | None,
    aggregate: str | None,
    consolidate: str | None,
    limit: int | None,
    output: Path,
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
            base_url=model_base_url,
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
        output=output,
        task=task,
        aspects=tuple(aspect or ()),
        aspects_files=tuple(aspects_file or ()),
        limit=limit,
        skip_bad_rows=skip_bad_rows,
    )
    _judge(job, as_json=json, progress=not no_progress, min_coverage=min_coverage)


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
            anyio.run(run, job, view.show)
    except KeyboardInterrupt:
        done = view.summary.whole.total
        say(f"interrupted: {done} of {planned.assessments} results are in {job.output}.part")
        raise typer.Exit(INTERRUPTED) from None
    view.close()
    say(f"{planned.assessments} results are in {job.output}")
    coverage = view.summary.whole.coverage
    if coverage < min_coverage or not coverage:
        say(f"coverage {coverage:.1%}: too few assessments have a score")
        raise typer.Exit(COVERAGE)
