"""Answers: replies that claim an action that no call did, or values that no result leads to."""

import re
from collections.abc import Iterator, Sequence
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
from spanjury.judges.rules.call_checks.moments import Moments, date_of, moments
from spanjury.judges.rules.call_checks.numerals import Numerals, nearest, numerals
from spanjury.judges.rules.call_checks.tool_names import LINKED, action_stems, is_action
from spanjury.judges.rules.quantities import quantities
from spanjury.judges.text.lexicon import FUNCTION_WORDS
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
    done = {
        stem(part)
        for name in called
        for part in (*action_stems(name), *folded_words(_described(trajectory, name)))
    }
    acted = [*_acted(trajectory, number)]
    for start, end, _ in statements(text):
        if _CONTACTED.search(text, start, end) and not done & LINKED[0]:
            yield Claim(
                start, end, "The answer says that someone was contacted, but no call did this."
            )
            return
        for match in _ACTED.finditer(text, start, end):
            verb = stem((match[1] or match[2]).lower())
            uncalled = [
                tool.name
                for tool in trajectory.tools
                if tool.name not in called and verb in action_stems(tool.name)
            ]
            if uncalled and verb not in done and not _is_about(text[start:end], acted):
                explanation = (
                    f"The answer claims an action of {uncalled[0]}, which was never called."
                )
                yield Claim(start, end, explanation)
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


def _described(trajectory: Trajectory, name: str) -> str:
    return next((tool.description for tool in trajectory.tools if tool.name == name), "")


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
            mended = (
                [(call.name, own)]
                if (call.name, own) in failed
                else alike[:1]
                if len(alike) == 1 and not _is_batch(trajectory, count)
                else []
            )
            for key in mended:
                del failed[key]
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
                    yield Claim(
                        start + match.start(),
                        start + match.end(),
                        f"Nothing before the answer contains {token!r}.",
                    )
                continue
            digits = re.match(r"\d+(?:,\d{3})*(?:\.\d+)?", token)
            value = float(digits.group().replace(",", "")) if digits else 0.0
            if value <= _SMALL and not re.match(r"\s?(?:%|percent)", rest[match.end() :]):
                continue
            first = start + match.start()
            if not follows(text, (first, first + (digits.end() if digits else 0)), texts):
                yield Claim(
                    start + match.start(),
                    start + match.end(),
                    f"Nothing before the answer gives or implies {token}.",
                    token=nearest(value, [*context.sources.values()]),
                )


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
