"""Misreadings: values in a reply next to the name of the wrong row of a table.

A table is a set of named items in results: the objects of a list, the fields of an object, or the
results of several calls of one tool.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.answers import Claim, clauses
from spanjury.judges.rules.call_checks.context import (
    arguments_of,
    containers,
    is_failure,
    number_of,
    parsed,
)
from spanjury.judges.rules.call_checks.moments import moments, read_moment
from spanjury.judges.rules.call_checks.numerals import TWO_PARTS, numerals
from spanjury.judges.rules.call_checks.tool_names import action_stems, is_action, words_of
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.replies import stating
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words, name_words, words

_COMPARES = re.compile(
    r"\b(?:than|instead|rather|unlike|versus|vs|except|apart|besides|other|another|else|between"
    r"|difference|both|not|n't)\b",
    re.IGNORECASE,
)
"""Words of a sentence that may contain values of several rows, in any order."""
_DONE = re.compile(
    r"\b(?:(?:is|are|been)(?: now| both| all)*|i(?:'ve| have)?) ([a-z]+ed|sent|paid)\b",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:not|no|never|could|can|cannot|will|would|already|only|but|except|was|were|if)\b|n't\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w:/-]|[.,]\d)")
_CONTINUES = re.compile(r"(?:it|its|he|she|his|her|they|their)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"\b(?:incl(?:uding|\.)?|excl(?:uding|\.)?|with|without|plus|less|minus|before|after) "
    r"(?:(?:the|\d+ ?%) )?$",
    re.IGNORECASE,
)
"""Words before the name of a field whose value is not next to it, as in ``with VAT``."""
_LABELLED = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bhave )(?<!\bhas )(?<!['’]ve )"
    r"\b([^\W\d_]{3,})(?<!ed)(?<!sent|sold|paid|left|lost|made)(?: (?:no\.?|number|nr\.?))?"
    r"[ :]{1,2}#?(\d{1,9})(?![\w%°€$£]|[.,:/-]\d| ?[€$£])",
    re.IGNORECASE,
)
"""A number directly after a word, as in ``Table 14`` and ``order no. 7``."""
_UNLABELLED = frozenset(
    """day night week month year hour minute second date time price cost total amount sum fee
    option step part item count quantity number balance distance""".split()  # noqa: SIM905
)
"""Names of fields that say what a number measures, or count what a reply lists itself."""
_COMPARATIVES: tuple[tuple[re.Pattern[str], re.Pattern[str], bool], ...] = tuple(
    (
        re.compile(rf"\b(?:is|are|was|were|costs?) (?:{words}) than\b", re.IGNORECASE),
        re.compile(column, re.IGNORECASE),
        is_more,
    )
    for words, column, is_more in (
        (r"warmer|hotter", r"temp|degrees|celsius|high$", True),
        (r"colder|cooler", r"temp|degrees|celsius|high$", False),
        (r"more expensive|dearer|more", r"price|cost|fare|fee|rent|rate$", True),
        (r"cheaper|less expensive|less", r"price|cost|fare|fee|rent|rate$", False),
        (r"farther|further(?: away)?", r"distance|km$|miles", True),
        (r"nearer|closer", r"distance|km$|miles", False),
        (r"longer|slower", r"duration|minutes|length|hours", True),
        (r"shorter|faster|quicker", r"duration|minutes|length|hours", False),
        (r"bigger|larger", r"size|area|sqm|capacity|population", True),
        (r"smaller", r"size|area|sqm|capacity|population", False),
        (r"older", r"^\W*age$", True),
        (r"younger", r"^\W*age$", False),
        (r"heavier", r"weight|kg$", True),
        (r"lighter", r"weight|kg$", False),
        (r"taller|higher", r"height|elevation|metres", True),
        (r"lower", r"height|elevation|metres", False),
    )
)
"""Comparatives, the fields that they compare, and whether the first value is the greater one."""
_SMALL = 10
_MOST_ROWS, _LONGEST = 60, 4  # maximum words of a value that a reply repeats verbatim

Leaf = str | float
_IsGiven = Callable[[Leaf], bool]
"""Return whether a value is also one of something else."""


class _Row(NamedTuple):
    """A row of a table: its names, and its values by column."""

    names: frozenset[str]
    values: Mapping[str, frozenset[Leaf]]


class _Part(NamedTuple):
    """A part of a sentence about one row; offsets in the sentence."""

    row: _Row
    start: int
    end: int


def misread(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield values in reply `number` that belong to another row than the one named with them."""
    text = stating(trajectory.turns[number - 1].text)
    turns = trajectory.turns[: number - 1]
    prompts = " ".join(turn.text for turn in turns if turn.role in {"system", "user"})
    results = [turn.text for turn in turns if turn.role == "tool"]

    def is_given(value: Leaf) -> bool:
        return _stands(value, prompts) or sum(_stands(value, result) for result in results) > 1

    spoken = [count for count, turn in enumerate(turns, 1) if turn.role == "user"]
    called = _called(trajectory, number, since=max(spoken, default=0))
    for table in _tables(trajectory, number):
        chosen = [row for row in table if row.names & called]
        last = chosen[0] if len(chosen) == 1 else None
        is_object = all({*row.values} == {"$"} for row in table)
        for start, end in clauses(text) if is_object else sentence_intervals(text):
            sentence = text[start:end]
            parts = _parts(sentence, table)
            if not parts and last and not is_object:
                is_meant = last in chosen or _CONTINUES.match(sentence)
                parts = [_Part(last, 0, len(sentence))] if is_meant else []
            last = parts[0].row if len(parts) == 1 else last if last in chosen else None
            claim = _foreign(sentence, table, parts, is_given=is_given)
            claim = claim or _exchanged(sentence, table, is_given=is_given)
            claim = claim or _misordered(sentence, parts)
            if claim:
                yield claim._replace(start=start + claim.start, end=start + claim.end)
                break


