"""Limits: maximum prices, latest times and orders of steps that texts set, and their violations."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.choices import record_of
from spanjury.judges.rules.call_checks.clocks import COUNTED
from spanjury.judges.rules.call_checks.context import (
    Context,
    Record,
    abbreviates,
    is_failure,
    number_of,
    squeezed,
    tokens_of,
)
from spanjury.judges.rules.call_checks.moments import moments, read_moment
from spanjury.judges.rules.call_checks.numerals import numerals
from spanjury.judges.rules.call_checks.tool_names import action_stems, is_action, words_of
from spanjury.judges.rules.call_checks.wishes import DESTRUCTIVE
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words

_CURRENCY = r"€|\$|£|eur\b|usd\b|gbp\b|euros?\b|dollars?\b|pounds?\b|francs?\b|crowns?\b"
_MOST = re.compile(
    r"\b(?P<words>(?:no|not|never)(?: \w+){0,6}? (?:more than|above|over|exceed(?:ing)?|beyond)"
    r"|at most|max(?:imum)?(?: of)?|under|below|less than|cheaper than|up to|within"
    r"|(?:limit|budget)(?: is| of)?:?)\W{0,2}"
    rf"(?P<before>{_CURRENCY})?\s?(?P<number>\d+(?:,\d{{3}})*(?:\.\d+)?)\s?(?P<unit>{_CURRENCY}|[a-z]+)?",
    re.IGNORECASE,
)
_CASES = frozenset(("under", "below", "less than", "cheaper than", "up to", "within"))
"""Words with which instructions describe small values without limiting anything."""
_MONEY = frozenset(
    """price cost fare total amount fee rate eur usd gbp night budget rent sum value""".split()  # noqa: SIM905
)
_IN_TOTAL = re.compile(r"[^.;!?\n]{0,24}\b(?:total|altogether|all in|with|including)\b")
_BOUNDS = frozenset(("max", "maximum", "limit", "budget"))
_TOTALS = frozenset(("total", "price", "cost", "amount", "charged"))
_CENTS = 20  # minimum ratio to the limit of a value in cents
_PRICE, _NEAR = 20, 3  # minimum unitless limit that may be a price; maximum ratio of a value to it
_CLOCK = (
    r"(?:noon|midday|midnight|\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?"
    r"|(?:half past |quarter (?:past|to) )?(?:one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|1?\d)(?: in the (?:evening|afternoon|morning))?)"
)
_NO_CLOCK = rf"(?!\w|{COUNTED})"
_LATEST = re.compile(
    r"\b(?P<words>(?P<over>(?:out|done|finished|over|back|home|ready|end(?:s|ed)?) (?:by|before))"
    rf"|before|by|no later than|not after|at the latest)\s(?P<clock>{_CLOCK}){_NO_CLOCK}",
    re.IGNORECASE,
)
_EARLIEST = re.compile(
    rf"\b(?P<words>after|not before|no earlier than)\s(?P<clock>{_CLOCK}){_NO_CLOCK}",
    re.IGNORECASE,
)
_EXCLUDED = re.compile(
    r"\b(?:not|no|except|avoid|without|anything but|other than)\b"
    r" (?:(?:those|ones?|any|the|a|an|in|on|at|via|that|with|have|has|is|are) ){0,4}"
    r"(\w+)(?= ?[,.;!?)]|\s+(?:please|pls|and|or|but|though)\b|$)",
    re.IGNORECASE,
)
_PERMITS = re.compile(r"eligible|allowed|permitted|approved|authori[sz]ed|entitled")
_STEPS = re.compile(r"((?:\w+ ){1,6})before ((?:\w+\W){1,6})", re.IGNORECASE)
_THEN = re.compile(
    r"((?:[^\s.!?]+ ){1,8})(?:and )?(?:then|afterwards) ((?:\w+\W){1,4})", re.IGNORECASE
)
_AFTER = re.compile(r"((?:\w+ ){1,6})(?:only )?(?:after|once) ((?:\w+\W){1,6})", re.IGNORECASE)
_TELL_FIRST = re.compile(
    r"\b(?:(?:tell|inform|warn|ask|show|check with|confirm with) (?:the |your )?"
    r"(?:customer|user|caller|guest|client|member|patient|passenger|them|me)s?\b|ask (?:for|first)"
    r"|(?:get|obtain|wait for|need) (?:an? |the |explicit )*(?:confirmation|consent|go-ahead|ok)\b"
    r"|confirm|read back|repeat)\b[^.;]*?\bbefore (?:you )?(?P<before>(?:\w+\W){1,6})"
    r"|\bbefore (?P<next>(?:\w+[ ,]+){1,8}?)(?:always |first )?"
    r"(?:ask|confirm|get|obtain|repeat|read back|summari[sz]e)\b"
    r"|\b(?:do not|don't|never) (?P<not>(?:\w+ ){1,6}?)(?:without|until)"
    r"[^.;]*?\b(?:asking|ask|confirm\w*|consent\w*|permission|ok|okay|go-ahead|says? (?:so|yes))\b"
    r"|(?P<act>(?:\w+ ){1,5}?)(?:only after|requires?|needs?) (?:\w+ ){0,3}?(?:customer|user|"
    r"client|guest|member|explicit)(?:'s)? (?:confirm\w*|consent\w*|approv\w*|agree\w*)\b",
    re.IGNORECASE,
)
_ANYTHING: tuple[list[str], ...] = ([], [stem("changes")])
_NONE = re.compile(r"\b(?:no|never|not|nothing|don't)\b", re.IGNORECASE)
_TIMED = frozenset("time start at from begin hour slot departure pickup pick when".split())  # noqa: SIM905


class Broken(NamedTuple):
    """A value that violates a limit: its path, the words of the limit, and the problem."""

    path: str
    words: str
    explanation: str


def broken(
    arguments: Mapping[str, object], context: Context, *, outcome: object = None
) -> Iterator[Broken]:
    """Yield violations of limits set by the instructions, the user or the last result.

    Parameters
    ----------
    outcome
        The result of the call if it was an action: a price in it counts as the call's.
    """
    yield from _above_result(arguments, context)
    yield from _excluded(arguments, context)
    for match in _limits(context.spoken, asked=context.asked):
        over = [*_above(arguments, context, match)]
        yield from over or _priced_above(outcome, context, match)
    for text in context.asked:
        yield from _outside_hours(arguments, context, text)


def _is_proposed(value: object, text: str, context: Context) -> bool:
    """Return whether the agent named `value` to the user after `text`, a turn of the user."""
    first = context.asked.index(text) if text in context.asked[:-1] else len(context.replies)
    return any(
        squeezed(str(value)) in tokens_of(reply) or value in numerals((reply,)).stated
        for reply in context.replies[first:]
    )


def _limits(texts: Sequence[str], *, asked: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield the limits of `texts`, except those that a later turn of the user changes."""
    limits = [
        match
        for text in texts
        for match in _MOST.finditer(text)
        if text in asked or match["words"].lower() not in _CASES
    ]
    for number, limit in enumerate(limits):
        same = {None, limit["unit"], *FUNCTION_WORDS}
        later = [
            other
            for other in limits[number + 1 :]
            if other["unit"] in same and limit.string in asked and other.string != limit.string
        ]
        if not later:
            yield limit


