"""Tables: a bench's findings as they are read."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.orchestration.report import (
    Bullets,
    Cell,
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
from spanjury.orchestration.studies.span_bench.answers import RIVAL
from spanjury.orchestration.studies.span_bench.cautions import cautions
from spanjury.orchestration.studies.span_bench.figures import FALSE_ALARMS
from spanjury.orchestration.studies.span_bench.findings import (
    Finding,
    Findings,
    Group,
    SetFindings,
)
from spanjury.orchestration.studies.span_bench.gains import GAINS
from spanjury.orchestration.studies.span_bench.values import answered

Figures = Mapping[str, str]
"""Heading of a column -> name of the figure in it."""

_SHARE, _BRIEF, _SIGNED = "~.3f", "~.2f", "~+.3f"
_AT = f"caught at {FALSE_ALARMS:.0%}"
_OVERVIEW: Figures = MappingProxyType(
    {
        "F1": "characters.f1",
        "error-free flagged": "flagged.error_free",
        "AUROC": "score.auroc",
        "balanced accuracy": "faulty.balanced_accuracy",
        _AT: "score.caught",
        "Spearman": "people.spearman",
    }
)
_SPANS: Figures = MappingProxyType(
    {
        "F1": "characters.f1",
        "precision": "characters.precision",
        "recall": "characters.recall",
        "F1 of words": "words.f1",
        "places hit": "places.hit",
        "by chance": "places.by_chance",
        "spans right": "spans.right",
    }
)
_WORDS: Figures = MappingProxyType(
    {"precision": "words.precision", "recall": "words.recall", "F1": "words.f1"}
)
_SCORES: Figures = MappingProxyType(
    {
        "AUROC": "score.auroc",
        _AT: "score.caught",
        "AUROC of P(error)": "probability.auroc",
        "error-free flagged": "flagged.error_free",
        "faulty flagged": "flagged.faulty",
    }
)
_DECISIONS: Figures = MappingProxyType(
    {
        f"{threshold}: {heading}": f"{threshold}.{figure}"
        for threshold in ("doubtful", "faulty")
        for heading, figure in (
            ("balanced accuracy", "balanced_accuracy"),
            ("caught", "caught"),
            ("false alarms", "false_alarms"),
        )
    }
)
_PEOPLE: Figures = MappingProxyType({"Spearman": "people.spearman"})
_SHORT_SPANS: Figures = MappingProxyType(
    {
        "F1": "characters.f1",
        "prec.": "characters.precision",
        "recall": "characters.recall",
        "words": "words.f1",
        "hit": "places.hit",
    }
)
_SHORT_SCORES: Figures = MappingProxyType(
    {
        "AUROC": "score.auroc",
        f"≤{FALSE_ALARMS:.0%}": "score.caught",
        "flags": "flagged.error_free",
        "alarms": "faulty.false_alarms",
        "caught": "faulty.caught",
        "acc.": "faulty.balanced_accuracy",
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
            *(_page(one) for one in findings.sets),
            *(block for one in findings.sets for block in _short(one)),
            Paragraph(_short_reading(), only="terminal"),
            Bullets(sentences, tone="caution", only="terminal"),
        ],
    )


def _reading(confidence: float) -> Prose:
    return prose(
        "People marked the errors of these texts. **F1** is the harmonic mean of *precision*, the "
        "share of the marked characters that people mark too, and *recall*, the share of theirs "
        "that is marked, over all characters of a set together, so that long texts count more. "
        "**AUROC** says how often, of a text with an error and one without, the first has the "
        "worse score; .5 is chance. *Balanced accuracy* is the mean of the shares of texts with "
        "and without errors that a decision gets right: at *doubtful*, whatever is not *ok* counts "
        "as found to be wrong, at *faulty* that alone. What is *caught* at {} of false alarms is "
        "at the threshold of the score that suits these texts best: it is optimistic. Three "
        "baselines stand beside each judge: to mark **nothing**, **everything**, or every "
        "**new word**, a word of meaning "
        "whose stem the input lacks. A judge is worth its cost as far as it is better than these. "
        "Baselines are on the texts that the panel has answered, intervals, of {}, by a bootstrap "
        "of sources; *judged* says on how many texts of those that it is about a figure is.",
        f"{FALSE_ALARMS:.0%}",
        f"{confidence:.0%}",
    )


def _short_reading() -> str:
    return (
        "n: texts judged. F1, precision, recall: of characters, over the whole set; words: F1 of "
        "words; hit: share of the places marked by people that a span touches. AUROC: how often a "
        "text with an error has the worse score of two, .5 is chance; then the share of texts with "
        f"errors below the best threshold with at most {FALSE_ALARMS:.0%} false alarms, which is "
        "optimistic. Flags: share of error-free texts with any span; alarms, caught and balanced "
        "accuracy: of the decision faulty. New words: every word of meaning that the input lacks. "
        "Intervals are of 95 %, by source."
    )


def _overview(findings: Findings) -> Table:
    """Return the table in which all judges stand on all sets."""
    return table(
        ["set", "judge", *numeric("judged", *_OVERVIEW)],
        (
            row(
                one.name,
                finding.judge,
                _of(finding.coverage.texts),
                *_cells(finding, _OVERVIEW),
                faint=finding.role == "baseline",
            )
            for one in findings.sets
            for finding in one.judges
            if finding.role != "baseline" or _says_anything(finding, _OVERVIEW)
        ),
    )


def _says_anything(finding: Finding, figures: Figures) -> bool:
    return not all(math.isnan(finding.figures[name].value) for name in figures.values())


def _page(one: SetFindings) -> Section:
    return Section(
        one.name,
        [
            Paragraph(_scope(one)),
            *_blocks(one, "Spans, by characters", _SPANS, present=_has_marks(one)),
            *_blocks(one, "Spans, by words", _WORDS, present=_has_marks(one)),
            *_blocks(one, "Scores", _SCORES, present=_is_decided(one)),
            *_blocks(one, "Decisions", _DECISIONS, present=_is_decided(one)),
            *_blocks(one, "Agreement with people's scores", _PEOPLE, present=one.rated > 0),
            *_gains(one),
            *_categories(one),
            *_recalls(one, "kind", _kinds),
            *_recalls(one, "extent", _extents),
        ],
        only="page",
    )


def _scope(one: SetFindings) -> str:
    parts = [f"{one.texts} texts of {one.sources} sources"]
    if one.error_free or one.faulty:
        parts.append(f"{one.faulty} with errors, at {one.places} places, {one.error_free} without")
    if one.rated:
        parts.append(f"{one.rated} with people's scores")
    return "; ".join(parts)


def _has_marks(one: SetFindings) -> bool:
    return one.places > 0


def _is_decided(one: SetFindings) -> bool:
    return bool(one.error_free or one.faulty)


def _blocks(one: SetFindings, title: str, figures: Figures, *, present: bool) -> Iterator[Section]:
    if present:
        yield Section(title, [_table(one, figures)])


def _table(one: SetFindings, figures: Figures) -> Table:
    """Return the table of some figures: a row a judge, the baselines last, with its coverage."""
    about = next(iter(figures.values()))
    return table(
        ["judge", *numeric("judged", *figures)],
        (
            row(
                finding.judge,
                _of(answered(about, finding.coverage)),
                *_cells(finding, figures),
                faint=finding.role == "baseline",
            )
            for finding in one.judges
        ),
    )


def _cells(finding: Finding, figures: Figures) -> Iterator[Cell]:
    for name in figures.values():
        yield _cell(finding.figures[name])


def _of(coverage: tuple[int, int]) -> str:
    return f"{coverage[0]} of {coverage[1]}"


def _gains(one: SetFindings) -> Iterator[Section]:
    """Yield by how much each judge is better than the baseline that it has to be better than."""
    judges = [finding for finding in one.judges if finding.gains]
    if judges and (_has_marks(one) or _is_decided(one)):
        rows = (
            row(finding.judge, *(_gain(finding.gains[name]) for name in GAINS))
            for finding in judges
        )
        columns = numeric("F1", "AUROC", "balanced accuracy (faulty)")
        yield Section(f"Better than {RIVAL} by", [table(["judge", *columns], rows)])


def _gain(estimate: Estimate) -> Cell:
    better, worse = estimate.low > 0, estimate.high < 0
    return Cell(
        estimate.value,
        _SIGNED,
        interval=(estimate.low, estimate.high),
        mark="good" if better else "bad" if worse else None,
    )


def _categories(one: SetFindings) -> Iterator[Section]:
    """Yield the precision of each category of each judge."""
    for finding in one.judges:
        if finding.categories:
            columns = numeric("spans", "texts", "precision", "touch an error")
            rows = (
                row(group.name, group.spans, group.texts, _cell(group.share), _cell(group.touched))
                for group in finding.categories
            )
            title = f"{finding.judge}: precision by category"
            yield Section(title, [table(["category", *columns], rows)])


def _recalls(
    one: SetFindings, what: str, groups_of: Callable[[Finding], Sequence[Group]]
) -> Iterator[Section]:
    """Yield the recall of each group of people's marks, with a column a judge."""
    findings = [finding for finding in one.judges if groups_of(finding)]
    if findings:
        shares = [{group.name: group.share for group in groups_of(each)} for each in findings]
        rows = (
            row(group.name, group.spans, group.texts, *(_cell(by[group.name]) for by in shares))
            for group in groups_of(findings[0])
        )
        columns = numeric("places", "texts", *(finding.judge for finding in findings))
        title = f"Recall of characters by {what} of error"
        yield Section(title, [table([what, *columns], rows)])


def _kinds(finding: Finding) -> Sequence[Group]:
    return finding.kinds


def _extents(finding: Finding) -> Sequence[Group]:
    return finding.extents


def _cell(estimate: Estimate) -> Cell:
    return Cell(estimate.value, _SHARE, interval=(estimate.low, estimate.high))


def _short(one: SetFindings) -> Iterator[Table]:
    """Yield what a terminal shows of a set."""
    if _has_marks(one):
        yield _short_table(one, _SHORT_SPANS, title=f"{one.name}: {_scope(one)}")
    if _is_decided(one):
        yield _short_table(one, _SHORT_SCORES, title=f"{one.name}: scores and decisions")
    if one.rated:
        yield _short_table(one, _PEOPLE, title=f"{one.name}: agreement with people's scores")


def _short_table(one: SetFindings, figures: Figures, *, title: str) -> Table:
    """Return a table that fits on a terminal: only its first figure has its interval."""
    first, *others = figures.values()
    return table(
        ["judge", *numeric("n", *figures)],
        (
            row(
                finding.judge,
                answered(first, finding.coverage)[0],
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
