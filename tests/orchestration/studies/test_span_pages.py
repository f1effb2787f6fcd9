"""Spans of an aspect: gamma with people, texts that people praise, and the page of it."""

import math
from dataclasses import replace

from spanjury.judges.core import ErrorSpan, Located, Segment
from spanjury.orchestration.studies.agreement.spans.aspect import (
    AspectSpans,
    SpanTask,
    aspect_spans,
    praise,
)
from spanjury.orchestration.studies.agreement.spans.estimates import Settings
from spanjury.orchestration.studies.agreement.spans.findings import span_agreement
from spanjury.orchestration.studies.agreement.spans.gold import Found, Gold, GoldSpan
from spanjury.orchestration.studies.agreement.spans.tables import spans_markdown

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


FOUND: tuple[Found, ...] = (("j", "a", OUTPUT, (error(0, 6),)), ("j", "b", OUTPUT, ()))
TASK = SpanTask(
    aspect="fluency",
    found=FOUND,
    gold=GOLD,
    groups={"a": "x", "b": "y"},
    praise=praise([], aspect="fluency"),
)


def rated(name: str, *scores: float) -> Segment:
    given = {str(rater): score for rater, score in enumerate(scores)}
    return Segment(segment_id=name, output=OUTPUT, human={"fluency": given})


def told(task: SpanTask, settings: Settings = FEW) -> AspectSpans:
    return aspect_spans(task, settings)


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


def test_praised_are_texts_with_the_best_score_of_every_rater() -> None:
    texts = [rated("a", 5, 5), rated("b", 5, 4), rated("c", 1)]
    found = praise(texts, aspect="fluency")
    assert (found.best, found.texts) == (5.0, frozenset({"a"}))
    assert not praise(texts[:2], aspect="fluency").texts  # two different scores say too little
    assert not praise(texts, aspect="style").texts


def test_errors_in_praised_texts_are_counted_beside_gold_spans() -> None:
    praised = praise([rated("a", 5), rated("b", 4), rated("c", 1)], aspect="fluency")
    found = told(replace(TASK, praise=praised))
    (over,) = found.top_rated
    assert (over.judge, over.flawless, over.erring.value) == ("j", 1, 1)
    assert found.agreement is not None
    assert found.agreement.over_annotations[0].flawless == 1
    page = spans_markdown([found], ())
    assert "## Errors found on fluency in texts that no reader marked" in page
    assert "to which every rater gave 5, the best score given" in page


def test_the_page_tells_of_judges_systems_and_annotators() -> None:
    found = told(TASK)
    pairs = span_agreement(FOUND, GOLD.spans, readers=GOLD.readers, settings=FEW).annotators
    page = spans_markdown([found], pairs)
    assert "| j | 2 | 3 | " in page
    assert "| j | x | 1 | " in page
    assert "| eve | joe | 1 | " in page
    assert "every rater" not in page
    assert page == spans_markdown([told(TASK)], pairs)


def test_nothing_found_makes_no_page() -> None:
    assert not spans_markdown((), ())
