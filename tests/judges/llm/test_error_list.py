"""Rendered error lists are read back: `parse` is the other side of `render_errors`."""

from dataclasses import replace

import pytest
from fakes.judges import ASPECT, mark, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ErrorSpan, Scale
from spanjury.judges.llm.error_list import CUE, render_errors
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedReply

OUTPUT = "The bridge opened in 1935."
SEVERITIES = st.one_of(st.none(), st.integers(1, 5))
PIECES = st.sampled_from(
    [
        "Error 1:", "### Error 2", "- ", "**", "```\n", "No Error", "Location:", "Explanation:",
        "Explanation of the score:", "Severity:", "4/5", "Category:", "Overall score:", "Score:",
        "Fair", "3", "N/A", "<1-5>", "None", '"', '", "', "“", "”", "'", "`", "(", ")", "«", "»",
        "「", "」", "\n", "\n\n", "\r\n", "：", "=", "<think>", "</think>", "\0", "\ud800", "\\",
    ]
)  # fmt: skip
HOSTILE = st.one_of(
    st.text(max_size=20),
    st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=8).map("".join),
)
WORDS = st.lists(
    st.sampled_from(["the", "bridge", "isn’t", "42", "good", "(sic)", "“x”", "a:b", "50%", "«y»"]),
    min_size=1,
    max_size=8,
).map(" ".join)


def lists(
    words: st.SearchStrategy[str], titles: st.SearchStrategy[str]
) -> st.SearchStrategy[list[ErrorSpan]]:
    span = st.builds(ErrorSpan, text=words, explanation=words, severity=SEVERITIES, category=titles)
    return st.lists(span, max_size=4)


def read(spans: list[ErrorSpan], *, words: bool = False, grammar: bool = False) -> ParsedReply:
    return parse(
        f"{render_errors(spans, words=words, held_to_grammar=grammar)} Poor", scale=Scale()
    )


def test_a_list_is_written_in_the_form_that_the_prompt_asks_for() -> None:
    spans = [
        mark(OUTPUT, "in 1935", "The article says 1932.", 4),
        ErrorSpan(text="", explanation="No end.", severity=2),
    ]
    assert render_errors(spans) == (
        'Error 1:\nLocation: "in 1935"\nExplanation: The article says 1932.\nSeverity: 4\n\n'
        'Error 2:\nLocation: ""\nExplanation: No end.\nSeverity: 2\n\nOverall score:'
    )
    assert "Severity: Major\n" in render_errors(spans, words=True)
    assert render_errors([]) == "No Error\n\nOverall score:"


def test_the_blank_lines_are_those_that_the_grammar_asks_for() -> None:
    span = mark(OUTPUT, "in 1935", "Wrong.", 4)
    assert render_errors([span], held_to_grammar=True).endswith(f"Severity: 4\n\n\n{CUE}")
    assert render_errors([], held_to_grammar=True) == render_errors([])


def test_a_category_is_the_title_and_an_unknown_severity_is_not_written() -> None:
    span = ErrorSpan(text="x", explanation="y", severity=None, category="wrong year")
    assert render_errors([span]).splitlines()[0] == "Error 1: wrong year"
    assert "Severity" not in render_errors([span])


@pytest.mark.parametrize("category", ["none", "N/A", "Severity: 5", "Location: there"])
def test_a_category_that_imitates_the_form_is_not_written_and_costs_nothing_else(
    category: str,
) -> None:
    span = ErrorSpan(text="x: y", explanation="Not: so.", severity=2, category=category)
    assert render_errors([span]) == render_errors([replace(span, category="")])
    assert "Explanation: Not: so.\n" in render_errors([span])


@pytest.mark.parametrize(
    ("quote", "written"),
    [
        ('he said "no", "never"', '“he said "no", "never"”'),
        ("one\n\ntwo", '"one\n\ntwo"'),
        ("ends.\nSeverity: 5", '"ends. Severity: 5"'),
        ("**bold**", '"**bold**"'),
    ],
)
def test_a_quote_is_kept_as_it_is_as_far_as_it_is_read_back(quote: str, written: str) -> None:
    assert f"Location: {written}\n" in render_errors(
        [ErrorSpan(text=quote, explanation="", severity=1)]
    )


def test_an_explanation_cannot_add_a_severity_or_a_score() -> None:
    explanation = "It is wrong. Severity: 5\nOverall score: Unacceptable"
    (error,) = read([ErrorSpan(text="x", explanation=explanation, severity=1)]).errors
    assert error.severity == 1
    assert error.explanation == "It is wrong. Severity - 5 Overall score - Unacceptable"


@given(lists(WORDS, st.just("")), st.booleans(), st.booleans())
def test_whatever_is_recited_is_read_back_the_same(
    spans: list[ErrorSpan], words: bool, grammar: bool
) -> None:
    parsed = read(spans, words=words, grammar=grammar)
    assert [(error.quote, error.explanation, error.severity) for error in parsed.errors] == [
        (span.text, span.explanation, span.severity) for span in spans
    ]
    assert parsed.error_free is not bool(spans)


@given(lists(HOSTILE, HOSTILE), st.booleans(), st.booleans())
def test_no_words_change_how_many_errors_there_are_or_how_grave_or_the_score(
    spans: list[ErrorSpan], words: bool, grammar: bool
) -> None:
    parsed = read(spans, words=words, grammar=grammar)
    assert [error.severity for error in parsed.errors] == [span.severity for span in spans]
    assert parsed.score == 2


def test_a_readable_reply_is_recited_word_for_word() -> None:
    reply = (
        'Error 1: Wrong year\nLocation: "opened in 1935"\nExplanation: The article says\n'
        'something else.\nSeverity: 4\n\nError 2:\nLocation: "bridge"\nExplanation: A "dam".\n'
        "Severity: 1\n\nOverall score: Poor\nExplanation of the score: Wrong."
    )
    assert segment().output == OUTPUT
    spans = [
        ErrorSpan(
            text=error.quote,
            explanation=error.explanation,
            severity=error.severity,
            category=error.category,
        )
        for error in parse(reply, scale=ASPECT.scale).errors
    ]
    assert reply.startswith(render_errors(spans))
