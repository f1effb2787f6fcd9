"""Tables: a bench's findings as they are read, overviews on a terminal and a page a set."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Entry,
    Line,
    Paragraph,
    Prose,
    Report,
    Section,
    Table,
    code,
    emphasis,
    estimate_cell,
    joined,
    left,
    line,
    prose,
    right,
    spread,
    table_of,
)
from spanjury.orchestration.report.tables import Mark
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.span_bench.figures import FALSE_ALARMS, GAINS, OF_GROUPS, Group
from spanjury.orchestration.studies.span_bench.findings import (
    Finding,
    Findings,
    SetFindings,
    answered,
    cautions,
)
from spanjury.orchestration.studies.span_bench.gold import RIVAL
from spanjury.stats.resampling import Estimate

Figures = Mapping[str, str]
"""Heading of a column -> name of the figure in it."""

CAUGHT = f"caught at {FALSE_ALARMS:.0%}"
_SHARE, _SIGNED, _BRIEF = ".3f", "+.3f", ".2f"
_SPANS: Figures = {
    "F1": "characters.f1",
    "precision": "characters.precision",
    "recall": "characters.recall",
    "F1 of words": "words.f1",
    "places hit": "places.hit",
}
_PAGE_SPANS: Figures = {**_SPANS, "by chance": "places.by_chance", "spans right": "spans.right"}
_WORDS: Figures = {"precision": "words.precision", "recall": "words.recall", "F1": "words.f1"}
_DECISIONS: Figures = {
    "balanced accuracy": "decision.balanced_accuracy",
    "decided": "decision.decided",
    "misses": "decision.vouched_misses",
    "false alarms": "faulty.false_alarms",
}
_PAGE_VERDICTS: Figures = {**_DECISIONS, "balanced accuracy of decided": "decision.of_decided"}
_PROBABILITY: Figures = {
    "AUROC of P": "probability.auroc",
    "ECE": "probability.ece",
    "balanced ECE": "probability.balanced_ece",
}
_PAGE_SCORES: Figures = {
    "AUROC of score": "score.auroc",
    "AUROC of P": "probability.auroc",
    "ECE": "probability.ece",
    "by chance": "probability.ece_by_chance",
    "balanced ECE": "probability.balanced_ece",
    CAUGHT: "score.caught",
    "error-free flagged": "flagged.error_free",
    "faulty flagged": "flagged.faulty",
}
_PAGE_DECISIONS: Figures = {
    f"{threshold}: {heading}": f"{threshold}.{figure}"
    for threshold in ("unsure", "faulty")
    for heading, figure in (
        ("balanced accuracy", "balanced_accuracy"),
        ("caught", "caught"),
        ("false alarms", "false_alarms"),
    )
}
_PEOPLE: Figures = {"Spearman": "people.spearman"}
_GAINS = ("F1", "AUROC", "balanced accuracy")
_GROUPS = (
    "faulty flagged",
    "error-free flagged",
    "AUROC",
    "balanced accuracy (faulty)",
    "places hit",
    "F1",
)
_OVERVIEW: Figures = {
    **_DECISIONS,
    "AUROC of score": "score.auroc",
    **_PROBABILITY,
    "F1": "characters.f1",
    **_PEOPLE,
}


def set_page(findings: SetFindings) -> Section:
    """Return what a page shows of a set; a table without rows is not shown."""
    decided = findings.judges if findings.is_decided else ()
    marked = findings.judges if findings.has_marks else ()
    rated = findings.judges if findings.rated else ()
    return Section(
        findings.name,
        [
            Paragraph(findings.scope),
            Section("Decisions", [_page_table(decided, _PAGE_VERDICTS, with_cut=True)]),
            Section(
                "Scores and P, the probability of an error", [_page_table(decided, _PAGE_SCORES)]
            ),
            Section("Decisions, by cut-off", [_page_table(decided, _PAGE_DECISIONS)]),
            Section("Decisions by kind of error", [_kind_decisions(findings)]),
            Section("Spans, by characters", [_page_table(marked, _PAGE_SPANS)]),
            Section("Spans, by words", [_page_table(marked, _WORDS)]),
            Section("Agreement with people's scores", [_page_table(rated, _PEOPLE)]),
            Section("By group of texts", [_text_groups(findings)]),
            Section(f"Better than {RIVAL} by", [_gains(decided or marked)]),
            *(
                Section(f"{finding.judge}: precision by category", [_categories(finding)])
                for finding in findings.judges
            ),
            *_recalls("kind", {each.judge: each.kinds for each in findings.judges}),
            *_recalls("extent", {each.judge: each.extents for each in findings.judges}),
        ],
        only="page",
    )


def _page_table(judges: Sequence[Finding], figures: Figures, *, with_cut: bool = False) -> Table:
    """Return the table of some figures: a row a judge, the baselines last, with its coverage."""
    about = "decision.decided" if with_cut else next(iter(figures.values()))
    return table_of(
        _page_line(
            finding,
            figures,
            left("judge", finding.judge),
            right("judged", of(answered(about, finding.coverage))),
            *([left("cut-off", finding.cut, wrap=False)] if with_cut else []),
        )
        for finding in judges
    )


def _page_line(finding: Finding, figures: Figures, *lead: Entry) -> Line:
    shown = (spread(each, finding.figures[name], _SHARE) for each, name in figures.items())
    return line(*lead, *shown, faint=finding.role == "baseline")


def of(coverage: tuple[int, int]) -> Cell:
    """Return the cell of how many of how many texts have an answer."""
    return Cell(coverage[0], note=f"of {coverage[1]}")


def _kind_decisions(findings: SetFindings) -> Table:
    judges = [finding for finding in findings.judges if finding.decisions]
    return table_of(
        (
            left("kind", kind.name),
            left("judge", finding.judge),
            right("texts", kind.texts),
            *(right(decision.value, count) for decision, count in kind.decisions.items()),
        )
        for kinds in zip(*(finding.decisions for finding in judges), strict=True)
        for finding, kind in zip(judges, kinds, strict=True)
    )


def _gains(judges: Sequence[Finding]) -> Table:
    """Tabulate by how much each judge is better than the baseline that it has to be better than."""
    return table_of(
        (
            left("judge", finding.judge),
            *(
                right(heading, _gain(finding.gains[name]))
                for heading, name in zip(_GAINS, GAINS, strict=True)
            ),
        )
        for finding in judges
        if finding.gains
    )


def _gain(estimate: Estimate) -> Cell:
    mark: Mark | None = "good" if estimate.low > 0 else "bad" if estimate.high < 0 else None
    return replace(estimate_cell(estimate, _SIGNED), mark=mark)


def _categories(finding: Finding) -> Table:
    return table_of(
        (
            left("category", group.name),
            right("spans", group.spans),
            right("texts", group.texts),
            spread("precision", group.share, _SHARE),
            spread("touch an error", group.touched, _SHARE),
        )
        for group in finding.categories
        if group.spans
    )


def _recalls(what: str, groups: Mapping[str, Sequence[Group]]) -> Iterator[Section]:
    """Yield the recall of each group of people's marks, with a column a judge."""
    shares = {
        judge: {group.name: group.share for group in own} for judge, own in groups.items() if own
    }
    if shares:
        lines = (
            (
                left(what, group.name),
                right("places", group.spans),
                right("texts", group.texts),
                *(spread(judge, own[group.name], _SHARE) for judge, own in shares.items()),
            )
            for group in groups[next(iter(shares))]
        )
        yield Section(f"Recall of characters by {what} of error", [table_of(lines)])


