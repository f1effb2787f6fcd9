"""Terminal tables: three or four of a set, in eighty columns."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from spanjury.orchestration.report import Cell, Column, Table, numeric, row, table
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate
from spanjury.orchestration.studies.span_bench.figures import FALSE_ALARMS
from spanjury.orchestration.studies.span_bench.findings import SetFindings
from spanjury.orchestration.studies.span_bench.values import answered

Figures = Mapping[str, str]
"""Heading of a column -> name of the figure in it."""

_BRIEF = "~.2f"
_SPANS: Figures = MappingProxyType(
    {
        "F1": "characters.f1",
        "prec.": "characters.precision",
        "recall": "characters.recall",
        "words": "words.f1",
        "hit": "places.hit",
    }
)
_DECISIONS: Figures = MappingProxyType(
    {
        "balanced acc.": "decision.balanced_accuracy",
        "sure": "decision.decided",
        "miss": "decision.vouched_misses",
        "alarms": "faulty.false_alarms",
        "right": "decision.of_decided",
    }
)
_SCORES: Figures = MappingProxyType(
    {"AUROC": "score.auroc", "flags": "flagged.error_free", f"≤{FALSE_ALARMS:.0%}": "score.caught"}
)
_PROBABILITY: Figures = MappingProxyType(
    {
        "AUROC of P": "probability.auroc",
        "ECE": "probability.ece",
        "balanced": "probability.balanced_ece",
    }
)
_PEOPLE: Figures = MappingProxyType({"Spearman": "people.spearman"})


def terminal_reading() -> str:
    """Return what the figures of a terminal mean."""
    return (
        "n: texts judged. Balanced accuracy: of the decision at the better cut, the decisions that "
        "count as an error; sure: ok or faulty; miss: share of the texts with errors that are "
        "ok; alarms: share of those without that are faulty; right: balanced accuracy on sure "
        "texts. AUROC: how often a text with an error has the worse score, or the greater "
        "P(error), of two; 0.5 is chance. ECE, plain and balanced: distance of P(error) from the "
        "observed rate. Flags: share of error-free texts with any span; then the share of texts "
        f"with errors below the best threshold with at most {FALSE_ALARMS:.0%} false alarms, "
        "which is optimistic. F1, precision, recall: of characters, over the whole set; words: F1 "
        "of words; hit: share of the places marked by people that a span touches. New words: every "
        "content word that the input lacks. Intervals are 95 %, by source."
    )


def terminal_tables(findings: SetFindings) -> Iterator[Table]:
    """Yield what a terminal shows of a set."""
    if findings.is_decided:
        yield _decisions(findings, title=f"{findings.name}: {findings.scope}")
        likely = any(finding.has("probability.auroc") for finding in findings.judges)
        figures = {**_SCORES, **(_PROBABILITY if likely else {})}
        yield _table(findings, figures, title=f"{findings.name}: scores", counted=False)
    if findings.has_marks:
        yield _table(findings, _SPANS, title=f"{findings.name}: spans")
    if findings.rated:
        yield _table(findings, _PEOPLE, title=f"{findings.name}: agreement with people's scores")


def _decisions(findings: SetFindings, *, title: str) -> Table:
    """Return the table of decisions, with the cut of each judge."""
    first, *others = _DECISIONS.values()
    heading, *headings = _DECISIONS
    return table(
        [
            Column("judge", wrap=False),
            *numeric("n", heading),
            Column("at", wrap=False),
            *numeric(*headings),
        ],
        (
            row(
                finding.judge,
                finding.coverage.texts[0],
                _brief(finding.figures[first], interval=True),
                finding.cut,
                *(_brief(finding.figures[name], interval=False) for name in others),
                faint=finding.role == "baseline",
            )
            for finding in findings.judges
        ),
        title=title,
        only="terminal",
    )


def _table(findings: SetFindings, figures: Figures, *, title: str, counted: bool = True) -> Table:
    """Return a table that fits on a terminal: only its first figure has its interval.

    Where the texts are not `counted`, the table before it has done so.
    """
    first, *others = figures.values()
    return table(
        [Column("judge", wrap=False), *numeric(*(["n"] if counted else []), *figures)],
        (
            row(
                finding.judge,
                *([answered(first, finding.coverage)[0]] if counted else []),
                _brief(finding.figures[first], interval=True),
                *(_brief(finding.figures[name], interval=False) for name in others),
                faint=finding.role == "baseline",
            )
            for finding in findings.judges
        ),
        title=title,
        only="terminal",
    )


def _brief(estimate: Estimate, *, interval: bool) -> Cell:
    bounds = (estimate.low, estimate.high) if interval else None
    return Cell(estimate.value, _BRIEF, interval=bounds)
