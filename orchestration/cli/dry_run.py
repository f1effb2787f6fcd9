"""`evaluate --dry-run`: the calls, tokens, dollars and seconds of a whole run."""

from collections import Counter

import anyio
from rich.table import Table

from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.job_session import plan_job
from spanjury.orchestration.services.dry_run import Estimate, estimated
from spanjury.orchestration.services.job import Job
from spanjury.stats.estimation import TotalEstimate


def print_estimate(job: Job) -> None:
    """Judge a sample of the rows of `job`, and print what all of them would take."""
    estimate = anyio.run(estimated, job, plan_job(job))
    CleanConsole().print(_table(estimate))
    outcomes = Counter(report.outcome.value for report in estimate.reports)
    say(
        f"from {len(estimate.reports)} of {estimate.assessments} assessments: "
        + ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
    )
    for reason in {report.reason for report in estimate.reports if report.reason}:
        say(f"  {reason}")
    if estimate.unpriced:
        say(f"no price is known for {', '.join(estimate.unpriced)}")


def _table(estimate: Estimate) -> Table:
    table = Table("the whole run", "estimate", "95 % interval", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("calls", *_numbers(estimate.calls, "{:,.0f}"))
    table.add_row("tokens", *_numbers(estimate.tokens, "{:,.0f}"))
    table.add_row("dollars", *_numbers(estimate.cost, "{:,.4f}"))
    table.add_row("seconds", *_numbers(estimate.seconds, "{:,.0f}"))
    return table


def _numbers(estimate: TotalEstimate, form: str) -> tuple[str, str]:
    low, high = max(0.0, estimate.low), estimate.high
    between = f"{form.format(low)} to {form.format(high)}"
    return form.format(estimate.total), between if high == high else "-"  # noqa: PLR0124  NaN
