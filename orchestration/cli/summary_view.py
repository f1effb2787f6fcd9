"""The closing tables of a run, with its failures and its calls."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spanjury.judges.core import Decision, Outcome, StopReason, Usage, one_line
from spanjury.orchestration.engine.summary import Row, Summary

_REASONS = 3
"""The most reasons for missing scores that are shown."""


def summary_view(summary: Summary) -> RenderableType:
    """Show means with their coverage, failures, and the tokens of each judge."""
    return Group(
        _means(summary),
        *_alarms(summary),
        *_failures(summary),
        *_unasked(summary),
        *_usage(summary),
    )


def _means(summary: Summary) -> RenderableType:
    """Show decisions, mean score, coverage and spans, by aspect and by system."""
    table = Table(title_justify="left", title="Mean scores")
    table.add_column("aspect", overflow="fold")
    with_systems = any(system for _, _, system in summary.rows)
    if with_systems:
        table.add_column("system", overflow="fold")
    for heading in ("faulty /\ndoubtful", "mean\nscore", "coverage", "spans\n/ text"):
        table.add_column(heading, justify="right", no_wrap=True)  # names give way, figures do not
    tasks = {task for task, _, _ in summary.rows}
    for (task, aspect), whole in summary.by_aspect().items():
        name = aspect if len(tasks) == 1 else f"{task}: {aspect}"
        if not with_systems:
            table.add_row(name, *_cells(whole))
            continue
        systems = _systems(summary, (task, aspect))
        table.add_row(name, "all" if len(systems) > 1 else next(iter(systems)), *_cells(whole))
        if len(systems) > 1:
            for system, row in sorted(systems.items()):
                table.add_row("", system, *_cells(row), style="dim")
    return table


def _systems(summary: Summary, key: tuple[str, str]) -> dict[str, Row]:
    return {system: row for (*aspect, system), row in summary.rows.items() if (*aspect,) == key}


def _cells(row: Row) -> tuple[str, str, str, str]:
    return (
        _shares(row),
        "-" if row.mean is None else f"{row.mean:.2f}",
        f"{row.coverage:.0%} ({row.scored}/{row.total})",
        "-" if row.spans_per_text is None else f"{row.spans_per_text:.2f}",
    )


def _shares(row: Row) -> str:
    """Return the shares of the decisions that are faulty and doubtful."""
    faulty, doubtful = row.share(Decision.FAULTY), row.share(Decision.DOUBTFUL)
    return "-" if faulty is None else f"{faulty:.0%} / {doubtful:.0%}"


def _alarms(summary: Summary) -> Iterator[RenderableType]:
    """Say how often the decisions blame a text without error, as far as that is known."""
    shares: dict[str, dict[str, float]] = {}
    for alarm in summary.alarms:
        if alarm.rate is not None:
            graver = "doubtful or faulty" if alarm.decision is Decision.DOUBTFUL else "faulty"
            shares.setdefault(alarm.measured_on, {})[graver] = alarm.rate
    for texts, rates in shares.items():
        called = ", ".join(
            f"{rate:.0%} {word}" for word, rate in sorted(rates.items(), reverse=True)
        )
        yield Text(f"False alarms on {texts}: {called}.", "dim")
    unknown = sum(count for alarm, count in summary.alarms.items() if alarm.rate is None)
    if unknown:
        count = summary.alarms.total()
        which = "" if unknown == count else f" for {unknown} of {count} faulty or doubtful"
        reason = "no threshold was measured for these judges"
        yield Text(f"False-alarm rate not known{which}: {reason}.", "dim")


def _failures(summary: Summary) -> Iterator[RenderableType]:
    """Count the assessments without a score, and the failed seats."""
    unscored = summary.whole.total - summary.whole.scored
    if unscored:
        counts = _counted((o.value, n) for o, n in summary.outcomes.items() if o != Outcome.SCORED)
        yield Text(f"{unscored} of {summary.whole.total} without a score: {counts}", "magenta")
        for reason, count in summary.reasons.most_common(_REASONS):
            yield Text(f"  {count} x {one_line(reason)}", "dim")
    for seat, outcomes in summary.seats.items():
        failed = [
            (outcome.value, count)
            for outcome, count in outcomes.items()
            if outcome not in {Outcome.SCORED, Outcome.ABSTAINED}
        ]
        if failed:
            yield Text(
                f"seat {one_line(seat)}: {_counted(failed)} of {outcomes.total()}", "magenta"
            )


def _unasked(summary: Summary) -> Iterator[RenderableType]:
    """Count how often each seat was asked, where a cascade did not ask all, and why not."""
    total = summary.whole.total
    if not summary.unasked:
        return
    asked = ", ".join(
        f"{one_line(seat)} {total - missed} ({(total - missed) / total:.0%})"
        for seat, missed in sorted(summary.unasked.items(), key=lambda one: one[1])
    )
    yield Text(f"Of {total} assessments, these seats were asked of a part: {asked}.")
    words = {
        StopReason.SURE: "since the seats before were sure",
        StopReason.SETTLED: "since no other could bring the score over the cutoff or below it",
        StopReason.BUDGET: "since the budget was spent",
    }
    reasons = _counted((words[why], count) for why, count in summary.stops.most_common())
    yield Text(f"No more seats were asked of {reasons}.", "dim")


def _counted(counts: Iterator[tuple[str, int]] | list[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts)


def _usage(summary: Summary) -> Iterator[RenderableType]:
    """Show the tokens of each judge, if any of them asks a model."""
    asking = {seat: usage for seat, usage in summary.usage.items() if usage != Usage()}
    if not asking:
        return
    title = "What the judges took, in tokens (what was remembered: what it cost then)"
    table = Table(title_justify="left", title=title)
    table.add_column("judge", overflow="fold")
    for heading in ("calls", "prompt", "cached", "completion", "reasoning"):
        table.add_column(heading, justify="right")
    for seat, usage in asking.items():
        counts = (usage.calls, usage.prompt, usage.cached, usage.completion, usage.reasoning)
        table.add_row(seat, *(f"{count:,}" for count in counts))
    yield table
