"""A checker whose answers a test sets: by words that a passage lacks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from spanjury.judges.core import Checker, ClaimPair, ClaimSupport, ClaimUnit, WordSupport

__all__ = ["FakeChecker"]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeChecker(Checker):
    """Supports a claim as well as its worst word: 0.9 for one that the passage has, else 0.1.

    `supported` sets the probability for claims with a word; a token is a word.
    """

    unit: ClaimUnit = "sentence"
    size: int = 200
    supported: dict[str, float] = field(default_factory=dict)
    contradicting: frozenset[str] = frozenset()
    pairs: list[ClaimPair] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)

    @property
    def signature(self) -> str:
        return "fake"

    def room(self) -> int:
        return self.size

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_WORD.findall(text)) for text in texts]

    def check(self, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        self.pairs.extend(pairs)
        self.calls.append(len(pairs))
        return [self._answer(pair) for pair in pairs]

    def _answer(self, pair: ClaimPair) -> ClaimSupport:
        there = set(_WORD.findall(pair.passage))
        words = [
            WordSupport(
                word.start(),
                word.end(),
                self.supported.get(word.group(), 0.9 if word.group() in there else 0.1),
            )
            for word in _WORD.finditer(pair.claim)
        ]
        against = None
        if self.contradicting:
            against = 0.8 if self.contradicting & there else 0.05
        lowest = min(word.supported for word in words)
        return ClaimSupport(
            supported=min(lowest, 1.0 - (against or 0.0)),
            contradicted=against,
            words=tuple(words) if self.unit == "text" else (),
        )
