"""Agreement on error spans as blocks of a report."""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.orchestration.report import (
    Block,
    Cell,
    Column,
    Paragraph,
    Section,
    Table,
    numeric,
    table,
)
from spanjury.orchestration.report.tables import Medium
from spanjury.orchestration.studies.agreement.spans.annotators import PairFinding
from spanjury.orchestration.studies.agreement.spans.aspect import AspectSpans
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate
from spanjury.orchestration.studies.agreement.spans.findings import JudgeFinding, OverAnnotation
from spanjury.stats.spans.gamma import Gamma
from spanjury.stats.spans.span_agreement import Agreement

_VALUE = ".3f"
_SHARE = ".1%"
_COUNT = ".3f"
_HARD, _OF_TEXTS = "hard.micro.f1", "characters.macro.f1"
SOFT_F1 = "characters.micro.f1"
"""The figure that says in one number how far two sides mark the same characters."""
_CHARACTERS: Mapping[str, str] = MappingProxyType(
    {
        SOFT_F1: "soft F1",
        _HARD: "hard F1",
        "characters.micro.precision": "precision",
        "characters.micro.recall": "recall",
        _OF_TEXTS: "F1, mean of texts",
        "graded.micro.f1": "F1 by severity",
    }
)
_SPANS: Mapping[str, str] = MappingProxyType(
    {
        "exact.micro.f1": "F1 of same spans",
        "matched.micro.f1": "F1 of half overlaps",
        "detection.f1": "F1 of texts with errors",
        "counts.spearman": "counts, Spearman",
        "quotes.hallucinated": "quotes not in the text",
    }
)
_PEOPLE: Mapping[str, str] = MappingProxyType(
    {
        "characters.micro": "soft F1",
        "hard.micro": "hard F1",
        "characters.macro": "F1, mean of texts",
        "exact.micro": "F1 of same spans",
        "matched.micro": "F1 of half overlaps",
    }
)
_ALWAYS = frozenset({SOFT_F1, "detection.f1", "counts.spearman"})
"""Measures that a terminal shows, whether or not there are categories."""
_READING = (
    "Soft counts characters that both the judge and people mark; hard requires the same category "
    "as well, and is undefined if one side names none. Brackets are 95 % intervals over resampled "
    "texts. Micro figures count all texts together, so a text without any span has no weight. In "
    "means over texts, a text in which neither side marks anything counts as 1. Gamma is "
    "agreement on positions beyond chance: 1 for identical positions, about 0 for unrelated spans."
)


def span_blocks(
    findings: Sequence[AspectSpans], annotators: Sequence[PairFinding]
) -> tuple[Block, ...]:
    """Return the part on spans; empty where there is none."""
    if not findings and not annotators:
        return ()
    return (
        Paragraph(_READING, only="page"),
        *(block for finding in findings for block in _aspect(finding)),
        Section("People with people", [_pairs(annotators)]),
    )


def _aspect(spans: AspectSpans) -> Iterator[Block]:
    if spans.agreement is not None:
        yield Section(f"Spans of {spans.aspect}", list(_judges(spans.agreement.judges)))
        yield _flawless(
            spans, spans.agreement.over_annotations, "that no reader marked", only="page"
        )
    best = f"that every rater gave {spans.best:g}, the best score"
    yield _flawless(spans, spans.top_rated, best)


def _judges(judges: Sequence[JudgeFinding]) -> Iterator[Block]:
    whole = [judge for judge in judges if not judge.group]
    groups = [judge for judge in judges if judge.group]
    is_hard = any(not math.isnan(finding.figures[_HARD].value) for finding in whole)
    shown = {*_ALWAYS, _HARD if is_hard else _OF_TEXTS}
    yield table(
        [
            "judge",
            *numeric("texts"),
            *numeric("readings", only="page"),
            *_columns(_CHARACTERS, shown),
            *numeric("gamma"),
            *numeric("failures", only="page"),
        ],
        (
            (
                *(finding.judge, finding.texts, finding.readings),
                *(_estimate(finding.figures[name]) for name in _CHARACTERS),
                *(_gamma(finding.gamma), finding.failures),
            )
            for finding in whole
        ),
        note="beside the error spans that people marked",
    )
    yield table(
        ["judge", *_columns(_SPANS, shown)],
        ((each.judge, *(_estimate(each.figures[name]) for name in _SPANS)) for each in whole),
    )
    yield _categories(whole)
    if len({group.group for group in groups}) > 1:
        yield _groups(groups)


def _groups(groups: Sequence[JudgeFinding]) -> Table:
    """Tabulate agreement system by system."""
    return table(
        ["judge", "system", *numeric("texts", *_CHARACTERS.values())],
        (
            (
                *(group.judge, group.group, group.texts),
                *(_estimate(group.figures[name]) for name in _CHARACTERS),
            )
            for group in groups
        ),
        only="page",
    )


def _categories(judges: Sequence[JudgeFinding]) -> Table:
    """Tabulate hard agreement category by category, where there are any."""
    return table(
        ["judge", "category", *numeric(*Agreement._fields)],
        (
            (judge.judge, name, *(_estimate(figures[part]) for part in Agreement._fields))
            for judge in judges
            for name, figures in judge.categories.items()
        ),
        only="page",
    )


def _flawless(
    spans: AspectSpans, judges: Sequence[OverAnnotation], which: str, *, only: Medium | None = None
) -> Section:
    """Tabulate errors found in texts that people find without any."""
    columns: list[Column | str] = [
        "judge",
        *numeric("texts"),
        *_wrapped("with an error", "errors a text"),
        Column("texts with 0, 1, 2, … errors", only="page"),
        *numeric("mean severity", "greatest severity", only="page"),
    ]
    rows = [
        (
            *(judge.judge, judge.flawless, _estimate(judge.erring, _SHARE)),
            _estimate(judge.spans, _COUNT),
            ", ".join(map(str, judge.histogram)),
            *(judge.mean_severity, judge.max_severity),
        )
        for judge in judges
    ]
    there = rows if any(judge.flawless for judge in judges) else []
    title = f"Errors found on {spans.aspect} in texts {which}"
    return Section(title, [table(columns, there)], only=only)


def _pairs(annotators: Sequence[PairFinding]) -> Table:
    return table(
        [
            "annotator",
            "annotator",
            *numeric("texts"),
            *_columns(_PEOPLE, {"characters.micro", "characters.macro"}),
            *_wrapped("gamma", "gamma with categories"),
        ],
        (
            (
                *(annotator.first, annotator.second, annotator.texts),
                *(_estimate(annotator.figures[name]) for name in _PEOPLE),
                *(_gamma(annotator.gamma), _gamma(annotator.gamma_with_categories)),
            )
            for annotator in annotators
        ),
    )


def _columns(measures: Mapping[str, str], shown: set[str]) -> Iterator[Column]:
    """Yield a column for each measure; a terminal shows only some."""
    for name, heading in measures.items():
        only: Medium | None = None if name in shown else "page"
        yield Column(heading, "right", wrap=True, only=only)


def _wrapped(*headings: str) -> Iterator[Column]:
    return (Column(heading, "right", wrap=True) for heading in headings)


def _estimate(estimate: Estimate, spec: str = _VALUE) -> Cell:
    return Cell(estimate.value, spec, interval=(estimate.low, estimate.high))


def _gamma(result: Gamma | None) -> Cell:
    return Cell(None if result is None else result.gamma, _VALUE)
