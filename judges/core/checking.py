"""Checking: what a checker is asked and what it answers (`spanjury.judges.core.ports.Checker`)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

ClaimUnit = Literal["sentence", "text"]
"""Unit that a checker was trained to read as a claim: one sentence, or a whole text."""


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

    Raises
    ------
    ValueError
        If a probability is out of range.
    """

    supported: float
    contradicted: float | None = None
    words: tuple[WordSupport, ...] = ()

    def __post_init__(self) -> None:
        stated = (self.supported, self.contradicted, *(word.supported for word in self.words))
        for probability in stated:
            if probability is not None and not 0.0 <= probability <= 1.0:
                raise ValueError(f"a probability must be 0 to 1, got {probability!r}")
