"""From what a source lacks to error spans that say so in plain words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from spanjury.judges.core import ErrorSpan, Located
from spanjury.judges.rules.alignment.contradiction import Contradiction
from spanjury.judges.rules.claims import Claim
from spanjury.judges.rules.lexicon import MONTHS, WEEKDAYS
from spanjury.judges.rules.numbers import Number
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.rules.stems import stem
from spanjury.judges.rules.support import SentenceSupport, Support

_STRANGE = 0.8  # share of unknown claims from which a whole sentence is marked
_ENOUGH = 4  # claims that a sentence needs for that
_NEAR = 2.0  # a number of the source is named if it is at most so many times greater or less
_COUNTABLE = 10  # spelled numbers up to here may be counts that the writer made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """An error in terms of the words `first` to `stop` of a sentence."""

    first: int
    stop: int
    severity: int
    category: str
    explanation: str


def error_spans(
    text: str, support: Support, *, index: SourceIndex, limit: int
) -> tuple[ErrorSpan, ...]:
    """Return what the source does not support, the gravest `limit` in order of place.

    Severity is 5 for a sentence hardly a word of which is in the source; 4 for a number,
    a date, a name, or a stretch of four words and more; 3 for two words, or for a small
    number in words; 2 for a word. Words joined from different sentences have 2, or 3 if
    one is a number.
    """
    found = [
        _span(text, sentence, finding=finding)
        for sentence in support.sentences
        for finding in _findings(sentence, index)
    ]
    gravest = sorted(found, key=lambda span: (-(span.severity or 0), span.start))[:limit]
    return tuple(sorted(gravest, key=lambda span: (span.start, span.end)))


def with_contradictions(
    spans: Sequence[ErrorSpan], found: Sequence[Contradiction], *, limit: int
) -> tuple[ErrorSpan, ...]:
    """Return contradictions and the spans that share no word with one, the gravest `limit`."""
    certain = [_contradicted(each) for each in found]
    rest = [
        span
        for span in spans
        if not any(_overlap(span.interval, other.interval) for other in certain)
    ]
    gravest = sorted((*certain, *rest), key=lambda span: (-(span.severity or 0), span.start or 0))
    return tuple(sorted(gravest[:limit], key=lambda span: span.interval or (0, 0)))


def _contradicted(found: Contradiction) -> ErrorSpan:
    return ErrorSpan(
        text=found.text,
        explanation=found.explanation,
        severity=found.severity,
        start=found.start,
        end=found.end,
        category=found.category,
        located=Located.EXACT,
        evidence=(found.evidence,),
    )


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is not None and other is not None and one[0] < other[1] and other[0] < one[1]


def _span(text: str, sentence: SentenceSupport, *, finding: _Finding) -> ErrorSpan:
    start = sentence.words[finding.first].start
    end = sentence.words[finding.stop - 1].end
    return ErrorSpan(
        text=text[start:end],
        explanation=finding.explanation,
        severity=finding.severity,
        start=start,
        end=end,
        category=finding.category,
        located=Located.EXACT,
    )


def _findings(sentence: SentenceSupport, index: SourceIndex) -> Iterator[_Finding]:
    claims = sentence.claims
    unknown = sum(not claim.known for claim in claims)
    if index.prose and len(claims) >= _ENOUGH and unknown >= _STRANGE * len(claims):
        yield _Finding(
            first=0,
            stop=len(sentence.words),
            severity=5,
            category="unsupported wording",
            explanation=f"Of the {len(claims)} words and numbers that carry this sentence, "
            f"the source has {len(claims) - unknown}.",
        )
        return
    for run in _runs(claims):
        if run[0].sort != "wording" or index.prose:
            yield _lacking(sentence, run, index=index)
    yield from _recombined(sentence)


def _runs(claims: Sequence[Claim]) -> Iterator[Sequence[Claim]]:
    """Yield the unknown claims: each number and date alone, names and words in runs."""
    for (known, sort), group in groupby(claims, key=lambda claim: (claim.known, claim.sort)):
        if known:
            continue
        run = list(group)
        if sort == "wording":
            yield run
        elif sort == "name":
            yield from _touching(run)
        else:
            yield from ([claim] for claim in run)


def _touching(run: Sequence[Claim]) -> Iterator[Sequence[Claim]]:
    """Cut a run of names where another word stands between them."""
    begin = 0
    for at in range(1, len(run) + 1):
        if at == len(run) or run[at].first != run[at - 1].stop:
            yield run[begin:at]
            begin = at


def _lacking(sentence: SentenceSupport, run: Sequence[Claim], *, index: SourceIndex) -> _Finding:
    first, stop = run[0].first, run[-1].stop
    quote = " ".join(word.text for word in sentence.words[first:stop])
    severity, explanation = _judgement(sentence, run, quote=quote, index=index)
    return _Finding(
        first=first,
        stop=stop,
        severity=severity,
        category=f"unsupported {run[0].sort}",
        explanation=explanation,
    )


def _judgement(
    sentence: SentenceSupport, run: Sequence[Claim], *, quote: str, index: SourceIndex
) -> tuple[int, str]:
    """Say how grave it is that the source lacks a run of claims, and why it is an error."""
    claim = run[0]
    if claim.number is not None:
        sort = "year" if claim.sort == "date" else "number"
        nearest = _nearest(claim.number, index, year=sort == "year")
        small = claim.number.spelled and claim.number.value <= _COUNTABLE
        return 3 if small else 4, f'The {sort} "{quote}" does not occur in the source{nearest}.'
    if claim.sort == "date":
        return 4, f'"{quote}" does not occur in the source{_other_days(quote, index)}.'
    if claim.sort == "name":
        return 4, f'The name "{quote}" does not occur in the source.'
    if len(run) == 1:
        return 2, f'"{quote}" does not occur in the source, in this form or another.'
    lacking = ", ".join(f'"{sentence.words[claim.first].text}"' for claim in run)
    return 4 if len(run) >= _ENOUGH else 3, f"The source has none of these words: {lacking}."


def _nearest(claim: Number, index: SourceIndex, *, year: bool) -> str:
    """Name the nearest number of the source, if it is near enough to be what was meant."""
    nearest = index.nearest(claim.value)
    if nearest is None or not claim.value / _NEAR <= nearest <= claim.value * _NEAR:
        return ""
    return f"; the nearest is {nearest:.0f}" if year else f"; the nearest is {nearest:,.15g}"


def _other_days(quote: str, index: SourceIndex) -> str:
    """Name the days or the months that the source does have."""
    days = MONTHS if stem(quote.lower()) in map(stem, MONTHS) else sorted(WEEKDAYS)
    named = [f'"{day.capitalize()}"' for day in days if stem(day) in index.where]
    return f", which has {', '.join(named)}" if named else ""


def _recombined(sentence: SentenceSupport) -> Iterator[_Finding]:
    """Yield each run of seams that share words as one finding."""
    run: list[tuple[int, int]] = []
    for seam in (*sentence.seams, (len(sentence.words), 0)):
        if run and seam[0] != run[-1][1]:
            yield _torn(sentence, run)
            run = []
        run.append(seam)


def _torn(sentence: SentenceSupport, run: Sequence[tuple[int, int]]) -> _Finding:
    places = [run[0][0], *(right for _, right in run)]
    quotes = [f'"{sentence.words[at].text}"' for at in places]
    number = any(sentence.words[at].text[0].isdecimal() for at in places)
    return _Finding(
        first=places[0],
        stop=places[-1] + 1,
        severity=3 if number else 2,
        category="recombined",
        explanation=f"{', '.join(quotes[:-1])} and {quotes[-1]} occur in the source, but never "
        "side by side or in the same sentence.",
    )