def misnumbered(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield numbers in reply `number` directly after the name of a field that has others."""
    text = stating(trajectory.turns[number - 1].text)
    before = trajectory.turns[: number - 1]
    texts = [turn.text for turn in before]
    texts += [call.arguments for turn in before for call in turn.calls]
    spoken = " ".join(texts).casefold()
    fields = _numbered(trajectory, number)
    for match in _LABELLED.finditer(text):
        label, own = match[1].casefold(), int(match[2])
        values = fields.get(stem(label), frozenset())
        is_alike = any(abs(len(str(value)) - len(match[2])) < 2 for value in values)  # noqa: PLR2004
        is_listed = re.search(rf"\b{label} (?:1\b|{own}\b)", f"{spoken} {text[: match.start()]}")
        if is_alike and own > 1 and own not in values and not is_listed:
            given = " or ".join(map(str, sorted(values)[:3]))
            explanation = f"The result has {given} for {label!r}, not {own}."
            token = given if len(values) == 1 else ""
            yield Claim(match.start(2), match.end(2), explanation, token)


def _numbered(trajectory: Trajectory, number: int) -> Mapping[str, frozenset[int]]:
    """Return stem -> whole numbers of the fields with this name before turn `number`.

    Fields that also have other values are left out.
    """
    fields: defaultdict[str, set[object]] = defaultdict(set)
    for count, turn in enumerate(trajectory.turns[: number - 1], 1):
        is_result = turn.role == "tool" and not is_failure(trajectory, count)
        for value in [parsed(turn.text)] * is_result + [*map(arguments_of, turn.calls)]:
            for path, leaf in json_leaves(value):
                name = words_of(path) - {"no", "nr", "number", "id"}
                if len(name) == 1 and not name & _UNLABELLED:
                    fields[stem(*name)].add(_whole(leaf))
    return {
        name: frozenset(value for value in values if isinstance(value, int))
        for name, values in fields.items()
        if all(isinstance(value, int) for value in values)
    }


def _whole(leaf: object) -> int | None:
    """Return a whole number, also one in a text; None for any other value."""
    return int(str(leaf)) if re.fullmatch(r"\d{1,9}", str(leaf)) else None


def untouched(trajectory: Trajectory, number: int) -> Iterator[Claim]:
    """Yield sentences of reply `number` that claim for a row what was done only for others."""
    text = stating(trajectory.turns[number - 1].text)
    calls = [call for turn in trajectory.turns[:number] for call in turn.calls]
    done = {part for call in calls if is_action(call.name) for part in action_stems(call.name)}
    called = _called(trajectory, number, since=0)
    for table in _tables(trajectory, number):
        acted = [row for row in table if called & {*map(str, chain(*row.values.values()))}]
        for start, end in sentence_intervals(text) if acted else ():
            named = [part.row for part in _parts(text[start:end], table)]
            verbs = {stem(match.lower()) for match in _DONE.findall(text[start:end])}
            missed = [row for row in named if row not in acted]
            if missed and verbs & done and not _NOT_DONE.search(text, start, end):
                names = " / ".join(sorted(missed[0].names))
                yield Claim(start, end, f"No call did this for {names}.")


def _called(trajectory: Trajectory, number: int, *, since: int) -> frozenset[str]:
    """Return the values that the actions after turn `since` were called with."""
    values: set[str] = set()
    for turn in trajectory.turns[since : number - 1]:
        for call in filter(lambda call: is_action(call.name), turn.calls):
            values |= {str(leaf) for _, leaf in json_leaves(arguments_of(call) or {})}
    return frozenset(values)


def _parts(sentence: str, table: Sequence[_Row]) -> list[_Part]:
    """Return the rows that a sentence names, each with the text from its name to the next."""
    holding = Counter(part for row in table for part in {*chain(*map(_stems, row.names))})
    starts = {stem(word.folded): word.start for word in reversed(words(sentence))}
    named = sorted(
        (min(offsets), number)
        for number, row in enumerate(table)
        if (offsets := [*_named(sentence, row, holding=holding, starts=starts)])
    )
    ends = [start for start, _ in named[1:]] + [len(sentence)]
    if len(named) < 2:  # noqa: PLR2004
        return [_Part(table[n], 0, len(sentence)) for _, n in named]
    return [_Part(table[n], start, end) for (start, n), end in zip(named, ends, strict=True)]


def _foreign(
    sentence: str, table: Sequence[_Row], parts: Sequence[_Part], *, is_given: _IsGiven
) -> Claim | None:
    """Return the first value of another row, unless each value precedes its own row's name."""
    if _COMPARES.search(sentence):
        return None
    first = [*_foreign_in(sentence, table, parts, is_given=is_given)]
    if not first or len(parts) < 2:  # noqa: PLR2004
        return first[0] if first else None
    starts = [0, *(part.start for part in parts[:-1])]
    names = [part._replace(start=n, end=part.start) for n, part in zip(starts, parts, strict=True)]
    return first[0] if any(_foreign_in(sentence, table, names, is_given=is_given)) else None


def _foreign_in(
    sentence: str, table: Sequence[_Row], parts: Sequence[_Part], *, is_given: _IsGiven
) -> Iterator[Claim]:
    stems = {*map(stem, folded_words(sentence))}
    for part in parts:
        text = sentence[part.start : part.end]
        own = frozenset().union(*part.row.values.values(), *(row.names for row in table))
        for column, values in part.row.values.items():
            if any(_stands(value, text) for value in values):
                continue
            names_column = column == "$" or bool({*map(stem, words_of(column))} & stems)
            for other in table:
                for value in sorted(other.values.get(column, frozenset()) - own, key=str):
                    is_small = isinstance(value, float) and value < _SMALL and value.is_integer()
                    if is_small and not names_column:
                        continue  # it may count anything
                    interval = _written(value, text)
                    if interval and not is_given(value):
                        start, end = (part.start + offset for offset in interval)
                        names = " / ".join(sorted(part.row.names))
                        token = str(*values) if len(values) == 1 else ""
                        own_value = token or "another value"
                        explanation = f"The result has {own_value} for {names}, not {value}."
                        yield Claim(start, end, explanation, token)


def _exchanged(sentence: str, table: Sequence[_Row], *, is_given: _IsGiven) -> Claim | None:
    """Return the first value of another row if clauses with one row and one number have several.

    A single one may be computed.
    """
    parts = []
    for start, end in clauses(sentence):
        named = _parts(sentence[start:end], table)
        if named and (len(named) > 1 or len(_NUMBER.findall(sentence[start:end])) != 1):
            return None
        parts += [_Part(part.row, start, end) for part in named]
    if len(parts) < 2 or _COMPARES.search(sentence):  # noqa: PLR2004
        return None
    claims = [*_foreign_in(sentence, table, parts, is_given=is_given)]
    return claims[0] if len(claims) > 1 else None


def _misordered(sentence: str, parts: Sequence[_Part]) -> Claim | None:
    """Return a comparison of two rows that their values contradict."""
    if len(parts) != 2:  # noqa: PLR2004
        return None
    first, second = parts
    for adjective, column, is_more in _COMPARATIVES:
        match = adjective.search(sentence, first.start, second.start)
        if not match or _NOT_DONE.search(sentence, first.start, match.start()):
            continue
        left, right = (_only(part.row, column) for part in parts)
        if left is not None and right is not None and (left < right if is_more else left > right):
            explanation = f"The result has {left:g} for the first and {right:g} for the second."
            return Claim(match.start(), match.end(), explanation)
    return None


def _only(row: _Row, column: re.Pattern[str]) -> float | None:
    """Return the only number of a row in columns of this name; None if it has none or several."""
    values = [
        value
        for name, held in row.values.items()
        if column.search(name)
        for value in held
        if isinstance(value, float)
    ]
    return values[0] if len(values) == 1 else None


def _stands(value: Leaf, text: str) -> bool:
    """Return whether a text contains a value, in any usual form."""
    if isinstance(value, float):
        return value in numerals((text,)).stated
    return _written(value, text) is not None


def _written(value: Leaf, text: str) -> tuple[int, int] | None:
    """Return where a text contains a value in digits or letters; None if it does not."""
    if isinstance(value, float):
        matches = _NUMBER.finditer(text)
        same = (m.span() for m in matches if float(m.group().replace(",", "")) == value)
        return next(same, None)
    moment = read_moment(value)
    if moment:
        day, minute = moment
        stated = moments((text,))
        is_day = day and (day in stated.full or (day.month, day.day) in stated.yearless)
        times = (60 * int(hour) + int(rest) for hour, rest in TWO_PARTS.findall(text))
        is_time = day is None and minute is not None and minute in times
        return (0, len(text)) if is_day or is_time else None
    named = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE)
    return named.span() if named else None


