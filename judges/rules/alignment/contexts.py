"""Sentences of the source that a text repeats in another context.

A sentence that begins with a pronoun continues the sentence before it, a step follows the step
before it, and a sentence below a heading is about that heading. In another context its words do
not say what the source says.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spanjury.judges.core import Unverified
from spanjury.judges.rules.alignment.doubts import doubt
from spanjury.judges.rules.alignment.index import UNINDEXED, Search, index_sentences, phrases
from spanjury.judges.rules.alignment.lexicon import PREPOSITIONS
from spanjury.judges.rules.alignment.tokens import Phrase, phrase

_PRONOUNS = frozenset("he she it they this these that those such his her its their".split())  # noqa: SIM905
_EXPLETIVE = re.compile(r"\s*it (?:is|was|has|will)\b.*?\b(?:to|that)\b", re.IGNORECASE)
_NEXT = re.compile(
    r"\W*(?:afterwards|after that|finally|later|next|secondly|subsequently|then|thereafter"
    r"|(?:step )?\d{1,2}[.):])(?=\W)",
    re.IGNORECASE,
)
"""The beginning of a step that follows another."""
_HEADING = 6  # maximum words of a heading
_REFERENCE = "In the source, this sentence is about something else."
_ORDER = "In the source, this sentence precedes the one before it."


class Origin(NamedTuple):
    """A sentence of an input, by its number in the search."""

    search: Search
    number: int

    @property
    def sentence(self) -> Phrase:
        """The sentence as tokens."""
        start, end = self.search.source.intervals[self.number]
        return phrase(self.search.source.text[start:end])

    def before(self, accepted: Callable[[Phrase], bool]) -> Phrase | None:
        """Return the nearest accepted sentence before it."""
        numbers = range(self.number - 1, -1, -1)
        sentences = (Origin(self.search, number).sentence for number in numbers)
        return next(filter(accepted, sentences), None)


def context_doubts(output: str, inputs: Mapping[str, str]) -> Iterator[Unverified]:
    """Yield the sentences of `output` that the source has in another context, in order.

    Examples
    --------
    >>> source = {"Leaflet": "Alpha is made of steel. Beta is made of wood. It weighs 2 kg."}
    >>> [doubt.text for doubt in context_doubts("Alpha is made of steel. It weighs 2 kg.", source)]
    ['It weighs 2 kg.']
    """
    read = [*phrases(output)]
    if len(read) < 2:  # noqa: PLR2004 - a single sentence has no other context
        return
    origins = origins_of([sentence for _, sentence in read], inputs)
    antecedent: Phrase | None = None
    heading: Phrase | None = None
    for at, (start, sentence) in enumerate(read):
        reason = ""
        if _is_about_other(sentence, origins[at], antecedent=antecedent, heading=heading):
            reason = _REFERENCE
        elif at and _precedes(sentence, origins[at], origins[at - 1]):
            reason = _ORDER
        if not _refers(sentence):
            antecedent = sentence
        if _is_heading(sentence):
            heading = sentence if origins[at] else None
        if reason:
            yield doubt(sentence.text, start, reason)


def origins_of(
    sentences: Sequence[Phrase], inputs: Mapping[str, str]
) -> Sequence[Sequence[Origin]]:
    """Return the origins of each sentence, in the order of the inputs."""
    sought = {key for sentence in sentences for key in sentence.keys}
    texts = (text for text in inputs.values() if text.strip())
    searches = [index_sentences(text).search(sought) for text in texts]
    return [[*_origins(sentence, searches)] for sentence in sentences]


def _origins(sentence: Phrase, searches: Sequence[Search]) -> Iterator[Origin]:
    """Yield the sentences of the inputs that have all words of `sentence`."""
    keys = [token.key for token in sentence.tokens if token.kind not in UNINDEXED]
    for search in searches:
        held = [frozenset(search.where.get(key, ())) for key in keys]
        for number in sorted(frozenset.intersection(*held) if held else ()):
            origin = Origin(search, number)
            if set(sentence.keys).issubset(origin.sentence.keys):
                yield origin


def _is_about_other(
    sentence: Phrase,
    origins: Sequence[Origin],
    *,
    antecedent: Phrase | None,
    heading: Phrase | None,
) -> bool:
    """Return whether a sentence has another antecedent or heading than wherever it occurs."""
    if _refers(sentence) and antecedent is not None:
        return bool(origins) and not any(
            _has_antecedent(origin, sentence, antecedent) for origin in origins
        )
    if heading is None or _is_heading(sentence):
        return False
    above = [origin.before(_is_heading) for origin in origins]
    return bool(above) and not any(other is None or _is_alike(other, heading) for other in above)


def _has_antecedent(origin: Origin, sentence: Phrase, antecedent: Phrase) -> bool:
    """Return whether a sentence of an input, like `sentence`, may refer to `antecedent`."""
    source = origin.sentence
    if not _refers(source):
        begin = next((at for at, key in enumerate(source.keys) if key in sentence.keys), 0)
        subject = frozenset(source.keys[:begin])
        return not subject or not subject.isdisjoint(antecedent.keys)
    theirs = origin.before(lambda each: not _refers(each))
    heading = origin.before(_is_heading)
    return theirs is None or any(each and _is_alike(each, antecedent) for each in (theirs, heading))


def _is_alike(source: Phrase, sentence: Phrase) -> bool:
    """Return whether the first word of one is in the other, or all words of `sentence` are."""
    own, theirs = sentence.keys, source.keys
    if not own or not theirs:
        return True
    return own[0] in theirs or theirs[0] in own or set(own).issubset(theirs)


def _precedes(sentence: Phrase, origins: Sequence[Origin], previous: Sequence[Origin]) -> bool:
    """Return whether a step occurs only before the step that precedes it in the text."""
    pairs = [
        (origin, other) for origin in origins for other in previous if origin.search is other.search
    ]
    return bool(pairs) and all(
        origin.number < other.number
        and (_NEXT.match(sentence.text) is not None or _has_steps(origin, other.number))
        for origin, other in pairs
    )


def _has_steps(origin: Origin, last: int) -> bool:
    """Return whether any sentence after `origin`, up to the number `last`, is a next step."""
    numbers = range(origin.number + 1, last + 1)
    steps = (Origin(origin.search, number).sentence.text for number in numbers)
    return any(map(_NEXT.match, steps))


def _refers(sentence: Phrase) -> bool:
    """Return whether a sentence begins with a pronoun."""
    before = sentence.tokens[0].before if sentence.tokens else ()
    return (
        not _PRONOUNS.isdisjoint(before)
        and PREPOSITIONS.isdisjoint(before)
        and not _EXPLETIVE.match(sentence.text)
    )


def _is_heading(sentence: Phrase) -> bool:
    text = sentence.text.strip()
    return text[-1:].isalnum() and len(text.split()) <= _HEADING
