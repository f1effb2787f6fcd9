"""What `evaluate` was told by its flags, and the job that it comes to."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from spanjury.orchestration.cli.running import Showing
from spanjury.orchestration.cli.told_failures import failure_policy
from spanjury.orchestration.cli.told_panel import ToldPanel
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.sharding import parse_shard
from spanjury.orchestration.services.evaluate import Job

__all__ = ["Told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The flags of `evaluate`, by their names; the command describes them."""

    data: str
    task: str | None
    aspect: list[str] | None
    aspects_file: list[Path] | None
    column: list[str] | None
    panel: ToldPanel
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
    max_outage: float | None
    no_preflight: bool
    json: bool
    no_progress: bool
    log_file: Path | None
    skip_bad_rows: bool
    min_coverage: float

    @classmethod
    def by(cls, flags: dict[str, object]) -> "Told":
        """Return what `flags` say."""
        panel = ToldPanel.taken_from(flags)
        return cls(panel=panel, **flags)  # type: ignore[arg-type]  # the command line has checked

    @property
    def job(self) -> Job:
        """The job, without a memory."""
        shard = parse_shard(self.shard, os.environ) if self.shard else None
        output = self.output or Path("results.jsonl")
        return Job(
            data=Path(self.data),
            panel=self.panel.config(),
            output=shard.path(output) if shard else output,
            task=self.task,
            aspects=tuple(self.aspect or ()),
            aspects_files=tuple(self.aspects_file or ()),
            columns=tuple(self.column or ()),
            limit=self.limit,
            shard=shard,
            order=self.order,
            skip_bad_rows=self.skip_bad_rows,
            limits=Limits(
                max_cost=self.max_cost,
                max_tokens=self.max_tokens_total,
                max_seconds=self.max_seconds,
            ),
            failures=failure_policy(self.max_outage, no_preflight=self.no_preflight),
        )

    @property
    def showing(self) -> Showing:
        """What is shown."""
        return Showing(
            as_json=self.json, progress=not self.no_progress, min_coverage=self.min_coverage
        )
