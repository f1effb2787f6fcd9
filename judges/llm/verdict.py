"""The verdict of a report: one word that says whether the text has any error.

It is a separate token, ``Faulty (a3f9): yes`` in lines and ``"faulty_a3f9": "yes"`` in an
object, so that its log-probability gives the probability of an error.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from spanjury.judges.core import Report, TokenLogprob, Unverified
from spanjury.judges.llm.answer_tokens import LEAST_SHARE, field_token, shares, value_starts
from spanjury.judges.llm.material import Material

VerdictPlace = Literal["before", "after", "none"]
"""Position of the verdict: before the list of errors, after it, or none, as in the first prompt."""
VERDICT = "faulty"
"""Label of the verdict, in lower case."""
YES, NO = "yes", "no"

_WORD = re.compile(r"(?:yes|no)\b", re.IGNORECASE)
_UNKNOWN = 0.5  # probability of an error whose verdict states none
_PRIOR = 0.5
"""Pseudo-count added to each verdict, so that a few assessments make nothing certain [1]_.

.. [1] Jeffreys (1946), doi:10.1098/rspa.1946.0056"""


def read_verdict(reply: str, *, mark: str, material: Material) -> tuple[bool | None, str]:
    """Return whether `reply` reports an error, and the reply without its verdict lines.

    The last verdict counts; None if there is none. A verdict without the mark counts only if no
    text contains its label. An object stays whole.
    """
    verdicts = list(_words(reply, mark=mark))
    if not verdicts and VERDICT in reply.lower() and not material.holds_word(VERDICT):
        verdicts = list(_words(reply, mark=""))
    if not verdicts:
        return None, reply
    kept, done = [], 0
    for start, _ in verdicts:
        begins = reply.rfind("\n", 0, start) + 1
        if begins >= done and '"' not in reply[begins:start]:
            kept.append(reply[done:begins])
            done = (reply.find("\n", start) + 1) or len(reply)
    return verdicts[-1][1], "".join([*kept, reply[done:]])


def verdict_line(*, faulty: bool, mark: str) -> str:
    """Return the line with which a reply states its verdict."""
    return f"Faulty ({mark}): {YES if faulty else NO}"


def error_probability(
    tokens: Sequence[TokenLogprob], *, mark: str, material: Material
) -> float | None:
    """Return the probability of an error, from the token of the verdict.

    None without log-probabilities, or if the two words have less than half of the probability.
    """
    token = field_token(tokens, VERDICT, mark=mark)
    if token is None and not material.holds_word(VERDICT):
        token = field_token(tokens, VERDICT, mark="")
    return None if token is None else share_of_yes(token)


def share_of_yes(token: TokenLogprob) -> float | None:
    """Return the probability of *yes* relative to *no*; None if both are too improbable."""
    words = shares(token, (YES, NO))
    total = sum(words.values())
    return min(1.0, words[YES] / total) if total >= LEAST_SHARE else None


def agreed_probability(verdicts: Sequence[bool]) -> float | None:
    """Return the probability of an error from repeated assessments; None for fewer than two."""
    if len(verdicts) < 2:  # noqa: PLR2004
        return None
    return (sum(verdicts) + _PRIOR) / (len(verdicts) + 2 * _PRIOR)


def with_undisclosed(report: Report, *, output: str) -> Report:
    """Return a report whose verdict is that `output` has an error, which may be none it lists.

    If it lists none, all of the text is unverified.
    """
    if report.spans or not output:
        return report
    likely = report.error_probability
    doubt = Unverified(
        start=0,
        end=len(output),
        text=output,
        probability=_UNKNOWN if likely is None else likely,
        reason="The model's verdict is that there is an error, but it lists none.",
    )
    return replace(report, unverified=(doubt,))


def _words(reply: str, *, mark: str) -> Iterator[tuple[int, bool]]:
    for start in value_starts(reply, VERDICT, mark=mark):
        if word := _WORD.match(reply, start):
            yield start, word[0].casefold() == YES
