"""The closing tables of a run, with its failures and its calls."""

from collections.abc import Collection, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spanjury.judges.core import Decision, Outcome, StopReason, Usage, one_line
from spanjury.orchestration.engine.summary import Risk, Row, Summary

_REASONS = 3
"""The most reasons for missing scores that are shown."""
_GRAVEST_FIRST = (Decision.FAULTY, Decision.UNSURE, Decision.OK)


def summary_view(summary: Summary) -> RenderableType:
    """Show means with their coverage, failures, and the tokens of each judge."""
    return Group(
        _means(summary),
        *_risks(summary),
        *_hint(summary),
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
    for heading in ("faulty /\nunsure", "decided", "mean\nscore", "coverage", "spans\n/ text"):
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


def _cells(row: Row) -> tuple[str, ...]:
    return (
        _shares(row),
        "-" if row.decided is None else f"{row.decided:.0%}",
        "-" if row.mean is None else f"{row.mean:.2f}",
        f"{row.coverage:.0%} ({row.scored}/{row.total})",
        "-" if row.spans_per_text is None else f"{row.spans_per_text:.2f}",
    )


def _shares(row: Row) -> str:
    """Return the shares of the decisions that are faulty and unsure."""
    faulty, unsure = row.share(Decision.FAULTY), row.share(Decision.UNSURE)
    return "-" if faulty is None else f"{faulty:.0%} / {unsure:.0%}"


def _risks(summary: Summary) -> Iterator[RenderableType]:
    """Say how often the decisions are wrong, as far as that is known."""
    by_origin: dict[str, dict[Decision, Risk]] = {}
    for risk in summary.risks:
        if risk.share is not None:
            by_origin.setdefault(risk.measured_on, {})[risk.decision] = risk
    for texts, risks in by_origin.items():
        called = ", ".join(
            risks[decision].words for decision in _GRAVEST_FIRST if decision in risks
        )
        what = "Misses" if Decision.OK in risks else "False alarms"
        yield Text(f"{what} on {texts}: {called}.", "dim")
    yield from _unknown(summary, "The false-alarm rate", {Decision.UNSURE, Decision.FAULTY})
    yield from _unknown(summary, "The miss rate", {Decision.OK})


def _unknown(
    summary: Summary, rate: str, decisions: Collection[Decision]
) -> Iterator[RenderableType]:
    made = {risk: count for risk, count in summary.risks.items() if risk.decision in decisions}
    unknown = sum(count for risk, count in made.items() if risk.share is None)
    if unknown:
        count = sum(made.values())
        words = " or ".join(decision.value for decision in _GRAVEST_FIRST if decision in decisions)
        which = "" if unknown == count else f" for {unknown} of {count} {words} results"
        yield Text(
            f"{rate} is unknown{which}, because it was not measured for these judges.", "dim"
        )


def _hint(summary: Summary) -> Iterator[RenderableType]:
    """Say who can decide what these judges cannot."""
    unsure = summary.whole.decisions[Decision.UNSURE]
    if unsure and not any(usage.calls for usage in summary.usage.values()):
        texts = "1 text is" if unsure == 1 else f"{unsure} texts are"
        yield Text(f"{texts} unsure: add --model NAME or another judge to decide.")


def _failures(summary: Summary) -> Iterator[RenderableType]:
    """Count the assessments without a score, and the failed seats."""
    unscored = summary.whole.total - summary.whole.scored
    if unscored:
        counts = _counted((o.value, n) for o, n in summary.outcomes.items() if o != Outcome.SCORED)
        total = summary.whole.total
        yield Text(f"{unscored} of {total} assessments have no score: {counts}", "magenta")
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
        for seat, missed in sorted(summary.unasked.items(), key=lambda item: item[1])
    )
    yield Text(f"Some seats were asked about only part of the {total} assessments: {asked}.")
    words = {
        StopReason.SURE: "because the seats before were sure",
        StopReason.SETTLED: "because no other seat could move the score across the cutoff",
        StopReason.BUDGET: "because the budget was spent",
    }
    reasons = _counted((words[why], count) for why, count in summary.stops.most_common())
    yield Text(f"The cascade stopped early: {reasons}.", "dim")


def _counted(counts: Iterator[tuple[str, int]] | list[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts)


def _usage(summary: Summary) -> Iterator[RenderableType]:
    """Show the tokens of each judge, if any of them asks a model."""
    asking = {seat: usage for seat, usage in summary.usage.items() if usage != Usage()}
    if not asking:
        return
    title = "Tokens used by the judges (cached replies: what they cost when first made)"
    table = Table(title_justify="left", title=title)
    table.add_column("judge", overflow="fold")
    for heading in ("calls", "prompt", "cached", "completion", "reasoning"):
        table.add_column(heading, justify="right")
    for seat, usage in asking.items():
        counts = (usage.calls, usage.prompt, usage.cached, usage.completion, usage.reasoning)
        table.add_row(seat, *(f"{count:,}" for count in counts))
    yield table
