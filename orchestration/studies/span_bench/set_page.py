"""Page of a set: all figures of all judges on it, each beside its coverage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.judges.core import Decision
from spanjury.orchestration.report import (
    Cell,
    Column,
    Paragraph,
    Section,
    Table,
    numeric,
    row,
    table,
)
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate
from spanjury.orchestration.studies.span_bench.answers import RIVAL
from spanjury.orchestration.studies.span_bench.figures import FALSE_ALARMS
from spanjury.orchestration.studies.span_bench.findings import Finding, SetFindings
from spanjury.orchestration.studies.span_bench.gains import GAINS
from spanjury.orchestration.studies.span_bench.groups import OF_GROUPS, Group
from spanjury.orchestration.studies.span_bench.values import answered

Figures = Mapping[str, str]
"""Heading of a column -> name of the figure in it."""

CAUGHT = f"caught at {FALSE_ALARMS:.0%}"
"""The heading of `score.caught`."""
_SHARE, _SIGNED = "~.3f", "~+.3f"
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
_VERDICTS: Figures = MappingProxyType(
    {
        "balanced accuracy": "decision.balanced_accuracy",
        "decided": "decision.decided",
        "vouched misses": "decision.vouched_misses",
        "false alarms": "faulty.false_alarms",
        "balanced accuracy of decided": "decision.of_decided",
    }
)
_SCORES: Figures = MappingProxyType(
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
_DECISIONS: Figures = MappingProxyType(
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


def set_page(findings: SetFindings) -> Section:
    """Return what a page shows of a set."""
    return Section(
        findings.name,
        [
            Paragraph(findings.scope),
            *_verdicts(findings),
            *_blocks(findings, "Scores and P(error)", _SCORES, present=findings.is_decided),
            *_blocks(findings, "Decisions, by cut", _DECISIONS, present=findings.is_decided),
            *_kind_decisions(findings),
            *_blocks(findings, "Spans, by characters", _SPANS, present=findings.has_marks),
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
        yield Section(title, [_table(findings, figures)])


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


def _table(findings: SetFindings, figures: Figures) -> Table:
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