@lru_cache(maxsize=1024)
def _stems(name: str) -> frozenset[str]:
    return frozenset(stem(word.folded) for word in words(name))


def _named(
    sentence: str, row: _Row, *, holding: Mapping[str, int], starts: Mapping[str, int]
) -> Iterator[int]:
    """Yield the offsets at which a sentence names a row by words that name no other.

    `holding` counts the rows whose names have a stem, `starts` has the offsets of the sentence's.
    """
    for name in row.names:
        if any(map(str.isdigit, name)) or len(name) <= 2:  # noqa: PLR2004
            runs = r"\W?".join(map(re.escape, re.findall(r"[^\W_]+", name)))
            named = re.search(rf"(?<!\w){runs}(?!\w)", sentence)
            if named:
                yield named.start()
            continue
        content = {stem(word.folded) for word in words(name) if word.folded not in FUNCTION_WORDS}
        wanted = {part for part in content if holding[part] == 1}
        if wanted and wanted <= starts.keys():
            start = min(starts[word] for word in wanted)
            if not _BESIDE.search(sentence[:start]):
                yield start


def _tables(trajectory: Trajectory, number: int) -> Iterator[list[_Row]]:
    """Yield each table of the results before turn `number`."""
    by_tool: defaultdict[str, list[tuple[Mapping[str, object], object]]] = defaultdict(list)
    for count, turn in enumerate(trajectory.turns[: number - 1], 1):
        call = trajectory.caller_of(count)
        if turn.role != "tool" or is_failure(trajectory, count):
            continue
        yield from _within(parsed(turn.text))
        if call:
            by_tool[call.name].append((arguments_of(call) or {}, parsed(turn.text)))
    for made in by_tool.values():
        if len(made) > 1:
            rows = [_row(value, names=_texts(arguments)) for arguments, value in made]
            yield _telling(rows)


