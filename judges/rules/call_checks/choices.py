"""Choices: whether the record that a call selects from a list is the one that the user meant."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import NamedTuple

from spanjury.judges.core.transcript import INSTRUCTIONS, json_leaves
from spanjury.judges.rules.call_checks.arithmetic import DATES
from spanjury.judges.rules.call_checks.context import (
    Context,
    Record,
    number_of,
    squeezed,
    tokens_in,
    tokens_of,
)
from spanjury.judges.rules.call_checks.moments import Moments, moments, read_moment
from spanjury.judges.rules.call_checks.numerals import numerals
from spanjury.judges.rules.call_checks.tool_names import stems_of, words_of
from spanjury.judges.rules.call_checks.wishes import wish
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.numbers import UNITS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words

_TAKEN = frozenset("taken full sold booked unavailable busy closed out loan waiting".split())  # noqa: SIM905
_EXCEPT = re.compile(
    r"\b(?:not|except|instead|rather|other than|anything but|but)\b", re.IGNORECASE
)
_PRICE = r"price|cost|fare|total|fee|eur|usd|gbp|amount|per_day|per_night|rent"
_TIME = r"time|depart|start|date|day|begin|from|hour|at$|slot|due|created|placed|opened"
_SUPERLATIVES: tuple[tuple[re.Pattern[str], str, bool], ...] = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), keys, is_least)
    for words, keys, is_least in (
        (r"cheap(?:er|est)|least expensive|lowest price", _PRICE, True),
        (r"(?:more|most) expensive|dearest|priciest", _PRICE, False),
        (r"earl(?:ier|iest)|soonest|first (?:one|slot|available|free)", _TIME, True),
        (
            r"latest (?:one|slot|order|entry|available)|later one|last (?:one|slot)|newest",
            _TIME,
            False,
        ),
        (r"near(?:er|est)|clos(?:er|est)", r"distance|km|miles|metres|away|walk", True),
        (r"fast(?:er|est)|quick(?:er|est)|short(?:er|est)", r"duration|minutes|hours|length", True),
        (r"larg(?:er|est)|bigg(?:er|est)", r"seats|size|capacity|area|places|sqm", False),
        (
            r"best[- ]rated|highest[- ]rated|better[- ]rated|highest rating",
            r"rating|stars|score",
            False,
        ),
    )
)
_BOUND = re.compile(
    r"\b(?:at (?:least|most)|up to|under|over|below|above|(?:more|less) than|within)\s\S*\d\S*",
    re.IGNORECASE,
)
_BESIDES = re.compile(r"[^.!?\n]*?\b(?:with|but|that|which|if|and)\b", re.IGNORECASE)
"""Further wishes that may accompany the cheapest, the closest and so on."""
_BY_NAME = frozenset(("name", "query", "q", "search"))
_CORRECTS = re.compile(
    r"\b(?:actually|sorry|i mean\b|i meant|correction|wait|oops|make (?:it|that|them)|scratch that"
    r"|change (?:it|that)|on second thoughts?|no, (?!thank))",
    re.IGNORECASE,
)
_CLOSE = (0.2, 5.0)  # bounds of the ratio of two values of which one may correct the other
_ENDS = (("from", "to"), ("origin", "destination"), ("source", "target"))
_BACK = re.compile(r"\b(?:back|return(?:ing)?|way home)\b", re.IGNORECASE)
_LEAST_ID = 100  # a number from this on is more likely an id than a count
_SHORT = 12  # maximum words of a turn that says little besides which record is wanted
_FEW = 4  # maximum records among which no other reason for a choice is likely
_CLOCK = re.compile(r"\d:\d\d|\b\d\d? ?[ap]\.?m\b", re.IGNORECASE)
_COMPANY = re.compile(
    r"\b(?:(?:for )?me and my \w+|my \w+ and (?:me|I)"
    r"|(?:and (?:then )?)?(?:book|order|reserve|take|get) (?:it|that))\b",
    re.IGNORECASE,
)
_PEOPLE = stems_of("people persons passengers adults guests us")
_REQUESTS = frozenset(
    """book order reserve take get find choose pick buy select want need please like one ones option
    could would can""".split()  # noqa: SIM905
)
"""Words that are no further wish."""


class Mistaken(NamedTuple):
    """A value of one record, although the user meant another record of the same list.

    `better` is the value of the record that was meant, `why` the reason, and `words` the user's
    words for it.
    """

    path: str
    better: str
    why: str
    words: Sequence[str] = ()


def mistaken(
    arguments: Mapping[str, object], context: Context, *, others: Sequence[str]
) -> Iterator[Mistaken]:
    """Yield the values among `arguments` that belong to another record than the one meant.

    Parameters
    ----------
    others
        The arguments of all other calls, whose choices this call need not repeat.
    """
    taken = tokens_in(tuple(others))
    own = {squeezed(str(leaf)) for _, leaf in json_leaves(arguments)}
    for path, value in json_leaves(arguments):
        if isinstance(value, bool) or not isinstance(value, str | int) or not squeezed(str(value)):
            continue
        if isinstance(value, int) and abs(value) < _LEAST_ID:
            continue
        for record, key in _records_of(value, context):
            siblings = _siblings(record, key, context)
            if not siblings or _is_asked(value, context):
                continue
            finding = _without_feature(record, siblings, key, context, path=path)
            finding = finding or _named_other(record, siblings, key, context, path=path)
            finding = finding or _not_extreme(record, siblings, key, context, path=path)
            is_action = own & {*map(squeezed, finding.words)} if finding else False
            if finding and not is_action and squeezed(finding.better) not in taken:
                yield finding
            break


def mislabelled(
    arguments: Mapping[str, object], context: Context
) -> Iterator[tuple[str, str, str, str]]:
    """Yield path, value, field and own value if a result has the value for another argument.

    Both arguments are fields of one object of a result, such as the left and the right.
    """
    for path, value in json_leaves(arguments):
        name = path.removeprefix("$.")
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            continue
        if _is_asked(value, context):
            continue
        objects = [leaves for leaves in context.objects if name in leaves]
        if not objects or any(leaves[name] == value for leaves in objects):
            continue
        leaves = objects[-1]
        for other, leaf in leaves.items():
            if leaf == value and other != name and other in arguments and len(str(value)) > 1:
                yield path, str(value), other, str(leaves[name])


def superseded(arguments: Mapping[str, object], context: Context) -> Iterator[tuple[str, str, str]]:
    """Yield path, value and the user's words if a call keeps a value that the user corrected."""
    cues = [
        (number, match.start())
        for number, text in enumerate(context.asked)
        for match in _CORRECTS.finditer(text)
    ]
    if not cues:
        return
    number, start = cues[-1]
    corrected = context.asked[number]
    after = " ".join((corrected if number else corrected[start:], *context.asked[number + 1 :]))
    before = " ".join((*context.asked[:number], "" if number else corrected[:start]))
    instructions = tuple(
        text for header, text in context.sources.items() if header.startswith(INSTRUCTIONS)
    )
    old, new, bare = (moments((*instructions, text)) for text in (before, after, ""))
    was, now = _amounts(before), _amounts(after)
    leaves = [*json_leaves(arguments)]
    own = {leaf for _, leaf in leaves if isinstance(leaf, int | float)}
    days = [moment[0] for _, leaf in leaves if (moment := read_moment(str(leaf))) and moment[0]]
    has_days = bool((new.full | new.yearless | new.weekdays) - (bare.full | bare.yearless))
    for path, leaf in leaves:
        day, minute = read_moment(str(leaf)) or (None, None)
        is_kept = bool(day and has_days and old.names(day) and not any(map(new.names, days)))
        times = new.times - bare.times
        is_kept |= bool(minute and times and minute in old.times and minute not in new.times)
        amount = number_of(leaf)
        if amount is not None and amount in was - now:
            rivals = [n for n in now - was - own if n and _CLOSE[0] < amount / n < _CLOSE[1]]
            is_kept |= len(rivals) == 1
        if is_kept:
            yield path, str(leaf), corrected[start : start + 40]


