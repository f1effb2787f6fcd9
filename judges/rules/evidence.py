"""Turn claims that a source lacks into error spans that explain this and point at the source.

A claim that a source lacks has no passage of its own. If one sentence of the source has the rest of
the sentence, it shows the reader what the source says instead. Most findings have no such sentence.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from itertools import groupby
from types import MappingProxyType

from spanjury.judges.core import ErrorSpan, Evidence, Located, repetitions_last
from spanjury.judges.rules.alignment.contradiction import Category, Contradiction, covered
from spanjury.judges.rules.claims import Claim
from spanjury.judges.rules.names import Name, called_otherwise
from spanjury.judges.rules.quantities import CURRENCIES, Quantity, quantities, unit, whole_number
from spanjury.judges.rules.source_index import SENTENCES, Source, cut_source, index_source
from spanjury.judges.rules.support import SentenceSupport, Support
from spanjury.judges.text.lexicon import FUNCTION_WORDS, MONTHS, WEEKDAYS
from spanjury.judges.text.numbers import Number
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import STEMS, stem
from spanjury.judges.text.words import HUMP, fold_word, folded_words

_STRANGE = 0.8  # share of unknown claims from which a whole sentence is marked

_ENOUGH = 4  # minimum claims of such a sentence

_WORDS = 2  # minimum unknown words of a sentence that is marked as a whole

_STRETCH = 5  # minimum consecutive unknown claims to be marked

_BESIDE = 3  # the same if one of them is a name or a number

_NEAR = 2.0  # maximum ratio to a number of the source that the explanation names

_RULING_OUT = frozenset(("not", "t"))
"""Words that deny the next words; the latter is the end of ``isn't``."""

_REACH = 5  # maximum words from such a word to a number that it rules out

_COUNTABLE = 10  # spelled numbers up to this may be counts made by the writer

_SIMILAR = 0.75  # minimum similarity of two names of which one may be a typo for the other

_FIELD = re.compile(
    r"(?P<key>[\"']?[A-Za-z][\w -]{0,40}[\"']?) ?[:=|\[] ?[\"']?[^\w\s]?\d(?:[.,]?\d)*+(?!\w|:\d)"
)

_IN_DATE = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)

_TIME = re.compile(r"\d\d?:\d\d")

_IN_WORD = re.compile(r"\w")

_CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][^\W\d_]{2,}(?:[ -][A-Z][^\W\d_]+)*")

WORDING = "unsupported wording"

CONTRADICTIONS: Mapping[Category, str] = MappingProxyType(
    {
        "antonym": "antonym",
        "date": "contradicted date",
        "name order": "exchanged names",
        "negation": "negation",
        "number": "contradicted number",
        "other kind": "contradicted word",
        "other name": "contradicted name",
        "other number": "contradicted number",
        "record": "contradicted record",
        "speaker": "wrong speaker",
        "time": "contradicted number",
        "unit": "contradicted number",
    }
)
"""Category of a contradiction -> category of its spans."""

PRECISION: Mapping[str, float] = MappingProxyType(
    {
        "unsupported number": 0.9,
        "unsupported date": 0.75,
        "unsupported name": 0.6,
        WORDING: 0.8,
        "antonym": 0.9,
        "contradicted date": 0.9,
        "contradicted name": 0.9,
        "contradicted number": 0.95,
        "contradicted record": 0.9,
        "contradicted word": 0.9,
        "exchanged names": 0.9,
        "negation": 0.95,
        "wrong speaker": 0.9,
    }
)
"""Category -> share of its spans that overlap with marks of people.

Counted on the spans of people in CLIFF and XSum hallucination annotations (the training parts: 0.91
of 57 numbers, 0.90 of 10 dates, 0.51 of 39 names, 0.92 of 71 runs of words) and on SummEdits and
DiaSumFact (0.98, 0.37 with one date repeated in 29 edits of one summary, 1.0, 0.78), rounded.
Findings with a share below 1/2, such as words of the source in a new order, are not reported."""

