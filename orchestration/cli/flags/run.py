"""How a run ends early, and what it shows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import RARE, Flags

with lazily():
    from spanjury.orchestration.engine import metering, stopping

NoProgress = Annotated[
    bool,
    typer.Option("--no-progress", envvar="SPANJURY_NO_PROGRESS", help="Do not show progress."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitFlags(Flags):
    """The flags that end a run early."""

    title: ClassVar[str] = "Limits"

    max_cost: Annotated[
        float | None,
        typer.Option(
            envvar="SPANJURY_MAX_COST",
            min=1e-9,
            metavar="DOLLARS",
            help="Stop with 4 when this much is spent.",
        ),
    ] = None
    max_tokens_total: Annotated[
        int | None,
        typer.Option(
            envvar="SPANJURY_MAX_TOKENS_TOTAL",
            min=1,
            metavar="N",
            help="Stop with 4 after so many tokens of prompts and replies.",
        ),
        RARE,
    ] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            envvar="SPANJURY_MAX_SECONDS",
            min=0.1,
            metavar="SECONDS",
            help="Stop with 4 after this time.",
        ),
    ] = None
    max_outage: Annotated[
        float | None,
        typer.Option(
            envvar="SPANJURY_MAX_OUTAGE",
            min=0.0,
            metavar="SECONDS",
            help="Stop with 1 when a model does not answer for so long; 60 by default.",
        ),
        RARE,
    ] = None
    no_preflight: Annotated[
        bool,
        typer.Option(
            "--no-preflight",
            envvar="SPANJURY_NO_PREFLIGHT",
            help="Do not ask each model a small question first.",
        ),
        RARE,
    ] = False

    def limits(self, before: "metering.Limits | None" = None) -> "metering.Limits":
        """Return what one run of the command may cost: as `before`, but for what is given."""
        before = before or metering.Limits()
        return metering.Limits(
            max_cost=self.max_cost or before.max_cost,
            max_tokens=self.max_tokens_total or before.max_tokens,
            max_seconds=self.max_seconds or before.max_seconds,
        )

    def failures(self, before: "stopping.FailurePolicy | None" = None) -> "stopping.FailurePolicy":
        """Return the policy for models that fail: as `before`, but for what is given."""
        before = before or stopping.FailurePolicy()
        return stopping.FailurePolicy(
            preflight=before.preflight and not self.no_preflight,
            max_outage=before.max_outage if self.max_outage is None else self.max_outage,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFlags(Flags):
    """The flags about progress and logs."""

    title: ClassVar[str] = "Output"

    no_progress: Annotated[NoProgress, RARE] = False
    log_file: Annotated[
        Path | None,
        typer.Option(
            envvar="SPANJURY_LOG_FILE", metavar="FILE", help="Write a log to this file, in JSON."
        ),
        RARE,
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowFlags(LogFlags):
    """The flags about the report of a run, and how much of it must have a score."""

    json: Annotated[
        bool,
        typer.Option("--json", envvar="SPANJURY_JSON", help="Print result rows, not a report."),
    ] = False
    min_coverage: Annotated[
        float,
        typer.Option(
            envvar="SPANJURY_MIN_COVERAGE",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Exit with 3 if a smaller share of assessments has a score.",
        ),
    ] = 0.0
