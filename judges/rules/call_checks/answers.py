"""Answers: replies that claim what no call did, or state values that no result leads to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spanjury.judges.core import ToolCall
from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.rules.call_checks.context import (
    Context,
    arguments_of,
    is_failure,
    parsed,
    raw_tokens,
    squeezed,
    tokens_of,
)
from spanjury.judges.rules.call_checks.moments import moments
from spanjury.judges.rules.call_checks.numerals import nearest, numerals
from spanjury.judges.rules.call_checks.wishes import words_of
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
"""Words that admit a failure only in a sentence about what failed."""
_SUCCESS = re.compile(
    r"\b(?:done|all set|success\w*|confirmed|complete\w*|sorted|taken care of|went through"
    r"|in place|is now|are now)\b",
    re.IGNORECASE,
)
_PAST = r"([a-z]+ed|sent|paid|made|put|set|written|given|bought)"
_CONTACTED = re.compile(
    r"\bi(?:'ve| have)(?: also| just| now| already)? (?:asked(?! for\b)|notified|informed|emailed"
    r"|e-mailed|mailed|texted|called|phoned|contacted|messaged|alerted|reminded|written to"
    r"|let)(?! you\b)",
    re.IGNORECASE,
)
_ACTED = re.compile(
    rf"\bi(?:'ve| have)?(?: also| just| now| already)? {_PAST}\b"
    rf"|\b(?:has|have) (?:also |now |just |already )?been (?:\w+ly )?{_PAST}\b",
    re.IGNORECASE,
)
_READS = frozenset(
    map(
        stem,
        """get find search list look lookup check fetch read query show view track status details
        info forecast rate availability balance history free state progress poll wait""".split(),  # noqa: SIM905
    )
)
_LINKED = (
    frozenset(map(stem, ("send", "email", "mail", "message", "notify", "text", "write"))),
    frozenset(map(stem, ("book", "reserve", "schedule", "booking", "reservation", "appointment"))),
    frozenset(map(stem, ("cancel", "refund", "delete", "remove", "close"))),
    frozenset(map(stem, ("transfer", "pay", "payment", "move", "wire"))),
    frozenset(map(stem, ("update", "change", "edit", "set", "modify", "rename", "adjust", "swap"))),
    frozenset(map(stem, ("create", "add", "open", "register", "record", "enter", "file"))),
    frozenset(map(stem, ("order", "buy", "purchase", "request"))),
)
_CLAUSE = re.compile(r"[,;:()]|\band\b|\bbut\b|\bwhile\b|\n|\.(?=\s|$)")
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|[.,]\d)")
_VALUE = re.compile(r"(?<![\w.,/@-])(?=[A-Za-z-]*\d)[A-Za-z0-9]+(?:[-./_:,][A-Za-z0-9]+)*(?![\w@])")
_WITH_UNIT = re.compile(r"(?<![\w.,-])(\d+(?:,\d{3})*(?:\.\d+)?) ?([^\W\d_]+)")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DATE_LIKE = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d\d?(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: \d{{4}})?"
    rf"|{_MONTH} \d\d?(?:,? \d{{4}})?"
    r"|\b\d\d?[:.]\d\d(?: ?[ap]m)?\b|\b\d\d? ?[ap]\.?m\b"
)
_SMALL = 12
_LONG = re.compile(r"([\w.,]+)[ -](?:\w+ )?(days?|nights?|weeks?|months?)\b", re.IGNORECASE)
_DAYS = {stem(unit): days for unit, days in (("day", 1), ("night", 1), ("week", 7), ("month", 30))}
_ENDED = re.compile(r'"(?:state|status)": ?"(?:done|completed?|finished|succeeded|closed)"')


class _Labelled(NamedTuple):
    """Numbers of a result that labels tell apart: fields of one object, or a field of several.

    `key` is the name of that field; empty for the fields of one object.
    """

    key: str
    numbers: Mapping[str, float]


class Claim(NamedTuple):
    """A wrong part of a reply: its offsets in the reply, why, and the value it should be."""

    start: int
    end: int
    explanation: str
    token: str = ""


def false_successes(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield the sentences of reply `number` that call done what failed and was not made good."""
    failed = _unmended(trajectory, number)
    text = trajectory.turns[number - 1].text
    for name, token in failed.items():
        if admits(text, f"{name} {token}"):
            return
        stems = _action_stems(name)
        for start, end in sentence_intervals(text):
            sentence = text[start:end]
            own = {*map(stem, folded_words(sentence))}
            if sentence.rstrip().endswith("?"):
                continue
            if _SUCCESS.search(sentence) or stems & own or is_action(name):
                explanation = (
                    f"The call of {name} failed and was not repeated with success, and the answer"
                    " does not say so."
                )
                yield Claim(start, end, explanation, token=token)
                return