_SHARED = 3  # minimum content words that two sentences on the same topic share

_ALONG = 2  # the same if the source's has a number near the one that is missing

_SHARE = 0.5  # minimum share of the sentence's content words, apart from the missing ones

_LONGEST = 600  # maximum characters of a sentence that is useful as evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """Consecutive claims that the source does not support, or a whole sentence of them."""

    sentence: SentenceSupport
    claims: Sequence[Claim]
    severity: int
    category: str
    whole: bool = False
    widened: tuple[int, int] | None = None
    """The offsets of the time or the date that a number is part of."""

    @property
    def interval(self) -> tuple[int, int]:
        """Its offsets in the text."""
        if self.widened:
            return self.widened
        words = self.sentence.words
        if self.whole:
            return words[0].start, words[-1].end
        return self.sentence.interval(self.claims[0])[0], words[self.claims[-1].stop - 1].end


_Explain = Callable[[_Finding], tuple[str, tuple[Evidence, ...]]]
"""Return the explanation of a finding, with its evidence."""


def error_spans(
    text: str,
    support: Support,
    *,
    source: Source,
    limit: int,
    contradictions: Sequence[Contradiction] = (),
) -> tuple[tuple[ErrorSpan, ...], tuple[ErrorSpan, ...]]:
    """Return the unsupported claims: the gravest `limit` sorted by position, and the rest.

    Sure contradictions come first, and replace claims that the source merely lacks. Severity is 4
    for a number, a date, or a person with another name in the source. It is 3 for a name, for a
    number that may follow from the source, such as a small number in words, or that is denied, and
    for words that the source lacks altogether. Only reported findings are explained, because
    searching a long source for similar passages is slow.
    """
    against = [*_sure(contradictions, support, source=source)]
    denied = covered((other.start, other.end) for other in against)
    findings = [
        finding
        for sentence in support.sentences
        for finding in _findings(sentence, text=text, prose=support.prose)
        if denied.isdisjoint(range(*finding.interval))
    ]
    findings.sort(key=lambda finding: (-finding.severity, finding.interval))
    certain = sorted(map(_contradicted, against), key=lambda span: -(span.severity or 0))
    errors: list[ErrorSpan | _Finding] = [*certain, *findings]
    ranked = repetitions_last(errors, partial(_content, text))
    explain = partial(_with_pointer, text=text, source=source, support=support)
    reported = [_span(text, error, explain=explain) for error in ranked[:limit]]
    reported.sort(key=lambda span: (span.start, span.end))
    return tuple(reported), tuple(_span(text, error) for error in ranked[limit:])


def _sure(
    contradictions: Iterable[Contradiction], support: Support, *, source: Source
) -> Iterator[Contradiction]:
    """Yield the contradictions that are reported: no number that follows from the source."""
    numbers = {
        at: claim
        for sentence in support.sentences
        for claim in sentence.claims
        if claim.number is not None or claim.sort == "date"
        for at in range(*sentence.interval(claim))
    }
    for contradiction in contradictions:
        if not _follows(contradiction, numbers, source=source):
            yield contradiction


def _content(text: str, error: "ErrorSpan | _Finding") -> tuple[str, str]:
    """Return the properties that distinguish an error from earlier ones."""
    if isinstance(error, ErrorSpan):
        return error.text, error.explanation
    start, end = error.interval
    return text[start:end], error.category


def _follows(contradiction: Contradiction, numbers: Mapping[int, Claim], *, source: Source) -> bool:
    """Return whether a number that differs from the source's still follows from it.

    It is a sum, or written differently: supported, although its words are not in the source. In a
    sentence that repeats all the rest of the source's, it is no rounding. `numbers` has the claims
    of numbers and dates by offset.
    """
    if contradiction.category not in {"number", "other number", "date"}:
        return False
    interval = range(contradiction.start, contradiction.end)
    claims = [numbers[at] for at in interval if at in numbers]
    if not claims or not all(claim.supported for claim in claims):
        return False
    if contradiction.category == "other number" and all(claim.rounded for claim in claims):
        return False
    parts = contradiction.text.replace(":", " ").split()
    return not all(_has_apart(source.text, part.strip(",")) for part in parts)


