"""Tables: a bench's findings as they are read."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Column,
    Paragraph,
    Prose,
    Report,
    Section,
    Table,
    code,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.span_bench.figures import FALSE_ALARMS
from spanjury.orchestration.studies.span_bench.findings import Findings, SetFindings, cautions
from spanjury.orchestration.studies.span_bench.set_page import (
    Figures,
    figure_cell,
    of,
    set_page,
)
from spanjury.orchestration.studies.span_bench.values import answered

_OVERVIEW: Figures = MappingProxyType(
    {
        "balanced accuracy": "decision.balanced_accuracy",
        "decided": "decision.decided",
        "vouched misses": "decision.vouched_misses",
        "false alarms": "faulty.false_alarms",
        "AUROC of score": "score.auroc",
        "AUROC of P(error)": "probability.auroc",
        "ECE": "probability.ece",
        "balanced ECE": "probability.balanced_ece",
        "F1": "characters.f1",
        "Spearman": "people.spearman",
    }
)


def bench_report(findings: Findings, *, examinee: Examinee, data: Sequence[str]) -> Report:
    """Return `findings` as a report; a terminal shows two tables a set, a page everything."""
    sentences = cautions(findings)
    return Report(
        title="Span bench",
        facts=[
            prose("texts of {}", code(", ".join(data))),
            *(prose("{}: {}", name, code(seat)) for name, seat in examinee.seats.items()),
        ],
        sections=[
            Section("Beware", [Bullets(sentences)], only="page"),
            Paragraph(_reading(findings.settings.confidence), only="page"),
            Section("Overview", [_overview(findings)], only="page"),
            *(set_page(each) for each in findings.sets),
            *(block for each in findings.sets for block in terminal_tables(each)),
            Paragraph(terminal_reading(), only="terminal"),
            Bullets(sentences, tone="caution", only="terminal"),
        ],
    )


def _reading(confidence: float) -> Prose:
    return prose(
        "People marked the errors of these texts. **Balanced accuracy** is the mean of the shares "
        "of texts with and without errors that the decision gets right; the column *cut* says "
        "which decisions count as *has an error*: the better of *faulty* alone and whatever is "
        "*not ok*, on these texts. *Decided* is the share of the texts that are ok or faulty; "
        "*vouched misses* are the texts with errors that are ok, *false alarms* those without that "
        "are faulty, each as a share of its sort. "
        "**AUROC** says how often, of a text with an error and one without, the first has the "
        "worse score, or the greater P(error); 0.5 is chance. **ECE** is the mean distance of "
        "P(error) from the share of texts with errors, in ten bins of as many texts; in the "
        "*balanced ECE* texts with errors weigh as much in all as those without, so it can be "
        "compared between sets. **F1** is the harmonic mean of *precision*, the "
        "share of the marked characters that people mark too, and *recall*, the share of theirs "
        "that is marked, over all characters of a set together, so that long texts count more. "
        "What is *caught* at {} of false alarms is "
        "at the threshold of the score that suits these texts best: it is optimistic. Three "
        "baselines stand beside each judge: to mark **nothing**, **everything**, or every "
        "**new word**, a word of meaning whose stem the input lacks. A judge is worth its cost as "
        "far as it is better than these. Baselines are on the texts that the panel has answered, "
        "intervals, of {}, by a bootstrap of sources; *judged* says on how many texts of those "
        "that it is about a figure is.",
        f"{FALSE_ALARMS:.0%}",
        f"{confidence:.0%}",
    )


def _overview(findings: Findings) -> Table:
    """Return the table in which all judges stand on all sets."""
    shown = {
        heading: name
        for heading, name in _OVERVIEW.items()
        if any(finding.has(name) for each in findings.sets for finding in each.judges)
    }
    return table(
        ["set", "judge", *numeric("judged"), "cut", *numeric(*shown)],
        (
            row(
                each.name,
                finding.judge,
                of(finding.coverage.texts),
                finding.cut if each.is_decided else "",
                *(figure_cell(finding.figures[name]) for name in shown.values()),
                faint=finding.role == "baseline",
            )
            for each in findings.sets
            for finding in each.judges
            if finding.role != "baseline" or any(map(finding.has, shown.values()))
        ),
    )


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
