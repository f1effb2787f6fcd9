"""Contradictions between a text and the sentences of its inputs that it nearly repeats.

A sentence of the text, and each of its clauses, is aligned, word by word, with the sentences of
the inputs that share most words with it. If the words around a difference are the same, the
differing words must have the same meaning: a denial, an opposite, another number or day, or names
in another order are contradictions. A sentence is left alone if any sentence of the inputs repeats
it without such a difference. In addition, a number must have a unit that the inputs give it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

from spanjury.judges.rules.alignment.aligner import Comparison, compare
from spanjury.judges.rules.alignment.assertions import is_intended
from spanjury.judges.rules.alignment.clock_times import other_times
from spanjury.judges.rules.alignment.continuations import continuation, is_stated_by
from spanjury.judges.rules.alignment.contradiction import (
    Contradiction,
    Difference,
    contradiction,
    covered,
    denial,
    quoted,
)
from spanjury.judges.rules.alignment.corrections import is_corrected
from spanjury.judges.rules.alignment.directions import turned_directions
from spanjury.judges.rules.alignment.exchanges import exchanges
from spanjury.judges.rules.alignment.figures import figures, other_units
from spanjury.judges.rules.alignment.index import Search, between, pieces, searched
from spanjury.judges.rules.alignment.names import (
    other_full_names,
    other_kinds,
    other_names,
    speakers,
    whole_name,
)
from spanjury.judges.rules.alignment.polarity import is_of_another, is_of_other_event, polarity
from spanjury.judges.rules.alignment.record import records
from spanjury.judges.rules.alignment.record_claims import (
    Claimed,
    record_claims,
    row_claims,
    settled_rows,
)
from spanjury.judges.rules.alignment.tokens import Phrase, phrase

_JOINT = re.compile(
    r"(?:[,;] (?:although|and|because|but|or|since|so|though|whereas|while)\b(?! not\b)|;) *"
)  # joint of two clauses that can be compared separately
_CLAUSE = 5  # minimum words of a clause to be compared alone
_BEFORE = re.compile(r"\d\. ?$")
_AFTER = re.compile(r"\. ?\d")
_CANDIDATES = 3  # sentences of an input that a sentence is compared with
_LEAST = 2  # words that a sentence must hold to be compared
_SHARED = 0.4  # share of its words that a sentence of the source must hold
_COVER = 0.45  # share that must stand in the same order
_CLOSE = 0.6  # share below which the source must not have the number anywhere else
_AS_GOOD = 0.05  # how much worse aligned a sentence may be that vouches for the text
_OF_WORDS = frozenset(("antonym", "other kind", "other name"))
"""Categories of differences between two words."""
_RECORD = 4  # severity of what belongs to another record


class _Match(NamedTuple):
    """A sentence of an input, which begins at `start`, aligned with a sentence of the output."""

    name: str
    search: Search
    start: int
    comparison: Comparison


def contradictions(output: str, inputs: Mapping[str, str]) -> list[Contradiction]:
    """Return the contradictions of `output` to sentences of `inputs` that it nearly repeats.

    In the order of the output, without overlap.

    Examples
    --------
    >>> found = contradictions("The library will close.", {"News": "The library will not close."})
    >>> [(each.category, each.text, each.explanation) for each in found]
    [('negation', 'will close', "The source says 'will not close'.")]
    """
    compared, searches = searched(output, inputs)
    data = {name: text for name, text in inputs.items() if records(text).records}
    problems: list[Contradiction] = []
    settled = {name: settled_rows(output, records(source)) for name, source in data.items()}
    for start, end in pieces(output):
        if start in compared:
            problems += _of_sentence(compared[start], start, searches=searches)
        for name, source in data.items():
            if any(start <= at < end for at in settled[name]):
                continue
            claims = record_claims(phrase(output[start:end]), records(source))
            problems += _of_record(output, start, claims, name=name, source=source)
    for name, source in data.items():
        of_rows = _of_record(
            output, 0, row_claims(output, records(source)), name=name, source=source
        )
        problems = _with_others(problems, of_rows)
    # A time is marked as a whole, and not its minutes alone.
    problems = _with_others([*other_times(output, inputs)], problems)
    problems = _with_others(problems, turned_directions(output, inputs))
    has_numbers = any("number" in each.kinds for each in compared.values())
    return _with_others(problems, other_units(output, inputs)) if has_numbers else problems


def _with_others(
    problems: Sequence[Contradiction], others: Iterable[Contradiction]
) -> list[Contradiction]:
    """Return `problems` with those of `others` that overlap none of them, in order."""
    taken = covered((problem.start, problem.end) for problem in problems)
    apart = [each for each in others if taken.isdisjoint(range(each.start, each.end))]
    return sorted([*problems, *apart], key=attrgetter("start"))


def _of_record(
    output: str, offset: int, claims: Iterable[Claimed], *, name: str, source: str
) -> Iterator[Contradiction]:
    """Yield the claims, without overlap, as contradictions; `output` has them from `offset`."""
    reached = 0
    for first, last, field in sorted(claims, key=itemgetter(0, 1)):
        if first < reached:
            continue
        reached = last
        passage = source[field.start : field.end]
        quote = f"'{quoted(passage)}'"
        under = "" if field.key in passage else f" under '{field.key}'"
        yield contradiction(
            output,
            (offset + first, offset + last),
            category="record",
            severity=_RECORD,
            name=name,
            source=source,
            passage=(field.start, field.end),
            explanation=f"The source says {quote}{under}.",
        )


def _of_sentence(
    sentence: Phrase, start: int, *, searches: Mapping[str, Search]
) -> list[Contradiction]:
    """Return the contradictions of a sentence of the output and of its clauses.

    A clause is also compared alone, since the source may state it apart from the rest.
    """
    whole = list(_of_phrase(sentence, start, searches=searches))
    clauses = [
        each
        for first, last in _clauses(sentence.text)
        for each in _of_phrase(phrase(sentence.text[first:last]), start + first, searches=searches)
    ]
    return _with_others(whole, clauses)


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the clauses of a sentence that has several."""
    clauses = [*between(sentence, _JOINT)]
    for start, end in clauses if len(clauses) > 1 else ():
        if len(sentence[start:end].split()) >= _CLAUSE:
            yield start, end


