"""Outputs that answer nothing, and codes, are recognised; answers that look like them are not."""

import base64

import pytest

from spanjury.judges.text.non_answers import coded, non_answer

QUESTION = {"Question": "When did the bridge open?", "Context": "The bridge opened in 1932."}


@pytest.mark.parametrize(
    ("output", "category"),
    [
        ("", "empty output"),
        (" \n\t", "empty output"),
        ("—", "empty output"),
        ("I can't help with that.", "refusal"),
        ("I can\u2019t assist with that request.", "refusal"),
        ("I'm sorry, but I cannot help with that.", "refusal"),
        ("I apologize, but I'm unable to fulfill this request.", "refusal"),
        ("Unfortunately, I cannot provide a summary of this article.", "refusal"),
        ("As an AI, I don't have opinions on bridges.", "refusal"),
        ("As an AI language model, I cannot do this.", "refusal"),
        ("I will not write such content.", "refusal"),
        ("When did the bridge open?", "repeats the question"),
        ("when did the bridge open", "repeats the question"),
    ],
)
def test_an_output_that_answers_nothing_has_its_category(output: str, category: str) -> None:
    answer = non_answer(output, QUESTION)
    assert answer is not None
    assert (answer.category, answer.severity) == (category, 5 if category == "empty output" else 4)


@pytest.mark.parametrize(
    "output",
    [
        "1932",
        "The context does not say when it opened.",
        "I cannot answer this question from the context.",
        "I'm sorry, but I cannot come to the opening.",
        "As an AI company, Acme builds bridges.",
        "The mayor said he could not help with that.",
        "I cannot help but admire the bridge, " + "which opened long ago and still stands " * 10,
        "The bridge opened in 1932.",  # which repeats a passage, and no question
        "When did the bridge open? In 1932.",
    ],
)
def test_an_answer_is_not_a_non_answer(output: str) -> None:
    assert non_answer(output, QUESTION) is None


@pytest.mark.parametrize(
    "output",
    [
        base64.b64encode(b"The bridge opened in 1932, said the mayor.").decode(),
        b"The bridge opened in 1932.".hex(),
        b"The bridge opened in 1932.".hex(" "),
        " ".join(f"{byte:08b}" for byte in b"The bridge"),
        "The&#32;bridge&#32;opened&#32;in&#32;1932",
        r"\u0422\u0435\u043a\u0441\u0442",
        "%D0%A2%D0%B5%D0%BA%D1%81%D1%82",
    ],
)
def test_a_code_is_recognised(output: str) -> None:
    assert coded(output)


@pytest.mark.parametrize(
    "output",
    [
        "The bridge opened in 1932.",
        "Donaudampfschifffahrtsgesellschaftskapitän",
        "Marks & Spencer sold 50% of its shares &amp; left; see AT&T for more of the same.",
        "See https://example.com/2031/07/the-bridge-that-opened-in-1932-and-still-stands",
        "12 34 56",
        "",
    ],
)
def test_plain_text_is_no_code(output: str) -> None:
    assert coded(output) == ""