def out_of_order(  # noqa: PLR0917
    trajectory: Trajectory, number: int, name: str, context: Context
) -> tuple[str, str] | None:
    """Return the tool that must precede the tool `name`, and the words that say so, or None."""
    tools = [tool.name for tool in trajectory.tools]
    done = {
        call.name
        for count, turn in enumerate(trajectory.turns[: number - 1], 1)
        if turn.role == "tool" and not is_failure(trajectory, count)
        for call in [trajectory.caller_of(count)]
        if call
    }
    for text in context.spoken:
        steps = [
            (match.group(), match[first], match[second])
            for pattern, first, second in ((_STEPS, 1, 2), (_AFTER, 2, 1), (_THEN, 1, 2))
            for match in pattern.finditer(text)
        ]
        for words, *parts in steps:
            first, second = (
                [tool for word in folded_words(part) if (tool := _tool_for(word, tools))]
                for part in parts
            )
            if _NONE.search(parts[0]):  # "no A before B": B comes first
                first, second = second, first[:1]
            if name in second and name not in first and first and not done & {*first}:
                return first[-1], words.strip()
    return None


def untold_words(name: str, context: Context) -> str:
    """Return the words that require a reply to the user before the call, if there was none.

    They name the tool, or any action of the agent.
    """
    own = action_stems(name)
    for text in () if context.replies else context.spoken:
        for match in _TELL_FIRST.finditer(text):
            act = next(filter(None, match.groups()))
            words = [stem(word) for word in folded_words(act) if word not in FUNCTION_WORDS]
            is_any = words[:1] in _ANYTHING and is_action(name)
            if (own & {*words[:1]} or is_any) and not any(map(str.isdigit, act)):
                return match.group().strip()
    return ""


