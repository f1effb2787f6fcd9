"""Errors of several seats: which are the same, and what is made of them."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
import rapidfuzz
from fakes.judges import located, mark, segment, verdict_of
from hypothesis import example, given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Consolidation,
    ErrorSpan,
    Evidence,
    Located,
    SpanRef,
)
from spanjury.judges.text import AnswerMark
from spanjury.orchestration.engine.agent_consolidator import (
    Case,
    Group,
    Grouping,
    GroupingError,
    Ungrouped,
    consolidated,
)
from spanjury.orchestration.engine.rule_consolidator import (
    RuleConsolidator,
    alike_by_shared_words,
    seat_spans,
)

TEXT = "The grey bridge opened in 1935 and cost nine million, people said."
PLACES = [
    Evidence(input="Article", start=start, end=start + 4, text=text)
    for start, text in ((13, "1932"), (3, "open"), (40, "cost"))
]
BRIDGES = (
    "The bridge opened in 1923. It is “green”. " + "Nothing else. " * 30 + "It  opened in 1923."
)
LAST = BRIDGES.rindex("1923")
WORDS = ["the", "The", "source", "says", "'1932'", "don't", "a_b", "of,", "in", "é", "-", "\t", ""]
EXPLANATIONS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def consolidate(max_spans: int = 8, **spans: list[ErrorSpan]) -> Consolidation:
    """Merge the spans that each seat found."""
    consolidator = RuleConsolidator(max_spans=max_spans)
    return anyio.run(consolidator.consolidate, verdict_of(segment(output=TEXT), spans))


def test_two_seats_that_say_the_same_of_one_place_become_one_span() -> None:
    merged = consolidate(
        a=[mark(TEXT, "1935", "The article gives the year as 1932.", 3)],
        b=[mark(TEXT, "opened in 1935", "The year is wrong; the article says 1932.", 5)],
    )
    (span,) = merged.spans
    assert (span.text, span.severity) == ("opened in 1935", 5)
    assert span.explanation == "The year is wrong; the article says 1932."
    assert span.found_by == ("a", "b")
    assert merged.sources == ((SpanRef(seat="a", index=0), SpanRef(seat="b", index=0)),)
    assert merged.consolidator == "rules"


@pytest.mark.parametrize(
    ("category", "words"), [("", "1935"), ("Number", "1935"), ("number", "in 1935")]
)
def test_one_error_in_three_wordings_is_one_span(category: str, words: str) -> None:
    first = mark(TEXT, "1935", "The article gives the year as 1932.")
    merged = consolidate(
        a=[replace(first, category=category.casefold())],
        b=[replace(mark(TEXT, words, "Wrong date."), category=category)],
        c=[replace(first, explanation="Contradicts the source.", category=category.upper())],
    )
    assert [span.found_by for span in merged.spans] == [("a", "b", "c")]


def test_different_problems_at_one_place_stay_apart() -> None:
    merged = consolidate(
        a=[mark(TEXT, "opened in 1935", "The article gives the year as 1932.")],
        b=[mark(TEXT, "opened in 1935", "Grammar: a verb lacks its subject.")],
    )
    assert [span.found_by for span in merged.spans] == [("a",), ("b",)]


def test_one_problem_at_two_places_stays_two_spans() -> None:
    merged = consolidate(
        a=[mark(TEXT, "1935", "Not in the article.")],
        b=[mark(TEXT, "nine million", "Not in the article.")],
    )
    assert len(merged.spans) == 2


def test_two_problems_that_one_seat_lists_at_one_place_are_two() -> None:
    both = [mark(TEXT, "1935", "The year is wrong."), mark(TEXT, "1935", "The year is off.")]
    assert len(consolidate(a=both).spans) == 2


def test_a_seat_that_repeats_itself_word_for_word_counts_once() -> None:
    merged = consolidate(a=[mark(TEXT, "1935"), mark(TEXT, "1935")])
    assert (len(merged.spans), len(merged.sources[0])) == (1, 2)


def test_omissions_match_by_their_explanations() -> None:
    missing = ErrorSpan(text="", explanation="The mayor's speech is missing.", severity=2)
    merged = consolidate(
        a=[missing],
        b=[replace(missing, explanation="Missing: the speech of the mayor.", severity=4)],
        c=[replace(missing, explanation="No word about the cost.", severity=1)],
    )
    severities = {span.found_by: span.severity for span in merged.spans}
    assert severities == {("a", "b"): 4, ("c",): 1}


def test_beyond_the_limit_the_least_severe_are_skipped_by_name() -> None:
    words = TEXT.split()[:4]
    spans = [
        mark(TEXT, word, f"problem {word}", severity) for severity, word in enumerate(words, 1)
    ]
    merged = consolidate(a=spans, max_spans=2)
    assert [span.text for span in merged.spans] == ["bridge", "opened"]
    assert set(merged.left_out) == {SpanRef(seat="a", index=0), SpanRef(seat="a", index=1)}


def test_a_span_without_a_severity_yields_to_one_that_has_it() -> None:
    unknown, known = (mark(TEXT, "1935", "wrong year given", severity) for severity in (None, 1))
    merged = consolidate(a=[unknown], b=[known])
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
    seats = {f"seat{i}": spans for i, spans in enumerate(found)}
    together = verdict_of(segment(output=TEXT), seats)
    merged = anyio.run(RuleConsolidator(max_spans=limit).consolidate, together)
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
    (span,) = consolidate(a=[one], b=[two]).spans
    assert (span.evidence, span.probability) == ((year, other, opening), 0.9)


def span(
    quote: str, *, at: int | None = None, severity: int | None = 3, category: str = ""
) -> ErrorSpan:
    """Return a span of TEXT, or an unlocated one if the quote is not in it."""
    if at is None:
        return mark(BRIDGES, quote, "No.", severity, category=category)
    return located(quote, at, explanation="No.", severity=severity, category=category)


YEAR = span("1923", severity=4)
OPENED = span("opened in 1923", severity=2, category="date")
COLOUR = span("green")
AGAIN = span("1923", at=LAST)
MISSING = span("")
MADE_UP = span("built of gold")


def case(*spans: ErrorSpan, max_spans: int = 8) -> Case:
    errors = {f"s{n}": (SpanRef(seat=f"seat{n}", index=0), it) for n, it in enumerate(spans, 1)}
    return Case(
        text=BRIDGES, errors=errors, max_spans=max_spans, mark=AnswerMark.of([], key="groups")
    )


def group(*members: str, quote: str = "1923", severity: int = 3, why: str = "No.") -> Group:
    return Group(members=list(members), quote=quote, explanation=why, severity=severity)


def answer(*groups: Group, left_out: Sequence[str] = ()) -> Grouping:
    return Grouping(
        groups=list(groups), left_out=[Ungrouped(id=name, reason="limit") for name in left_out]
    )


def merged(given: Grouping, of: Case) -> tuple[Consolidation, ErrorSpan]:
    result = consolidated(given, of)
    return result, result.spans[0]


def test_a_group_takes_place_and_words_of_the_answer_and_finders_of_its_members() -> None:
    both = group("s2", "s1", quote="in 1923", severity=3, why="It was 1932.")
    result, found = merged(answer(both), case(YEAR, OPENED))
    assert (found.text, found.interval, found.located) == ("in 1923", (18, 25), Located.EXACT)
    assert (found.explanation, found.severity, found.category) == ("It was 1932.", 3, "date")
    assert found.found_by == ("seat1", "seat2")
    assert result.sources == ((SpanRef(seat="seat1", index=0), SpanRef(seat="seat2", index=0)),)
    assert (result.left_out, result.consolidator) == ((), "agent")


def test_evidence_and_probability_are_those_of_the_members_whatever_the_answer_says() -> None:
    first, second = (Evidence(input="Article", start=n, end=n + 4, text="1932") for n in (3, 9))
    year = replace(YEAR, evidence=(first,), probability=0.4)
    opened = replace(OPENED, evidence=(second, first), probability=0.7)
    _, found = merged(answer(group("s2", "s1")), case(year, opened))
    assert (found.evidence, found.probability) == ((first, second), 0.7)
    _, alone = merged(answer(group("s1", severity=4)), case(YEAR))
    assert (alone.evidence, alone.probability) == ((), None)


def test_groups_come_in_the_order_of_the_text_and_those_without_a_place_last() -> None:
    given = answer(
        group("s1", quote=""), group("s2"), group("s3", quote="green"), group("s4", severity=4)
    )
    result = consolidated(given, case(MISSING, AGAIN, COLOUR, YEAR))
    assert [it.start for it in result.spans] == [YEAR.start, COLOUR.start, LAST, None]


def test_a_quote_that_occurs_twice_is_found_where_the_member_is() -> None:
    _, found = merged(answer(group("s1")), case(AGAIN))
    assert found.start == LAST


def test_a_quote_may_differ_in_case_and_quotation_marks() -> None:
    _, found = merged(answer(group("s1", quote="IS “green”")), case(COLOUR))
    assert (found.text, found.located) == ("is “green”", Located.NORMALISED)


@pytest.mark.parametrize("quote", ["blue", "", "bridge", "opened in 1932"])
def test_a_quote_that_is_not_where_the_members_are_is_refused(quote: str) -> None:
    with pytest.raises(GroupingError, match="group 1: the quote is not in the text at the place"):
        consolidated(answer(group("s1", quote=quote)), case(YEAR))


def test_errors_in_different_sentences_are_not_one() -> None:
    for other in (AGAIN, COLOUR):
        with pytest.raises(GroupingError, match="in another sentence"):
            consolidated(answer(group("s1", "s2")), case(YEAR, other))


def test_an_error_without_a_place_joins_one_that_has_a_place() -> None:
    result, found = merged(answer(group("s1", "s2")), case(MADE_UP, YEAR))
    assert (found.interval, len(result.sources[0])) == (YEAR.interval, 2)


@pytest.mark.parametrize("error", [MISSING, MADE_UP])
def test_errors_without_a_place_are_given_none(error: ErrorSpan) -> None:
    _, found = merged(answer(group("s1", quote=error.text)), case(error))
    assert (found.text, found.located) == (error.text, Located.UNLOCATED)
    with pytest.raises(GroupingError, match="none has a place"):
        consolidated(answer(group("s1", quote="1923")), case(error))


@pytest.mark.parametrize("severity", [1, 5, 0, 99])
def test_a_severity_outside_the_range_of_the_members_is_refused(severity: int) -> None:
    given = answer(group("s1", "s2", severity=severity))
    with pytest.raises(GroupingError, match=f"severity {severity} is not within 2 to 4"):
        consolidated(given, case(YEAR, OPENED))


def test_no_severity_is_made_up_where_no_member_has_one() -> None:
    _, found = merged(answer(group("s1", severity=5)), case(span("1923", severity=None)))
    assert found.severity is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (answer(group("s1")), "s2: neither in a group nor left out"),
        (answer(group("s1", "s2", "s9")), "no error with the id s9"),
        (answer(group("s1", "s2"), group("s1")), "s1: named more than once"),
        (answer(group("s1", "s1", "s2")), "s1: named more than once"),
        (answer(group("s1", "s2"), left_out=["s2"]), "s2: named more than once"),
        (answer(group("s1", "s2"), left_out=["s9"]), "no error with the id s9"),
        (answer(group("s1", "s2"), group()), "a group has no members"),
        (answer(group("s1"), left_out=["s2"]), "s2: left out although there is room"),
        (answer(left_out=["s1", "s2"]), "s1, s2: left out although there is room"),
        (answer(group("s1", "s2", why=" ")), "the explanation is missing"),
    ],
)
def test_lost_doubled_or_invented_spans_are_refused(given: Grouping, problem: str) -> None:
    with pytest.raises(GroupingError, match=problem):
        consolidated(given, case(YEAR, OPENED))


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(GroupingError) as caught:
        consolidated(answer(group("s9", "s1", "s1")), case(YEAR, OPENED))
    assert len(str(caught.value).splitlines()) == 3


def test_the_mildest_errors_may_be_skipped_over_the_limit() -> None:
    of = case(YEAR, OPENED, COLOUR, max_spans=1)
    given = answer(group("s1", severity=4), left_out=["s2", "s3"])
    result = consolidated(given, of)
    assert result.left_out == (SpanRef(seat="seat2", index=0), SpanRef(seat="seat3", index=0))
    graver = answer(group("s2", severity=2), group("s3", quote="green"), left_out=["s1"])
    with pytest.raises(GroupingError, match="s1: left out although graver"):
        consolidated(graver, of)


def test_more_groups_than_allowed_are_refused() -> None:
    two = answer(group("s1"), group("s2", quote="green"))
    with pytest.raises(GroupingError, match="2 groups, no more than 1"):
        consolidated(two, case(YEAR, COLOUR, max_spans=1))


def test_an_error_whose_quote_is_made_up_may_always_be_skipped() -> None:
    result = consolidated(answer(group("s1", severity=4), left_out=["s2"]), case(YEAR, MADE_UP))
    assert result.left_out == (SpanRef(seat="seat2", index=0),)
    with pytest.raises(GroupingError, match="s2: left out although there is room"):
        consolidated(answer(group("s1", severity=4), left_out=["s2"]), case(YEAR, MISSING))


@given(one=EXPLANATIONS, other=EXPLANATIONS)
@example(one="a b", other="a cd")
@example(one="", other="")
def test_texts_alike_by_shared_words_are_alike_to_rapidfuzz(one: str, other: str) -> None:
    ratio = rapidfuzz.fuzz.token_set_ratio(one, other, processor=rapidfuzz.utils.default_process)
    assert ratio >= 50.0 or not alike_by_shared_words(one, other)


def test_half_of_the_words_in_common_are_enough() -> None:
    assert alike_by_shared_words("The source says: 1932.", "the SOURCE says eight of them")
    assert not alike_by_shared_words("The source says: 1932.", "the number is not known here")
    assert not alike_by_shared_words("", "")
    assert not alike_by_shared_words("Le pré est vert.", "Le pré est vert.")  # rapidfuzz says that
