from dataclasses import replace

import anyio
import pytest
from fakes.judges import ASPECT, mark
from fakes.judges import segment as a_segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Consolidation,
    ErrorSpan,
    Evidence,
    Report,
    SeatReport,
    SpanRef,
    Verdict,
)
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator, seat_spans

TEXT = "The grey bridge opened in 1935 and cost nine million, people said."

PLACES = [
    Evidence(input="Article", start=start, end=start + 4, text=text)
    for start, text in ((13, "1932"), (3, "open"), (40, "cost"))
]


def verdict(**spans: list[ErrorSpan]) -> Verdict:
    return Verdict(
        segment=a_segment(output=TEXT),
        aspect=ASPECT,
        seats=tuple(
            SeatReport(
                seat=seat, signature=seat, report=Report(score=3, spans=tuple(found)), seconds=0
            )
            for seat, found in spans.items()
        ),
    )


def consolidate(found: Verdict, max_spans: int = 8) -> Consolidation:
    return anyio.run(RuleConsolidator(max_spans=max_spans).consolidate, found)


def test_two_seats_that_say_the_same_of_one_place_become_one_span() -> None:
    merged = consolidate(
        verdict(
            a=[mark(TEXT, "1935", "The article gives the year as 1932.", 3)],
            b=[mark(TEXT, "opened in 1935", "The year is wrong; the article says 1932.", 5)],
        )
    )
    (span,) = merged.spans
    assert (span.text, span.severity) == ("opened in 1935", 5)
    assert span.explanation == "The year is wrong; the article says 1932."
    assert span.found_by == ("a", "b")
    assert merged.sources == ((SpanRef(seat="a", index=0), SpanRef(seat="b", index=0)),)
    assert merged.consolidator == "rules"


def test_different_problems_at_one_place_stay_apart() -> None:
    merged = consolidate(
        verdict(
            a=[mark(TEXT, "opened in 1935", "The article gives the year as 1932.")],
            b=[mark(TEXT, "opened in 1935", "Grammar: a verb lacks its subject.")],
        )
    )
    assert [span.found_by for span in merged.spans] == [("a",), ("b",)]


def test_one_problem_at_two_places_stays_two_spans() -> None:
    merged = consolidate(
        verdict(
            a=[mark(TEXT, "1935", "Not in the article.")],
            b=[mark(TEXT, "nine million", "Not in the article.")],
        )
    )
    assert len(merged.spans) == 2


def test_two_problems_that_one_seat_lists_at_one_place_are_two() -> None:
    both = [mark(TEXT, "1935", "The year is wrong."), mark(TEXT, "1935", "The year is off.")]
    assert len(consolidate(verdict(a=both)).spans) == 2


def test_a_seat_that_repeats_itself_word_for_word_counts_once() -> None:
    merged = consolidate(verdict(a=[mark(TEXT, "1935"), mark(TEXT, "1935")]))
    assert (len(merged.spans), len(merged.sources[0])) == (1, 2)


def test_omissions_match_by_their_explanations() -> None:
    missing = ErrorSpan(text="", explanation="The mayor's speech is missing.", severity=2)
    merged = consolidate(
        verdict(
            a=[missing],
            b=[replace(missing, explanation="Missing: the speech of the mayor.", severity=4)],
            c=[replace(missing, explanation="No word about the cost.", severity=1)],
        )
    )
    assert [(span.found_by, span.severity) for span in merged.spans] == [
        (("a", "b"), 4),
        (("c",), 1),
    ]


def test_beyond_the_limit_the_least_severe_are_skipped_by_name() -> None:
    words = TEXT.split()[:4]
    spans = [
        mark(TEXT, word, f"problem {word}", severity) for severity, word in enumerate(words, 1)
    ]
    merged = consolidate(verdict(a=spans), max_spans=2)
    assert [span.text for span in merged.spans] == ["bridge", "opened"]
    assert set(merged.left_out) == {SpanRef(seat="a", index=0), SpanRef(seat="a", index=1)}


def test_a_span_without_a_severity_yields_to_one_that_has_it() -> None:
    merged = consolidate(
        verdict(
            a=[mark(TEXT, "1935", "wrong year given", None)],
            b=[mark(TEXT, "1935", "wrong year given", 1)],
        )
    )
    assert merged.spans[0].severity == 1


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_spans must be positive"):
        RuleConsolidator(max_spans=0)


@st.composite
def any_span(draw: st.DrawFn) -> ErrorSpan:
    explanation = draw(st.sampled_from(["wrong year", "the year is wrong", "unclear", ""]))
    severity = draw(st.none() | st.integers(1, 5))
    if draw(st.booleans()):
        return ErrorSpan(
            text=draw(st.sampled_from(["", "gone"])), explanation=explanation, severity=severity
        )
    start = draw(st.integers(0, len(TEXT) - 1))
    quote = TEXT[start : draw(st.integers(start + 1, len(TEXT)))]
    return replace(
        mark(TEXT[start:], quote, explanation, severity),
        start=start,
        end=start + len(quote),
        evidence=tuple(draw(st.lists(st.sampled_from(PLACES), unique=True))),
        probability=draw(st.none() | st.floats(0, 1)),
    )


@given(st.lists(st.lists(any_span(), max_size=5), min_size=1, max_size=4), st.integers(1, 8))
def test_every_span_is_accounted_for_exactly_once(found: list[list[ErrorSpan]], limit: int) -> None:
    together = verdict(**{f"seat{i}": spans for i, spans in enumerate(found)})
    merged = consolidate(together, max_spans=limit)
    named = [*(ref for refs in merged.sources for ref in refs), *merged.left_out]
    assert sorted(named) == sorted(ref for ref, _ in seat_spans(together))
    assert len(merged.spans) <= limit
    sources = dict(seat_spans(together))
    for span, refs in zip(merged.spans, merged.sources, strict=True):
        members = [sources[ref] for ref in refs]
        assert span.severity == max((m.severity for m in members if m.severity), default=None)
        assert span.interval is None or TEXT[slice(*span.interval)] == span.text
        assert span.text in {member.text for member in members}
        assert len(set(span.evidence)) == len(span.evidence)
        assert set(span.evidence) == {place for member in members for place in member.evidence}
        likely = [m.probability for m in members if m.probability is not None]
        assert span.probability == max(likely, default=None)


def test_one_span_of_two_seats_keeps_the_evidence_of_both_and_the_higher_probability() -> None:
    year, opening, other = PLACES
    one = replace(mark(TEXT, "1935", "wrong year"), evidence=(year, other), probability=0.6)
    two = replace(mark(TEXT, "1935", "wrong year"), evidence=(opening, year), probability=0.9)
    (span,) = consolidate(verdict(a=[one], b=[two])).spans
    assert (span.evidence, span.probability) == ((year, other, opening), 0.9)
