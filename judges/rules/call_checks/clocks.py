"""Times of day and lengths of time that a text names, and the numbers that count something else."""

import re
from collections.abc import Iterator
from types import MappingProxyType

from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.numbers import UNITS

HOURS = MappingProxyType({word: hour for word, hour in UNITS.items() if hour in range(1, 13)})
"""Word -> hour on a dial."""
_TENS = MappingProxyType(
    {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "ninety": 90}
)
COUNT = rf"(?:\d{{1,3}}|{'|'.join((*HOURS, *_TENS))}|an?|a couple of)"
"""Pattern of a number in digits or words that `count_of` reads."""
_LENGTH = re.compile(
    rf"\b((?:three[ -])?quarters? of an|{COUNT}|half an?|\d{{1,15}}\.\d+)(?: and a (half|quarter))?"
    r"[ -]?(minute|min|hour|hr|h)s?\b(?: and a (half|quarter))?",
    re.IGNORECASE,
)
_FIELD_LENGTH = re.compile(r"\"(?:\w*_)?(minute|min|hour)s?\": ?(\d{1,3})\b")
DAY = 24 * 60  # minutes
_CLOCK = re.compile(
    r"(?:(?<![\d:.,-])|(?<=\d-))([01]?\d|2[0-4])[:.h]([0-5]\d)(?!\d)(?: ?([ap])\.?m)?",
    re.IGNORECASE,
)
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ](\d\d):(\d\d)")
_MERIDIEM = re.compile(rf"\b(\d\d?|{'|'.join(HOURS)}) ?([ap])\.?m\b", re.IGNORECASE)
_NAMED_HOUR = re.compile(
    rf"\b(half past|quarter past|quarter to|half|(?:five|ten|twenty|\d\d?) (?:past|to)) "
    rf"({'|'.join(HOURS)}|1?\d)\b",
    re.IGNORECASE,
)
_BARE_HOUR = re.compile(
    rf"\b(?:at|from|until|till|by|to|before|after|between|around|about|and|or|for|past|not"
    rf"|make it|@) ?"
    rf"({'|'.join(HOURS)}|\d\d?)(?![\d:.,]\d| more\b)\b",
    re.IGNORECASE,
)
_HOUR_MINUTES = re.compile(
    rf"\b({'|'.join(HOURS)}) (fifteen|twenty|thirty|forty|fifty)(?:[- ](five))?\b", re.IGNORECASE
)
_HOUR_BESIDE = re.compile(
    rf"(?<![\w.,:/-])({'|'.join(HOURS)}|\d\d?)"
    rf"(?: ?(?:to|till|until|[-–]) ?(?:half|quarter|noon|midday|midnight|{'|'.join(HOURS)}"
    r"|\d\d?(?![\d:.,]*\d))\b| or (?:later|earlier|after|before)\b| ?o['’]?clock\b| sharp\b"
    r"| ?ish\b)",
    re.IGNORECASE,
)
"""An hour without a preposition, as in ``2 to half past 3`` and ``5 or later``."""
_NO_PLURAL = (
    r"starts|ends|begins|opens|closes|works|suits|fits|goes|comes|leaves|arrives|needs|seems"
    r"|sounds|means|yes|thanks|perhaps|sometimes|weekdays|\w+wards|"
    + "|".join(sorted(word for word in FUNCTION_WORDS if word.endswith("s")))
)
"""Words that end as plurals do, and may follow an hour."""
COUNTED = (
    r"(?: ?[%€$£]|(?-i:-(?!ish\b)[a-z])"
    r"| (?-i:(?:(?:more|other|extra|additional|double|single|small|large|new) )?"
    r"(?:people|persons?|adults?|guests?|children|child|men|women|pax|percent|per cent|euro|dollar"
    r"|km|kg|of (?:us|them|you|the|these|those|my|our)"
    rf"|(?!(?:{_NO_PLURAL})\b)[a-z]*[a-hj-rtv-z]s)\b))"
)
"""Pattern of the text after a number that counts something, and is thus no hour."""
_COUNTED = re.compile(rf"(?: ?(?:or|to|[-–]) ?(?:{'|'.join(HOURS)}|\d\d?))?{COUNTED}")
_SINGLE = re.compile(
    rf"(?:(?<=\b1)|(?<=\bone)) (?!(?:{'|'.join(sorted(FUNCTION_WORDS))}|today|tomorrow|tonight"
    r"|sharp|please|instead|works|suits|[a-z]+day)\b)[a-z]{3,}"
)
"""A noun after the number one, as in ``from one account``."""
FOR_PEOPLE = re.compile(
    rf"\b(?:table|dinner|lunch|brunch|reservation)\b(?: [a-z]+)? for ({'|'.join(HOURS)}|\d\d?)\b"
    r"(?! (?:hour|night|day|minute|euro|dollar|o['’]clock|[ap]\.?m)|[:./-]\d)",
    re.IGNORECASE,
)
"""The number of people for whom a table is wanted."""
_HALVES = MappingProxyType(
    {
        "morning": frozenset(range(12 * 60)),
        "afternoon": frozenset(range(12 * 60, DAY)),
        "evening": frozenset((*range(60), *range(13 * 60, DAY))),
        "night": frozenset((*range(5 * 60), *range(17 * 60, DAY))),
        "tonight": frozenset((*range(5 * 60), *range(17 * 60, DAY))),
    }
)
"""Part of the day -> minutes of the times that may be named with it."""
_PART_NEXT = re.compile(
    r" (?:(?:in|of) the |at |this |(?:on )?\w+day |tomorrow )?" + rf"({'|'.join(_HALVES)})\b",
    re.IGNORECASE,
)
_PART_BEFORE = re.compile(
    rf"\b({'|'.join(_HALVES)})(?: (?:at|around|about|by|before|after|from|until|till))? ?@?$",
    re.IGNORECASE,
)
_BESIDE = 24  # characters before a time that are searched
_LOOSE = re.compile(
    r"(?:\b(?:after|before|from|until|till|to|by|between|around|about|and|or|past|not|than)|[-–])"
    r" ?$",
    re.IGNORECASE,
)
"""Text before a time that is a bound or an estimate, or one of several."""
_LOOSE_NEXT = re.compile(
    r" (?:or (?:earlier|before|so)|at (?:the )?latest|latest)\b", re.IGNORECASE
)
_PARTS = tuple(
    (re.compile(words, re.IGNORECASE), minutes)
    for words, minutes in (
        (r"\bmorning\b", range(5 * 60, 12 * 60 + 1)),
        (r"\b(?:noon|midday|lunch\w*)\b", range(11 * 60, 14 * 60 + 1)),
        (r"\bafternoon\b", range(12 * 60, 18 * 60 + 1)),
        (r"\b(?:evening|tonight|dinner)\b", range(17 * 60, 23 * 60 + 1)),
        (r"\bmidnight\b", range(1)),
        (r"\bafter (?:work|school)\b", range(15 * 60, 21 * 60 + 1)),
        (r"\b(?:end of (?:the )?day|close of business)\b", range(17 * 60, DAY)),
    )
)


