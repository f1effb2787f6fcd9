"""An exam's findings as a page to read."""

import math
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.studies.discernment.findings import Finding, Findings
from spanjury.orchestration.studies.discernment.pages.markdown_tables import (
    condition_table,
    control_table,
    coverage_table,
    left_out_table,
    matrix_table,
    overall_table,
    steadiness_table,
)
from spanjury.orchestration.studies.discernment.verdicts import (
    Verdict,
    cautions,
    is_harmless,
    verdict,
)
from spanjury.orchestration.studies.judging import Examinee

__all__ = ["findings_markdown"]

_READING = (
    "D is the logarithm of a p-value to the base .05: 0 for p = 1, 1 for p = .05, 2 for .0025. It "
    "says how sure it is that scores fall, not how far. It grows with the number of texts: never "
    "compare it across numbers of texts. Compare effects."
    "\n\n"
    "D = 1 may be little: as printed by the paper (mode `paper`), 3 of 100 texts that lose one "
    "step, while none gains one, give 1.06; by the exact test they give .69. The minimum is low by "
    "chance alone, the lower the more treatments there are; and of twenty treatments that a judge "
    "does not see, about one passes D = 1."
)


def findings_markdown(
    findings: Findings,
    *,
    examinee: Examinee,
    data: str,
    recipe: str,
    pictures: Sequence[str] = (),
) -> str:
    """Return a page that tells what an exam came to.

    Parameters
    ----------
    findings
        What it came to.
    examinee
        Who was examined.
    data, recipe
        On which texts, and how they were damaged.
    pictures
        Paths or addresses of pictures to show, as seen from the page.
    """
    sections = (
        _head(findings, examinee=examinee, data=data, recipe=recipe),
        _section("What it discerns", _verdicts(findings)),
        _section("Discernment", _overall(findings)),
        _section("Read with care", _care(findings)),
        _section("Treatment by treatment", _conditions(findings)),
        _section("Which scores fall", _matrix(findings)),
        _section("What should not move", _steadiness(findings)),
        _section(
            "Scores that are there", coverage_table(findings.findings, aspects=_aspects(findings))
        ),
        _section("Texts left out", _left_out(findings)),
        _section("Pictures", (f"![]({quote(picture)})" for picture in pictures)),
    )
    return "\n".join(line for section in sections for line in section)


def _head(findings: Findings, *, examinee: Examinee, data: str, recipe: str) -> Iterator[str]:
    settings = findings.settings
    mode = f"`{settings.mode}`, test `{settings.test}`" if settings.test else f"`{settings.mode}`"
    yield "# Discernment exam"
    yield ""
    yield from _bullets(
        (
            f"judge: {code_span(examinee.signature)}",
            *(f"seat {markdown(name)}: {code_span(told)}" for name, told in examinee.seats.items()),
            f"data: {code_span(data)}, {findings.segments} texts",
            f"recipe: {code_span(recipe)}, {len(findings.findings)} treatments",
            f"judged: {_times(findings.repeats)}, on {markdown(', '.join(_aspects(findings)))}",
            f"mode: {mode}, seed {settings.seed}, {settings.draws} bootstrap draws",
        )
    )
    yield ""


def _verdicts(findings: Findings) -> Iterator[str]:
    """Say in words which conditions the judge sees, and which not."""
    told: dict[Verdict, list[str]] = {}
    for finding in findings.findings:
        told.setdefault(verdict(finding), []).append(finding.condition)
    for kind, words in (
        (Verdict.DISCERNED, "Scores fall, as they should (D of 1 or more), after"),
        (Verdict.ELSEWHERE, "Scores fall, but not on the aspects that were damaged, after"),
        (Verdict.NOT_SHOWN, "It is not shown that scores fall after"),
        (Verdict.REWARDED, "Scores **rise** on a damaged aspect after"),
        (Verdict.UNSCORED, "There are no scores, or no D, where it matters, after"),
        (Verdict.NOT_DONE, "No text could be damaged by"),
        (Verdict.STEADY, "Scores stay where they were, as they should, after"),
        (Verdict.MOVED, "Scores **move** although the text did not get worse, after"),
        (Verdict.UNDECIDED, "It is not decided whether scores stay where they were after"),
    ):
        if names := told.get(kind):
            yield f"- {words} ({len(names)}): {markdown(', '.join(names))}."


def _overall(findings: Findings) -> Iterator[str]:
    yield from overall_table(findings)
    counted = len(findings.findings) - findings.overall.missing
    yield ""
    yield (
        f"Treatments with a D: {counted}. "
        "Those after which no score should fall are not among them."
    )


def _care(findings: Findings) -> Iterator[str]:
    if told := cautions(findings):
        yield from _bullets(map(markdown, told))
        yield ""
    yield _READING


def _conditions(findings: Findings) -> Iterator[str]:
    most = math.log(findings.settings.draws + 1, 20)
    yield from condition_table(_harmful(findings))
    yield ""
    yield (
        "*Without small weights*: experts' weights under .2 set to 0; where D then changes much, "
        "it hung on aspects that were hardly damaged. *Joint*: one test of the damaged aspects "
        f"together; with {findings.settings.draws} draws it ends at {most:.2f}. *Contrast*: D on "
        "the damaged aspects less D on the others. *Hits*: places of damage that a span overlaps "
        "which the clean text did not get, and as many as the same spans would hit anywhere. "
        "*Precision*: share of what these spans mark that is damage. Intervals are of 95 %."
    )


def _matrix(findings: Findings) -> Iterator[str]:
    yield from matrix_table(findings.findings, aspects=_aspects(findings))
    yield ""
    yield (
        "P(drop) - P(rise): 1 if every score falls, 0 if as many rise. **Bold**: should fall. "
        "`=`: should stay. Others may do anything."
    )


def _steadiness(findings: Findings) -> Iterator[str]:
    yield "The clean texts, judged a second time (control):"
    yield ""
    yield from control_table(findings.control)
    yield ""
    yield "Aspects that a treatment should leave alone, as far as there are scores:"
    yield ""
    yield from steadiness_table(findings.findings)
    yield ""
    yield (
        "*Equivalent*: the mean is shown to move by less than half a step of the scale. "
        "*Different*: that is not shown, and it does move. *Undecided*: too few texts to tell. "
        "Drops are in steps of the scale."
    )


def _left_out(findings: Findings) -> Iterator[str]:
    if any(finding.skipped for finding in findings.findings):
        yield from left_out_table(findings.findings)


def _harmful(findings: Findings) -> list[Finding]:
    return [finding for finding in findings.findings if not is_harmless(finding)]


def _aspects(findings: Findings) -> tuple[str, ...]:
    return tuple(cell.aspect for cell in findings.control)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a section, if there is anything in it."""
    body = list(lines)
    if body:
        yield from (f"## {title}", "", *body, "")


def _bullets(sentences: Iterable[str]) -> Iterator[str]:
    return (f"- {sentence}" for sentence in sentences)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
