"""An exam's findings on a terminal: a table, and what to beware of."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spanjury.orchestration.studies.discernment.findings import Finding, Findings
from spanjury.orchestration.studies.discernment.verdicts import (
    Verdict,
    cautions,
    figure,
    strongest,
    verdict,
)

__all__ = ["findings_view"]

_STYLES = {
    Verdict.DISCERNED: "green",
    Verdict.STEADY: "green",
    Verdict.REWARDED: "red",
    Verdict.MOVED: "red",
    Verdict.ELSEWHERE: "yellow",
    Verdict.UNSCORED: "magenta",
    Verdict.NOT_DONE: "magenta",
}


def findings_view(findings: Findings) -> RenderableType:
    """Show what an exam came to, in 80 characters' width: conditions, averages, cautions."""
    told = (Text(f"- {caution}", "magenta") for caution in cautions(findings))
    return Group(_conditions(findings), *_averages(findings), *told)


def _conditions(findings: Findings) -> RenderableType:
    title = f"Discernment of {findings.segments} texts, mode {findings.settings.mode}"
    table = Table(title_justify="left", title=title, pad_edge=False)
    table.add_column("treatment", overflow="fold")
    for heading in ("texts", "D", "D w."):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("strongest effect", overflow="fold", max_width=18)
    table.add_column("hits", justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", max_width=12)
    for finding in findings.findings:
        table.add_row(*_cells(finding))
    table.caption = (
        "D: 1 is p = .05; w.: with experts' weights. Effect: P(drop) - P(rise). "
        "Hits: places of damage marked."
    )
    return table


def _cells(finding: Finding) -> Iterator[Text]:
    cell, came_to = strongest(finding), verdict(finding)
    yield Text(finding.condition)
    yield Text(str(finding.damaged))
    yield Text(figure(finding.discernment))
    yield Text(figure(finding.weighted))
    yield Text(f"{cell.effects.net_drop:+.2f} {cell.aspect}" if cell else "-")
    yield Text(figure(finding.localisation.hit_rate, ".0%"))
    yield Text(came_to.value, _STYLES.get(came_to, ""))


def _averages(findings: Findings) -> Iterator[RenderableType]:
    for name, balanced in (("D", findings.overall), ("D w.", findings.weighted)):
        levels = ", ".join(f"{level} {figure(score)}" for level, score in balanced.by_level)
        yield Text(
            f"{name}: average {figure(balanced.average)} ({levels}); "
            f"minimum {figure(balanced.minimum)}",
            "bold",
        )
