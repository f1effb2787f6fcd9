"""Answers: replies that claim an action that no call did, or values that no result leads to.

Others contradict the results: denials, comparisons, reasons, deadlines and promises.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from spanjury.judges.core import ToolCall
from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.arithmetic import follows
from spanjury.judges.rules.call_checks.context import (
    Context,
    arguments_of,
    enveloped,
    has_failed_part,
    is_failure,
    number_of,
    parsed,
    squeezed,
    tokens_in,
    tokens_of,
)
from spanjury.judges.rules.call_checks.moments import Moments, moments, read_moment
from spanjury.judges.rules.call_checks.numerals import Numerals, nearest, numerals
from spanjury.judges.rules.call_checks.tool_names import LINKED, action_stems, is_action
from spanjury.judges.rules.dates import date_of
from spanjury.judges.rules.quantities import quantities
from spanjury.judges.text.lexicon import FUNCTION_WORDS, MONTHS
from spanjury.judges.text.replies import stating
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words

_ADMITS = re.compile(
    r"\b(?:could(?:n't| not)|can(?:'t|not| not)|did(?:n't| not)|was(?:n't| not)|were(?:n't| not)"
    r"|has(?:n't| not)|have(?:n't| not)|is(?:n't| not)|will not|won't|fail\w*|unable"
    r"|unfortunately|afraid|sorry|reject\w*|declin\w*|refus\w*|unavailable"
    r"|not (?:possible|available|go|found|work\w*|yet|allowed)|unsuccessful\w*|trouble"
    r"|timed? ?out|no longer|someone else|denied|without success|mistake|nothing left)\b",
    re.IGNORECASE,
)
_HINTS = re.compile(
    r"(?<!no )\b(?:error|problem|already|down|instead|however|again|except|only)\b", re.IGNORECASE
)
"""Words that admit a failure only in a sentence about the failed action."""
_SUCCESS = re.compile(
    r"\b(?:done|all set|success\w*|confirmed|complete\w*|sorted|taken care of|went through"
    r"|in place|is now|are now)\b",
    re.IGNORECASE,
)
_WAITS = re.compile(r"(?:pending|awaiting|requires|needs|waiting)[_ -]\w+", re.IGNORECASE)
_WAITING = re.compile(
    r"\b(?:pending|await\w*|waiting|once|until|as soon as|approv\w*|confirm(?:ation)?|requested"
    r"|will|submitted|still|needs?|requires?|in progress|process(?:ed|ing))\b",
    re.IGNORECASE,
)
"""Words that say that something is not done yet."""
_PAST = r"([a-z]+ed|sent|paid|made|put|set|written|given|bought)"
_CONTACTED = re.compile(
    r"\bi(?:'ve| have)(?: also| just| now| already)? (?:asked(?! for\b)|notified|informed|emailed"
    r"|e-mailed|mailed|texted|called|phoned|contacted|messaged|alerted|reminded|written to"
    r"|let)(?! you\b)",
    re.IGNORECASE,
)
_MESSAGE = re.compile(
    r"\b(?:e-?mail\w*|mail\w*|messag\w+|notif\w+|texted|wrote|written|letter|sms|reminder|invit\w+)"
    r"\b",
    re.IGNORECASE,
)
_SENT_MONEY = re.compile(
    r"\b(?:sent|remitted|paid|wired|moved)\b.*(?:[€$£]|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?"
    r"|francs?|crowns?|money|amount|payment|sum)\b)",
    re.IGNORECASE,
)
_ACTED = re.compile(
    rf"\bi(?:'ve| have)?(?: also| just| now| already)? {_PAST}\b"
    rf"|\b(?:has|have) (?:also |now |just |already )?been (?:\w+ly )?{_PAST}\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,:](?!\d)|[;()]|\band\b|\bbut\b|\bwhile\b|\n|\.(?=\s|$)")
_VALUE = re.compile(r"(?<![\w.,/@-])(?=[A-Za-z-]*\d)[A-Za-z0-9]+(?:[-./_:,][A-Za-z0-9]+)*(?![\w@])")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DATE_LIKE = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d\d?(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: \d{{4}})?"
    rf"|{_MONTH} \d\d?(?!\d)(?:,? \d{{4}})?"
    r"|\b\d\d?[:.]\d\d(?!:\d)(?: ?[ap]m)?\b|\b\d\d? ?[ap]\.?m\b"
)
_GERMAN_DAY = re.compile(rf"\. {_MONTH}")
"""Text after a day of the month that the splitter of sentences takes for the end of one."""
_SMALL = 12
_LONG = re.compile(
    r"(?:\d[\d.,]*|[a-z]+)[ -](?:(?!(?:an?|per|each|every|this|the)\b)\w+ )?"
    r"(days?|nights?|weeks?|months?)\b",
    re.IGNORECASE,
)
"""A length of time, but not a rate or an ordinal, as in ``18.00 a day`` and ``149th day``."""
_CALENDAR = frozenset(((7, "day"), (12, "month"), (52, "week"), (365, "day")))
"""A week and a year."""
_DAYS = {stem(unit): days for unit, days in (("day", 1), ("night", 1), ("week", 7), ("month", 30))}
_ENDED = re.compile(r'"(?:state|status)": ?"(?:done|completed?|finished|succeeded|closed)"')
_DENIES = re.compile(
    r"\bthere (?:is|are|was|were) (?:\w+ )?(?:no|none)\b"
    r"|\b(?:found|see|have|has|got) (?:no|nothing)\b"
    r"|\b(?:did not|didn't|could not|couldn't|cannot|can't) find (?:any|anything)\b",
    re.IGNORECASE,
)
_APART = re.compile(
    r"\b(?:but|with|other|more|further|else|except|besides|another)\b", re.IGNORECASE
)
_ALL = re.compile(r"\b(?:all|every|everything|everyone|both|each)\b", re.IGNORECASE)
_REST = re.compile(r"reject|fail|skip|invalid|unsent|undelivered|missing|not_\w+ed|errors?$")
_UNTIL = re.compile(r"until|due|deadline|expire|valid_to|ends?$|apply_by|pay_by|last_day")
_LATEST = re.compile(r"\b(?:by|until|till|before|expires on|due on)\b[^.;,\n]{0,24}", re.IGNORECASE)
_COMPARED = re.compile(
    r"(?<![\w.,:/-])(?P<low>\d+(?:\.\d+)?)\s?(?P<unit>[^\W\d]+|%)?\s?(?:is|are|was|lies)"
    r" (?:(?:well|just|far|still|clearly|slightly) )?"
    r"(?:(?P<above>above|over|more than|higher than|greater than)"
    r"|below|under|less than|lower than|within)"
    r" (?:\w+ ){0,4}?(?P<high>\d+(?:\.\d+)?)(?![\d.:/-]*\d)"
    r"(?:\s?(?P<other>[^\W\d]+|%))?",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because(?: of)?|due to|owing to|caused by|on account of)\b([^.;!?\n]+)", re.IGNORECASE
)
_OWN = re.compile(r"\d|\b(?:I|you|we|my|your|our|me)\b", re.IGNORECASE)
_BENEFITS = tuple(
    (re.compile(given, re.IGNORECASE), re.compile(source, re.IGNORECASE))
    for given, source in (
        (r"\bdiscounts?\b", r"discount|rebate|reduc|% off|percent off|\boff\b|saving"),
        (
            r"\bcredits? of\b|\b(?:be|get|receive) (?:\w+ )?(?:credit(?:ed)?|compensat\w+)\b",
            r"credit|compensat|refund",
        ),
        (
            r"\bfree of charge\b|\bfor free\b|\bat no (?:extra |additional )?c(?:ost|harge)\b",
            r"\bfree\b|no (?:\w+ )?c(?:ost|harge)|includ|(?:price|cost|fee|charge)\w*\": ?0\b",
        ),
        (r"\b(?:warranty|guarantee) of\b|-year (?:warranty|guarantee)\b", r"warrant|guarante"),
        (
            r"\bwe(?:'ll| will) (?:refund|replace|waive|send (?:you )?a (?:new|replacement))\b",
            r"refund|replac|waive|\bnew\b",
        ),
    )
)


class Claim(NamedTuple):
    """A wrong part of a reply: its offsets in the reply, the reason, and the correct value."""

    start: int
    end: int
    explanation: str
    token: str = ""


def false_successes(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield the sentences of reply `number` that call done what failed and was not repaired."""
    failed = _unmended(trajectory, number)
    text = trajectory.turns[number - 1].text
    yield from _pending_successes(trajectory, number)
    for name, token in failed.items():
        if admits(text, f"{name} {token}"):
            return
        stems = action_stems(name)
        for start, end, sentence in statements(text):
            own = {*map(stem, folded_words(sentence))}
            if _SUCCESS.search(sentence) or stems & own or is_action(name):
                explanation = (
                    f"The call of {name} failed and no later call succeeded, but the answer"
                    " does not say so."
                )
                yield Claim(start, end, explanation, token=token)
                return


