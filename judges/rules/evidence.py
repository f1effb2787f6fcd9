"""From what a source lacks to error spans that say so in plain words and point at the source."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from types import MappingProxyType

from spanjury.judges.core import ErrorSpan, Evidence, Located
from spanjury.judges.rules.claims import Claim
from spanjury.judges.rules.lexicon import MONTHS, WEEKDAYS
from spanjury.judges.rules.names import Name, called_otherwise
from spanjury.judges.rules.numbers import Number
from spanjury.judges.rules.places import Source
from spanjury.judges.rules.quantities import Quantity, quantities, unit
from spanjury.judges.rules.stems import stem
from spanjury.judges.rules.support import SentenceSupport, Support
from spanjury.judges.text.words import fold_word

_STRANGE = 0.8  # share of unknown claims from which a whole sentence is marked
_ENOUGH = 4  # claims that a sentence needs for that
_STRETCH = 5  # unknown claims in a row that are marked
_BESIDE = 3  # the same where one of them is a name or a number
_NEAR = 2.0  # a number of the source is named if it is at most so many times greater or less
_COUNTABLE = 10  # spelled numbers up to here may be counts that the writer made
_SIMILAR = 0.75  # likeness of two names of which one may be a slip for the other
_CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][^\W\d_]{2,}(?:[ -][A-Z][^\W\d_]+)*")

PRECISION: Mapping[str, float] = MappingProxyType(
    {
        "unsupported number": 0.8,
        "unsupported date": 0.8,
        "unsupported name": 0.6,
        "unsupported wording": 0.6,
    }
)
"""Category -> share of its spans that people marked, too.

Of all four it is 1/2 or more: what is less sure only feeds the score.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """An error in terms of the words `first` to `stop` of a sentence."""

    first: int
    stop: int
    severity: int
    category: str
    explanation: str
    evidence: tuple[Evidence, ...] = ()


def error_spans(text: str, support: Support, *, source: Source) -> tuple[ErrorSpan, ...]:
    """Return what the source does not support, in order of place.

    Severity is 4 for a number, a date, or a person whom the source calls otherwise, 3 for a
    name, for a small number in words and for a sentence of which the source has hardly a word.
    """
    found = [
        _span(text, sentence, finding=finding)
        for sentence in support.sentences
        for finding in _findings(sentence, source=source, text=text, prose=support.prose)
    ]
    return tuple(sorted(found, key=lambda span: (span.start, span.end)))


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
        evidence=finding.evidence,
        probability=PRECISION[finding.category],
    )


def _findings(
    sentence: SentenceSupport, *, source: Source, text: str, prose: bool
) -> Iterator[_Finding]:
    claims = sentence.claims
    unknown = [claim for claim in claims if not claim.known]
    if prose and _is_strange(claims, unknown):
        yield _Finding(
            first=0,
            stop=len(sentence.words),
            severity=3,
            category="unsupported wording",
            explanation=f"Of the {len(claims)} names, numbers and words that carry this sentence, "
            f"the source has {len(claims) - len(unknown)}.",
        )
        return
    for known, group in groupby(claims, key=lambda claim: claim.known):
        run = [] if known else [*group]
        if prose and _is_telling(run):
            yield _worded(sentence, run, source=source, text=text)
            continue
        for claim in filter(_is_exact, run):
            yield _lacking(sentence, claim, source=source, text=text)


def _is_exact(claim: Claim) -> bool:
    return claim.sure and claim.sort != "wording"


def _is_strange(claims: Sequence[Claim], unknown: Sequence[Claim]) -> bool:
    """Whether hardly a word of a sentence is in the source."""
    enough = len(claims) >= _STRETCH or any(map(_is_exact, unknown))
    return enough and len(claims) >= _ENOUGH and len(unknown) >= _STRANGE * len(claims)


def _is_telling(run: Sequence[Claim]) -> bool:
    """Whether so many claims in a row are unknown that it is no other wording for the same."""
    return len(run) >= _STRETCH or (len(run) >= _BESIDE and any(map(_is_exact, run)))


