"""Beside: the sentence of the source that speaks of the same as a sentence of the text.

What a source lacks stands nowhere in it. Where the rest of the sentence stands there, in one
sentence of the source, a reader sees what is said in its place. Most findings have no such place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from spanjury.judges.core import Evidence
from spanjury.judges.rules.places import Source
from spanjury.judges.rules.source_index import SENTENCES, index_source
from spanjury.judges.rules.source_text import cut_source
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import STEMS
from spanjury.judges.text.words import folded_words

_SHARED = 3  # words that carry meaning, which two sentences about the same have in common
_SHARE = 0.5  # of such words of the sentence, apart from what is lacking
_LONGEST = 600  # characters of a sentence that shows anything


def same_subject(words: Iterable[str], *, source: Source) -> Evidence | None:
    """Return the sentence of `source` that has most of `words`, if it has so many of them.

    Of equals the first. `words` are the folded words of a sentence without what is lacking.
    """
    stems = {STEMS[word] for word in words} - FUNCTION_WORDS
    if len(stems) < _SHARED:
        return None
    shared, start, end = max(
        _sentences(stems, source), key=lambda found: (found[0], -found[1]), default=(0, 0, 0)
    )
    if shared < max(_SHARED, _SHARE * len(stems)) or end - start > _LONGEST:
        return None
    return source.evidence(start, end)


def _sentences(stems: set[str], source: Source) -> Iterator[tuple[int, int, int]]:
    """Yield how many of `stems` a sentence has, for those that have most, and its interval."""
    where = index_source(source.text).where
    held = Counter(number for stem in stems for number in _numbers(where.get(stem, 0)))
    most = max(held.values(), default=0)
    intervals = cut_source(source.text).intervals
    for number in (number for number, count in held.items() if count == most):
        for start, end in intervals[number::SENTENCES]:
            inside = {STEMS[word] for word in folded_words(source.text[start:end])}
            yield len(stems & inside), start, end


def _numbers(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
