"""Support of a text by its source.

There are two shares: `supported`, of the claims that the source has, with double weight for
numbers, dates and names; and `joined`, of the sequences of words that it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

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


class Joins(NamedTuple):
    """Counts of the word sequences of a sentence; ``+`` adds those of several sentences.

    Pairs and triples ignore function words. Each field has the number that the source contains and
    the total.

    Parameters
    ----------
    trigrams
        Trigrams of words.
    """

    trigrams: tuple[int, int] = (0, 0)
    pairs: tuple[float, int] = (0.0, 0)
    triples: tuple[int, int] = (0, 0)

    def __add__(self, other: "Joins") -> "Joins":  # type: ignore[override]  # no tuples are joined
        return Joins(
            trigrams=(
                self.trigrams[0] + other.trigrams[0],
                self.trigrams[1] + other.trigrams[1],
            ),
            pairs=(self.pairs[0] + other.pairs[0], self.pairs[1] + other.pairs[1]),
            triples=(self.triples[0] + other.triples[0], self.triples[1] + other.triples[1]),
        )

    @property
    def share(self) -> float:
        """Mean share of the three that the source has, 0 to 1; 1 for those without any."""
        kinds = (self.trigrams, self.pairs, self.triples)
        return sum(held / made if made else 1.0 for held, made in kinds) / len(kinds)


def joins(folded: Sequence[str], index: SourceIndex) -> Joins:
    """Count the joins of a sentence with the words `folded`."""
    stems = [STEMS[word] for word in folded]
    content = [stemmed for stemmed in stems if stemmed not in FUNCTION_WORDS]
    pairs = index.content_sequences.held(content, size=2)
    apart = [pair for pair, held in zip(pairwise(content), pairs, strict=True) if not held]
    together = sum(index.in_one_sentence(*pair) for pair in apart)
    return Joins(
        trigrams=(sum(index.sequences.held(stems, size=3)), max(0, len(stems) - 2)),
        pairs=(len(pairs) - len(apart) + _SAME_SENTENCE * together, len(pairs)),
        triples=(sum(index.content_sequences.held(content, size=3)), max(0, len(content) - 2)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSupport:
    """Support of one sentence by the source.

    Parameters
    ----------
    joins
        Its joins; all 0 if the source is data.
    """

    words: Sequence[Word]
    claims: Sequence[Claim]
    joins: Joins


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
        _sentence(piece, index, text=text, cased=cased, nouns=nouns) for piece in pieces if piece
    ]
    made = Joins()
    for sentence in sentences:
        made += sentence.joins
    return Support(
        supported=_supported_share(sentences, prose=index.prose),
        joined=made.share if index.prose else None,
        sentences=sentences,
    )


def of_sentence(sentence: SentenceSupport, *, prose: bool) -> Support:
    """Return the support of a text that consists of this sentence."""
    return Support(
        supported=_supported_share([sentence], prose=prose),
        joined=sentence.joins.share if prose else None,
        sentences=[sentence],
    )


def _sentence(
    piece: Sequence[Word], index: SourceIndex, *, text: str, cased: bool, nouns: bool
) -> SentenceSupport:
    made = joins([word.folded for word in piece], index) if index.prose else Joins()
    return SentenceSupport(
        words=piece,
        claims=list(claims(piece, index, text=text, cased=cased, nouns=nouns)),
        joins=made,
    )


def _supported_share(sentences: Sequence[SentenceSupport], *, prose: bool) -> float:
    """Return the weighted share of the claims that the source has."""
    total = lost = 0.0
    for sentence in sentences:
        for claim in sentence.claims:
            weight = _weight(claim, prose=prose)
            total += weight * claim.size
            lost += 0.0 if claim.supported else weight * max(1, claim.lacking)
    return 1.0 - lost / total if total else 1.0


def _weight(claim: Claim, *, prose: bool) -> float:
    if claim.sort != "wording":
        return _EXACT
    return 1.0 if prose else _LOOSE
