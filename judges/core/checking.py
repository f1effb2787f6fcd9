"""Checking: what a checker is asked and what it answers (`spanjury.judges.core.ports.Checker`)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from spanjury.judges.core.chat import Usage
from spanjury.judges.core.report import Report

ClaimUnit = Literal["sentence", "text", "answer"]
"""Unit that a checker was trained to read as a claim: one sentence, a whole text whose words it
judges, or a whole answer that it judges as one."""


class ClaimPair(NamedTuple):
    """A passage of a source, and the claim that it may support."""

    passage: str
    claim: str


class WordSupport(NamedTuple):
    """Probability, 0 to 1, that a passage supports a word of a claim.

    ``start`` and ``end`` are half-open offsets in code points of the claim.
    """

    start: int
    end: int
    supported: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSupport:
    """A checker's answer on one pair.

    Parameters
    ----------
    supported
        Probability, 0 to 1, that the passage supports the claim.
    contradicted
        Probability that it says otherwise; None where the checker does not tell this from silence.
    words
        The same for each word, in order; empty where the checker gives no probability for words.
    is_stated
        Whether `supported` is a probability that the model states; otherwise it is 0 or 1, for the
        answer alone.
    explanation
        The reason that the model gives; empty for none.

    Raises
    ------
    ValueError
        If a probability is out of range.
    """

    supported: float
    contradicted: float | None = None
    words: tuple[WordSupport, ...] = ()
    is_stated: bool = True
    explanation: str = ""

    def __post_init__(self) -> None:
        stated = (self.supported, self.contradicted, *(word.supported for word in self.words))
        for probability in stated:
            if probability is not None and not 0.0 <= probability <= 1.0:
                raise ValueError(f"a probability must be 0 to 1, got {probability!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPairs:
    """Answers of a model on pairs, and what they took.

    Parameters
    ----------
    answers
        One a pair, in order; empty if a reply is no answer.
    unscored
        The report on a reply that is no answer; None if all are.
    reply
        The replies, word for word.
    usage
        Calls and tokens of all pairs.
    note
        Sentence with which the rationale of a report ends; empty for none.
    """

    answers: tuple[ClaimSupport, ...] = ()
    unscored: Report | None = None
    reply: str = ""
    usage: Usage = Usage()
    note: str = ""