def _worded(
    sentence: SentenceSupport, run: Sequence[Claim], *, source: Source, text: str
) -> _Finding:
    """Make one finding of a run of unknown claims, with what the source has for its parts."""
    parts = [
        _lacking(sentence, claim, source=source, text=text) for claim in filter(_is_exact, run)
    ]
    named = (
        text[sentence.words[claim.first].start : sentence.words[claim.stop - 1].end]
        for claim in run
    )
    return _Finding(
        first=run[0].first,
        stop=run[-1].stop,
        severity=max([3, *(part.severity for part in parts)]),
        category="unsupported wording",
        explanation="The source has none of this: "
        + ", ".join(f'"{quote}"' for quote in named)
        + ".",
        evidence=tuple(piece for part in parts for piece in part.evidence),
    )


def _lacking(sentence: SentenceSupport, claim: Claim, *, source: Source, text: str) -> _Finding:
    first, last = sentence.words[claim.first], sentence.words[claim.stop - 1]
    severity, explanation, evidence = _judgement(
        sentence, claim, quote=text[first.start : last.end], source=source, text=text
    )
    return _Finding(
        first=claim.first,
        stop=claim.stop,
        severity=severity,
        category=f"unsupported {claim.sort}",
        explanation=explanation,
        evidence=evidence,
    )


def _judgement(
    sentence: SentenceSupport, claim: Claim, *, quote: str, source: Source, text: str
) -> tuple[int, str, tuple[Evidence, ...]]:
    """Say how grave it is that the source lacks a claim, why it is an error, and what is there."""
    if claim.number is not None:
        counted = unit(sentence.words, claim.number, text=text)
        sort = "year" if claim.sort == "date" else "number"
        small = claim.number.spelled and claim.number.value <= _COUNTABLE
        nearest = _nearest(claim.number, counted, source=source)
        said = f'The {sort} "{quote}" does not occur in the source'
        if nearest is None:
            return 3 if small else 4, f"{said}.", ()
        evidence = source.evidence(nearest.start, nearest.end)
        return 3 if small else 4, f'{said}; the nearest is "{evidence.text}".', (evidence,)
    if claim.name is not None:
        return _misnamed(claim.name, quote=quote, source=source)
    days = _other_days(quote, source=source)
    named = ", ".join(f'"{day.text}"' for day in days)
    has = f", which has {named}" if named else ""
    return 4, f'"{quote}" does not occur in the source{has}.', days


def _nearest(number: Number, counted: str, *, source: Source) -> Quantity | None:
    """Find the nearest number of the source, of the same unit if it has any that is near."""
    value = number.value
    near = [
        quantity
        for quantity in quantities(source.text)
        if value / _NEAR <= quantity.value <= value * _NEAR
    ]
    alike = [quantity for quantity in near if counted and quantity.unit == counted]
    return min(alike or near, key=lambda quantity: abs(quantity.value - value), default=None)


def _misnamed(name: Name, *, quote: str, source: Source) -> tuple[int, str, tuple[Evidence, ...]]:
    """Explain a name that the source does not have, with the like of it there."""
    called = called_otherwise(name, source.text)
    if called:
        evidence = source.evidence(called[0].start(), called[0].end())
        return 4, f'The source says "{evidence.text}", not "{quote}".', (evidence,)
    said = f'The name "{quote}" does not occur in the source'
    similar = _similar(quote, source=source)
    if similar is None:
        return 3, f"{said}.", ()
    return 3, f'{said}; there is "{similar.text}".', (similar,)


def _similar(quote: str, *, source: Source) -> Evidence | None:
    """Find the name in the source that is most like `quote`, if any is like it."""
    places = {fold_word(match.group()): match for match in _CAPITAL.finditer(source.text)}
    close = get_close_matches(fold_word(quote), places, n=1, cutoff=_SIMILAR)
    return source.evidence(*places[close[0]].span()) if close else None


def _other_days(quote: str, *, source: Source) -> tuple[Evidence, ...]:
    """Find the days or the months that the source does have, each where it stands first."""
    days = MONTHS if stem(quote.lower()) in map(stem, MONTHS) else sorted(WEEKDAYS)
    found = [re.search(rf"\b{day.capitalize()}\b", source.text) for day in days]
    return tuple(source.evidence(*match.span()) for match in found if match)
