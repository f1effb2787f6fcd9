"""How far a source supports a text.

Two shares are counted: `known`, of the claims that the source has, a number, a date or a
name twice; and `joined`, of the sequences of words that it has. The support is::

    0.6 * known + 0.4 * joined ** 3

The power makes sequences matter among texts that were mostly copied, where a broken one is
likely a wrong attribution, and hardly at all among texts in new words, where all are broken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.judges.rules.claims import Claim, claims, tells_names
from spanjury.judges.rules.joins import Joins, joins, seams
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.words import Word, words

__all__ = ["SentenceSupport", "Support", "support"]

_EXACT = 2.0  # weight of a claim that is right or wrong: a number, a date, a name
_LOOSE = 0.25  # weight of a word where the source is data, which has few words of its own
_POWER = 3
_KNOWN = 0.6  # what the claims count beside the sequences


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSupport:
    """What the source has of one sentence.

    Parameters
    ----------
    words
        The words of the sentence.
    claims
        Its claims, in order.
    joins
        Its joins, counted; none where the source is data.
    seams
        Pairs of words, by position, that join parts of different source sentences.
    """

    words: Sequence[Word]
    claims: Sequence[Claim]
    joins: Joins
    seams: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the source has of a text.

    Parameters
    ----------
    known
        Weighted share of the claims that the source has, 0 to 1; 1 where there are none.
    joined
        Share of the sequences of words that it has, 0 to 1; None where it is data.
    sentences
        Sentence by sentence.
    """

    known: float
    joined: float | None
    sentences: Sequence[SentenceSupport]

    @property
    def share(self) -> float:
        """The support, 0 to 1."""
        if self.joined is None:
            return self.known
        return _KNOWN * self.known + (1 - _KNOWN) * self.joined**_POWER


def support(text: str, index: SourceIndex) -> Support:
    """Ask the source for everything that `text` says."""
    pieces = [words(text[start:end], offset=start) for start, end in sentence_intervals(text)]
    cased = tells_names([word for piece in pieces for word in piece])
    sentences = [_sentence(piece, index, cased=cased) for piece in pieces if piece]
    made = sum((sentence.joins for sentence in sentences), start=Joins())
    return Support(
        known=_known(sentences, prose=index.prose),
        joined=made.share if index.prose else None,
        sentences=sentences,
    )


def _sentence(piece: Sequence[Word], index: SourceIndex, *, cased: bool) -> SentenceSupport:
    made = joins([word.folded for word in piece], index) if index.prose else Joins()
    found, pairs = made.pairs
    return SentenceSupport(
        words=piece,
        claims=list(claims(piece, index, cased=cased)),
        joins=made,
        seams=list(seams(piece, index)) if found < pairs else (),
    )


def _known(sentences: Sequence[SentenceSupport], *, prose: bool) -> float:
    """Return the weighted share of the claims that the source has."""
    total = lost = 0.0
    for sentence in sentences:
        for claim in sentence.claims:
            weight = _weight(claim, prose=prose)
            total += weight
            lost += 0.0 if claim.known else weight
    return 1.0 - lost / total if total else 1.0


def _weight(claim: Claim, *, prose: bool) -> float:
    if claim.sort != "wording":
        return _EXACT
    return 1.0 if prose else _LOOSE