def exchanged(arguments: Mapping[str, object], context: Context) -> Iterator[tuple[str, str]]:
    """Yield path and value of a start that the user named as the end, or set out from before.

    The user names both in the opposite order, or wants to go back after an earlier call with the
    same values.
    """
    last = context.asked[-1] if context.asked else ""
    for first, second in _ENDS:
        start, end = arguments.get(first), arguments.get(second)
        if not isinstance(start, str) or not isinstance(end, str):
            continue
        swapped = all(
            re.search(rf"\b{word}\b(?: (?:the|my))? {re.escape(value)}\b", last, re.IGNORECASE)
            for word, value in (("from", end), ("to", start))
        )
        ways = [(call.get(first), call.get(second)) for call in context.called]
        is_back = _BACK.search(last) and (start, end) in ways and (end, start) not in ways
        if swapped or is_back:
            yield f"$.{first}", start


def _amounts(text: str) -> frozenset[float]:
    thousands = {1000 * float(number) for number in re.findall(r"\b(\d+(?:\.\d+)?) ?k\b", text)}
    return frozenset((*numerals((text,)).amounts, *thousands))


def record_of(value: object, context: Context) -> Record | None:
    """Return the latest record of a list that `value` identifies; None if there is none."""
    records = [record for record, _ in _records_of(value, context)]
    return records[0] if records else None


def _records_of(value: object, context: Context) -> Iterator[tuple[Record, str]]:
    """Yield the records that contain `value`, latest first, with its key."""
    wanted = squeezed(str(value))
    for record in reversed(context.records):
        for key, leaf in record.values.items():
            if not isinstance(leaf, bool) and squeezed(str(leaf)) == wanted:
                yield record, key
                break


def _siblings(record: Record, key: str, context: Context) -> list[Record]:
    """Return the other records with `key`, if it identifies the list's records; else none."""
    group = [other for other in context.records if other.group == record.group]
    values = [squeezed(str(other.values.get(key, ""))) for other in group]
    if len(group) < 2 or len({*values}) != len(group):  # noqa: PLR2004
        return []
    return [other for other in group if other is not record and key in other.values]


def _is_asked(value: object, context: Context) -> bool:
    wanted = squeezed(str(value))
    return any(wanted in tokens_of(text) for text in context.asked)


def _named_other(  # noqa: PLR0917
    record: Record, siblings: Sequence[Record], key: str, context: Context, *, path: str
) -> Mistaken | None:
    """Return the sibling named by the last turn that names any record of the list."""
    choosing = partial(_choosing, records=[record, *siblings], context=context)
    for text in map(choosing, reversed(context.asked)):
        own = _mentions(record, siblings, text)
        others = [[record, *(o for o in siblings if o is not sibling)] for sibling in siblings]
        scores = [_mentions(*pair, text) for pair in zip(siblings, others, strict=True)]
        best = max(scores, key=len)
        if not own and not best:
            continue
        if own or _EXCEPT.search(text) or [len(score) for score in scores].count(len(best)) > 1:
            return None
        meant = siblings[scores.index(best)]
        if _is_taken(meant) or _is_proposed(record, siblings, context):
            return None
        why = ", ".join(best)
        better = str(meant.values[key])
        return Mistaken(path, better, f"the user named {why}", words=best)
    return None


def _choosing(text: str, *, records: Sequence[Record], context: Context) -> str:
    """Return `text` without numeric bounds, and without the agent's search terms.

    Neither distinguishes the records of a list, since all match; a name that only one has does.
    """
    counts = Counter(
        squeezed(word)
        for record in records
        for word in {*" ".join(map(str, record.values.values())).split()}
    )
    searched = {
        squeezed(str(leaf))
        for call in context.called
        for path, leaf in json_leaves(call)
        if not (words_of(path) & _BY_NAME and counts[squeezed(str(leaf))] == 1)
    }
    unbound = _BOUND.sub(" ", text)
    return " ".join(token for token in unbound.split() if squeezed(token) not in searched)


def _mentions(record: Record, others: Sequence[Record], text: str) -> list[str]:
    """Return the words and values of `record` alone that `text` mentions."""
    stems = {*map(stem, folded_words(text))}
    named = moments((text,))
    numbers = numerals((text,)).stated
    strange = {word for other in others for leaf in other.values.values() for word in _words(leaf)}
    mentioned = []
    for key, leaf in record.values.items():
        rivals = [other.values.get(key) for other in others]
        if isinstance(leaf, bool) or leaf in rivals:
            continue
        if isinstance(leaf, int | float):
            if leaf in numbers and leaf >= 10:  # noqa: PLR2004
                mentioned.append(str(leaf))
            continue
        moment = read_moment(str(leaf))
        if moment and moment != (None, None):
            day, minute = moment
            if _fits(day, minute, named) and not any(
                _fits(*(read_moment(str(rival)) or (None, None)), named) for rival in rivals
            ):
                mentioned.append(str(leaf))
            continue
        spoken = [word for word in _words(leaf) if stem(word) in stems]
        # "room" alone does not name the "Living room"
        is_kind = str(leaf)[:1].isupper() and str(leaf).endswith(f" {' '.join(spoken)}")
        mentioned += [word for word in spoken if word not in strange and not is_kind]
    return list(dict.fromkeys(mentioned))


def _fits(day: date | None, minute: int | None, named: Moments) -> bool:
    if day is not None:
        return named.names(day) and (minute is None or not named.times or minute in named.times)
    return minute is not None and minute in named.times


def _words(leaf: object) -> list[str]:
    return [
        word
        for word in folded_words(str(leaf).replace("_", " "))
        if len(word) > 2 and word not in FUNCTION_WORDS  # noqa: PLR2004
    ]


def _is_taken(record: Record) -> bool:
    """Return whether a record is unavailable."""
    for key, leaf in record.values.items():
        if leaf is False and re.search(r"avail|free|open|stock", key):
            return True
        if leaf == 0 and re.search(r"left|free|stock|avail", key):
            return True
        if isinstance(leaf, str) and _TAKEN & {*folded_words(leaf)} and len(leaf) < 40:  # noqa: PLR2004
            return True
    return False


def _lacks(record: Record, texts: Sequence[str]) -> list[str]:
    """Return the features that `record` lacks although the user names them."""
    return [
        key
        for key, leaf in record.values.items()
        if leaf is False and wish(words_of(key), texts) is True
    ]


def _without_feature(  # noqa: PLR0917
    record: Record, siblings: Sequence[Record], key: str, context: Context, *, path: str
) -> Mistaken | None:
    """Return the first sibling with a feature that the user names and `record` lacks."""
    lacking = _lacks(record, context.asked)
    better = [
        other
        for other in siblings
        if lacking and not _lacks(other, context.asked) and not _is_taken(other)
    ]
    if not better or _is_proposed(record, siblings, context):
        return None
    why = f"the user asked for {lacking[0].removeprefix('$.')}, which this entry lacks"
    return Mistaken(path, str(better[0].values[key]), why)


def _is_proposed(record: Record, siblings: Sequence[Record], context: Context) -> bool:
    """Return whether the agent had proposed the record, so that the user agreed to it."""
    return any(_mentions(record, siblings, text) for text in context.replies)


def _not_extreme(  # noqa: PLR0917
    record: Record, siblings: Sequence[Record], key: str, context: Context, *, path: str
) -> Mistaken | None:
    """Return the sibling that is the cheapest, the earliest and so on, as the user asked."""
    for text in reversed(context.asked):
        for pattern, keys, is_least in _SUPERLATIVES:
            match = pattern.search(text)
            besides = _COMPANY.sub(" ", text[match.end() :]) if match else ""
            if not match or _EXCEPT.search(text) or _BESIDES.match(besides):
                continue
            ordered = (name for name, leaf in record.values.items() if _is_ordered(leaf))
            column = next((name for name in ordered if re.search(keys, name.lower())), None)
            if column is None or _mentions(record, siblings, text):
                continue
            free = [
                other
                for other in (record, *siblings)
                if not _is_taken(other)
                and _is_ordered(other.values.get(column))
                and not _lacks(other, (text,))
            ]
            is_plain = len(text.split()) <= _SHORT and len(free) <= _FEW
            rest = f"{text[: match.start()]} {besides}"
            if record not in free or not (is_plain or _is_all_wished(rest, record, context)):
                return None
            best = (min if is_least else max)(free, key=lambda other: _order(other.values[column]))
            if _order(best.values[column]) == _order(record.values[column]):
                return None
            own, other = best.values[column], record.values[column]
            why = f"the user asked for the {match.group().lower()}: {own}, not {other}"
            return Mistaken(path, str(best.values[key]), why)
    return None


def _is_all_wished(text: str, record: Record, context: Context) -> bool:
    """Return whether a request without its superlative has only search terms and parts of dates.

    Words that name the fields of `record` or count something are no wishes.
    """
    called = {word for call in context.called for leaf in call.values() for word in _words(leaf)}
    fields = {part for path in record.values for part in words_of(path)}
    plain = {*map(stem, (*called, *fields, *_REQUESTS, *UNITS))} | _PEOPLE
    asked = DATES.sub(" ", text)
    is_bound = _BOUND.search(asked) or _CLOCK.search(text)
    return not is_bound and all(stem(word) in plain for word in _words(asked))


def _is_ordered(leaf: object) -> bool:
    if isinstance(leaf, str):
        return read_moment(leaf) is not None
    return number_of(leaf) is not None


def _order(leaf: object) -> tuple[float, str]:
    number = number_of(leaf)
    return (0.0, str(leaf).zfill(5)) if number is None else (number, "")
