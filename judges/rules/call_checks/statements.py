"""Statements of a reply that the results contradict: denials, comparisons, reasons, promises."""

import re
from collections.abc import Iterator, Mapping
from datetime import date

from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.answers import Claim, admits, statements
from spanjury.judges.rules.call_checks.context import (
    Context,
    arguments_of,
    is_failure,
    parsed,
    squeezed,
)
from spanjury.judges.rules.call_checks.moments import Moments, moments, read_moment
from spanjury.judges.text.lexicon import FUNCTION_WORDS, MONTHS
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words

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
                yield Claim(
                    start, end, "The answer says that there is none, but the result lists some."
                )
        for compared in _COMPARED.finditer(sentence):
            left, right = float(compared["low"]), float(compared["high"])
            units = {compared["unit"], compared["other"]} - FUNCTION_WORDS - {None}
            is_same = len(units) < 2 and not (compared["unit"] is None and units)  # noqa: PLR2004
            if is_same and (left < right if compared["above"] else left > right):
                interval = (start + compared.start(), start + compared.end())
                yield Claim(*interval, f"{left:g} and {right:g} are compared the wrong way round.")
        for claim in _other_deadlines(sentence, [*results, *_arguments(trajectory, number)], start):
            stated = moments((text[claim.start : claim.end],))
            if not any(_is_stated(stated, part) for part in _about(sentence, trajectory, number)):
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
            yield Claim(
                start,
                end,
                f"Not everything was done: the result has {rest[0][1]} for {rest[0][0]!r}.",
            )
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


def _is_stated(day: Moments, text: str) -> bool:
    stated = moments((text,))
    days = {(full.month, full.day) for full in stated.full} | stated.yearless
    return bool(({(full.month, full.day) for full in day.full} | day.yearless) & days)


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
