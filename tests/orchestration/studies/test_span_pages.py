"""Spans of an aspect: gamma with people, texts that people rate highest, and their page."""

import math
from collections.abc import Sequence
from dataclasses import replace

from spanjury.judges.core import ErrorSpan, Located, Segment
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.agreement.spans.findings import (
    AspectSpans,
    SpanTask,
    aspect_spans,
    span_agreement,
    top_rated_texts,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    Gold,
    GoldSpan,
    Marking,
    PairFinding,
)
from spanjury.orchestration.studies.agreement.tables import span_blocks
from spanjury.orchestration.studies.estimates import Settings

FEW = Settings(draws=20)
OUTPUT = "0123456789" * 3
GOLD = Gold(
    {"a": (GoldSpan(start=0, end=6, annotator="eve"),), "b": ()},
    {"a": ("eve", "joe"), "b": ("eve",)},
)


def error(start: int, end: int) -> ErrorSpan:
    return ErrorSpan(
        text=OUTPUT[start:end],
        start=start,
        end=end,
        explanation="wrong",
        severity=4,
        located=Located.EXACT,
    )


FOUND: tuple[Marking, ...] = (("j", "a", OUTPUT, (error(0, 6),)), ("j", "b", OUTPUT, ()))
TASK = SpanTask(
    aspect="fluency",
    markings=FOUND,
    gold=GOLD,
    groups={"a": "x", "b": "y"},
    top_rated=top_rated_texts([], aspect="fluency"),
)


def rated(name: str, *scores: float) -> Segment:
    given = {str(rater): score for rater, score in enumerate(scores)}
    return Segment(segment_id=name, output=OUTPUT, human={"fluency": given})


def compared(task: SpanTask) -> AspectSpans:
    return aspect_spans(task, FEW)


def page_of(findings: Sequence[AspectSpans], annotators: Sequence[PairFinding]) -> str:
    blocks = span_blocks(findings, annotators)
    return report_markdown(Report(title="Error spans", sections=blocks))


def test_gamma_takes_each_reading_for_a_text_of_its_own() -> None:
    whole, *groups = span_agreement(
        FOUND, GOLD.spans, readers=GOLD.readers, groups=TASK.groups, settings=FEW
    ).judges
    assert whole.gamma is not None
    # Eve's span is found; Joe's reading has none, so that it is left alone: 1 of 3 / 2 spans.
    assert whole.gamma.observed == 1 / (3 / 2)
    assert [one.gamma for one in groups] == [None, None]


def test_without_any_verdict_there_is_no_gamma() -> None:
    silent = tuple((judge, name, output, None) for judge, name, output, _ in FOUND)
    (one,) = span_agreement(silent, GOLD.spans, settings=FEW).judges
    assert one.gamma is not None
    assert math.isnan(one.gamma.gamma)


def test_no_draws_give_figures_without_intervals() -> None:
    (one,) = span_agreement(FOUND, GOLD.spans, settings=replace(FEW, draws=0)).judges
    figure = one.figures["characters.micro.f1"]
    assert figure.value == 1
    assert math.isnan(figure.low)
    assert math.isnan(figure.high)


def test_top_rated_are_texts_with_the_best_score_of_every_rater() -> None:
    texts = [rated("a", 5, 5), rated("b", 5, 4), rated("c", 1)]
    found = top_rated_texts(texts, aspect="fluency")
    assert (found.best, found.texts) == (5.0, frozenset({"a"}))
    assert not top_rated_texts(
        texts[:2], aspect="fluency"
    ).texts  # two different scores say too little
    assert not top_rated_texts(texts, aspect="style").texts


def test_errors_in_top_rated_texts_are_counted_beside_gold_spans() -> None:
    best = top_rated_texts([rated("a", 5), rated("b", 4), rated("c", 1)], aspect="fluency")
    found = compared(replace(TASK, top_rated=best))
    (over,) = found.top_rated
    assert (over.judge, over.flawless, over.erring.value) == ("j", 1, 1)
    assert found.agreement is not None
    assert found.agreement.over_annotations[0].flawless == 1
    page = page_of([found], ())
    assert "## Errors found on fluency in texts that no reader marked" in page
    assert "that every rater gave 5, the best score" in page


def test_the_page_shows_judges_systems_and_annotators() -> None:
    found = compared(TASK)
    pairs = span_agreement(FOUND, GOLD.spans, readers=GOLD.readers, settings=FEW).annotators
    page = page_of([found], pairs)
    assert "| j | 2 | 3 | " in page
    assert "| j | x | 1 | " in page
    assert "| eve | joe | 1 | " in page
    assert "every rater" not in page
    assert page == page_of([compared(TASK)], pairs)


def test_nothing_found_makes_no_page() -> None:
    assert not span_blocks((), ())