def _of_phrase(
    sentence: Phrase, start: int, *, searches: Mapping[str, Search]
) -> Iterator[Contradiction]:
    """Yield the contradictions of a sentence or a clause of the output."""
    if len(sentence.tokens) < _LEAST:
        return
    keys = sentence.words
    if any(search.holds(sentence.text, keys) for search in searches.values()):
        return
    matches = sorted(
        _matches(sentence, keys, searches=searches), key=lambda match: -match.comparison.cover()
    )
    if not matches:
        return
    enough = matches[0].comparison.cover() - _AS_GOOD
    first: list[Difference] = []
    texts = [search.source.text for search in searches.values()]
    for match in matches:
        if match.comparison.cover() < enough:
            break
        if is_corrected(
            sentence,
            match.comparison.source,
            source=match.search.source,
            start=match.start,
            inputs=texts,
        ):
            return
        differences = _faults(match, searches.values())
        if not differences and match.comparison.equal() >= matches[0].comparison.equal():
            return  # a sentence without differences confirms it
        first = first or differences
    source = matches[0].comparison.source
    for each in _apart([_with_names(each, sentence, source) for each in first]):
        at, name = matches[0].start, matches[0].name
        yield denial(sentence.text, start, each, passage=source.text, at=at, name=name)


def _with_names(difference: Difference, sentence: Phrase, source: Phrase) -> Difference:
    """Return a difference between two words with the whole names of which they are parts."""
    if difference.category not in _OF_WORDS:
        return difference
    start, end = whole_name(sentence, difference.start, difference.end)
    source_start, source_end = whole_name(source, difference.source_start, difference.source_end)
    return difference._replace(
        start=start, end=end, source_start=source_start, source_end=source_end
    )


def _matches(
    sentence: Phrase, keys: Sequence[str], *, searches: Mapping[str, Search]
) -> Iterator[_Match]:
    """Yield the sentences of the sources that `sentence` with such `keys` nearly repeats."""
    for name, search in searches.items():
        least = _SHARED * len(keys)
        for begin, near in search.nearest(keys, least=least, limit=_CANDIDATES):
            if near.question and not sentence.question:
                continue  # it asserts nothing
            comparison = compare(sentence, near)
            if comparison.main_cover() >= _COVER:
                yield _Match(name, search, begin, comparison)


def _faults(match: _Match, searches: Collection[Search]) -> list[Difference]:
    """Return the differences to what the source asserts, and that it does not state elsewhere."""
    continuing = continuation(match.search, match.start)
    if continuing is not None and is_stated_by(match.comparison.output, continuing):
        return []
    return [
        each
        for each in _differences(match, searches)
        if each.category not in {"antonym", "negation"}
        or not (
            _is_only_intended(match.comparison, each)
            or (each.category == "antonym" and _is_said_elsewhere(match, each, searches))
        )
    ]


def _is_only_intended(comparison: Comparison, difference: Difference) -> bool:
    """Return whether only the source calls an intention, or asks, what the output states."""
    source = comparison.source
    return source.question or (
        is_intended(source, difference.source_end)
        and not is_intended(comparison.output, difference.end)
    )


def _differences(match: _Match, searches: Collection[Search]) -> Iterator[Difference]:
    """Yield the differences found by all rules."""
    comparison = match.comparison
    turned = list(exchanges(comparison))
    if turned:  # opposites may go with exchanged names: bought from, sold to
        yield from turned
        return
    if is_of_another(comparison) or is_of_other_event(comparison):
        return
    yield from polarity(comparison)
    is_far = comparison.main_cover() < _CLOSE
    for figure in figures(comparison, searches, is_far=is_far):
        if not _is_torn(match, figure):
            yield figure
    yield from speakers(comparison, match.search.source)
    yield from other_kinds(comparison, searches)
    texts = [search.source.text for search in searches]
    yield from other_names(comparison, texts)
    yield from other_full_names(comparison, texts)


def _is_said_elsewhere(match: _Match, difference: Difference, searches: Iterable[Search]) -> bool:
    """Return whether another sentence has the word and all that the compared sentence lacks.

    ``The bridge is closed to lorries`` does not deny that it opened in 1932 if another sentence of
    the source says that it is closed to lorries.
    """
    comparison = match.comparison
    linked = {link.left for link in comparison.links}
    lacking = {token.key for at, token in enumerate(comparison.output.tokens) if at not in linked}
    (word,) = [token.key for token in comparison.output.tokens if token.start == difference.start]
    return bool(lacking) and any(
        lacking.issubset(search.source.keys[number])
        for search in searches
        for number in search.where.get(word, ())
    )


def _is_torn(match: _Match, difference: Difference) -> bool:
    """Return whether tokenization split a number of the source: ``1. 7 million``."""
    start, end = match.start + difference.source_start, match.start + difference.source_end
    text = match.search.source.text
    return bool(_AFTER.match(text, end) or _BEFORE.search(text[max(0, start - 4) : start]))


def _apart(differences: Sequence[Difference]) -> list[Difference]:
    """Return the differences in order; of overlapping ones only the first."""
    kept: list[Difference] = []
    for each in sorted(differences):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept
