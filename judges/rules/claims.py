"""Claims: the smallest parts of a text that a source can support, and whether it does."""

import re
from collections.abc import Iterator, Sequence
from math import inf, isinf
from typing import Literal, NamedTuple

from spanjury.judges.rules.alignment.lexicon import OF_RULES
from spanjury.judges.rules.counted_days import is_counted_on
from spanjury.judges.rules.dates import dates, weekdays
from spanjury.judges.rules.derived_numbers import is_computable, may_reach_today
from spanjury.judges.rules.names import Name, Standing, find_names, standing
from spanjury.judges.rules.number_support import (
    is_computed,
    is_glued,
    is_in_word,
    is_rounded,
    is_stated,
    may_be_time,
)
from spanjury.judges.rules.phones import is_known, phones
from spanjury.judges.rules.quantities import names_currency, unit, with_decimals
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.lexicon import FUNCTION_WORDS, MONTHS, SAME, WEEKDAYS
from spanjury.judges.text.numbers import Number, numbers
from spanjury.judges.text.stems import STEMS, stem
from spanjury.judges.text.words import Word

Sort = Literal["number", "date", "name", "wording"]

_DAYS = frozenset((*MONTHS, *WEEKDAYS))
_MEANT_DAYS = {
    **{day: day for day in _DAYS},
    **{f"{day}s": day for day in WEEKDAYS},
    **{word: meant for word, meant in SAME.items() if meant in _DAYS},
}
_NO_MONTHS = frozenset(("march", "may"))
_BEFORE_MAY = re.compile(
    r"(?:\d(?:st|nd|rd|th)?|\b(?:by|during|early|in|late|mid|of|since|until))[ -]\Z"
)
_AFTER_MAY = re.compile(r" \d")
_YEARS = (1500, 2100)
_ASIDE = re.compile(
    r"https?://\S+|www\.\S+|[\w.+-]{1,64}@[\w-]{1,64}\.\w+"
    r"|\[\d{1,3}(?:[,;–-] ?\d{1,3})*\]|^[ \t]*\d{1,3}[.)](?=\s)"
    r"|^[ \t]*#{1,6}[ \t]|\[?UNK\]?|<\w{2,6}>|-l[rc]b-|-r[rc]b-",
    re.MULTILINE,
)
_SIGNS = ("[", "<", "#", "@", "://", "www.", "UNK", "-lrb-", "-rrb-", "-lcb-", "-rcb-")
_LISTED = re.compile(r"^[ \t]*\d", re.MULTILINE)
_AROUND = 8  # code points beyond a sentence in which an aside may begin or end
_ANSWER = frozenset(("yes", "no", "true", "false", "answer", "summary", "note"))


class Claim(NamedTuple):
    """A number, a name, or a word that is not a function word.

    Parameters
    ----------
    first, stop
        Half-open range of its words within their sentence.
    supported
        Whether the source supports it.
    number
        The number it states; None for a word or a name.
    name
        The name; None if it is not one.
    sure
        Whether the claim, if unsupported, is surely enough an error to be reported.
    contradicted
        Whether the source has another name instead.
    follows
        Whether an unsupported number may still be right: it can be computed from the source's, or
        the sentence applies a rule of the source to a case. So may a day of a schedule, "Mondays",
        which follows from the others.
    rounded
        Whether a number is supported only as one of the source's, hedged or with fewer digits.
    size, lacking
        Number of its words that count, and of those that the source lacks.
    lead
        Number of code points before its first word that belong to it: the plus of +49 30 1234567.
    """

    first: int
    stop: int
    sort: Sort
    supported: bool
    number: Number | None = None
    name: Name | None = None
    sure: bool = True
    contradicted: bool = False
    follows: bool = False
    rounded: bool = False
    size: int = 1
    lacking: int = 0
    lead: int = 0


