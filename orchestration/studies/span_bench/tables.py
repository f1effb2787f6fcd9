"""Tables: a bench's findings as they are read, overviews on a terminal and a page a set."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.judges.core import Decision
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
from spanjury.orchestration.studies.estimates import Estimate
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.span_bench.figures import FALSE_ALARMS
from spanjury.orchestration.studies.span_bench.findings import (
    Finding,
    Findings,
    SetFindings,
    cautions,
)
from spanjury.orchestration.studies.span_bench.gold import RIVAL
from spanjury.orchestration.studies.span_bench.groups import GAINS, OF_GROUPS, Group
from spanjury.orchestration.studies.span_bench.values import answered

Figures = Mapping[str, str]
"""Heading of a column -> name of the figure in it."""

CAUGHT = f"caught at {FALSE_ALARMS:.0%}"
"""The heading of `score.caught`."""
_SHARE, _SIGNED = ".3f", "+.3f"
_PAGE_SPANS: Figures = MappingProxyType(
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
_VERDICTS: Figures = MappingProxyType(
    {
        "balanced accuracy": "decision.balanced_accuracy",
        "decided": "decision.decided",
        "vouched misses": "decision.vouched_misses",
        "false alarms": "faulty.false_alarms",
        "balanced accuracy of decided": "decision.of_decided",
    }
)
_PAGE_SCORES: Figures = MappingProxyType(
    {
        "AUROC of score": "score.auroc",
        "AUROC of P(error)": "probability.auroc",
        "ECE": "probability.ece",
        "by chance": "probability.ece_by_chance",
        "balanced ECE": "probability.balanced_ece",
        CAUGHT: "score.caught",
        "error-free flagged": "flagged.error_free",
        "faulty flagged": "flagged.faulty",
    }
)
_PAGE_DECISIONS: Figures = MappingProxyType(
    {
        f"{threshold}: {heading}": f"{threshold}.{figure}"
        for threshold in ("unsure", "faulty")
        for heading, figure in (
            ("balanced accuracy", "balanced_accuracy"),
            ("caught", "caught"),
            ("false alarms", "false_alarms"),
        )
    }
)
_PEOPLE: Figures = MappingProxyType({"Spearman": "people.spearman"})
_GROUP_HEADINGS = (
    "faulty flagged",
    "error-free flagged",
    "AUROC",
    "balanced accuracy (faulty)",
    "places hit",
    "F1",
)
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


def set_page(findings: SetFindings) -> Section:
    """Return what a page shows of a set."""
    return Section(
        findings.name,
        [
            Paragraph(findings.scope),
            *_verdicts(findings),
            *_blocks(findings, "Scores and P(error)", _PAGE_SCORES, present=findings.is_decided),
            *_blocks(findings, "Decisions, by cut", _PAGE_DECISIONS, present=findings.is_decided),
            *_kind_decisions(findings),
            *_blocks(findings, "Spans, by characters", _PAGE_SPANS, present=findings.has_marks),
            *_blocks(findings, "Spans, by words", _WORDS, present=findings.has_marks),
            *_blocks(
                findings, "Agreement with people's scores", _PEOPLE, present=findings.rated > 0
            ),
            *_text_groups(findings),
            *_gains(findings),
            *_categories(findings),
            *_recalls(findings, "kind", _kinds),
            *_recalls(findings, "extent", _extents),
        ],
        only="page",
    )


def _blocks(
    findings: SetFindings, title: str, figures: Figures, *, present: bool
) -> Iterator[Section]:
    if present:
        yield Section(title, [_page_table(findings, figures)])


def _verdicts(findings: SetFindings) -> Iterator[Section]:
    """Yield the table of decisions, with the cut that balanced accuracy is of."""
    if findings.is_decided:
        rows = (
            row(
                finding.judge,
                of(finding.coverage.texts),
                finding.cut,
                *_cells(finding, _VERDICTS),
                faint=finding.role == "baseline",
            )
            for finding in findings.judges
        )
        columns: list[Column | str] = ["judge", *numeric("judged"), "cut", *numeric(*_VERDICTS)]
        yield Section("Decisions", [table(columns, rows)])


def _kind_decisions(findings: SetFindings) -> Iterator[Section]:
    """Yield how many texts with an error of each kind have which decision."""
    judges = [finding for finding in findings.judges if finding.decisions]
    rows = (
        row(kind.name, finding.judge, kind.texts, *kind.decisions.values())
        for kinds in zip(*(finding.decisions for finding in judges), strict=True)
        for finding, kind in zip(judges, kinds, strict=True)
    )
    if judges:
        columns = numeric("texts", *(decision.value for decision in Decision))
        yield Section("Decisions by kind of error", [table(["kind", "judge", *columns], rows)])


def _page_table(findings: SetFindings, figures: Figures) -> Table:
    """Return the table of some figures: a row a judge, the baselines last, with its coverage."""
    about = next(iter(figures.values()))
    return table(
        ["judge", *numeric("judged", *figures)],
        (
            row(
                finding.judge,
                of(answered(about, finding.coverage)),
                *_cells(finding, figures),
                faint=finding.role == "baseline",
            )
            for finding in findings.judges
        ),
    )


def _cells(finding: Finding, figures: Figures) -> Iterator[Cell]:
    for name in figures.values():
        yield figure_cell(finding.figures[name])


def of(coverage: tuple[int, int]) -> str:
    """Return how many of how many texts have an answer."""
    return f"{coverage[0]} of {coverage[1]}"


def _gains(findings: SetFindings) -> Iterator[Section]:
    """Yield by how much each judge is better than the baseline that it has to be better than."""
    judges = [finding for finding in findings.judges if finding.gains]
    if judges and (findings.has_marks or findings.is_decided):
        rows = (
            row(finding.judge, *(_gain(finding.gains[name]) for name in GAINS))
            for finding in judges
        )
        columns = numeric("F1", "AUROC", "balanced accuracy")
        yield Section(f"Better than {RIVAL} by", [table(["judge", *columns], rows)])


def _gain(estimate: Estimate) -> Cell:
    better, worse = estimate.low > 0, estimate.high < 0
    return Cell(
        estimate.value,
        _SIGNED,
        interval=(estimate.low, estimate.high),
        mark="good" if better else "bad" if worse else None,
    )


def _categories(findings: SetFindings) -> Iterator[Section]:
    """Yield the precision of each category of each judge."""
    for finding in findings.judges:
        if finding.categories:
            columns = numeric("spans", "texts", "precision", "touch an error")
            rows = (
                row(
                    group.name,
                    group.spans,
                    group.texts,
                    figure_cell(group.share),
                    figure_cell(group.touched),
                )
                for group in finding.categories
            )
            title = f"{finding.judge}: precision by category"
            yield Section(title, [table(["category", *columns], rows)])


def _recalls(
    set_findings: SetFindings, what: str, groups_of: Callable[[Finding], Sequence[Group]]
) -> Iterator[Section]:
    """Yield the recall of each group of people's marks, with a column a judge."""
    findings = [finding for finding in set_findings.judges if groups_of(finding)]
    if findings:
        shares = [{group.name: group.share for group in groups_of(each)} for each in findings]
        rows = (
            row(
                group.name,
                group.spans,
                group.texts,
                *(figure_cell(by[group.name]) for by in shares),
            )
            for group in groups_of(findings[0])
        )
        columns = numeric("places", "texts", *(finding.judge for finding in findings))
        title = f"Recall of characters by {what} of error"
        yield Section(title, [table([what, *columns], rows)])