def _has_apart(source: str, text: str) -> bool:
    """Return whether `source` has `text`, and not as a part of a word."""
    at = source.find(text)
    while at >= 0:
        before, after = source[max(0, at - 1) : at], source[at + len(text) : at + len(text) + 1]
        if not _IN_WORD.match(before) and not _IN_WORD.match(after):
            return True
        at = source.find(text, at + 1)
    return False


def _contradicted(contradiction: Contradiction) -> ErrorSpan:
    return ErrorSpan(
        text=contradiction.text,
        explanation=contradiction.explanation,
        severity=contradiction.severity,
        start=contradiction.start,
        end=contradiction.end,
        category=CONTRADICTIONS[contradiction.category],
        located=Located.EXACT,
        evidence=(contradiction.evidence,),
        probability=PRECISION[CONTRADICTIONS[contradiction.category]],
    )


def _span(
    text: str, error: "ErrorSpan | _Finding", *, explain: _Explain | None = None
) -> ErrorSpan:
    """Return a finding in `text` as a span, with the explanation from `explain` if given."""
    if isinstance(error, ErrorSpan):
        return error
    start, end = error.interval
    explanation, evidence = explain(error) if explain else ("Not in the source.", ())
    return ErrorSpan(
        text=text[start:end],
        explanation=explanation,
        severity=error.severity,
        start=start,
        end=end,
        category=error.category,
        located=Located.EXACT,
        evidence=evidence,
        probability=PRECISION[error.category],
    )


def _findings(sentence: SentenceSupport, *, text: str, prose: bool) -> Iterator[_Finding]:
    claims = sentence.claims
    unknown = [claim for claim in claims if not claim.supported]
    if prose and _is_strange(claims, unknown):
        yield _Finding(sentence=sentence, claims=claims, severity=3, category=WORDING, whole=True)
        return
    for supported, group in groupby(claims, key=lambda claim: claim.supported):
        run = [] if supported else [*group]
        exact = [*filter(_is_exact, run)]
        if prose and _is_telling(run):
            severity = max([3, *(_severity(claim, sentence) for claim in exact)])
            yield _Finding(sentence=sentence, claims=run, severity=severity, category=WORDING)
            continue
        for interval, parts in _by_interval(exact, sentence, text=text).items():
            claim = max(parts, key=lambda part: _severity(part, sentence))
            yield _Finding(
                sentence=sentence,
                claims=[claim],
                widened=interval,
                severity=_severity(claim, sentence),
                category=f"unsupported {claim.sort}",
            )


def _by_interval(
    claims: Iterable[Claim], sentence: SentenceSupport, *, text: str
) -> dict[tuple[int, int], list[Claim]]:
    """Return the claims by the offsets of the whole time or date that they are part of."""
    groups: dict[tuple[int, int], list[Claim]] = {}
    for claim in claims:
        interval = sentence.interval(claim)
        if claim.name is None:
            interval = whole_number(text, *interval)
        groups.setdefault(interval, []).append(claim)
    return groups


def _severity(claim: Claim, sentence: SentenceSupport) -> int:
    if claim.name is not None:
        return 4 if claim.contradicted else 3
    small = claim.number and claim.number.spelled and claim.number.value <= _COUNTABLE
    before = sentence.words[max(0, claim.first - _REACH) : claim.first]
    # It is denied beside one that the source has: at 9, not at 8.
    is_ruled_out = any(word.folded in _RULING_OUT for word in before) and any(
        other.number is not None and other.supported for other in sentence.claims
    )
    return 3 if small or claim.follows or is_ruled_out else 4


def _is_exact(claim: Claim) -> bool:
    return claim.sure and claim.sort != "wording"