def claims(
    words: Sequence[Word], index: SourceIndex, *, text: str, cased: bool, nouns: bool = False
) -> Iterator[Claim]:
    """Yield the claims of a sentence, in order.

    Parameters
    ----------
    text
        The text that contains the words.
    cased
        Whether capitals distinguish names.
    nouns
        Whether nouns have capitals, too, as in German.
    """
    begun = _dated(words, index, text=text) | _called(words, index, text=text)
    requests = set()
    for name in find_names(words, text=text, source=index.text, cased=cased, nouns=nouns):
        requests.add(name.request)
        claim = _name_claim(words, name, index, text=text)
        begun.setdefault(claim.first, claim)
    taken = {at for claim in begun.values() for at in range(claim.first, claim.stop)}
    folded = [word.folded for word in words]
    applies_rule = not OF_RULES.isdisjoint(folded)
    stop = 0
    for number in numbers(folded):
        if number.first not in taken and number.first >= stop:
            whole = with_decimals(words, number, text=text)
            begun[whole.first] = _number_claim(
                words, index, number=whole, text=text, applies_rule=applies_rule
            )
            stop = whole.stop
    stop = 0
    for at, word in enumerate(words):
        if at < stop or at in requests:
            continue
        claim_here = begun.get(at) or _word_claim(word, index, at=at, text=text)
        if claim_here:
            yield claim_here
            stop = claim_here.stop


def _dated(words: Sequence[Word], index: SourceIndex, *, text: str) -> dict[int, Claim]:
    """Look up dates in digits; return them by the index of their first word."""
    by_word: dict[int, Claim] = {}
    start, end = words[0].start, words[-1].end
    if sum(word.text[0].isdecimal() for word in words) < 3:  # noqa: PLR2004 - day, month, year
        return by_word
    for match, orders in dates(text[start:end]):
        first, last = start + match.start(), start + match.end()
        covered = [at for at, w in enumerate(words) if first <= w.start and w.end <= last]
        supported = any(all(index.knows(stem(word)) for word in order[:3]) for order in orders)
        if covered:
            by_word[covered[0]] = Claim(
                first=covered[0],
                stop=covered[-1] + 1,
                sort="date",
                supported=supported or match.group() in index.text,
                lacking=0 if supported else 1,
            )
    return by_word


def _called(words: Sequence[Word], index: SourceIndex, *, text: str) -> dict[int, Claim]:
    """Look up telephone numbers; return them by the index of their first word."""
    by_word: dict[int, Claim] = {}
    start, end = words[0].start, words[-1].end
    for match in phones(text[max(0, start - 1) : end]):
        at = max(0, start - 1) + match.start()
        covered = [n for n, word in enumerate(words) if at <= word.start < at + len(match.group())]
        if not covered:
            continue
        first, stop = covered[0], covered[-1] + 1
        supported = is_known(match.group(), index.text) or all(
            stem(word.folded) in index.where for word in words[first:stop]
        )
        by_word[first] = Claim(
            first=first,
            stop=stop,
            sort="number",
            number=Number(first=first, stop=stop, value=inf, spelled=False),
            supported=supported,
            lacking=int(not supported),
            lead=words[first].start - at,
        )
    return by_word


def _word_claim(word: Word, index: SourceIndex, *, at: int, text: str) -> Claim | None:
    folded = word.folded
    if folded in FUNCTION_WORDS and not _is_month(word, text):
        return None
    supported = index.knows(STEMS[folded]) or names_currency(folded, index.text)
    meant = _MEANT_DAYS.get(folded)
    if meant is None or word.text in _NO_MONTHS:
        return Claim(
            at, at + 1, "wording", supported or folded in _ANSWER, lacking=int(not supported)
        )
    if not supported and meant in WEEKDAYS:
        short = rf"\b{meant[:3].title()}\b"  # "sat", "sun" and "wed" are words
        supported = meant in weekdays(index.text) or bool(re.search(short, index.text))
    elif not supported:
        supported = is_counted_on(text, word.start, index.text)
    return Claim(
        at, at + 1, "date", supported, follows=folded.endswith("days"), lacking=int(not supported)
    )


