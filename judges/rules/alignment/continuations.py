"""Sentences of the source that continue the one before them, such as ``Now it is 25 euros``.

Their subject is a pronoun, so they state something of a subject that the other sentence names.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from spanjury.judges.rules.alignment.index import Search
from spanjury.judges.rules.alignment.lexicon import PREPOSITIONS, SUBJECTS
from spanjury.judges.rules.alignment.tokens import UNITS, VALUES, Phrase, Token

_FIRST = 2  # tokens of which one follows the subject: In 2023 it was on 6 June
_TENSES = MappingProxyType(
    {"present": frozenset(("are", "has", "is")), "past": frozenset(("had", "was", "were"))}
)


def begins_with_pronoun(sentence: Phrase) -> bool:
    """Return whether a sentence begins with a pronoun as its subject."""
    return bool(sentence.tokens) and not SUBJECTS.isdisjoint(sentence.tokens[0].before)


def continuation(search: Search, start: int) -> Phrase | None:
    """Return the sentence after that at the offset `start` if its subject is a pronoun."""
    following = search.after(start)
    return following if following is not None and continues(following) else None


def continues(sentence: Phrase) -> bool:
    """Return whether a pronoun is the subject of a sentence, maybe after an adverbial."""
    return any(not SUBJECTS.isdisjoint(token.before) for token in sentence.tokens[:_FIRST])


def is_stated_by(sentence: Phrase, continuing: Phrase) -> bool:
    """Return whether `continuing` states what `sentence` says of the same subject.

    It has no word or value that the sentence lacks, at least one value, and the same tense.
    """
    return (
        bool(values_in(continuing.tokens))
        and frozenset(continuing.keys).issubset(sentence.keys)
        and is_of_one_time(sentence, continuing)
    )


def has_other_value(sentence: Phrase, other: Phrase) -> bool:
    """Return whether `other` has the words of `sentence`, and other values of the same kinds.

    It may have one word more, or a pronoun for the subject of the sentence. A sentence that is only
    a value has none.
    """
    if is_value(sentence):
        return False
    words, others = _words(sentence), _words(other)
    is_like = words <= others and len(others - words) <= 1  # the big lift, the small lift
    if not (is_like or (others < words and continues(other))):
        return False
    lacking, instead = (
        {_sort(token) for token in own.tokens if token.key not in theirs.keys} - {None}
        for own, theirs in ((sentence, other), (other, sentence))
    )
    return bool(lacking) and lacking == instead and is_of_one_time(sentence, other)


def says_otherwise(sentence: Phrase, source: Phrase) -> bool:
    """Return whether `source`, with all words of `sentence`, has more words or another tense."""
    return not frozenset(source.keys).issubset(sentence.keys) or not is_of_one_time(
        sentence, source
    )


def is_value(sentence: Phrase) -> bool:
    """Return whether a sentence has only values and their units: ``40 minutes``."""
    return all(
        token.kind in VALUES or sentence.written(token) in UNITS for token in sentence.tokens
    )


def values_in(tokens: Iterable[Token]) -> AbstractSet[tuple[str, str]]:
    """Return the kinds of the values among `tokens`."""
    return {token.measure for token in tokens if token.kind in VALUES}


def _words(sentence: Phrase) -> AbstractSet[str]:
    return {token.key for token in sentence.tokens if _sort(token) is None}


def _sort(token: Token) -> tuple[str, str] | None:
    """Return the kind of a value, or the preposition of a name; None for other tokens."""
    if token.kind in VALUES:
        return token.measure
    prepositions = PREPOSITIONS.intersection(token.before)
    return ("name", min(prepositions)) if token.kind == "name" and prepositions else None


def is_of_one_time(sentence: Phrase, other: Phrase) -> bool:
    """Return whether neither "is" nor "was" shows that two sentences are of different times."""
    own, theirs = _tenses(sentence), _tenses(other)
    return not own or not theirs or not own.isdisjoint(theirs)


def _tenses(sentence: Phrase) -> AbstractSet[str]:
    words = {word for token in sentence.tokens for word in token.before}
    return {name for name, verbs in _TENSES.items() if not verbs.isdisjoint(words)}