def _is_strange(claims: Sequence[Claim], unknown: Sequence[Claim]) -> bool:
    """Return whether hardly any word of a sentence is in the source."""
    enough = len(claims) >= _STRETCH or any(map(_is_exact, unknown))
    if sum(claim.sort == "wording" for claim in unknown) < _WORDS:
        return False  # its names and numbers are more informative one by one
    return enough and len(claims) >= _ENOUGH and len(unknown) >= _STRANGE * len(claims)


def _is_telling(run: Sequence[Claim]) -> bool:
    """Return whether so many consecutive claims are unknown that this is no paraphrase."""
    exact = sum(map(_is_exact, run))
    if exact == len(run):
        return False  # its names and numbers are more informative one by one
    return len(run) >= _STRETCH or (len(run) >= _BESIDE and exact > 0)


def _with_pointer(
    finding: _Finding, *, text: str, source: Source, support: Support
) -> tuple[str, tuple[Evidence, ...]]:
    """Explain a finding, and point at least to a source sentence on the same topic, if any."""
    explanation, evidence = _explained(finding, text=text, source=source, support=support)
    if evidence or finding.whole:
        return explanation, evidence
    start, end = finding.interval
    rest = [word for word in finding.sentence.words if not start <= word.start < end]
    near = same_subject((word.folded for word in rest), source=source)
    return explanation, (near,) if near else ()


def _explained(
    finding: _Finding, *, text: str, source: Source, support: Support
) -> tuple[str, tuple[Evidence, ...]]:
    """Return why a finding is an error, and what the source says instead."""
    sentence, claims = finding.sentence, finding.claims
    if finding.whole:
        supported = sum(claim.supported for claim in claims)
        counted = f"of the {len(claims)} names, numbers and content words of this sentence"
        return f"The source contains {supported or 'none'} {counted}.", ()
    exact = [*filter(_is_exact, claims)]
    explain = partial(_lacking, sentence, source=source, text=text, prose=support.prose)
    intervals = [finding.widened or sentence.interval(claim) for claim in exact]
    lacking = [
        explain(claim, quote=text[slice(*interval)])
        for claim, interval in zip(exact, intervals, strict=True)
    ]
    if finding.category != WORDING:
        return lacking[0]
    quotes = ", ".join(f'"{text[slice(*sentence.interval(claim))]}"' for claim in claims)
    named = [each for claim, each in zip(exact, lacking, strict=True) if claim.number is None]
    evidence = tuple(piece for _, pieces in named for piece in pieces)
    if len(claims) == 1:
        return f"{quotes} does not occur in the source.", evidence
    return f"None of these occurs in the source: {quotes}.", evidence


def _lacking(
    sentence: SentenceSupport,
    claim: Claim,
    *,
    quote: str,
    source: Source,
    text: str,
    prose: bool,
) -> tuple[str, tuple[Evidence, ...]]:
    """Explain that the source lacks a claim, and what it says instead."""
    if claim.name is not None:
        return _misnamed(claim.name, quote=quote, source=source)
    if claim.number is None:
        days = _other_days(quote, source=source)
        named = ", ".join(f'"{day.text}"' for day in days)
        has = f", which mentions {named}" if named else ""
        return f'"{quote}" does not occur in the source{has}.', days
    noun = "year" if claim.sort == "date" else "time" if _TIME.fullmatch(quote) else "number"
    noun = "date" if _IN_DATE.search(quote) else noun
    opening = f'The {noun} "{quote}" does not occur in the source'
    field = None if prose else _field(sentence, source=source)
    if field is not None:
        return f"{opening}; the source has {field.text}.", (field,)
    counted = unit(sentence.words, claim.number, text=text)
    others = [*sentence.words[: claim.first], *sentence.words[claim.stop :]]
    stems = {stem(word.folded) for word in others} - FUNCTION_WORDS - CURRENCIES - {counted}
    nearest = _nearest(claim.number, counted, stems=stems, source=source)
    if nearest is None:
        return f"{opening}.", ()
    evidence = source.evidence(nearest.start, nearest.end)
    return f'{opening}; the nearest is "{evidence.text}".', (evidence,)


