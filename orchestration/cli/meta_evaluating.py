"""A meta-evaluation on the command line."""

from pathlib import Path
from typing import cast

import anyio

from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.metric_cards import print_json
from spanjury.orchestration.cli.written import tell_pictures
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.agreement import MetaJob, collect, measure
from spanjury.orchestration.services.agreement_report import write_meta
from spanjury.orchestration.studies.agreement.findings import MetaFindings, meta_json
from spanjury.orchestration.studies.agreement.scorers import Settings
from spanjury.orchestration.studies.agreement.tables import agreement_report
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level

__all__ = ["compare_with_people"]


def compare_with_people(  # noqa: PLR0913  a command's flags are its parameters
    *,
    results: list[Path],
    human: Path,
    aspect: list[str] | None,
    column: list[str] | None,
    category: list[str] | None,
    level: str,
    correlation: str,
    draws: int,
    seed: int,
    output: Path | None,
    json: bool,
    no_progress: bool,
) -> None:
    """Compare scores with people's, print tables, and write pages if a folder is named."""
    job = MetaJob(
        results=tuple(dict.fromkeys(results)),
        human=human,
        aspects=tuple(aspect or ()),
        columns=tuple(column or ()),
        categories=tuple(category or ()),
        settings=Settings(
            level=cast("Level", level),  # the flag takes no others
            method=cast("Method", correlation),
            draws=draws,
            seed=seed,
        ),
    )
    collected = collect(job)

    async def work() -> MetaFindings:
        return await measure(job, collected, show=_silent if no_progress else _show)

    findings = anyio.run(work)
    if json:
        print_json(meta_json(findings))
    else:
        CleanConsole().print(report_view(agreement_report(findings)))
    if output is not None:
        tell_pictures(write_meta(output, findings, collected))


def _show(part: str) -> None:
    say(f"{part} is done")


def _silent(part: str) -> None:
    del part
