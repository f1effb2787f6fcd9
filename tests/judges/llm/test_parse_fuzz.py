"""Whatever a model writes: no exception, no score from nowhere, and reports read back."""

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import Scale
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedError, ParsedReply

EXAMPLES = int(os.environ.get("SPANJURY_FUZZ_EXAMPLES", "300"))
fuzz = settings(max_examples=EXAMPLES)

PIECES = st.sampled_from(
    [
        "Error 1:", "### Error 2", "1.", "- ", "**", "__", "```\n", "No Error", "Location:",
        "Location (implied):", "Explanation:", "Explanation of the score:", "Severity:", "4/5",
        "Category:", "Overall score:", "Score:", "Fair", "good", "**Poor**", "3", "3.5", "N/A",
        "<1-5>", "<Poor|Fair>", "None", '"', "“", "”", "'", "`", "(", ")", "[", "]", "…", "\n",
        "\n\n", "\r\n", "\t", "\u00a0", "：", "<think>", "</think>", "to", "not", "the text", "\0",
        "\ud800", "½", "\u200b",
    ]
)  # fmt: skip
REPLIES = st.one_of(
    st.text(max_size=300),
    st.lists(PIECES, max_size=40).map(" ".join),
    st.lists(st.one_of(PIECES, st.text(max_size=10)), max_size=40).map("".join),
)
SCALES = st.one_of(
    st.just(Scale()),
    st.lists(
        st.text(min_size=1, max_size=8).filter(str.strip),
        min_size=2,
        max_size=7,
        unique_by=str.casefold,
    ).map(lambda labels: Scale(labels=tuple(labels))),
)
WORDS = st.lists(
    st.sampled_from(
        ["the", "bridge", "isn’t", "42", "Monday,", "good", "no", "(sic)", "“x”", "a:b"]
    ),
    min_size=1,
    max_size=8,
).map(" ".join)
ERRORS = st.builds(
    ParsedError,
    quote=WORDS.filter(lambda words: words.casefold() != "n/a"),
    explanation=WORDS,
    severity=st.one_of(st.none(), st.integers(1, 5)),
)


@fuzz
@given(REPLIES, SCALES)
def test_any_reply_is_read_without_complaint(reply: str, scale: Scale) -> None:
    read = parse(reply, scale=scale)
    assert (read.score is None) == bool(read.problem)
    assert read.score is None or scale.low <= read.score <= scale.high
    assert not (read.error_free and read.errors)
    for error in read.errors:
        assert error.severity is None or 1 <= error.severity <= 5


@fuzz
@given(REPLIES)
def test_a_reply_without_a_grade_in_it_gets_no_score(reply: str) -> None:
    graded = any(character.isdecimal() for character in reply)
    named = any(label.casefold() in reply.casefold() for label in Scale().labels)
    if not graded and not named:
        assert parse(reply, scale=Scale()).score is None


@fuzz
@given(st.lists(ERRORS, max_size=5), st.integers(1, 5), WORDS)
def test_a_report_in_the_form_asked_for_reads_back(
    errors: list[ParsedError], score: int, rationale: str
) -> None:
    blocks = [
        f'Error {number}:\nLocation: "{error.quote}"\nExplanation: {error.explanation}\n'
        f"Severity: {'N/A' if error.severity is None else error.severity}\n"
        for number, error in enumerate(errors, start=1)
    ]
    reply = "\n".join(
        [
            *(blocks or ["No Error\n"]),
            f"Overall score: {Scale().label(score)}",
            f"Explanation of the score: {rationale}",
        ]
    )
    assert parse(reply, scale=Scale()) == ParsedReply(
        errors=tuple(errors), score=score, error_free=not errors, rationale=rationale
    )


@fuzz
@given(REPLIES, st.integers(1, 5))
def test_a_clear_last_line_gives_the_score_or_is_contradicted(reply: str, score: int) -> None:
    if "<" in reply or "```" in reply:  # reasoning or a code block may swallow the rest
        return
    read = parse(f"{reply}\nError 1:\nSeverity: 1\nOverall score: {score}", scale=Scale())
    assert read.score == score or read.problem == "it gives several overall scores"
