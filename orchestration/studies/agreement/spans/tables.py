"""The page of a span agreement, in Markdown."""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.judges.core import markdown
from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.agreement.spans.annotators import PairFinding
from spanjury.orchestration.studies.agreement.spans.aspect import AspectSpans
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate
from spanjury.orchestration.studies.agreement.spans.findings import JudgeFinding
from spanjury.orchestration.studies.agreement.spans.over_annotation import OverAnnotation
from spanjury.orchestration.studies.markdown_rows import head, row
from spanjury.stats.spans.gamma import Gamma
from spanjury.stats.spans.span_agreement import Agreement

__all__ = ["spans_markdown"]

_VALUE = ".3f"
_MARKS: Mapping[str, str] = MappingProxyType(
    {
        "characters.micro.f1": "soft F1",
        "hard.micro.f1": "hard F1",
        "characters.micro.precision": "precision",
        "characters.micro.recall": "recall",
        "characters.macro.f1": "F1, mean of texts",
        "graded.micro.f1": "F1 by severity",
    }
)
_COUNTS: Mapping[str, str] = MappingProxyType(
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


def spans_markdown(findings: Sequence[AspectSpans], annotators: Sequence[PairFinding]) -> str:
    """Write the part on spans; empty where there is none."""
    if not findings and not annotators:
        return ""
    return "\n".join(_lines(findings, annotators)) + "\n"


def _lines(findings: Sequence[AspectSpans], annotators: Sequence[PairFinding]) -> Iterator[str]:
    yield "# Error spans"
    yield ""
    yield (
        "Characters that judges and people mark both (soft), and with the same category (hard, "
        "undefined where one side names none); brackets are 95 % intervals over texts "
        "drawn anew. Micro figures count all texts together, where a text without any span "
        "counts for nothing; in means of texts one in which nobody marks anything counts 1. "
        "Gamma is agreement on places beyond chance: 1 for the same places, about 0 for spans "
        "that have nothing to do with each other."
    )
    for one in findings:
        if one.agreement is not None:
            yield ""
            yield f"## Spans of {markdown(one.aspect)}"
            yield ""
            yield from _judges(one.agreement.judges)
        yield from _over(one)
    if annotators:
        yield ""
        yield "## People with people"
        yield ""
        yield from _pairs(annotators)


def _judges(judges: Sequence[JudgeFinding]) -> Iterator[str]:
    whole = [one for one in judges if not one.group]
    yield from head("judge", "texts", "readings", *_MARKS.values(), "gamma", "failures")
    for one in whole:
        yield row(
            one.judge,
            str(one.texts),
            str(one.readings),
            *(_told(one.figures[name]) for name in _MARKS),
            _gamma(one.gamma),
            str(one.failures),
        )
    yield ""
    yield from head("judge", *_COUNTS.values())
    for one in whole:
        yield row(one.judge, *(_told(one.figures[name]) for name in _COUNTS))
    yield from _categories(whole)
    groups = [one for one in judges if one.group]
    if len({one.group for one in groups}) > 1:
        yield ""
        yield from head("judge", "system", "texts", *_MARKS.values())
        for one in groups:
            figures = (_told(one.figures[name]) for name in _MARKS)
            yield row(one.judge, one.group, str(one.texts), *figures)


def _categories(judges: Sequence[JudgeFinding]) -> Iterator[str]:
    """Tabulate hard agreement category by category, where there are any."""
    if any(one.categories for one in judges):
        yield ""
        yield from head("judge", "category", *Agreement._fields)
    for one in judges:
        for name, figures in one.categories.items():
            yield row(one.judge, name, *(_told(figures[part]) for part in Agreement._fields))


def _over(one: AspectSpans) -> Iterator[str]:
    unmarked = one.agreement.over_annotations if one.agreement else ()
    for told, flawless in (
        (unmarked, "that no reader marked"),
        (one.top_rated, f"to which every rater gave {one.best:g}, the best score given"),
    ):
        if any(judge.flawless for judge in told):
            yield ""
            yield f"## Errors found on {markdown(one.aspect)} in texts {flawless}"
            yield ""
            yield from _flawless(told)


def _flawless(told: Sequence[OverAnnotation]) -> Iterator[str]:
    yield from head(
        "judge",
        "texts",
        "with an error",
        "errors a text",
        "texts with 0, 1, 2, … errors",
        "mean severity",
        "greatest severity",
    )
    for one in told:
        yield row(
            one.judge,
            str(one.flawless),
            _told(one.erring),
            _told(one.spans),
            ", ".join(map(str, one.histogram)),
            figure(one.mean_severity, ".2f"),
            figure(one.max_severity, ".2f"),
        )


def _pairs(annotators: Sequence[PairFinding]) -> Iterator[str]:
    yield from head(
        "annotator", "annotator", "texts", *_PEOPLE.values(), "gamma", "gamma with categories"
    )
    for one in annotators:
        yield row(
            one.first,
            one.second,
            str(one.texts),
            *(_told(one.figures[name]) for name in _PEOPLE),
            _gamma(one.gamma),
            _gamma(one.gamma_with_categories),
        )


def _told(one: Estimate) -> str:
    value = figure(one.value, _VALUE)
    if math.isnan(one.low):
        return value
    return f"{value} [{one.low:{_VALUE}}, {one.high:{_VALUE}}]"


def _gamma(one: Gamma | None) -> str:
    return "-" if one is None else figure(one.gamma, _VALUE)
