"""`evaluate --dry-run`: estimate the calls, tokens, dollars and seconds of a whole run."""

from collections import Counter
from functools import partial

import anyio
from rich.table import Table

from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.job_session import plan_job
from spanjury.orchestration.engine.spending import REPLY, in_words
from spanjury.orchestration.services.judging import dry_run as service
from spanjury.orchestration.services.judging.job import Job
from spanjury.stats.estimation import TotalEstimate


def print_reckoning(job: Job) -> None:
    """Print the estimated cost of all rows of `job`, from the prompts that would be sent."""
    planned = plan_job(job)
    estimate = _reckoned(job, assessments=planned.asked)
    expected, most = estimate.expected, estimate.most
    table = _table("estimate", "longest replies")
    table.add_row("calls", f"{expected.calls:,}", f"{most.calls:,}")
    table.add_row("tokens", f"{expected.tokens:,}", f"{most.tokens:,}")
    dollars = (_dollars(each.dollars, estimate.unpriced) for each in (expected, most))
    table.add_row("dollars", *dollars)
    CleanConsole().print(table)
    say(
        f"{planned.asked} assessments; no model was asked. The column 'estimate' assumes replies"
        f" of {REPLY} tokens, and 'longest replies' the longest possible replies. A reply that"
        " cannot be read is requested once more, and costs as much again. --dry-run=live judges"
        f" {min(service.SAMPLE, planned.asked)} assessments, and its calls cost money."
    )
    if job.batch_api:
        say("the dollars are those of batches: half of the usual price")
    for seat in estimate.unforeseen:
        say(f"the number of calls of {seat} depends on its replies: --dry-run=live measures it")
    if job.panel.cascade is not None:
        say("the estimate counts all seats, although a cascade may leave some out")
    if job.panel.consolidate != "rules":
        say("the estimate does not count calls of the consolidator")
    _say_unpriced(estimate.unpriced)


def print_estimate(job: Job) -> None:
    """Judge a sample of the rows of `job`, and print the estimated cost of all of them."""
    planned = plan_job(job)
    service.require_keys(job)
    number = min(service.SAMPLE, planned.asked)
    say(
        f"{number} of {planned.asked} assessments are made now. They cost"
        f" {_in_words(_reckoned(job, assessments=number))}."
    )
    estimate = anyio.run(service.measured, job, planned)
    table = _table("estimate", "95 % interval")
    table.add_row("calls", *_numbers(estimate.calls, "{:,.0f}"))
    table.add_row("tokens", *_numbers(estimate.tokens, "{:,.0f}"))
    cost = _numbers(estimate.cost, "{:,.4f}")
    if estimate.unpriced:
        cost = _dollars(estimate.cost.total, estimate.unpriced), "unknown"
    table.add_row("dollars", *cost)
    table.add_row("seconds", *_numbers(estimate.seconds, "{:,.0f}"))
    CleanConsole().print(table)
    outcomes = Counter(report.outcome.value for report in estimate.reports)
    say(
        f"from {len(estimate.reports)} of {planned.asked} assessments: "
        + ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
    )
    for reason in {report.reason for report in estimate.reports if report.reason}:
        say(f"  {reason}")
    _say_unpriced(estimate.unpriced)


def _reckoned(job: Job, *, assessments: int) -> service.Reckoning:
    return anyio.run(partial(service.reckoned, job, assessments=assessments))


def _in_words(reckoning: service.Reckoning) -> str:
    expected, most = reckoning.expected, reckoning.most
    calls = in_words(expected.calls, "calls")
    tokens = f"about {in_words(expected.tokens, 'tokens')} ({most.tokens:,} if replies are long)"
    dollars = f"about {in_words(expected.dollars, 'dollars')}" if expected.dollars else ""
    return ", ".join(filter(None, (calls, tokens, dollars)))


def _say_unpriced(models: tuple[str, ...]) -> None:
    if models:
        say(f"no price is known for {', '.join(models)}")


def _dollars(amount: float, unpriced: tuple[str, ...]) -> str:
    """Return dollars for the table; what `unpriced` models cost is not in the amount."""
    if unpriced:
        return f"over {amount:,.4f}" if amount else "unknown"
    return f"{amount:,.4f}"


def _table(*columns: str) -> Table:
    table = Table("the whole run", *columns, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _numbers(estimate: TotalEstimate, form: str) -> tuple[str, str]:
    low, high = max(0.0, estimate.low), estimate.high
    between = f"{form.format(low)} to {form.format(high)}"
    return form.format(estimate.total), between if high == high else "-"  # noqa: PLR0124  NaN
