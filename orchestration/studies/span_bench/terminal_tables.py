"""Terminal tables: two or three of a set, in eighty columns."""

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
_SCORES: Figures = MappingProxyType(
    {
        "AUROC": "score.auroc",
        f"≤{FALSE_ALARMS:.0%}": "score.caught",
        "flags": "flagged.error_free",
        "alarms": "faulty.false_alarms",
        "caught": "faulty.caught",
        "acc.": "faulty.balanced_accuracy",
    }
)
_PROBABILITY: Figures = MappingProxyType({"P": "probability.auroc"})
_PEOPLE: Figures = MappingProxyType({"Spearman": "people.spearman"})


def terminal_reading() -> str:
    """Return what the figures of a terminal mean."""
    return (
        "n: texts judged. F1, precision, recall: of characters, over the whole set; words: F1 of "
        "words; hit: share of the places marked by people that a span touches. AUROC: how often a "
        "text with an error has the worse score of two, .5 is chance; then the share of texts with "
        f"errors below the best threshold with at most {FALSE_ALARMS:.0%} false alarms, which is "
        "optimistic. Flags: share of error-free texts with any span; alarms, caught and balanced "
        "accuracy: of the decision faulty; P: AUROC of the estimated probability of an error. New "
        "words: every word of meaning that the input lacks. "
        "Intervals are of 95 %, by source."
    )


def terminal_tables(one: SetFindings) -> Iterator[Table]:
    """Yield what a terminal shows of a set."""
    if one.has_marks:
        yield _table(one, _SPANS, title=f"{one.name}: {one.scope}")
    if one.is_decided:
        likely = any(finding.has("probability.auroc") for finding in one.judges)
        figures = {**_SCORES, **(_PROBABILITY if likely else {})}
        title = f"{one.name}: scores and decisions"
        yield _table(one, figures, title=title, counted=not one.has_marks)
    if one.rated:
        yield _table(one, _PEOPLE, title=f"{one.name}: agreement with people's scores")


def _table(one: SetFindings, figures: Figures, *, title: str, counted: bool = True) -> Table:
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
            for finding in one.judges
        ),
        title=title,
        only="terminal",
    )


def _brief(estimate: Estimate, *, interval: bool) -> Cell:
    bounds = (estimate.low, estimate.high) if interval else None
    return Cell(estimate.value, _BRIEF, interval=bounds)
