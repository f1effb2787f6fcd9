"""What `evaluate` was told by its flags, and the job that it comes to."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from spanjury.judges.core import ConfigError
from spanjury.orchestration.config import ModelConfig, PanelConfig, parse_seat, read_panel_file
from spanjury.orchestration.interfaces.cli.running import Showing
from spanjury.orchestration.interfaces.job import Job
from spanjury.orchestration.metering import Limits
from spanjury.orchestration.sharding import parse_shard

__all__ = ["Told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The flags of `evaluate`, by their names; the command describes them."""

    data: str
    task: str | None
    aspect: list[str] | None
    aspects_file: list[Path] | None
    judge: list[str] | None
    panel: Path | None
    model: list[str] | None
    via: Literal["fast"] | None
    model_base_url: list[str] | None
    max_connections: int | None
    min_connections: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    timeout: float | None
    attempts: int | None
    aggregate: str | None
    consolidate: str | None
    limit: int | None
    shard: str | None
    order: Literal["file", "source"]
    engine: Literal["local", "ray"]
    ray_address: str | None
    ray_workers: int | None
    output: Path | None
    run_dir: str | None
    no_memory: bool
    max_cost: float | None
    max_tokens_total: int | None
    max_seconds: float | None
    dry_run: bool
    json: bool
    no_progress: bool
    log_file: Path | None
    seed: int | None
    skip_bad_rows: bool
    min_coverage: float

    @property
    def job(self) -> Job:
        """The job, without a memory."""
        shard = parse_shard(self.shard, os.environ) if self.shard else None
        output = self.output or Path("results.jsonl")
        return Job(
            data=Path(self.data),
            panel=self._panel,
            output=shard.path(output) if shard else output,
            task=self.task,
            aspects=tuple(self.aspect or ()),
            aspects_files=tuple(self.aspects_file or ()),
            limit=self.limit,
            shard=shard,
            order=self.order,
            skip_bad_rows=self.skip_bad_rows,
            limits=Limits(
                max_cost=self.max_cost,
                max_tokens=self.max_tokens_total,
                max_seconds=self.max_seconds,
            ),
        )

    @property
    def showing(self) -> Showing:
        """What is shown."""
        return Showing(
            as_json=self.json, progress=not self.no_progress, min_coverage=self.min_coverage
        )

    @property
    def _panel(self) -> PanelConfig:
        config = self._seated
        return replace(
            config,
            aggregate=self.aggregate or config.aggregate,
            consolidate=self.consolidate or config.consolidate,
            seed=config.seed if self.seed is None else self.seed,
        )

    @property
    def _seated(self) -> PanelConfig:
        """The panel of the file, or of the judges and models that are named."""
        if self.panel is None:
            seats = tuple(map(parse_seat, self.judge or ()))
            return PanelConfig(seats=seats, models=self._models)
        if self.judge or self.model:
            raise ConfigError("--panel names judges and models; leave out --judge and --model")
        return read_panel_file(self.panel)

    @property
    def _models(self) -> tuple[ModelConfig, ...]:
        return tuple(
            ModelConfig(
                name=name,
                via=self.via,
                base_url=tuple(self.model_base_url or ()),
                requests_per_minute=self.requests_per_minute,
                tokens_per_minute=self.tokens_per_minute,
                max_connections=self.max_connections,
                min_connections=self.min_connections,
                timeout=self.timeout,
                attempts=self.attempts,
            )
            for name in self.model or ()
        )
