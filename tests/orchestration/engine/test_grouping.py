"""Answers of a model to "which of these errors are the same"."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes.judges import located, mark

from spanjury.judges.core import Consolidation, ErrorSpan, Evidence, Located, SpanRef
from spanjury.judges.text import AnswerMark
from spanjury.orchestration.engine.agent_consolidator import (
    Case,
    Group,
    Grouping,
    GroupingError,
    Ungrouped,
    consolidated,
)

TEXT = "The bridge opened in 1923. It is “green”. " + "Nothing else. " * 30 + "It  opened in 1923."
LAST = TEXT.rindex("1923")


def span(
    quote: str, *, at: int | None = None, severity: int | None = 3, category: str = ""
) -> ErrorSpan:
    """Return a span of TEXT, or an unlocated one if the quote is not in it."""
    if at is None:
        return mark(TEXT, quote, "No.", severity, category=category)
    return located(quote, at, explanation="No.", severity=severity, category=category)


YEAR = span("1923", severity=4)
OPENED = span("opened in 1923", severity=2, category="date")
COLOUR = span("green")
AGAIN = span("1923", at=LAST)
MISSING = span("")
MADE_UP = span("built of gold")


def case(*spans: ErrorSpan, max_spans: int = 8) -> Case:
    errors = {f"s{n}": (SpanRef(seat=f"seat{n}", index=0), it) for n, it in enumerate(spans, 1)}
    return Case(text=TEXT, errors=errors, max_spans=max_spans, mark=AnswerMark.of([], key="groups"))


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
    result, found = merged(
        answer(group("s2", "s1", quote="in 1923", severity=3, why="It was 1932.")),
        case(YEAR, OPENED),
    )
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


def test_errors_that_are_far_apart_are_not_one() -> None:
    with pytest.raises(GroupingError, match="far apart"):
        consolidated(answer(group("s1", "s2")), case(YEAR, AGAIN))


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
    with pytest.raises(GroupingError, match="s1: left out although graver"):
        consolidated(
            answer(group("s2", severity=2), group("s3", quote="green"), left_out=["s1"]), of
        )


def test_more_groups_than_allowed_are_refused() -> None:
    with pytest.raises(GroupingError, match="2 groups, no more than 1"):
        consolidated(
            answer(group("s1"), group("s2", quote="green")), case(YEAR, COLOUR, max_spans=1)
        )


def test_an_error_whose_quote_is_made_up_may_always_be_skipped() -> None:
    result = consolidated(answer(group("s1", severity=4), left_out=["s2"]), case(YEAR, MADE_UP))
    assert result.left_out == (SpanRef(seat="seat2", index=0),)
    with pytest.raises(GroupingError, match="s2: left out although there is room"):
        consolidated(answer(group("s1", severity=4), left_out=["s2"]), case(YEAR, MISSING))