def refusal_of(arguments: Mapping[str, object], context: Context) -> tuple[str, str] | None:
    """Return the field and the result of a check that rejects the values in `arguments`."""
    values = {str(value) for value in arguments.values()}
    for leaves in context.objects[-1:]:
        refusals = [key for key, leaf in leaves.items() if leaf is False and _PERMITS.search(key)]
        if refusals and values & {str(leaf) for leaf in leaves.values() if leaf is not False}:
            return refusals[0], f'"{refusals[0]}": false'
    return None


def _tool_for(word: str, tools: Sequence[str]) -> str | None:
    """Return the only tool whose name has a form of `word`; None if there is not exactly one."""
    wanted = {stem(word.lower())}
    wanted |= DESTRUCTIVE if wanted & DESTRUCTIVE else set()
    fitting = [name for name in tools if wanted & {stem(part) for part in words_of(name)}]
    return fitting[0] if len(fitting) == 1 else None


def _above(
    arguments: Mapping[str, object], context: Context, match: re.Match[str]
) -> Iterator[Broken]:
    limit = float(match["number"].replace(",", ""))
    unit = (match["unit"] or "").lower()
    is_money = bool(match["before"]) or bool(re.fullmatch(_CURRENCY, unit))
    words = match.group().strip()

    def is_over(value: float) -> bool:
        is_above = limit < value < _CENTS * limit
        return is_above and not _is_proposed(value, match.string, context)

    def counts(name: str, value: float = math.nan) -> bool:
        parts = words_of(name)
        is_bound = bool(parts & _BOUNDS) and value <= _NEAR * limit
        return (
            bool(parts & _MONEY)
            if is_money or (is_bound and limit >= _PRICE)
            else bool(unit) and stem(unit) in {*map(stem, parts)}
        )

    for path, value in json_leaves(arguments):
        if isinstance(value, int | float):
            number = number_of(value)
            if number is not None and counts(path, number) and is_over(number):
                yield Broken(path, words, f"{value} is above the limit: {words!r}.")
            continue
        record = record_of(value, context) if isinstance(value, str) else None
        for name, leaf in (record.values if record else {}).items():
            number = number_of(leaf)
            if number is not None and counts(name) and is_over(number):
                field = name.removeprefix("$.")
                why = f"Its {field} is {leaf}, above the limit: {words!r}."
                yield Broken(path, words, why)


def _priced_above(outcome: object, context: Context, match: re.Match[str]) -> Iterator[Broken]:
    """Yield the price of a call's result if it is above a limit in money."""
    if not _IN_TOTAL.match(match.string, match.end()):
        return
    words = match.group().strip()
    for key, leaf in outcome.items() if isinstance(outcome, Mapping) else ():
        price = number_of(leaf) or 0.0
        is_over = price > float(match["number"].replace(",", ""))
        if is_over and key in _TOTALS and not _is_proposed(leaf, match.string, context):
            yield Broken("", words, f"The {key} is {leaf}, above the limit: {words!r}.")