def admits(text: str, failed: str) -> bool:
    """Say whether a reply admits a failure; `failed` has the words of the tool and its result."""
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
        for part in (*_action_stems(name), *folded_words(_described(trajectory, name)))
    }
    for start, end in sentence_intervals(text):
        if text[start:end].rstrip().endswith("?"):
            continue
        if _CONTACTED.search(text, start, end) and not done & _LINKED[0]:
            yield Claim(
                start, end, "The answer says that someone was contacted, and no call did this."
            )
            return
        for match in _ACTED.finditer(text, start, end):
            verb = stem((match[1] or match[2]).lower())
            uncalled = [
                tool.name
                for tool in trajectory.tools
                if tool.name not in called and verb in _action_stems(tool.name)
            ]
            if uncalled and verb not in done:
                explanation = (
                    f"The answer claims an action of {uncalled[0]}, which was never called."
                )
                yield Claim(start, end, explanation)
                return


def is_reading_again(trajectory: Trajectory, call: ToolCall) -> bool:
    """Say whether a repeated call looks again at what has changed since."""
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


def misread_fields(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield numbers in reply `number` that stand beside the name of another field or record."""
    text = trajectory.turns[number - 1].text
    groups = [*_labelled(trajectory, number)]
    yield from _misread_units(text, groups)
    for start, end in _clauses(text):
        clause = text[start:end]
        tokens = {squeezed(token): token for token in raw_tokens(clause)}
        stems = {stem(word) for word in folded_words(clause)}
        for match in _NUMBER.finditer(text, start, end):
            value = float(match.group().replace(",", ""))
            for group in groups:
                finding = _misread(value, group.numbers, stems=stems, tokens=tokens)
                if finding:
                    label, own, other = finding
                    explanation = (
                        f"The result has {own:g} for {label}, and {match.group()} for {other}."
                    )
                    yield Claim(match.start(), match.end(), explanation, token=f"{own:g}")
                    break


def _misread_units(text: str, groups: Sequence["_Labelled"]) -> Iterator[Claim]:
    """Yield numbers with the unit of a field in a sentence that names another record's owner."""
    for start, end in sentence_intervals(text):
        sentence = text[start:end]
        stems = {stem(word) for word in folded_words(sentence)}
        tokens = {squeezed(token): token for token in raw_tokens(sentence)}
        for match in _WITH_UNIT.finditer(text, start, end):
            value = float(match[1].replace(",", ""))
            for group in groups:
                if group.key.lower() != match[2].lower():
                    continue
                finding = _misread(value, group.numbers, stems=stems, tokens=tokens)
                if finding:
                    label, own, other = finding
                    explanation = f"The result has {own:g} for {label}, and {value:g} for {other}."
                    yield Claim(match.start(1), match.end(1), explanation, token=f"{own:g}")
                    break


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _CLAUSE.finditer(text):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _labelled(trajectory: Trajectory, number: int) -> Iterator[_Labelled]:
    """Yield each set of numbers in the results that labels tell apart."""
    for count, turn in enumerate(trajectory.turns[: number - 1], 1):
        if turn.role == "tool" and not is_failure(trajectory, count):
            yield from _groups(parsed(turn.text))


def _groups(value: object) -> Iterator[_Labelled]:
    if isinstance(value, Mapping):
        own = {key: float(leaf) for key, leaf in value.items() if _is_number(leaf)}
        if len(own) > 1:
            yield _Labelled("", own)
        for inner in value.values():
            yield from _groups(inner)
    elif isinstance(value, list):
        items = [item for item in value if isinstance(item, Mapping)]
        keys = dict.fromkeys(
            key for item in items for key, leaf in item.items() if _is_number(leaf)
        )
        names = dict.fromkeys(
            key for item in items for key, leaf in item.items() if isinstance(leaf, str)
        )
        for key in keys:
            for name in names:
                column = {
                    str(item[name]): float(item[key])
                    for item in items
                    if _is_number(item.get(key)) and isinstance(item.get(name), str)
                }
                if len(column) > 1:
                    yield _Labelled(key, column)
        for item in value:
            yield from _groups(item)


def _misread(
    value: float, group: Mapping[str, float], *, stems: set[str], tokens: Mapping[str, str]
) -> tuple[str, float, str] | None:
    """Return the label that a clause names beside another's number, its own number, the other."""
    holders = [label for label, number in group.items() if number == value]
    named = [label for label in group if _is_named(label, group, stems=stems, tokens=tokens)]
    if len(holders) != 1 or len(named) != 1 or named[0] in holders:
        return None
    label = named[0]
    written = {f"{group[label]:g}", f"{group[label]:.2f}", f"{group[label]:,.0f}"}
    if (
        written & {*tokens.values()}
        or group[label] in numerals((" ".join(tokens.values()),)).stated
    ):
        return None
    return label, group[label], holders[0]


def _is_named(
    label: str, group: Mapping[str, float], *, stems: set[str], tokens: Mapping[str, str]
) -> bool:
    others = {part for other in group if other != label for part in _parts(other)}
    parts = [part for part in _parts(label) if part not in others]
    if not parts:
        return squeezed(label) in tokens and len(label) <= 2 and label.isupper()  # noqa: PLR2004
    return all(part in stems for part in parts)


def _parts(label: str) -> list[str]:
    if len(label) <= 2:  # noqa: PLR2004
        return []
    words = folded_words(" ".join(words_of(f"$.{label}")) if label.isidentifier() else label)
    return [stem(word) for word in words if word not in FUNCTION_WORDS]


def _is_number(leaf: object) -> bool:
    return isinstance(leaf, int | float) and not isinstance(leaf, bool)


def _unmended(trajectory: Trajectory, number: int) -> dict[str, str]:
    """Return the tools that failed since the user spoke and did not succeed then, with results."""
    failed: dict[tuple[str, str], tuple[str, str]] = {}
    for count, turn in enumerate(trajectory.turns[: number - 1], 1):
        call = trajectory.caller_of(count)
        if turn.role == "user":
            failed.clear()  # the reply before had to tell
        if turn.role != "tool" or call is None:
            continue
        own = str(sorted((arguments_of(call) or {}).items(), key=str))
        if is_failure(trajectory, count):
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
    """Say whether the result belongs to one of several calls of one turn."""
    call = trajectory.caller_of(count)
    turn = next(
        (turn for turn in reversed(trajectory.turns[: count - 1]) if call in turn.calls), None
    )
    return turn is not None and len(turn.calls) > 1


def _action_stems(name: str) -> set[str]:
    """Return stems of the verbs and nouns that tell of the action of a tool."""
    parts = {stem(part) for part in words_of(f"$.{name}")}
    verbs = parts - _READS
    return verbs | {other for group in _LINKED if group & verbs for other in group}


def is_reading(name: str) -> bool:
    """Say whether a tool only looks something up, as far as its name tells."""
    return bool(_READS & {stem(part) for part in words_of(f"$.{name}")})


def is_action(name: str) -> bool:
    """Say whether a tool changes something, as far as its name tells."""
    parts = [stem(part) for part in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", name) if part]
    return (
        bool(parts)
        and parts[0].lower() not in _READS
        and any(part in group for part in parts for group in _LINKED)
    )


def unstated_values(  # noqa: C901  a case each for ids, dates and numbers
    trajectory: Trajectory, number: int, context: Context
) -> Iterator[Claim]:
    """Yield ids, dates and numbers of reply `number` that nothing before it leads to."""
    text = trajectory.turns[number - 1].text
    texts = context.texts
    tokens = frozenset().union(*map(tokens_of, texts))
    named, numbers = moments(texts), numerals(texts)
    stating_text = stating(text)
    for start, end in sentence_intervals(text):
        if stating_text[start:end].isspace():
            continue
        sentence = text[start:end]
        dated = moments((sentence,))
        for day in dated.full:
            if not named.names(day):
                yield Claim(start, end, f"Nothing before the answer leads to the date {day}.")
                return
        rest = _DATE_LIKE.sub(lambda match: " " * len(match.group()), sentence)
        for match in _VALUE.finditer(rest):
            token = match.group()
            if squeezed(token) in tokens or _is_ordinal(rest, match):
                continue
            if any(map(str.isalpha, token)) and not re.fullmatch(
                r"\d+(?:st|nd|rd|th|[a-z]{1,3})", token
            ):
                if len(token) > 3 and any(map(str.isdigit, token)):  # noqa: PLR2004
                    yield Claim(
                        start + match.start(), start + match.end(), f"No result gives {token!r}."
                    )
                continue
            digits = re.match(r"\d+(?:,\d{3})*(?:\.\d+)?", token)
            value = float(digits.group().replace(",", "")) if digits else 0.0
            if value <= _SMALL and not re.match(r"\s?(?:%|percent)", rest[match.end() :]):
                continue
            written = numerals((*texts, text[: start + match.start()]))
            if not numbers.lead_to(value, loosely=True) and not written.lead_to(
                value, loosely=True
            ):
                yield Claim(
                    start + match.start(),
                    start + match.end(),
                    f"No result gives {token}, and it follows from none.",
                    token=nearest(value, [*context.sources.values()]),
                )


def unstated_lengths(trajectory: Trajectory, number: int, context: Context) -> Iterator[Claim]:
    """Yield lengths of time in days, weeks, months or years whose number no text before has."""
    text = trajectory.turns[number - 1].text
    stating_text = stating(text)
    given = [quantity.value for source in context.texts for quantity in quantities(source)]
    gaps = moments(context.texts).numbers(with_parts=True)
    written = "\n".join(context.texts)
    for quantity in quantities(text):
        match, value = _LONG.match(text, quantity.start), quantity.value
        if match is None or not stating_text[quantity.start].strip() or value < 2:  # noqa: PLR2004
            continue
        days = value * _DAYS[stem(match[2].lower())]
        slack = 3 if days > 27 else 0  # noqa: PLR2004  months are not all alike
        is_gap = any(abs(gap - days) <= slack for gap in gaps)
        if not is_gap and value not in given and not re.search(rf"(?<![\d.,]){value:g}\D", written):
            yield Claim(match.start(), match.end(), "No result or turn gives this length of time.")


def _is_ordinal(text: str, match: re.Match[str]) -> bool:
    """Say whether a number begins an item of a list."""
    before = text[: match.start()].rpartition("\n")[2].strip(" *-#")
    return not before and text[match.end() : match.end() + 2] in {". ", ") "}
