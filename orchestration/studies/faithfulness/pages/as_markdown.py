"""A faithfulness exam's findings as a page to read."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.studies.faithfulness.averages import averages
from spanjury.orchestration.studies.faithfulness.cautions import cautions
from spanjury.orchestration.studies.faithfulness.findings import Finding, Findings
from spanjury.orchestration.studies.faithfulness.pages.markdown_tables import (
    average_table,
    consistency_table,
    control_table,
    fate_table,
    finding_table,
)
from spanjury.orchestration.studies.faithfulness.pages.rescoring_methods import methods, outcomes
from spanjury.orchestration.studies.faithfulness.score_arrays import ScoreArrays
from spanjury.orchestration.studies.markdown_rows import head, row

__all__ = ["findings_markdown"]

_READING = (
    "A report's error list was changed and the judge asked for the score that follows. **Printed** "
    "is the share of changed scores over all reports, as the paper prints it: reports whose list "
    "could not be changed count as unchanged, lost scores as changed. **With errors** leaves out "
    "reports without errors, **with room** also those whose list came out as it was and those "
    "whose score was at that end of the scale already. *Toward* is the share that moved as it "
    "should, among those with room. *Against* is the share that moved the other way, among those "
    "with room to move that way: a score at the floor cannot fall, but it can rise. Brackets are "
    "95 % intervals over texts that are resampled."
)
_CONTROL = (
    "The null control asks for the score of the unchanged list again. What changes there is no "
    "effect of any list; the columns *minus control* subtract it report by report, the mean of "
    "both where it was repeated. p is that of McNemar's exact test (one-sided, not corrected for "
    "the number of treatments). It compares with the first control alone, for the mean of two "
    "draws is no single draw, with which another one could be compared by the flip of a coin."
)
_STEPS = (
    "*Reverted*: one step of severity changed the score and two steps did not. *Broad* is the "
    "authors' count: anything but a score that never moves, that both move as they should, or "
    "that two steps only move as they should. Shares are over reports that list errors."
)

_WRITTEN = "The rest is done by rules, and so is the new explanation of an error that had none."
_FATES = (
    "Reports whose score was not asked for. Where the list cannot be changed, the score stands and "
    "counts as unchanged; the others are in no share."
)
_HEAD = 2
"""Lines of a table without rows."""


def findings_markdown(findings: Findings, *, data: str, pictures: Sequence[str] = ()) -> str:
    """Write a page.

    Parameters
    ----------
    findings
        What an exam came to.
    data
        What it was held on.
    pictures
        Names of files beside the page.

    Returns
    -------
    str
        Markdown that ends in a line feed; the same for the same findings.
    """
    return "\n".join(_lines(findings, data=data, pictures=pictures)) + "\n"


def _lines(findings: Findings, *, data: str, pictures: Sequence[str]) -> Iterator[str]:
    judges = dict.fromkeys(one.judge for one in findings.score_arrays)
    yield from (
        "# Faithfulness",
        "",
        f"Data: {code_span(data)}. Judges: {markdown(', '.join(judges))}.",
        "",
    )
    yield from _writers(findings.findings)
    yield from _cautions(findings)
    yield from (_READING, "")
    yield from ("## By dataset", "", "Unweighted means over aspects.", "")
    yield from average_table(averages(findings.findings))
    yield from ("", "## Null control", "", _CONTROL, "")
    yield from control_table(findings.findings)
    yield from ("", "## By aspect", "")
    yield from finding_table(findings.findings)
    yield from _fates(findings.findings)
    if findings.consistencies:
        yield from ("", "## One step and two", "", _STEPS, "")
        yield from consistency_table(findings.consistencies)
    yield from _protocol(findings.score_arrays)
    for picture in pictures:
        yield from ("", f"![{markdown(picture.partition('.')[0])}]({quote(picture)})")


def _writers(findings: Sequence[Finding]) -> Iterator[str]:
    """Say who wrote what, if not all was done by rules."""
    written: dict[str, dict[str, None]] = {}
    for one in findings:
        if one.written_by:
            written.setdefault(one.written_by, {})[one.condition] = None
    for writer, conditions in written.items():
        names = markdown(", ".join(conditions))
        yield f"Explanations written by {code_span(writer)}: {names}. {_WRITTEN}"
        yield ""


def _fates(findings: Sequence[Finding]) -> Iterator[str]:
    table = [*fate_table(findings)]
    if len(table) > _HEAD:
        yield from ("", "## Not rescored", "", _FATES, "", *table)


def _cautions(findings: Findings) -> Iterator[str]:
    told = cautions(findings)
    if told:
        yield from ("## Beware", "", *(f"- {markdown(caution)}" for caution in told), "")


def _protocol(score_arrays: Sequence[ScoreArrays]) -> Iterator[str]:
    """Say by which road scores came about, and how rescorings ended."""
    yield from ("", "## How scores came about", "")
    yield from head("judge", "road", "outcome of rescorings")
    by_method, ended = methods(score_arrays), outcomes(score_arrays)
    for judge, told in ended.items():
        yield row(judge, _counts(by_method[judge]), _counts(told))


def _counts(told: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(told.items())) or "not recorded"
