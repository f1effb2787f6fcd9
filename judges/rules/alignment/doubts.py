"""Sentences in the source's own words that no sentence of the source asserts.

There are four kinds. A sentence joins words of different sentences or clauses of the source, such
as the subject of one and the predicate of another; it asserts something that the source only
reports, denies, doubts or makes conditional; another sentence of the source has its words with
another value; or it omits words of a source sentence that affect the
sense of those around them, such as "half" or "but". None shows an error: the joined words may be
about the same topic, and the report may be right. But then the fact that its words are in the
source is no reason to vouch for it.

A sentence with a word that the source lacks is not doubted here.
"""

from collections.abc import Iterator, Mapping, Sequence

from spanjury.judges.core import VOUCHED, Unverified
from spanjury.judges.rules.alignment.aligner import Comparison, compare
from spanjury.judges.rules.alignment.assertions import unasserting
from spanjury.judges.rules.alignment.continuations import (
    continuation,
    has_other_value,
    says_otherwise,
)
from spanjury.judges.rules.alignment.exchanges import other_person
from spanjury.judges.rules.alignment.index import UNINDEXED, Search, searched
from spanjury.judges.rules.alignment.near_copies import (
    MILD,
    first_clauses,
    forms_of,
    keeps_sense,
    last_clauses,
)
from spanjury.judges.rules.alignment.splices import is_joined, is_mixed
from spanjury.judges.rules.alignment.tokens import Phrase

_JOINED = "It combines parts of different source sentences."
_MIXED = "It combines words of the source's sentence differently."
_CUT = "It omits, adds or replaces words that may change the sense of the source's sentence."
_OTHER_PERSON = "The source says this of another person ({!r}, not {!r})."
_OTHER_VALUE = "Another sentence of the source says this with another value."
_CANDIDATES = 8  # sentences of an input that a sentence is compared with
_LEAST = 2  # minimum words of a sentence to be doubted


def doubts(output: str, inputs: Mapping[str, str]) -> Iterator[Unverified]:
    """Yield the doubtful sentences of `output`, in order.

    Examples
    --------
    >>> source = {"News": "The report alleges that the mayor took bribes. Nobody was hurt."}
    >>> [doubt.reason for doubt in doubts("The mayor took bribes.", source)]
    ["The source attributes this to someone ('alleges') and does not state it as fact."]
    >>> [doubt.reason for doubt in doubts("The mayor was hurt.", source)]
    ['It combines parts of different source sentences.']
    >>> source = {"Leaflet": "You may drive, but stop if you feel dizzy."}
    >>> [doubt.reason for doubt in doubts("You may drive if you feel dizzy.", source)]
    ["It omits, adds or replaces words that may change the sense of the source's sentence."]
    """
    own, searches = searched(output, inputs)
    for start, sentence in own.items():
        if reason := _reason(sentence, [*searches.values()]):
            yield doubt(sentence.text, start, reason)


def doubt(text: str, start: int, reason: str, *, probability: float = VOUCHED) -> Unverified:
    """Return the sentence `text` at the offset `start` as doubtful."""
    return Unverified(
        start=start,
        end=start + len(text),
        text=text,
        probability=probability,
        reason=reason,
        is_binding=True,
    )


def _reason(sentence: Phrase, searches: Sequence[Search]) -> str:
    """Return why a sentence is doubtful; empty if it is not."""
    if len(sentence.tokens) < _LEAST or sentence.question:
        return ""
    keys = frozenset(sentence.keys)
    near = [*_nearest(sentence, searches)]
    holding = [source for source in near if keys.issubset(source.keys)]
    if not holding:
        is_copied = any(search.holds(sentence.text, sentence.words) for search in searches)
        return _JOINED if not is_copied and is_joined(sentence, near) else ""
    forms = forms_of(sentence)
    reasons = [
        next(filter(None, (unasserting(form, source) for form in forms)), "") for source in holding
    ]
    if "" not in reasons:
        return reasons[0]
    compared = [*_comparisons(forms, holding)]
    persons = [other_person(comparison) for comparison in compared]
    if all(persons):
        return _OTHER_PERSON.format(*persons[0])
    clean = [each for each in compared if not is_mixed(each.output, each.source)]
    if not clean:
        return _MIXED
    is_of_another = all(says_otherwise(sentence, source) for source in holding) and any(
        has_other_value(sentence, source) for source in near
    )
    return _OTHER_VALUE if is_of_another else _cut(clean)


def _cut(comparisons: Sequence[Comparison]) -> str:
    """Return that a sentence changes the sense in each comparison that has its words in order."""
    ordered = [each for each in comparisons if each.equal() == len(each.output.tokens)]
    is_cut = ordered and not any(keeps_sense(each, ignored=MILD) for each in ordered)
    return _CUT if is_cut else ""


def _comparisons(forms: Sequence[Phrase], holding: Sequence[Phrase]) -> Iterator[Comparison]:
    """Yield comparisons with sentences of the source and with their ends, in all word orders."""
    for form in forms:
        for source in holding:
            given = (
                source,
                first_clauses(form, source),
                last_clauses(form, source),
                *forms_of(source, is_source=True)[1:],
            )
            yield from (
                compare(form, each) for each in {each.text: each for each in given}.values()
            )


def _nearest(sentence: Phrase, searches: Sequence[Search]) -> Iterator[Phrase]:
    """Yield the sentences of the source that share most words with `sentence`.

    There are none if a word of it occurs nowhere in the source. A sentence that continues one of
    them may share none of its words.
    """
    words = (token.key for token in sentence.tokens if token.kind not in UNINDEXED)
    keys = list(dict.fromkeys(words))
    if not all(any(key in search.where for search in searches) for key in keys):
        return
    for search in searches:
        near = [*search.nearest(keys, least=1, limit=_CANDIDATES)]
        yield from (source for _, source in near)
        following = (continuation(search, start) for start, _ in near)
        yield from (each for each in following if each is not None)