def _is_month(word: Word, text: str) -> bool:
    """Return whether "May" is the month: ``3 May``, ``in May``."""
    before = text[max(0, word.start - len("during ")) : word.start]
    return word.text == "May" and bool(
        _BEFORE_MAY.search(before) or _AFTER_MAY.match(text, word.end)
    )


def _past_model(words: Sequence[Word], stop: int, *, text: str) -> int:
    """Return the end of a name with the number that a hyphen joins to it: RX-200."""
    while stop < len(words) and _is_joined(words[stop - 1], words[stop], text=text):
        stop += 1
    return stop


def _is_joined(word: Word, following: Word, *, text: str) -> bool:
    """Return whether a hyphen, or nothing, separates two words of which one is a number."""
    between = text[word.end : following.start]
    is_number = word.text[0].isdecimal() or following.text[0].isdecimal()
    return between == "-" or (not between and is_number)


def _name_claim(words: Sequence[Word], name: Name, index: SourceIndex, *, text: str) -> Claim:
    stands, lacking = standing(name, index)
    first, stop = name.first, name.stop
    if stands is Standing.UNKNOWN:
        first = words.index(lacking[0], first, stop)
        stop = _past_model(words, stop, text=text)
    return Claim(
        first=first,
        stop=stop,
        sort="name",
        name=name,
        supported=stands is Standing.PRESENT,
        sure=stands is not Standing.PARTLY,
        contradicted=stands is Standing.CONTRADICTED,
        size=len(name.parts),
        lacking=len(lacking),
    )


def _number_claim(
    words: Sequence[Word], index: SourceIndex, *, number: Number, text: str, applies_rule: bool
) -> Claim:
    """Check if the source states a number, has its word, or has numbers that it follows from.

    `applies_rule` says whether the sentence applies a rule of the source to a case.
    """
    numeral = words[number.first]
    supported = is_stated(words, index, number=number, text=text)
    glued = is_glued(numeral, text)
    if not supported and glued:
        supported = is_in_word(numeral, index, text=text)
    rounded = False
    if not supported and not isinf(number.value):
        rounded = is_rounded(words, index, number=number, text=text)
        supported = rounded or is_computed(words, index, number=number, text=text)
    in_years = numeral.text.isdecimal() and _YEARS[0] <= number.value < _YEARS[1]
    counted = unit(words, number, text=text)
    year = in_years and counted == "year"
    return Claim(
        first=number.first,
        stop=number.stop,
        sort="date" if year else "number",
        number=number,
        supported=supported,
        rounded=rounded,
        sure=not (glued or isinf(number.value))
        and (supported or not may_be_time(numeral, index, value=number.value)),
        follows=not (supported or year)
        and (
            applies_rule
            or is_computable(number.value, counted, index.text)
            or may_reach_today(number.value, counted, index.text)
        ),
        lacking=int(not supported),
    )


def may_have_asides(text: str) -> bool:
    """Return whether `text` has a sign without which `without_asides` changes nothing."""
    return any(sign in text for sign in _SIGNS) or bool(_LISTED.search(text))


def without_asides(words: Sequence[Word], text: str) -> Sequence[Word]:
    """Return the words of a sentence of `text` that can be claims.

    This leaves out addresses, citations, and marks of lists and headings.
    """
    if not words:
        return words
    begin, end = max(0, words[0].start - _AROUND), words[-1].end + _AROUND
    asides = [match.span() for match in _ASIDE.finditer(text, begin, end)]
    if not asides:
        return words
    covered = bytearray(end - begin)
    for start, stop in asides:
        covered[start - begin : stop - begin] = b"\1" * (stop - start)
    return [word for word in words if not covered[word.start - begin]]
