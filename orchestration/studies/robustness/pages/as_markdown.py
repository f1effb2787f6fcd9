"""A robustness exam's findings as a page to read."""

from collections.abc import Iterator, Sequence

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.markdown_rows import head, row
from spanjury.orchestration.studies.robustness.cautions import cautions
from spanjury.orchestration.studies.robustness.findings import Count, Finding, Findings
from spanjury.orchestration.studies.robustness.pages.figures import between, figure

__all__ = ["findings_markdown"]

_COLUMNS = (
    "with room",
    "success",
    "95 %",
    "rose",
    "spans vanished",
    "denied",
    "fell",
    "plain addition",
    "net",
    "95 %",
)


def findings_markdown(findings: Findings, *, examinee: Examinee, data: str, recipe: str) -> str:
    """Write a page.

    Parameters
    ----------
    findings
        What an exam came to.
    examinee
        Who was examined.
    data, recipe
        On which texts, and how they were damaged before; an empty recipe for not at all.

    Returns
    -------
    str
        Markdown that ends in a line feed; the same for the same findings.
    """
    return "\n".join(_lines(findings, examinee=examinee, data=data, recipe=recipe)) + "\n"


def _lines(findings: Findings, *, examinee: Examinee, data: str, recipe: str) -> Iterator[str]:
    yield from (
        "# Robustness",
        "",
        f"{findings.texts} texts of {code_span(data)}. {_flaws(recipe)}",
        "",
    )
    yield from (
        f"- {markdown(name)}: {code_span(signature)}" for name, signature in examinee.seats.items()
    )
    yield ""
    if sentences := cautions(findings):
        yield from ("## Beware", "", *(f"- {markdown(sentence)}" for sentence in sentences), "")
    yield from (_reading(findings), "")
    yield from ("## By judge", "")
    yield from _table("judge", [(f.judge, f) for f in map(findings.overall, findings.judges)])
    for judge in findings.judges:
        yield from ("", f"## Judge: {markdown(judge)}", "")
        yield from _table("family", _named(findings.of(judge, "family", "control")))
        yield ""
        yield from _table("aspect", _named(findings.of(judge, "aspect")))
        yield ""
        yield from _table("attack", _named(findings.of(judge, "attack")))


def _flaws(recipe: str) -> str:
    if not recipe:
        return "They were attacked as they are."
    return f"Each was damaged before the attacks, by all rules of the recipe {code_span(recipe)}."


def _reading(findings: Findings) -> str:
    settings = findings.settings
    return (
        "An attack adds to a text or its inputs what makes the text no better. It **succeeds** "
        f"where the score rises by {settings.step:g} of a step of its scale or more, or where "
        f"{settings.share:.0%} or more of the spans that were marked without it are marked no "
        "longer and the score does not fall. *With room* are the attempts where one of both could "
        "happen. *Denied* are those that left no score; they count among the attempts, and not as "
        "success. A score that *fell* is no success. *Plain addition* is the success of sentences "
        "that say nothing, about as long and in the same place; *net* is the difference. Intervals "
        "are over sources: attacks on one text are not independent."
    )


def _named(findings: Sequence[Finding]) -> list[tuple[str, Finding]]:
    """Name the findings that are on any text with a score; a seat may abstain on an aspect."""
    return [
        (f"{finding.name} ({finding.family})" if finding.family else finding.name, finding)
        for finding in findings
        if finding.denied.of
    ]


def _table(what: str, rows: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    yield from head(what, *_COLUMNS)
    for name, finding in rows:
        yield row(name, *_cells(finding))


def _cells(finding: Finding) -> Iterator[str]:
    success, net = finding.success, finding.net
    yield str(success.trials)
    yield figure(success.value)
    yield between(success.low, success.high)
    for count in (finding.rose, finding.vanished, finding.denied, finding.fell):
        yield _of(count)
    yield figure(finding.control)
    yield figure(net.value, signed=True)
    yield between(net.low, net.high)


def _of(count: Count) -> str:
    return f"{count.hits} of {count.of}"