def _text_groups(findings: SetFindings) -> Table:
    judges = [finding for finding in findings.judges if finding.groups]
    return table_of(
        line(
            left("group", group.name),
            left("judge", finding.judge),
            right("with errors", of(group.coverage.faulty)),
            right("without", of(group.coverage.error_free)),
            *(
                spread(heading, group.figures[name], _SHARE)
                for heading, name in zip(_GROUPS, OF_GROUPS, strict=True)
            ),
            faint=finding.role == "baseline",
        )
        for groups in zip(*(finding.groups for finding in judges), strict=True)
        for finding, group in zip(judges, groups, strict=True)
    )


def bench_report(findings: Findings, *, examinee: Examinee, data: Sequence[str]) -> Report:
    """Return `findings` as a report; a terminal shows two tables a set, a page everything."""
    sentences = cautions(findings)
    return Report(
        title="Span bench",
        answer=joined(map(_answer, findings.sets)),
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
            Paragraph(_short_reading(findings), only="terminal"),
            Bullets(sentences, tone="caution", only="terminal"),
        ],
    )


def _answer(findings: SetFindings) -> Prose:
    """Name the best judge by decisions, or else by spans, and compare it with a baseline."""
    judges = [finding for finding in findings.judges if finding.role != "baseline"]
    for name, words, chosen in (
        (
            "decision.balanced_accuracy",
            "decides best: balanced accuracy",
            " at the cut-off {} (the better of two on these texts, so the figure is optimistic)",
        ),
        ("characters.f1", "marks best: F1", ""),
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
        value = estimate_cell(best.figures[name], _BRIEF).text
        verb = words if len(defined) > 1 else words.replace(" best", "")
        return prose(
            "On {}, {} {} {}{}, {} marking all new words.",
            *(emphasis(findings.name), code(best.judge), verb, value),
            *(chosen.format(best.cut), compared),
        )
    return ""


def _reading(confidence: float) -> Prose:
    return prose(
        "People marked the errors of these texts. **Balanced accuracy** is the mean of two shares "
        "of right decisions: those on texts with errors and those on texts without. The column "
        "*cut-off* says which decisions count as an error: *faulty* alone or all that are *not "
        "ok*, whichever is better on these texts, so balanced accuracy is optimistic. *Decided* is "
        "the share of texts that are ok or faulty. *Misses* is the share of the texts with errors "
        "that are ok, and *false alarms* the share of the texts without errors that are faulty. "
        "**AUROC** is the probability that a text with an error has a worse score than one "
        "without, or a higher probability of an error, P; 0.5 is chance. **ECE** is the mean "
        "distance of P from the share of texts with errors, in ten bins of equal size. In the "
        "*balanced ECE*, the texts with errors have the same total weight as those without, so "
        "that sets can be compared. **F1** is the harmonic mean of *precision*, the share of the "
        "judge's marked characters that people also mark, and *recall*, the share of people's "
        "marked characters that the judge also marks. All characters of a set count together, so "
        "long texts count more. {} is the share of the texts with errors that are caught at the "
        "best threshold of the score with at most that share of false alarms; it is optimistic, "
        "because the threshold is chosen on these texts. Each judge is compared with three "
        "baselines: mark **nothing**, **everything**, or every **new word**, a content word whose "
        "stem does not occur in the input. A judge that is no better than these is not worth its "
        "cost. Baselines are measured on the texts that the panel answered. Intervals are {}, "
        "bootstrapped by source. *Judged* is the number of texts behind the figures, out of those "
        "for which they could be computed.",
        emphasis(f"Caught at {FALSE_ALARMS:.0%}"),
        f"{confidence:.0%}",
    )


def _overview(findings: Findings) -> Table:
    shown = {
        heading: name
        for heading, name in _OVERVIEW.items()
        if any(finding.has(name) for each in findings.sets for finding in each.judges)
    }
    return table_of(
        _page_line(
            finding,
            shown,
            left("set", each.name),
            left("judge", finding.judge),
            right("judged", of(finding.coverage.texts)),
            left("cut-off", finding.cut if each.is_decided else ""),
        )
        for each in findings.sets
        for finding in each.judges
        if finding.role != "baseline" or any(map(finding.has, shown.values()))
    )


_SCORES: Figures = {
    "AUROC of score": "score.auroc",
    "error-free flagged": "flagged.error_free",
    CAUGHT: "score.caught",
}
_EXPLAINED: Mapping[str, str] = {
    "n": "n: number of judged texts.",
    "balanced accuracy": "Balanced accuracy of the decision at the better of two cut-offs; the "
    "column cut-off says whether faulty alone or all that is not ok counts as an error.",
    "decided": "Decided: share of texts that are ok or faulty.",
    "misses": "Misses: share of the texts with errors that are ok.",
    "false alarms": "False alarms: share of the texts without errors that are faulty.",
    "AUROC of score": "AUROC of score: how often a text with an error has a worse score than one "
    "without; 0.5 is chance.",
    "error-free flagged": "Error-free flagged: share of error-free texts with any reported error.",
    CAUGHT: f"Caught at {FALSE_ALARMS:.0%}: share of the texts with errors that are caught at the "
    f"best threshold with at most {FALSE_ALARMS:.0%} false alarms; it is optimistic, because the "
    "threshold is chosen on these texts.",
    "AUROC of P": "AUROC of P: the same as for the score, for the probability of an error.",
    "ECE": "ECE: mean distance of that probability from the share of texts with errors; in the "
    "balanced ECE, texts with and without errors have equal weight.",
    "F1": "F1, precision and recall are over the characters of the whole set.",
    "places hit": "Places hit: share of the passages marked by people that a span touches.",
}
"""Heading of a column on a terminal -> what it shows, and its neighbours that need no sentence."""


def _short_reading(findings: Findings) -> str:
    tables = (table for each in findings.sets for table in terminal_tables(each))
    shown = {column.heading for table in tables for column in table.columns}
    return " ".join(
        (
            *(sentence for heading, sentence in _EXPLAINED.items() if heading in shown),
            "New words: every content word that does not occur in the input.",
            f"Intervals are {findings.settings.confidence:.0%}, by source.",
        )
    )


def terminal_tables(findings: SetFindings) -> Iterator[Table]:
    """Yield what a terminal shows of a set."""
    if findings.is_decided:
        title = f"{findings.name}: {findings.scope}"
        yield _terminal_table(findings, _DECISIONS, title=title, with_cut=True)
        likely = any(finding.has("probability.auroc") for finding in findings.judges)
        figures = {**_SCORES, **(_PROBABILITY if likely else {})}
        yield _terminal_table(findings, figures, title=f"{findings.name}: scores", counted=False)
    if findings.has_marks:
        yield _terminal_table(findings, _SPANS, title=f"{findings.name}: spans")
    if findings.rated:
        title = f"{findings.name}: agreement with people's scores"
        yield _terminal_table(findings, _PEOPLE, title=title)


def _terminal_table(
    findings: SetFindings,
    figures: Figures,
    *,
    title: str,
    counted: bool = True,
    with_cut: bool = False,
) -> Table:
    """Return a table that fits on a terminal: only its first figure has its interval.

    Where the texts are not `counted`, the table before it has done so.
    """
    (heading, first), *others = figures.items()
    about = "decision.decided" if with_cut else first
    return table_of(
        (
            line(
                left("judge", finding.judge, wrap=False),
                *([right("n", answered(about, finding.coverage)[0])] if counted else []),
                spread(heading, finding.figures[first], _BRIEF),
                *([left("cut-off", finding.cut, wrap=False)] if with_cut else []),
                *(right(each, finding.figures[name].value, _BRIEF) for each, name in others),
                faint=finding.role == "baseline",
            )
            for finding in findings.judges
        ),
        title=title,
        only="terminal",
    )