def count_of(word: str) -> int:
    """Return the number that a match of `COUNT` states."""
    lower = word.lower()
    if lower.isdecimal():
        return int(lower)
    return 2 if "couple" in lower else (HOURS | _TENS).get(lower, 1)


def lengths(text: str) -> Iterator[int]:
    """Yield the minutes of each length of time in hours and minutes that `text` states.

    Examples
    --------
    >>> list(lengths("an hour and a half, then 20 minutes"))
    [90, 20]
    """
    for match in _LENGTH.finditer(text):
        part = match[2] or match[4]
        amount = _amount(match[1].lower())
        amount += {"half": 0.5, "quarter": 0.25}.get((part or "").lower(), 0.0)
        yield round(amount * (60 if match[3].lower().startswith("h") else 1))
    for match in _FIELD_LENGTH.finditer(text):
        yield int(match[2]) * (60 if match[1] == "hour" else 1)


def _amount(text: str) -> float:
    if "quarter" in text:
        return 0.75 if text.startswith("three") else 0.25
    if text.startswith("half"):
        return 0.5
    return float(text) if "." in text else float(count_of(text))


def clocks(text: str, *, undated: str) -> tuple[frozenset[int], frozenset[int]]:
    """Return the times of day that a text names, and all minutes of the parts of the day.

    Both are in minutes since midnight. A part beside a time, as in "9:30 in the evening", tells
    which half of the day is meant; beside an exact time the part begins at that time.

    Parameters
    ----------
    undated
        The text without its dates.
    """
    times: set[int] = set()
    exact: dict[int, int] = {}
    for match, minutes in _readings(text, undated=undated):
        beside = _part(match)
        meant = minutes & _HALVES[beside[1].lower()] if beside else minutes
        times |= meant or minutes
        if beside and len(meant) == 1 and match.string is text and _is_exact(match, beside):
            exact[beside.start(1)] = min(meant)
    parts = {
        minute
        for pattern, minutes in _PARTS
        for match in pattern.finditer(text)
        for minute in range(max(minutes.start, exact.get(match.start(), 0)), minutes.stop)
    }
    return frozenset(times), frozenset(parts)