def _kinds(finding: Finding) -> Sequence[Group]:
    return finding.kinds


def _extents(finding: Finding) -> Sequence[Group]:
    return finding.extents


def _text_groups(set_findings: SetFindings) -> Iterator[Section]:
    """Yield the figures of each group of texts, with a row a judge."""
    findings = [finding for finding in set_findings.judges if finding.groups]
    rows = (
        row(
            group.name,
            finding.judge,
            of(group.coverage.faulty),
            of(group.coverage.error_free),
            *(figure_cell(group.figures[name]) for name in OF_GROUPS),
            faint=finding.role == "baseline",
        )
        for groups in zip(*(finding.groups for finding in findings), strict=True)
        for finding, group in zip(findings, groups, strict=True)
    )
    if findings:
        columns = numeric("with errors", "without", *_GROUP_HEADINGS)
        yield Section("By group of texts", [table(["group", "judge", *columns], rows)])


def figure_cell(estimate: Estimate) -> Cell:
    """Return a figure with its interval."""
    return Cell(estimate.value, _SHARE, interval=(estimate.low, estimate.high))


def bench_report(findings: Findings, *, examinee: Examinee, data: Sequence[str]) -> Report:
    """Return `findings` as a report; a terminal shows two tables a set, a page everything."""
    sentences = cautions(findings)
    return Report(
        title="Span bench",
        answer=" ".join(filter(None, map(_answer, findings.sets))),
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


def _answer(findings: SetFindings) -> str:
    """Name the best judge by decisions, or else by spans, and compare it with a baseline."""
    judges = [finding for finding in findings.judges if finding.role != "baseline"]
    for name, words in (
        ("decision.balanced_accuracy", "decides best: balanced accuracy"),
        ("characters.f1", "marks best: F1"),
    ):
        defined = [judge for judge in judges if judge.has(name)]
        if not defined:
            continue
        best = max(defined, key=lambda judge: judge.figures[name].value)
        gain = best.gains[name]
        compared = "not shown to be better than"
        if gain.low > 0:
            compared = "better than"
        elif gain.high < 0:
            compared = "worse than"
        value = _brief(best.figures[name], interval=True).text
        verb = words if len(defined) > 1 else words.replace(" best", "")
        return f"On {findings.name} {best.judge} {verb} {value}, {compared} marking all new words."
    return ""


def _reading(confidence: float) -> Prose:
    return prose(
        "People marked the errors of these texts. **Balanced accuracy** is the mean of two shares: "
        "of the texts with errors, and of those without, that the decision gets right. The column "
        "*cut* says which decisions count as an error: *faulty* alone or all that are *not ok*, "
        "whichever is better on these texts. *Decided* is the share of texts that are ok or "
        "faulty. *Vouched misses* is the share of the texts with errors that are ok, *false "
        "alarms* the share of the texts without errors that are faulty. **AUROC** says how often "
        "a text with an error has a worse score, or a greater P(error), than one without; 0.5 is "
        "chance. **ECE** is the mean distance of P(error) from the share of texts with errors, in "
        "ten bins of equal size. In the *balanced ECE* the texts with errors have the same total "
        "weight as those without, so that it can be compared between sets. **F1** is the harmonic "
        "mean of *precision*, the share of the marked characters that people mark too, and "
        "*recall*, the share of people's that the judge marks. All characters of a set count "
        "together, so long texts count more. *Caught* at {} of false alarms takes the threshold "
        "of the score that suits these texts best: it is optimistic. Three baselines stand beside "
        "each judge: mark **nothing**, **everything**, or every **new word**, a content word "
        "whose stem the input lacks. A judge that is no better than these is not worth its cost. "
        "Baselines are measured on the texts that the panel answered. Intervals, of {}, are "
        "bootstrapped by source. *Judged* is the number of texts with the figure, of those that "
        "it could be computed for.",
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


_BRIEF = ".2f"
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


def terminal_reading() -> str:
    """Return what the figures of a terminal mean."""
    return (
        "n: number of texts judged. Balanced accuracy: of the decision, at the better of its two "
        "cuts. Sure: share of texts that are ok or faulty. Miss: share of the texts with errors "
        "that are ok. Alarms: share of the texts without errors that are faulty. Right: balanced "
        "accuracy on the sure texts. AUROC: how often a text with an error has a worse score, or "
        "a greater P(error), than one without; 0.5 is chance. ECE, plain and balanced: distance "
        "of P(error) from the observed rate. Flags: share of error-free texts with any span. "
        f"≤{FALSE_ALARMS:.0%}: share of the texts with errors that are caught at the best "
        f"threshold with at most {FALSE_ALARMS:.0%} false alarms, which is optimistic. F1, "
        "precision, recall: over the characters of the whole set. Words: F1 of words. Hit: share "
        "of the places marked by people that a span touches. New words: every content word that "
        "the input lacks. Intervals are 95 %, by source."
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
