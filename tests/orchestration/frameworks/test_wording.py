"""Reports in words: numbered errors, marked texts, and sources without settings."""

import pytest
from fakes.judges import located

from spanjury.judges.core import ErrorSpan, Evidence, Outcome, PanelReport
from spanjury.orchestration.frameworks.wording import error_lines, in_words, marked, texts_of


def span(text: str, start: int, severity: int | None = 4) -> ErrorSpan:
    return located(text, start, explanation="It is not so.", severity=severity)


@pytest.mark.parametrize(
    ("spans", "shown"),
    [
        ([], "abcdef"),
        ([span("cd", 2)], "ab[1: cd]ef"),
        ([span("ef", 4), span("ab", 0)], "[2: ab]cd[1: ef]"),
        ([span("ab", 0), span("cd", 2)], "[1: ab][2: cd]ef"),
        ([span("bcd", 1), span("cd", 2)], "a[1: b[2: cd]]ef"),
        ([span("bc", 1), span("bcd", 1)], "a[2: [1: bc]d]ef"),
        ([ErrorSpan(text="", explanation="The date is missing.", severity=3)], "abcdef"),
    ],
)
def test_spans_are_marked_by_their_numbers(spans: list[ErrorSpan], shown: str) -> None:
    assert marked("abcdef", spans) == shown


def test_an_error_is_quoted_with_its_evidence_line_by_line() -> None:
    missing = ErrorSpan(
        text="",
        explanation="The date\nis missing.",
        severity=None,
        evidence=(Evidence(input="Article", start=0, end=7, text="in 1932"),),
    )
    assert list(error_lines([span("cd", 2), missing])) == [
        '1. "cd" (severity 4): It is not so.',
        "2. an omission: The date is missing.",
        '   Article: "in 1932"',
    ]


def test_a_report_without_a_score_says_why() -> None:
    report = PanelReport(outcome=Outcome.TIMED_OUT, reason="no reply in 60 s")
    assert in_words(report) == "no score (timed_out): no reply in 60 s"


def test_a_report_without_a_decision_gives_its_rationale() -> None:
    assert in_words(PanelReport(score=3.0, rationale="It is dull.")) == "It is dull."


def test_only_texts_and_lists_of_texts_are_a_source() -> None:
    given = {"Article": "a", "Context": ["b", "c"], "words": 5, "tags": [], "mixed": ["d", 1]}
    assert texts_of(given) == {"Article": "a", "Context": ["b", "c"]}
