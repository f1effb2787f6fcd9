"""Outputs that no judge can vouch for: empty ones, refusals, repeated questions, codes.

The first three are findings, which one judge of a panel reports and the others leave to it. Nothing
can be said about a code.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from spanjury.judges.text.words import folded_words

EMPTY = "empty output"
"""Category of an output without words, which has no position to mark."""

REFUSAL = "refusal"
"""Category of an output that only refuses to answer."""

_SHORT = 60  # maximum words of a refusal: a longer text says something else as well
_LETTERS = 12  # maximum average length of a word and its space, in code points
_RUN = 24  # minimum length of a run of letters and digits that is not a word
_CODED = 0.5  # minimum share of coded characters in a coded text
_ESCAPED = 0.25  # minimum share of characters in HTML references or other escapes
_BYTES = 8  # minimum number of consecutive pairs of hexadecimal digits that are not words

_CANNOT = (
    r"\bi (?:can't|cannot|can not|couldn't|won't|will not"
    r"|am (?:not able|unable|not allowed|not permitted|not going) to)"
)
_REFUSAL = re.compile(
    r"^\W*as an ai(?: (?:language|chat|assistant))*(?: model| assistant)?,? i\b"
    rf"|{_CANNOT} (?:help|assist|comply|fulfil+)\b"
    rf"|{_CANNOT} (?:do|complete|process|continue|engage|discuss)(?: with)? (?:that|this|your|it)\b"
    rf"|{_CANNOT} (?:provide|generate|create|write|produce) (?:(?:that|this|such|a|an|the|any) )?"
    r"(?:summary|content|text|translation|assistance|help|advice|response)\b"
    rf"|{_CANNOT} (?:summari[sz]e|translate) (?:that|this|the|your)\b"
)
_I_AM = re.compile(r"\bi'm\b")
_QUESTION = re.compile(r"\b(?:question|query|prompt|instruction|request)s?\b", re.IGNORECASE)
_LONG_RUN = re.compile(rf"[A-Za-z0-9+/_-]{{{_RUN},}}={{0,2}}")
_NO_WORD = re.compile("[0-9]|[a-z][A-Z]")
_DIGITS = re.compile(
    rf"\b(?:[0-9a-fA-F]{{2}}[ :]){{{_BYTES},}}[0-9a-fA-F]{{2}}\b"
    rf"|\b(?:[01]{{8}} ?){{3,}}"
)
_ESCAPE = re.compile(r"&#?\w{1,8};|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-F]{2}")


class NonAnswer(NamedTuple):
    """An output that answers nothing, as an error with its category and explanation."""

    category: str
    explanation: str
    severity: int


def non_answer(output: str, inputs: Mapping[str, str]) -> NonAnswer | None:
    """Return the error of an output that answers nothing; None for any other output.

    Parameters
    ----------
    inputs
        Header -> text. Those called a question, or that end in a question mark, are questions.
    """
    if not any(map(str.isalnum, output)):
        return NonAnswer(EMPTY, "The output has no words.", 5)
    if _is_refusal(output):
        return NonAnswer(REFUSAL, "The output refuses to answer.", 4)
    if any(_repeats(output, text) for name, text in inputs.items() if _asks(name, text)):
        return NonAnswer("repeats the question", "The output only repeats the question.", 4)
    return None


def coded(output: str) -> str:
    """Describe how an output is coded, if it is unreadable; empty for plain text."""
    length = sum(map(len, output.split()))
    if _share(_ESCAPE, output, of=length) >= _ESCAPED:
        return "the characters of the output are written as codes, as in HTML or a URL"
    runs = [run for run in _LONG_RUN.findall(output) if _NO_WORD.search(run)]
    digits = _share(_DIGITS, output, of=length)
    if "://" not in output and max(digits, sum(map(len, runs)) / max(1, length)) >= _CODED:
        return "the output is a code, as Base64 or hexadecimal digits are"
    return ""


def _is_refusal(output: str) -> bool:
    text = output.strip()
    if len(text) > _SHORT * _LETTERS:
        return False
    text = _I_AM.sub("i am", text.lower().replace("\u2019", "'"))
    return bool(_REFUSAL.search(text)) and len(folded_words(text)) <= _SHORT


def _asks(name: str, text: str) -> bool:
    return text.rstrip().endswith("?") or bool(_QUESTION.search(name))


def _repeats(output: str, question: str) -> bool:
    # Comparing lengths first avoids folding a long text that cannot be the question.
    near = len(output) <= 2 * len(question) and len(question) <= 2 * len(output)
    return near and folded_words(output) == folded_words(question)


def _share(pattern: re.Pattern[str], text: str, *, of: int) -> float:
    covered = sum(not char.isspace() for match in pattern.finditer(text) for char in match.group())
    return covered / of if of else 0.0