def _excluded(arguments: Mapping[str, object], context: Context) -> Iterator[Broken]:
    """Yield values of records with a property that the user excludes and another record lacks."""
    for text, (path, value) in product(context.asked, json_leaves(arguments)):
        record = record_of(value, context) if isinstance(value, str | int) else None
        if record is None or isinstance(value, bool) or _is_proposed(value, text, context):
            continue
        group = [other for other in context.records if other.group == record.group]
        for match in _EXCLUDED.finditer(text):
            words = folded_words(match[1])
            if any(_has(record, word) and not all(_has(r, word) for r in group) for word in words):
                yield Broken(path, match.group(), f"The user excludes this: {match.group()!r}.")
                break


def _has(record: Record, word: str) -> bool:
    """Return whether a record has a word among its values, or a true value under it as a key."""
    wanted = stem(word)
    for key, leaf in record.values.items():
        if isinstance(leaf, str) and wanted in {*map(stem, folded_words(leaf))}:
            return len(word) > 2 and word not in FUNCTION_WORDS  # noqa: PLR2004
        is_code = isinstance(leaf, str) and len(leaf) == 3 and leaf.isupper()  # noqa: PLR2004
        if is_code and abbreviates(str(leaf), word):
            return True
        if leaf not in (None, False, 0, "") and wanted in {*map(stem, words_of(key))}:
            return word not in FUNCTION_WORDS
    return False


def _above_result(arguments: Mapping[str, object], context: Context) -> Iterator[Broken]:
    """Yield amounts above the limit that the last result gives for the same quantity."""
    for leaves in context.objects[-1:]:
        limits = [
            number
            for key, leaf in leaves.items()
            if words_of(key) & _BOUNDS and (number := number_of(leaf)) is not None
        ]
        texts = {leaf for leaf in leaves.values() if isinstance(leaf, str)}
        same = texts & {value for value in arguments.values() if isinstance(value, str)}
        for path, value in json_leaves(arguments) if len(limits) == 1 and same else ():
            number = number_of(value)
            if number is not None and words_of(path) & _MONEY and number > limits[0]:
                words = f"{limits[0]:g}"
                yield Broken(path, words, f"{value} is above the limit in the result: {words}.")


def _outside_hours(
    arguments: Mapping[str, object], context: Context, text: str
) -> Iterator[Broken]:
    """Yield times of day after the latest or before the earliest that `text` allows."""
    timed = [
        (path, moment)
        for path, value in json_leaves(arguments)
        if isinstance(value, str) and (moment := read_moment(value))
        if not _is_proposed(value, text, context)
    ]
    times = [
        (path, minute)
        for path, (_, minute) in timed
        if words_of(path) & _TIMED and minute is not None
    ]
    days = {day.weekday() for _, (day, _) in timed if day}
    weekdays = moments((text,)).weekdays
    if not times or (days and weekdays and not days & weekdays):
        return  # there is none, or the limit is for another day
    lasting = moments(context.texts).lengths
    for path, minute in times:
        for match in _LATEST.finditer(text):
            bounds = _minutes(match["clock"])
            length = min(lasting) if match["over"] and len(lasting) == 1 else 0
            if bounds and all(minute + length > bound for bound in bounds):
                yield Broken(path, match.group(), f"This is later than {match.group()!r} allows.")
        for match in _EARLIEST.finditer(text):
            bounds = _minutes(match["clock"])
            if bounds and all(minute < bound for bound in bounds):
                yield Broken(path, match.group(), f"This is earlier than {match.group()!r} allows.")


def _minutes(clock: str) -> frozenset[int]:
    """Return the minutes of the day that a time in words may mean; none for midnight."""
    if re.fullmatch(r"noon|midday", clock, re.IGNORECASE):
        return frozenset((12 * 60,))
    return moments((f"at {clock}",)).clock
