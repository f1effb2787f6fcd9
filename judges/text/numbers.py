"""Numbers stated by the numerals and number words of a text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from types import MappingProxyType

from spanjury.judges.text.kept import KeptByWord

UNITS = MappingProxyType(
    {
        word: value
        for value, word in enumerate(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen
            fourteen fifteen sixteen seventeen eighteen nineteen""".split()  # noqa: SIM905
        )
    }
)
"""Word -> its number, 0 to 19."""
_TENS = MappingProxyType(
    {
        word: 10 * value
        for value, word in enumerate(
            "twenty thirty forty fifty sixty seventy eighty ninety".split(),  # noqa: SIM905
            start=2,
        )
    }
)
_SCALES: Mapping[str, float] = MappingProxyType(
    {
        "dozen": 12.0,
        "hundred": 1e2,
        **dict.fromkeys(("thousand", "k", "tausend"), 1e3),
        **dict.fromkeys("million millions m mn mln mill mio millionen millones".split(), 1e6),  # noqa: SIM905
        **dict.fromkeys(("billion", "bn", "bln", "mrd", "milliarden"), 1e9),
        **dict.fromkeys(("trillion", "tn"), 1e12),
    }
)
SHORT_SCALES = frozenset(("k", "m", "mn", "mln", "mill", "bn", "bln", "tn"))
"""Scales that count only after numerals, and may be units: ``5 m``."""
_STARTS = frozenset((*UNITS, *_TENS, *_SCALES)) - SHORT_SCALES
_POINTS = frozenset(("point", "dot"))
ORDINALS = MappingProxyType(
    {
        **{
            word: value
            for value, word in enumerate(
                """first second third fourth fifth sixth seventh eighth ninth tenth eleventh
                twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth
                nineteenth twentieth""".split(),  # noqa: SIM905
                start=1,
            )
        },
        "thirtieth": 30,
        "fortieth": 40,
        "fiftieth": 50,
        "hundredth": 100,
    }
)
"""Ordinal word -> its position."""
_MANY = 1e15  # above this a float cannot represent every integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number that a text states.

    Parameters
    ----------
    value
        The number; infinite for a numeral of 1e15 or more, or one that is not a number (a version).
    spelled
        Whether it is stated in words alone.
    """

    first: int
    stop: int
    value: float
    spelled: bool


def begins_number(word: str) -> bool:
    """Return whether a number may begin with a folded word."""
    return word < ":" or word in _STARTS  # numerals sort before letters


_BEGINS = KeptByWord(begins_number)


def numbers(folded: Sequence[str]) -> Iterator[Number]:
    """Yield the numbers that a sequence of folded words states, in order.

    ``1200``, ``twelve hundred`` and ``1.2 thousand`` are the same number. A lone ``one`` or
    ``zero`` counts as an ordinary word.

    Examples
    --------
    >>> [n.value for n in numbers("two hundred and six people 4 million 12 of one".split())]
    [206.0, 4000000.0, 12.0]
    """
    stop = 0
    for first in compress(count(), map(_BEGINS.__getitem__, folded)):
        if first < stop:
            continue
        spelled = folded[first] in _STARTS
        number = _spelled(folded, first) if spelled else _numeral(folded, first)
        stop = number.stop
        if folded[first] not in {"one", "zero"} or number.stop > first + 1:
            yield number


def _numeral(folded: Sequence[str], first: int) -> Number:
    """Read digits and the scales that follow them, as in ``4 million``."""
    try:
        value = float(folded[first])
    except ValueError:  # a version, a date: 1.2.3
        value = float("inf")
    stop = first + 1
    while stop < len(folded) and folded[stop] in _SCALES:
        value *= _SCALES[folded[stop]]
        stop += 1
    if value >= _MANY:
        return Number(first=first, stop=first + 1, value=float("inf"), spelled=False)
    return Number(first=first, stop=stop, value=value, spelled=False)


def _spelled(folded: Sequence[str], first: int) -> Number:
    """Read number words as long as they form one number."""
    total = current = 0.0
    stop = at = first
    while at < len(folded):
        word = folded[at]
        if word == "and" and at == stop and (total or current >= _SCALES["hundred"]):
            at += 1
            continue
        grown = _grown(word, current)
        if grown is None:
            break
        current = grown
        if word in _SCALES and _SCALES[word] >= _SCALES["thousand"]:
            total, current = total + current, 0.0
        at += 1
        stop = at
    value = total + current
    if folded[stop : stop + 1] and folded[stop] in _POINTS:
        value, stop = _decimals(folded, stop, value=value)
    elif folded[stop : stop + 3] == ["and", "a", "half"]:
        value, stop = value + 0.5, stop + 3
    return Number(first=first, stop=stop, value=value, spelled=True)


def _decimals(folded: Sequence[str], point: int, *, value: float) -> tuple[float, int]:
    """Read the spelled digits after a spelled point; return the value and their end."""
    digits = ""
    at = point + 1
    while at < len(folded) and (folded[at] in UNITS or (folded[at] in _TENS and not digits)):
        digits += str(UNITS.get(folded[at], _TENS.get(folded[at], 0)))
        at += 1
    return (value + float(f"0.{digits}"), at) if digits else (value, point)


def _grown(word: str, current: float) -> float | None:
    """Return the number so far extended by `word`, or None if `word` begins another number."""
    below_hundred = current % 100
    if word in UNITS:
        fits = not below_hundred or (below_hundred % 10 == 0 and 0 < UNITS[word] < 10)  # noqa: PLR2004
        return current + UNITS[word] if fits and below_hundred != 10 else None  # noqa: PLR2004
    if word in _TENS:
        return None if below_hundred else current + _TENS[word]
    if word in _SCALES and word not in SHORT_SCALES:
        return max(current, 1.0) * _SCALES[word]
    return None
