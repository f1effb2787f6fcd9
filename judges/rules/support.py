"""Support of a text by its source.

There are two shares: `supported`, of the claims that the source has, with double weight for
numbers, dates and names; and `joined`, of the sequences of words that it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanjury.judges.rules.claims import Claim, claims, may_have_asides, without_asides
from spanjury.judges.rules.names import capital_nouns, tells_names
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import STEMS
from spanjury.judges.text.words import Word, words

_SAME_SENTENCE = 0.5  # weight of a pair that the source has in one sentence, but not adjacent
_EXACT = 2.0  # weight of a claim that is right or wrong: a number, a date, a name
_LOOSE = 0.25  # weight of a word if the source is data, which has few words of its own


Joins = Sequence[tuple[float, int]]
"""Trigrams of words, then pairs and triples without function words: how many of them the source
has, and how many a sentence has."""


def joins(folded: Sequence[str], index: SourceIndex) -> Joins:
    """Count the joins of a sentence with the words `folded`."""
    stems = [STEMS[word] for word in folded]
    content = [stemmed for stemmed in stems if stemmed not in FUNCTION_WORDS]
    pairs = index.content_sequences.held(content, size=2)
    apart = [pair for pair, held in zip(pairwise(content), pairs, strict=True) if not held]
    together = sum(index.in_one_sentence(*pair) for pair in apart)
    return (
        (sum(index.sequences.held(stems, size=3)), max(0, len(stems) - 2)),
        (len(pairs) - len(apart) + _SAME_SENTENCE * together, len(pairs)),
        (sum(index.content_sequences.held(content, size=3)), max(0, len(content) - 2)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSupport:
    """Support of one sentence by the source.

    Parameters
    ----------
    joins
        Its joins; empty if the source is data.
    """

    words: Sequence[Word]
    claims: Sequence[Claim]
    joins: Joins

    def interval(self, claim: Claim) -> tuple[int, int]:
        """Return the offsets of a claim in the text."""
        return self.words[claim.first].start - claim.lead, self.words[claim.stop - 1].end


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Support of a text by the source.

    Parameters
    ----------
    supported
        Weighted share of the claims that the source has, 0 to 1; 1 if there are no claims.
    joined
        Share of the sequences of words that it has, 0 to 1; None if the source is data.
    """

    supported: float
    joined: float | None
    sentences: Sequence[SentenceSupport]

    @property
    def prose(self) -> bool:
        """True if the source consists of sentences rather than data."""
        return self.joined is not None


def find_support(text: str, index: SourceIndex) -> Support:
    """Look up all claims and word sequences of `text` in the source."""
    pieces: list[Sequence[Word]] = [
        words(text[start:end], offset=start) for start, end in sentence_intervals(text)
    ]
    if may_have_asides(text):
        pieces = [without_asides(piece, text) for piece in pieces]
    cased = tells_names(pieces)
    nouns = cased and capital_nouns(pieces)
    sentences = [
        SentenceSupport(
            words=piece,
            claims=list(claims(piece, index, text=text, cased=cased, nouns=nouns)),
            joins=joins([word.folded for word in piece], index) if index.prose else (),
        )
        for piece in pieces
        if piece
    ]
    return of_sentences(sentences, prose=index.prose)


def of_sentences(sentences: Sequence[SentenceSupport], *, prose: bool) -> Support:
    """Return the support of a text that consists of these sentences."""
    return Support(
        supported=_supported_share(sentences, prose=prose),
        joined=_joined_share(sentences) if prose else None,
        sentences=sentences,
    )


def _supported_share(sentences: Sequence[SentenceSupport], *, prose: bool) -> float:
    """Return the weighted share of the claims that the source has."""
    total = lost = 0.0
    for sentence in sentences:
        for claim in sentence.claims:
            weight = _EXACT if claim.sort != "wording" else 1.0 if prose else _LOOSE
            total += weight * claim.size
            lost += 0.0 if claim.supported else weight * max(1, claim.lacking)
    return 1.0 - lost / total if total else 1.0


def _joined_share(sentences: Sequence[SentenceSupport]) -> float:
    """Return the mean share of each kind of joins that the source has; 1 for those without any."""
    kinds = [*zip(*(sentence.joins for sentence in sentences), strict=True)]
    counts = [(sum(held for held, _ in kind), sum(made for _, made in kind)) for kind in kinds]
    return sum(held / made if made else 1.0 for held, made in counts) / max(1, len(counts))
