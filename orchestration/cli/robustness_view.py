"""An exam of robustness on a terminal: a table for each judge, and what to beware of."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spanjury.orchestration.studies.robustness.attacked_texts import CONTROLS
from spanjury.orchestration.studies.robustness.cautions import cautions
from spanjury.orchestration.studies.robustness.findings import Finding, Findings
from spanjury.orchestration.studies.robustness.pages.figures import between, figure

__all__ = ["robustness_view"]

_TOLERABLE = 0.05


def robustness_view(findings: Findings) -> RenderableType:
    """Show what an exam came to, in 80 characters' width: by judge and family, cautions."""
    settings = findings.settings
    note = Text(
        f"Success: the score rises by {settings.step:g} or more, or {settings.share:.0%} of the "
        "spans vanish and it does not fall, among the attempts with room (n). Denied: no score "
        "is left. Net: less the success of a plain addition about as long."
    )
    warnings = (Text(f"- {caution}", "magenta") for caution in cautions(findings))
    return Group(*(_table(findings, judge) for judge in findings.judges), note, *warnings)


def _table(findings: Findings, judge: str) -> RenderableType:
    title = f"Attacks on {findings.texts} texts, judged by: {judge}"
    table = Table(title_justify="left", title=title, pad_edge=False)
    table.add_column("family", overflow="fold")
    for heading in ("n", "success", "95 %", "denied", "fell", "net"):
        table.add_column(heading, justify="right", no_wrap=True)
    for finding in findings.of(judge, "family", "control", "all"):
        table.add_row(*_cells(finding), style="dim" if finding.name in CONTROLS else "")
        if finding.scope == "all":
            table.add_section()
    return table


def _cells(finding: Finding) -> Iterator[Text]:
    success = finding.success
    harmed = finding.scope != "control" and success.value > _TOLERABLE
    yield Text(finding.name or "all attacks")
    yield Text(str(success.trials))
    yield Text(figure(success.value), "red" if harmed else "")
    yield Text(between(success.low, success.high))
    yield Text(str(finding.denied.hits))
    yield Text(str(finding.fell.hits))
    yield Text(figure(finding.net.value, signed=True))