def _field(sentence: SentenceSupport, *, source: Source) -> Evidence | None:
    """Return the number in data whose key shares most words with a sentence, or None."""
    stems = {stem(word.folded) for word in sentence.words}
    best, most = None, 0
    for match in _FIELD.finditer(source.text):
        key = {stem(word) for word in folded_words(HUMP.sub(" ", match["key"]))}
        shared = len(key & stems)
        if shared > most and shared * 2 >= len(key):
            best, most = match, shared
    return source.evidence(*best.span()) if best else None


def _nearest(
    number: Number, counted: str, *, stems: AbstractSet[str], source: Source
) -> Quantity | None:
    """Return the source's number that most likely corresponds to `number`.

    It has the same unit, in a sentence with one of `stems`, the words around `number`; or its
    sentence is on the same topic, with most of them; or it is the only number like one without
    any words around it. Numbers many times as large or small are excluded.
    """
    value = number.value
    near = [
        quantity
        for quantity in quantities(source.text)
        if value / _NEAR <= quantity.value <= value * _NEAR
    ]
    if not stems:
        return near[0] if len(near) == 1 else None
    intervals = [*sentence_intervals(source.text)] if near else []
    shared = {
        at: len(stems & {STEMS[word] for word in folded_words(source.text[slice(*intervals[at])])})
        for at in {quantity.sentence for quantity in near}
    }
    alike = [each for each in near if counted and each.unit == counted and shared[each.sentence]]
    enough = max(_ALONG, _SHARE * len(stems))
    return min(
        alike or [each for each in near if shared[each.sentence] >= enough],
        key=lambda each: (-shared[each.sentence], abs(each.value - value)),
        default=None,
    )


def _misnamed(name: Name, *, quote: str, source: Source) -> tuple[str, tuple[Evidence, ...]]:
    """Explain a name that the source lacks, with a similar name of the source."""
    called = called_otherwise(name, source.text)
    if called:
        evidence = source.evidence(called[0].start(), called[0].end())
        return f'The source says "{evidence.text}", not "{quote}".', (evidence,)
    opening = f'The name "{quote}" does not occur in the source'
    similar = _similar(quote, source=source)
    if similar is None:
        return f"{opening}.", ()
    return f'{opening}; the most similar is "{similar.text}".', (similar,)


def _similar(quote: str, *, source: Source) -> Evidence | None:
    """Return the name in the source that is most similar to `quote`, or None."""
    names = {fold_word(match.group()): match for match in _CAPITAL.finditer(source.text)}
    close = get_close_matches(fold_word(quote), names, n=1, cutoff=_SIMILAR)
    return source.evidence(*names[close[0]].span()) if close else None


def _other_days(quote: str, *, source: Source) -> tuple[Evidence, ...]:
    """Return the days or the months that the source has, each at its first occurrence."""
    days = MONTHS if stem(quote.lower()) in map(stem, MONTHS) else sorted(WEEKDAYS)
    matches = [re.search(rf"\b{day.capitalize()}\b", source.text) for day in days]
    return tuple(source.evidence(*match.span()) for match in matches if match)


def same_subject(words: Iterable[str], *, source: Source) -> Evidence | None:
    """Return the sentence of `source` that has most of `words`, if it has enough of them.

    Of equals the first. `words` are the folded words of a sentence without the missing ones.
    """
    stems = {STEMS[word] for word in words} - FUNCTION_WORDS
    if len(stems) < _SHARED:
        return None
    shared, start, end = max(
        _sentences(stems, source),
        key=lambda sentence: (sentence[0], -sentence[1]),
        default=(0, 0, 0),
    )
    if shared < max(_SHARED, _SHARE * len(stems)) or end - start > _LONGEST:
        return None
    return source.evidence(start, end)


def _sentences(stems: set[str], source: Source) -> Iterator[tuple[int, int, int]]:
    """Yield the count of `stems` and the interval of each sentence that has most of them."""
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