def _pending_successes(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield the sentence that calls done an action whose last result says that it is not yet."""
    text = trajectory.turns[number - 1].text
    waiting: dict[str, str] = {}
    for count, turn in enumerate(trajectory.turns[: number - 1], 1):
        call = trajectory.caller_of(count)
        if turn.role == "tool" and call is not None and is_action(call.name):
            states = (
                part.get("status", part.get("state")) for part in enveloped(parsed(turn.text))
            )
            state = next(filter(None, states), "")
            is_waiting = _WAITS.fullmatch(str(state)) or (
                state == "pending" and action_stems(call.name) >= LINKED[3]
            )
            waiting[call.name] = str(state) if is_waiting else ""
    for name, state in waiting.items():
        if not state or admits(text, f"{name} {state}") or _WAITING.search(text):
            continue
        for start, end, sentence in statements(text):
            if _SUCCESS.search(sentence) or _ACTED.search(sentence):
                explanation = f"The result of {name} is {state!r}, but the answer calls it done."
                yield Claim(start, end, explanation, token=state)
                return


def admits(text: str, failed: str) -> bool:
    """Return whether a reply admits a failure; `failed` has the words of tool and result."""
    about = {stem(word) for word in folded_words(failed.replace("_", " "))} - FUNCTION_WORDS
    about -= {stem(word) for word in folded_words(" ".join(_HINTS.findall(failed)))}
    return any(
        _ADMITS.search(text, start, end)
        or (
            _HINTS.search(text, start, end)
            and about & {stem(word) for word in folded_words(text[start:end])}
        )
        for start, end in sentence_intervals(text)
    )


def claimed_actions(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield the sentences of reply `number` that claim an action whose tool was never called."""
    text = trajectory.turns[number - 1].text
    called = {call.name for turn in trajectory.turns[:number] for call in turn.calls}
    described = {tool.name: tool.description for tool in reversed(trajectory.tools)}
    done = {
        stem(part)
        for name in called
        for part in (*action_stems(name), *folded_words(described.get(name, "")))
    }
    acted = [*_acted(trajectory, number)]
    for start, end, _ in statements(text):
        if _CONTACTED.search(text, start, end) and not done & LINKED[0]:
            why = "The answer says that someone was contacted, but no call did this."
            yield Claim(start, end, why)
            return
        for match in _ACTED.finditer(text, start, end):
            verb = stem((match[1] or match[2]).lower())
            uncalled = [
                tool.name
                for tool in trajectory.tools
                if tool.name not in called and verb in action_stems(tool.name)
            ]
            if uncalled and verb not in done and not _is_about(text[start:end], acted):
                why = f"The answer claims an action of {uncalled[0]}, which was never called."
                yield Claim(start, end, why)
                return


def _acted(trajectory: Trajectory, number: int) -> Iterator[ToolCall]:
    """Yield the actions since the user's last turn that did not fail."""
    for count in range(number - 1, 0, -1):
        if trajectory.turns[count - 1].role == "user":
            return
        call = trajectory.caller_of(count)
        if call is not None and is_action(call.name) and not is_failure(trajectory, count):
            yield call


def _is_about(sentence: str, calls: Sequence[ToolCall]) -> bool:
    """Return whether a sentence names a value with which one of `calls` was made.

    To send money is to transfer it, and a message is sent otherwise.
    """
    if _MESSAGE.search(sentence):
        return False
    tokens, stated = tokens_of(sentence), numerals((sentence,)).stated
    return any(
        (_SENT_MONEY.search(sentence) and not action_stems(call.name).isdisjoint(LINKED[3]))
        or any(
            number_of(leaf) in stated if not isinstance(leaf, str) else squeezed(leaf) in tokens
            for _, leaf in json_leaves(arguments_of(call) or {})
            if isinstance(leaf, str | int | float) and len(squeezed(str(leaf))) > 1
        )
        for call in calls
    )


def is_reading_again(trajectory: Trajectory, call: ToolCall) -> bool:
    """Return whether a repeated call looks again at something that has changed since."""
    results = [
        turn.text
        for count, turn in enumerate(trajectory.turns, 1)
        if (made := trajectory.caller_of(count))
        and made.name == call.name
        and made.arguments == call.arguments
    ]
    has_ended = any(map(_ENDED.search, results[:-1]))
    return not is_action(call.name) and len({*results}) > 1 and not has_ended


def statements(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the half-open offsets and the text of each sentence that is no question."""
    for start, end in sentence_intervals(text):
        if not text[start:end].rstrip().endswith("?"):
            yield start, end, text[start:end]


def clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of the clauses of a text."""
    start = 0
    for match in _CLAUSE.finditer(text):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _unmended(trajectory: Trajectory, number: int) -> dict[str, str]:
    """Map tools that failed since the user's last turn, with no later success, to their results."""
    failed: dict[tuple[str, str], tuple[str, str]] = {}
    for count, turn in enumerate(trajectory.turns[: number - 1], 1):
        call = trajectory.caller_of(count)
        if turn.role == "user":
            failed.clear()  # the reply before had to report these
        if turn.role != "tool" or call is None:
            continue
        own = str(sorted((arguments_of(call) or {}).items(), key=str))
        if is_failure(trajectory, count) or has_failed_part(trajectory, count):
            failed[call.name, own] = (call.name, turn.text)
        else:
            alike = [key for key in failed if key[0] == call.name]
            if (call.name, own) in failed:
                del failed[call.name, own]
            elif len(alike) == 1 and not _is_batch(trajectory, count):
                del failed[alike[0]]
    return dict(failed.values())


def _is_batch(trajectory: Trajectory, count: int) -> bool:
    """Return whether the result belongs to one of several calls of one turn."""
    call = trajectory.caller_of(count)
    turn = next(
        (turn for turn in reversed(trajectory.turns[: count - 1]) if call in turn.calls), None
    )
    return turn is not None and len(turn.calls) > 1


def unstated_values(trajectory: Trajectory, number: int, context: Context) -> Iterator[Claim]:
    """Yield ids, dates and numbers of reply `number` that nothing before it leads to."""
    text = trajectory.turns[number - 1].text
    texts = (*context.texts, *(tool.description for tool in trajectory.tools))
    tokens, named, numbers = tokens_in(texts), moments(texts), numerals(texts)
    stating_text = stating(text)
    for start, end in sentence_intervals(text):
        if stating_text[start:end].isspace():
            continue
        sentence = text[start:end]
        token = next(_unnamed(sentence, named, numbers), "")
        if token:
            at = start + sentence.find(token)
            yield Claim(at, at + len(token), f"Nothing before the answer gives or implies {token}.")
            return
        rest = _DATE_LIKE.sub(lambda match: " " * len(match.group()), sentence)
        for match in _VALUE.finditer(rest):
            token = match.group()
            is_day = _GERMAN_DAY.match(text, start + match.end())
            if squeezed(token) in tokens or _is_ordinal(rest, match) or is_day:
                continue
            if any(map(str.isalpha, token)) and not re.fullmatch(
                r"\d+(?:st|nd|rd|th|[a-z]{1,3})", token
            ):
                if len(re.findall(r"\d", token)) > 1:
                    why = f"Nothing before the answer contains {token!r}."
                    yield Claim(start + match.start(), start + match.end(), why)
                continue
            digits = re.match(r"\d+(?:,\d{3})*(?:\.\d+)?", token)
            value = float(digits.group().replace(",", "")) if digits else 0.0
            if value <= _SMALL and not re.match(r"\s?(?:%|percent)", rest[match.end() :]):
                continue
            first = start + match.start()
            if not follows(text, (first, first + (digits.end() if digits else 0)), texts):
                why = f"Nothing before the answer gives or implies {token}."
                near = nearest(value, [*context.sources.values()])
                yield Claim(first, start + match.end(), why, near)


def _unnamed(sentence: str, named: Moments, numbers: Numerals) -> Iterator[str]:
    """Yield the dates and times of a sentence that no text before it leads to."""
    for match in _DATE_LIKE.finditer(sentence):
        stated = moments((match.group(),))
        years = {day.year for day in named.full} | ({named.today.year} if named.today else set())
        days = stated.full or {
            day
            for month, number in stated.yearless
            for year in years | {max(years, default=2000) + 1}
            if month and (day := date_of(year, month, number))
        }
        if days and not any(map(named.names, days)):
            yield match.group()
        elif ":" in match.group() and stated.times:
            is_named = any(map(named.names_time, stated.times))
            # 4:51 may be a length, or the time between two others less a sum of lengths
            gaps = named.numbers(with_parts=False)
            rests = {60.0 * gap - time for gap in gaps for time in stated.times}
            is_length = any(map(numbers.lead_to, stated.times)) or rests & numbers.sums
            if not is_named and not is_length:
                yield match.group()


def unstated_lengths(trajectory: Trajectory, number: int, context: Context) -> Iterator[Claim]:
    """Yield lengths of time in reply `number` whose number no text before states or leads to."""
    text = trajectory.turns[number - 1].text
    stating_text = stating(text)
    texts = context.texts
    given = [quantity.value for source in texts for quantity in quantities(source)]
    gaps, numbers = moments(texts).numbers(with_parts=False), numerals(texts)
    written = "\n".join(texts)
    for quantity in quantities(text):
        match, value = _LONG.match(text, quantity.start), quantity.value
        if match is None or not stating_text[quantity.start].strip() or value < 2:  # noqa: PLR2004
            continue
        unit = stem(match[1].lower())
        if (value, unit) in _CALENDAR:
            continue
        days = value * _DAYS[unit]
        slack = 3 if days > 27 else 0  # noqa: PLR2004  months differ in length
        follows = any(abs(gap - days) <= slack for gap in gaps) or value in given
        follows |= (not value.is_integer() or value > _SMALL) and numbers.lead_to(value)
        if not follows and not re.search(rf"(?<![\d.,/:-]){value:g}(?![\d/:-])", written):
            yield Claim(match.start(), match.end(), "No result or turn gives this length of time.")


def _is_ordinal(text: str, match: re.Match[str]) -> bool:
    """Return whether a number begins a list item."""
    before = text[: match.start()].rpartition("\n")[2].strip(" *-#")
    return not before and text[match.end() : match.end() + 2] in {". ", ") "}


def unsupported(trajectory: Trajectory, number: int, context: Context) -> Iterator[Claim]:
    """Yield reasons and benefits in reply `number` that no result or instruction mentions."""
    text = trajectory.turns[number - 1].text
    sources = {header: own for header, own in context.sources.items() if "User" not in header}
    whole, before = (
        "\n".join(texts).replace("_", " ") for texts in (sources.values(), context.texts)
    )
    starts = {stem(word)[:4] for word in folded_words(before)}
    for start, end, sentence in statements(text):
        for given, source in _BENEFITS:
            if given.search(sentence) and not source.search(whole):
                yield Claim(start, end, "No result or instruction mentions this benefit.")
                break
        reason = _REASON.search(sentence)
        named = folded_words(reason[1]) if reason else ()
        content = {stem(word) for word in named if word not in FUNCTION_WORDS and len(word) > 2}  # noqa: PLR2004
        if (
            reason
            and len(content) > max(1, 2 * len({word for word in content if word[:4] in starts}))
            and not _OWN.search(reason[1])
        ):
            interval = (start + reason.start(), start + reason.end())
            yield Claim(*interval, "No result or turn gives this reason.")


def contrary(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield statements in reply `number` that contradict the results since the user's last turn."""
    text = trajectory.turns[number - 1].text
    results = [*_results(trajectory, number)]
    for start, end, sentence in statements(text):
        is_denial = _DENIES.search(sentence) and not _APART.search(sentence)
        if is_denial and results and all(map(_is_full, results)):
            mentioned = squeezed(text)
            leaves = [leaf for value in results for _, leaf in json_leaves(value)]
            if not any(len(squeezed(str(x))) > 1 and squeezed(str(x)) in mentioned for x in leaves):
                explanation = "The answer says that there is none, but the result lists some."
                yield Claim(start, end, explanation)
        for compared in _COMPARED.finditer(sentence):
            left, right = float(compared["low"]), float(compared["high"])
            units = {compared["unit"], compared["other"]} - FUNCTION_WORDS - {None}
            is_same = len(units) < 2 and not (compared["unit"] is None and units)  # noqa: PLR2004
            if is_same and (left < right if compared["above"] else left > right):
                interval = (start + compared.start(), start + compared.end())
                yield Claim(*interval, f"{left:g} and {right:g} are compared the wrong way round.")
        for claim in _other_deadlines(sentence, [*results, *_arguments(trajectory, number)], start):
            stated = moments((text[claim.start : claim.end],))
            about = (moments((part,)) for part in _about(sentence, trajectory, number))
            if _days(stated).isdisjoint(day for part in about for day in _days(part)):
                yield claim


def hidden_failures(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield a sentence about all in reply `number` if a result says that some were not done."""
    text = trajectory.turns[number - 1].text
    rest = [
        (key, leaf)
        for value in _results(trajectory, number)
        for key, leaf in (value.items() if isinstance(value, Mapping) else ())
        if leaf and not isinstance(leaf, bool | str) and _REST.search(key)
    ]
    for start, end in sentence_intervals(text):
        if rest and _ALL.search(text, start, end) and not admits(text, text):
            key, leaf = rest[0]
            yield Claim(start, end, f"Not everything was done: the result has {leaf} for {key!r}.")
            return


def _results(trajectory: Trajectory, number: int) -> Iterator[object]:
    """Yield the contents of the results before turn `number`, back to the user's last turn."""
    for count in range(number - 1, 0, -1):
        turn = trajectory.turns[count - 1]
        if turn.role == "user":
            return
        if turn.role == "tool" and not is_failure(trajectory, count):
            yield parsed(turn.text)


def _arguments(trajectory: Trajectory, number: int) -> Iterator[object]:
    """Yield the arguments of the calls before turn `number`, which the agent itself set."""
    for turn in trajectory.turns[: number - 1]:
        yield from map(arguments_of, turn.calls)


def _is_full(value: object) -> bool:
    """Return whether a result is a non-empty list, or an object whose only list is not empty."""
    if isinstance(value, Mapping):
        lists = [leaf for leaf in value.values() if isinstance(leaf, list)]
        return len(lists) == 1 and bool(lists[0])
    return isinstance(value, list) and bool(value)


def _about(sentence: str, trajectory: Trajectory, number: int) -> Iterator[str]:
    """Yield the user's turns before turn `number`, and the parts of results about `sentence`.

    These are lines or objects of a result that share a word with it.
    """
    own = _names(sentence)
    for turn in trajectory.turns[: number - 1]:
        if turn.role == "user":
            yield turn.text
        elif turn.role == "tool":
            yield from (part for part in re.split(r"[\n{}]", turn.text) if own & _names(part))


def _names(text: str) -> set[str]:
    named = {word for word in folded_words(text) if len(word) > 2 and word.isalpha()}  # noqa: PLR2004
    return named - FUNCTION_WORDS - {*MONTHS}


def _days(stated: Moments) -> set[tuple[int, int]]:
    return {(full.month, full.day) for full in stated.full} | stated.yearless


def _other_deadlines(sentence: str, results: list[object], offset: int) -> Iterator[Claim]:
    """Yield a deadline that differs from the only one in the results."""
    days: dict[date, str] = {}
    for value in results:
        for path, leaf in json_leaves(value):
            moment = read_moment(leaf) if isinstance(leaf, str) else None
            if moment and moment[0] and _UNTIL.search(path):
                days[moment[0]] = str(leaf)
    for match in _LATEST.finditer(sentence) if len(days) == 1 else ():
        ((day, token),) = days.items()
        stated = moments((match.group(),))
        if (stated.full or stated.yearless) and not stated.names(day):
            start = offset + match.start()
            yield Claim(
                start, offset + match.end(), f"The last day is {day} in the results.", token
            )
