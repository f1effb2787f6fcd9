"""Reports in words: numbered errors, marked texts, and sources without settings."""

import sys
from importlib.util import find_spec

import pytest
from fakes.installed import skip_without
from fakes.judges import located
from fakes.processes import completed

import spanjury.frameworks
from spanjury.judges.core import (
    ConfigError,
    Decision,
    DecisionBasis,
    ErrorSpan,
    Evidence,
    Ground,
    Outcome,
    PanelReport,
    Report,
    SeatReport,
)
from spanjury.orchestration.frameworks.wording import error_lines, in_words, marked, texts_of

FRAMEWORKS = ("deepeval", "inspect_ai", "langsmith", "pydantic_evals")
ADAPTERS = [
    ("SpanjuryEvaluator", "pydantic_evals", "pydantic-evals"),
    ("SpanjuryMetric", "deepeval", "deepeval"),
    ("SpanjuryRunEvaluator", "langsmith", "langchain"),
    ("spanjury_scorer", "inspect_ai", "inspect"),
]


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


def test_an_unsure_report_names_the_judges_that_could_not_judge_the_text() -> None:
    foreign = Report(outcome=Outcome.ABSTAINED, reason="the output is French")
    report = PanelReport(
        score=3.0,
        seats=(SeatReport(seat="reader", signature="s", report=foreign, seconds=1),),
        decision=Decision.UNSURE,
        basis=DecisionBasis(ground=Ground.SPANS, reason="Errors are reported."),
    )
    assert in_words(report).splitlines() == [
        "unsure: Errors are reported.",
        "not judged by reader: the output is French",
    ]


def test_a_report_without_a_decision_gives_its_rationale() -> None:
    assert in_words(PanelReport(score=3.0, rationale="It is dull.")) == "It is dull."


def test_only_texts_and_lists_of_texts_are_a_source() -> None:
    given = {"Article": "a", "Context": ["b", "c"], "words": 5, "tags": [], "mixed": ["d", 1]}
    assert texts_of(given) == {"Article": "a", "Context": ["b", "c"]}


def test_the_face_holds_what_it_lists() -> None:
    assert list(spanjury.frameworks.__all__) == [
        *sorted(name for name in spanjury.frameworks.__all__ if name[0].isupper()),
        *sorted(name for name in spanjury.frameworks.__all__ if name[0].islower()),
    ]
    assert set(spanjury.frameworks.__all__) == {
        "aassert_no_errors",
        "assert_no_errors",
        *(name for name, _, _ in ADAPTERS),
    }


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = spanjury.frameworks.nonsense  # type: ignore[attr-defined]  # it is absent


@pytest.mark.parametrize(("name", "framework", "extra"), ADAPTERS)
def test_a_missing_framework_is_named_with_its_extra(name: str, framework: str, extra: str) -> None:
    if find_spec(framework) is not None:
        pytest.skip(f"{framework} is installed")
    with pytest.raises(ConfigError, match=rf"pip install 'spanjury\[{extra}\]'"):
        getattr(spanjury.frameworks, name)


@pytest.mark.parametrize(("name", "framework", "_extra"), ADAPTERS)
def test_naming_an_adapter_loads_its_framework_only(name: str, framework: str, _extra: str) -> None:
    skip_without(framework, reason=f"{framework} is not installed: just frameworks")
    script = (
        f"import sys; from spanjury.frameworks import {name};"
        f"print(*sorted({set(FRAMEWORKS)!r} & sys.modules.keys()))"
    )
    done = completed([sys.executable, "-c", script])
    assert done.stdout.split() == [framework]