def _within(value: object) -> Iterator[list[_Row]]:
    for part in containers(value):
        if isinstance(part, Mapping):
            fields = [
                _row(leaf, names=(" ".join(name_words(key)) if len(key) > 2 else key,))  # noqa: PLR2004
                for key, leaf in part.items()
                if number_of(leaf) is not None and not key.isdecimal()
            ]
            rows = [
                _row(held, names=(str(key).replace("_", " "),))
                for key, held in part.items()
                if isinstance(held, Mapping)
            ]
            yield from (_telling(table) for table in (fields, rows) if len(table) > 1)
            continue
        items = [item for item in part if isinstance(item, Mapping)]
        if 1 < len(items) <= _MOST_ROWS:
            yield _telling([_row(item, names=_texts(item, among=items)) for item in items])


def _telling(rows: Sequence[_Row]) -> list[_Row]:
    """Return rows with only the names that no other row has; none if one row has no such name."""
    counts = Counter(name for row in rows for name in row.names)
    made = [row._replace(names=frozenset(n for n in row.names if counts[n] == 1)) for row in rows]
    return made if all(row.names for row in made) else []


def _row(value: object, *, names: Iterable[str]) -> _Row:
    """Return the row of a value; the values of a list in it are in one column."""
    values: defaultdict[str, set[Leaf]] = defaultdict(set)
    for path, leaf in json_leaves(value):
        column = re.sub(r"\[\d+\]", "", path)
        if (number := number_of(leaf)) is not None:
            values[column].add(number)
        elif isinstance(leaf, str) and len(leaf) > 2 and len(leaf.split()) <= _LONGEST:  # noqa: PLR2004
            values[column].add(leaf)
    columns = {column: frozenset(held) for column, held in values.items()}
    return _Row(frozenset(names), columns)


def _texts(
    value: Mapping[str, object], *, among: Sequence[Mapping[str, object]] = ()
) -> Iterator[str]:
    """Yield the texts of an object that may name it `among` others: no dates, no sentences."""
    for key, leaf in value.items():
        if not isinstance(leaf, str) or not any(map(str.isalpha, leaf)) or read_moment(leaf):
            continue
        is_own = [item.get(key) for item in among].count(leaf) < 2  # noqa: PLR2004
        if is_own and len(leaf.split()) <= _LONGEST:
            yield leaf