def _part(time: re.Match[str]) -> re.Match[str] | None:
    """Return the part of the day directly after or before a time, as group 1."""
    text, start = time.string, time.start(1)
    return _PART_NEXT.match(text, time.end()) or _PART_BEFORE.search(
        text, max(0, start - _BESIDE), start
    )


def _is_exact(time: re.Match[str], part: re.Match[str]) -> bool:
    """Return whether the words around a time allow no other."""
    text, start = time.string, time.start(1)
    return not (
        _LOOSE.search(text, max(0, start - _BESIDE), start)
        or _LOOSE_NEXT.match(text, max(time.end(), part.end()))
    )


def _readings(text: str, *, undated: str) -> Iterator[tuple[re.Match[str], frozenset[int]]]:
    """Yield each time of day, whose group 1 is its first number, and the minutes it may mean."""
    for match in _ISO_TIME.finditer(text):
        yield match, frozenset((int(match[1]) * 60 + int(match[2]),))
    for match in _CLOCK.finditer(text):
        yield match, _of_clock(int(match[1]), int(match[2]), match[3])
    for match in _MERIDIEM.finditer(text):
        yield match, _of_clock(count_of(match[1]), 0, match[2])
    for match in _NAMED_HOUR.finditer(text):
        if _is_count(match):
            continue
        words, hour = match[1].lower(), count_of(match[2])
        past = next(
            (minutes for word, minutes in (("half", 30), ("quarter", 15)) if word in words), 0
        )
        past = past or count_of(words.split()[0])
        yield match, _of_clock(hour, 0, None, shift=-past if words.endswith("to") else past)
    for match in _HOUR_MINUTES.finditer(text):
        minute = count_of(match[2]) + (5 if match[3] else 0)
        yield match, _of_clock(count_of(match[1]), minute, None)
    people = {match.start(1) for match in FOR_PEOPLE.finditer(text)}
    hours = (match for match in _BARE_HOUR.finditer(text) if match.start(1) not in people)
    for match in (*hours, *_HOUR_BESIDE.finditer(undated)):
        hour = count_of(match[1])
        if hour <= 24 and not _is_count(match):  # noqa: PLR2004
            yield match, _of_clock(hour, 0, None)


def _is_count(number: re.Match[str]) -> bool:
    """Return whether the text after a number that may be an hour shows that it counts something."""
    text, end = number.string, number.end()
    return bool(_COUNTED.match(text, end) or _SINGLE.match(text, end))


def _of_clock(hour: int, minute: int, half: str | None, shift: int = 0) -> frozenset[int]:  # noqa: PLR0917
    base = hour * 60 + minute + shift
    if half:
        later = 12 * 60 if half.lower() == "p" else 0
        return frozenset((((hour % 12) * 60 + minute + later) % DAY,))
    times = (base, base + 12 * 60) if hour <= 12 else (base,)  # noqa: PLR2004
    return frozenset(time % DAY for time in times)
