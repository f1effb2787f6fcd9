"""Values: the origin of each value among the arguments of a call, and values without one.

The requirement depends on the argument. A value that *identifies* something, such as an id, an
address or a date, must come from a turn, a result or the tool's description. A value that the agent
*composes*, such as a query, a message or a path, may contain anything except a slip in a quotation.
A value that the agent *chooses*, such as the size of a page, needs no origin.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from itertools import combinations, pairwise
from typing import Literal

from spanjury.judges.core import ToolSpec
from spanjury.judges.core.transcript import INSTRUCTIONS, json_leaves
from spanjury.judges.rules.call_checks.amounts import amounts, is_money, other_unit
from spanjury.judges.rules.call_checks.amounts import nearest as nearest_amount
from spanjury.judges.rules.call_checks.clocks import lengths
from spanjury.judges.rules.call_checks.context import (
    Context,
    number_of,
    raw_tokens,
    shape_of,
    slip,
    squeezed,
    tokens_in,
    tokens_of,
)
from spanjury.judges.rules.call_checks.moments import (
    Moments,
    dated_words,
    moments,
    nearest_dates,
    read_moment,
)
from spanjury.judges.rules.call_checks.numerals import counts_of, numerals, spelling_of
from spanjury.judges.rules.call_checks.schema import resolved
from spanjury.judges.rules.call_checks.tool_names import is_action, stems_of, words_of
from spanjury.judges.rules.call_checks.wishes import denial, party_sizes, wish
from spanjury.judges.rules.quantities import quantities
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words, words

_CHOSEN = frozenset(
    """limit offset page size per top results radius depth timeout retries temperature precision
    version level rows take skip tail lines line position index step seed from_line to_line
    quality width height""".split()  # noqa: SIM905
)
_COUNTED = frozenset(("max", "maximum", "count"))
"""Words that name a chosen number by themselves: ``max`` does, ``max_rent`` does not."""
_COMPOSED = frozenset(
    """query q search text body message note notes subject title description desc reason comment
    content summary instructions details prompt question label labels keywords topic name_of remarks
    memo caption heading tags tag bullets agenda html markdown sql jql command cmd code script
    expression condition filter filters selector pattern regex old new src dst path file filename
    folder target url preheader snippet lines chapters""".split()  # noqa: SIM905
)
_PARTS = frozenset(("year", "month", "day", "hour", "week", "minute", "season", "date", "start"))
_PEOPLE = frozenset(("guests", "guest", "people", "persons", "party", "covers", "pax"))
_HOURS = frozenset(("hour", "hours", "minutes", "min"))
_BOUNDS = frozenset("from to start end since until after before first last min max limit".split())  # noqa: SIM905
_LONG_ID = 5  # digits of an id that no rule composes
_LONG_CODE = 4  # digits of such an id with letters, in an action
_SHORTEST_GUESS = 4  # digits and letters of an id that no later result has by chance
_NAMING = stems_of(
    """create add new make write save upload register insert put set name rename copy move open
    start schedule book draft enter record file tag label submit"""
)
"""Words in the name of a tool that gives things a name of the agent's choice."""
_NUMBERED = frozenset(("id", "number", "no", "nr", "ref", "reference", "key", "account", "uid"))
_CODE = re.compile(
    r"^(?:[\d*/,-]+ ){4}[\d*/,-]+$|^P(?:T?\d+[A-Z])+|[=<>*(){}\[\]]|\b(?:select|where|from) \w+ ",
    re.IGNORECASE,
)
"""A schedule, a length of time, a condition or a query: texts in a formal language."""
_MINIMUM = re.compile(r"\bmin(?:_|[A-Z])")  # in the name of an argument a bound, not a unit
_PERIOD = re.compile(r"\d{4}(?:-W?|W)\d\d")  # a week or a month
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ID_IN_WORDS = re.compile(r"(?!20\d{6}$)\d*[1-9]\d?|(?=.*[A-Za-z])[A-Za-z0-9-]+")
"""A number that is neither round nor a date, or a code with letters."""
_CLOCK_TIME = re.compile(r"(?<![\w:.,-])([01]?\d|2[0-3]):([0-5]\d)(?![\w:])")
_ENDS = re.compile(r"/|–| to |(?<=:\d\d)-")  # marks between the two ends of a range
_JOINTS = re.compile(r"[/:_,;|.=&?-]")
_SHORTEST_NUMBER = 3  # minimum digits of such a number
_STEPPED = 3  # minimum dates of a list whose equal steps are no coincidence
_MOST_HELD = 12  # maximum numbers of results that are added up

Kind = Literal["date", "time", "number", "amount", "id", "address", "choice"]
Grade = Literal["slip", "unit", "strange", "guess"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Untraced:
    """A value without an origin.

    Parameters
    ----------
    path
        JSON path among the arguments.
    text
        The part of the value in question; empty for all of it.
    nearest
        The most similar value of its kind in the turns before; empty if there is none.
    kind
        Kind of value.
    grade
        ``"slip"`` for one that differs from a given value in a character or two, ``"unit"`` for a
        number that was given in another unit, ``"strange"`` for one that had to be given, and
        ``"guess"`` for an id that is an error only if a later result gives it.
    """

    path: str
    text: str
    nearest: str
    kind: Kind
    grade: Grade


def untraced(
    arguments: Mapping[str, object],
    tool: ToolSpec | None,
    context: Context,
    *,
    name: str,
    others: Sequence[str],
) -> Iterator[Untraced]:
    """Yield the values among `arguments` that nothing before the call leads to.

    Parameters
    ----------
    name
        Name of the tool, which need not be declared.
    others
        The arguments of all other calls, whose choices this call need not repeat.
    """
    made = tokens_in(tuple(others))
    leaves = [*json_leaves(arguments)]
    stepped = {*_stepped(arguments, context.texts)}
    for path, value in leaves:
        schema = _schema_at(tool, path)
        if value is None or value in ("", [], {}) or value in stepped:
            continue
        is_default = "default" in schema and schema["default"] == value
        if is_default and not isinstance(value, bool):
            continue
        beside = " ".join(
            str(other) for name, other in leaves if name != path and isinstance(other, int | float)
        )
        own = _Own(path=path, name=name, tool=tool, schema=schema, context=context, beside=beside)
        if isinstance(value, bool):
            yield from own.flag(value=value)
        elif isinstance(schema.get("enum"), list):
            yield from own.choice(value, made=made)
        elif (number := number_of(value)) is not None:
            yield from own.number(number)
        elif isinstance(value, str):
            yield from own.text(value)


def _stepped(arguments: Mapping[str, object], texts: tuple[str, ...]) -> Iterator[str]:
    """Yield the dates of each list in equal steps whose first or last date `texts` name."""
    for value in arguments.values():
        dated = [
            (str(item), moment[0])
            for item in (value if isinstance(value, list) else ())
            if (moment := read_moment(str(item))) and moment[0]
        ]
        days = [day for _, day in dated]
        steps = {later - day for day, later in pairwise(days)}
        is_row = len(days) >= _STEPPED and len(steps) == 1
        if is_row and any(map(moments(texts).names, (days[0], days[-1]))):
            yield from (item for item, _ in dated)


def _schema_at(tool: ToolSpec | None, path: str) -> Mapping[str, object]:
    """Return the schema of the argument at `path`; empty if none is declared."""
    if tool is None:
        return {}
    schema = resolved(tool.parameters, tool.parameters)
    for key in re.findall(r'\.(\w+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]', path):
        if key[1]:
            schema = resolved(schema.get("items"), tool.parameters)
        else:
            properties = schema.get("properties")
            name = key[0] or json.loads(key[2])
            inner = properties.get(name) if isinstance(properties, Mapping) else None
            schema = resolved(inner, tool.parameters)
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """An argument with its schema, the turns before its call, and the numbers `beside` it.

    `name` is that of the tool.
    """

    path: str
    name: str
    tool: ToolSpec | None
    schema: Mapping[str, object]
    context: Context
    beside: str

    def _untraced(
        self, kind: Kind, grade: Grade = "strange", *, text: str = "", near: str = ""
    ) -> Untraced:
        return Untraced(path=self.path, text=text, nearest=near, kind=kind, grade=grade)

    @property
    def acts(self) -> bool:
        """True if the call changes something, and does not only look it up."""
        return is_action(self.name)

    @property
    def _described(self) -> str:
        """The schema's words on the argument, apart from its bounds."""
        listed = [self.schema.get(key) for key in ("description", "examples", "example", "const")]
        return " ".join(
            [str(part) for part in listed if part] + [self.tool.description if self.tool else ""]
        )

    @property
    def _texts(self) -> tuple[str, ...]:
        return (*self.context.texts, self._described)

    @property
    def _moments(self) -> Moments:
        return moments(self.context.texts)

    @property
    def _tokens(self) -> frozenset[str]:
        return tokens_in(self._texts)

    @property
    def _is_chosen(self) -> bool:
        """True if the agent is free to choose the number."""
        parts = words_of(self.path)
        return bool(parts & _CHOSEN) or (bool(parts & _COUNTED) and parts <= _COUNTED | {"items"})

    @property
    def _names(self) -> bool:
        """True if the tool gives things a name of the agent's choice."""
        return bool({stem(part) for part in words_of(self.name)} & _NAMING)

    @property
    def _is_bound(self) -> bool:
        return bool(words_of(self.path) & _BOUNDS)

    def choice(self, value: object, *, made: Collection[str]) -> Iterator[Untraced]:
        """Yield a choice of the schema if the user names another one instead."""
        options = self.schema.get("enum")
        asked = " ".join(self.context.asked)
        own = {stem(part) for part in words_of(self.tool.name if self.tool else "")}
        stems = [part for part in map(stem, folded_words(asked)) if part not in own]
        named = [
            option
            for option in (options if isinstance(options, list) else ())
            if isinstance(option, str) and _is_named(option, stems) and squeezed(option) not in made
        ]
        if not isinstance(value, str) or value in named or len(named) != 1:
            return
        parts = folded_words(named[0].replace("_", " "))
        tokens = [token for token in raw_tokens(asked) if token.lower() in parts]  # no "pay": paid
        if tokens and wish(parts, self.context.asked) is not False:
            yield self._untraced("choice", near=tokens[0])

    def number(self, value: float) -> Iterator[Untraced]:
        """Yield a number that is neither stated nor follows from stated ones."""
        own = words_of(self.path) - {"min" if _MINIMUM.search(self.path) else ""}
        name = " ".join((*sorted(own), str(self.schema.get("description", ""))))
        if given := other_unit(value, name=name, asked=self.context.asked):
            yield self._untraced("number", "unit", near=given)
            return
        if self._is_chosen or value in {0.0, 1.0, -1.0}:
            return
        counts = [] if self._is_paid else self._counts(value)
        if counts:
            is_count = value.is_integer() or bool(words_of(self.path) & _HOURS)
            if is_count and not self._is_bound:
                near = spelling_of(counts[-1], self.context.conversation)
                yield self._untraced("number", near=near)
            return
        if self._is_led_to(value):
            return
        if near := self._swapped(value):
            yield self._untraced("number", "slip", near=near)
        elif self._is_number_of_identity(value):
            yield from self._guessed(f"{value:.0f}")
        elif self._is_unpaid(value):
            near = nearest_amount(value, self.context.conversation)
            yield self._untraced("amount", near=near)

    def _is_led_to(self, value: float) -> bool:
        if self._is_number_of_identity(value):
            return value in numerals(self._texts).stated
        if self._is_unpaid(value):
            return False
        parts = self._moments.numbers(with_parts=bool(words_of(self.path) & _PARTS))
        bases = (self._texts, (*self._texts, self.beside))
        return value in parts or any(numerals(texts).lead_to(value) for texts in bases)

    def _is_number_of_identity(self, value: float) -> bool:
        return value.is_integer() and bool(words_of(self.path) & _NUMBERED)

    @property
    def _is_paid(self) -> bool:
        """True if it is a sum of money of a tool that acts."""
        return self.acts and is_money(self.path, name=self.name, description=self._described)

    def _is_unpaid(self, value: float) -> bool:
        """Return whether an action has a sum of money that does not follow from those before it."""
        if not self._is_paid:
            return False
        given = amounts((*self._texts, self.beside))
        return bool(given.money) and not given.lead_to(value)

    def _counts(self, value: float) -> list[float]:
        """Return the user's numbers of what the argument counts, if they differ from `value`."""
        parts = words_of(self.path)
        asked = numerals(self.context.asked)
        lasting = [*lengths("\n".join(self.context.asked))]
        if parts & _HOURS and len({*lasting}) == 1:
            minutes = value * (60 if parts & {"hour", "hours"} else 1)
            is_stated = minutes in lasting or value in numerals(self.context.texts).stated
            return [] if is_stated else [lasting[0]]
        if parts & _PEOPLE and (guests := party_sizes(self.context)):
            return [] if value in asked.stated | {*asked.factors} else guests
        counted = {stem(part) for part in parts - _PARTS}
        named = counts_of(self.context.conversation, counted)
        counts = [count for count in named if count in asked.stated]
        held, rates = (self._held(counted, is_rate=is_rate) for is_rate in (False, True))
        sums = numerals(self.context.conversation).amounts
        wholes = {amount / rate for amount in sums for rate in rates if rate}
        follow = {count * factor for count in counts for factor in asked.factors}
        follow |= {*wholes, *(abs(whole - count) for whole in wholes for count in counts)}
        follow |= {
            abs(count - sum(some))
            for count in counts
            for size in (1, 2, 3)
            for some in combinations(held[:_MOST_HELD], size)
        }
        stated = {*named, sum(named), *held, *asked.stated, *asked.factors}
        return [] if abs(value) in stated | follow else counts

    def _held(self, counted: Collection[str], *, is_rate: bool) -> list[float]:
        """Return the numbers, or rates, of results under names with a word of these stems."""
        return [
            number
            for values in (*(r.values for r in self.context.records), *self.context.objects)
            for key, leaf in values.items()
            if (number := number_of(leaf)) is not None
            and {*map(stem, words_of(key))} & {*counted}
            and ("per" in words_of(key)) is is_rate
        ]

    def _swapped(self, value: float) -> str:
        """Return the given or derived number that is `value` with two adjacent digits swapped."""
        text = f"{value:.10g}"
        if len(text.replace(".", "")) < _SHORTEST_NUMBER:
            return ""
        for at in range(len(text) - 1):
            pair = text[at : at + 2]
            swapped = f"{text[:at]}{pair[::-1]}{text[at + 2 :]}"
            if pair.isdigit() and swapped != text and self._is_led_to(float(swapped)):
                return swapped
        return ""

    def flag(self, *, value: bool) -> Iterator[Untraced]:
        """Yield a flag that is off although the user named its effect, or the reverse."""
        parts = words_of(self.path)
        if not value and wish(parts, self.context.asked):
            yield self._untraced("choice", near=self._like(" ".join(sorted(parts))))
        elif value and (words := denial(parts, self.context.asked)):
            yield self._untraced("choice", near=words)

    def text(self, value: str) -> Iterator[Untraced]:
        """Yield the parts of a text without an origin: all of it, or a quotation with a slip."""
        moment = read_moment(value)
        if moment is not None:
            yield from self._moment(value, *moment)
        elif squeezed(value) in self._tokens or not squeezed(value):
            return
        elif _MAIL.fullmatch(value):
            yield from self._address(value)
        elif words_of(self.path) & _COMPOSED or _CODE.search(value) or _is_prose(value):
            yield from self._composed(value)
        elif any(map(str.isdigit, value)):
            yield from self._identifier(value)

    def _moment(self, value: str, day: date | None, minute: int | None) -> Iterator[Untraced]:
        named = self._moments
        is_further = any(header.startswith("Result") for header in self.context.sources)
        if not self.acts and (self._is_bound or is_further):
            return  # the agent chooses the range and the next step of its search
        if day is not None and not named.names(day) and not named.is_open:
            texts = [*self.context.sources.values()]
            dated = [*nearest_dates(texts)]
            near = min(dated, key=lambda item: abs((item[3] - day).days), default=None)
            passage = texts[near[0]][near[1] : near[2]] if near else ""
            yield self._untraced("date", text=value[:10], near=passage)
            return
        in_utc = value.endswith("Z") or "utc" in words_of(self.path)
        # if the user names no time, the agent chooses a free one
        is_asked = bool(moments(self.context.asked).times)
        if minute is not None and is_asked and not named.names_time(minute, in_utc=in_utc):
            yield self._untraced("time", text=value[-5:] if day is None else "")

    def _composed(self, value: str) -> Iterator[Untraced]:
        """Yield the first id, date, time or count of a text by the agent that was not given."""
        is_code = bool(_CODE.search(value))
        is_message = self.acts and not is_code and "/" not in value
        checks = [self._slips(value)]
        checks += [self._foreign(value), self._dated(value)] if is_message else []
        checks += [self._counted(value)] if not is_code and _is_prose(value) else []
        first = next((untraced for check in checks for untraced in check), None)
        if first:
            yield first

    def _slips(self, value: str) -> Iterator[Untraced]:
        """Yield the ids of a text that differ by a slip from given ones."""
        for token in self._new_tokens(value):
            if token.replace(",", "").replace(".", "").isdigit():
                continue
            slipped = slip(squeezed(token), self._tokens)
            if slipped and slipped not in tokens_of(value) and not self._leads_to(token):
                yield self._untraced("id", "slip", text=token, near=self._written(slipped))

    def _new_tokens(self, value: str) -> Iterator[str]:
        for token in raw_tokens(value):
            if any(map(str.isdigit, token)) and squeezed(token) not in self._tokens:
                yield token

    def _counted(self, value: str) -> Iterator[Untraced]:
        """Yield the counts of a text if the user gives another one with the same unit."""
        for quantity in quantities(value):
            counts = counts_of(self.context.asked, {quantity.unit} - {""})
            if len({*counts}) == 1 and not numerals(self._texts).lead_to(quantity.value):
                own = value[quantity.start : quantity.end]
                near = spelling_of(counts[0], self.context.asked)
                yield self._untraced("number", text=own, near=near)

    def _foreign(self, value: str) -> Iterator[Untraced]:
        """Yield the new ids of a message, if earlier texts have tokens of the same shape."""
        shapes = {shape_of(token) for text in self._texts for token in raw_tokens(text)}
        for token in self._new_tokens(value):
            is_id = _ID_IN_WORDS.fullmatch(token) and self._is_long(token)
            is_foreign = is_id and shape_of(token) in shapes
            if is_foreign and not (self._is_composed(token) or self._leads_to(token)):
                yield self._untraced("id", text=token, near=self._like(token))

    def _is_long(self, token: str) -> bool:
        """Return whether an id has so many digits that an agent must not make it up."""
        is_code = self.acts and not self._names and any(map(str.isalpha, token))
        return len(re.findall(r"\d", token)) >= (_LONG_CODE if is_code else _LONG_ID)

    def _dated(self, value: str) -> Iterator[Untraced]:
        """Yield the new dates and times of a message if the user or results give others.

        Dates count only if none of the message was given, and so do times.
        """
        foreign = [
            text
            for header, text in self.context.sources.items()
            if not header.startswith(INSTRUCTIONS)
        ]
        given, named = moments(tuple(foreign)), self._moments
        year = named.today.year if named.today else max(named.full, default=date.min).year
        days = [*dated_words(value, year=year)] if given.full or given.yearless else []
        if not named.is_open and not any(named.names(day) for _, _, day in days):
            for start, end, _ in days:
                yield self._untraced("date", text=value[start:end])
        times = [*_CLOCK_TIME.finditer(value)] if given.clock else []
        minutes = [60 * int(match[1]) + int(match[2]) for match in times]
        if not any(map(named.names_time, minutes)) and not {*minutes} & named.lengths:
            for match in times:
                yield self._untraced("time", text=match.group())

    def _leads_to(self, token: str) -> bool:
        """Return whether the texts name the date or the time in `token`."""
        day, minute = read_moment(token) or (None, None)
        named = self._moments
        return bool(
            (day and named.names(day)) or (day is None and minute and named.names_time(minute))
        )

    def _address(self, value: str) -> Iterator[Untraced]:
        """Yield an e-mail address if neither it nor its parts occur in a text before."""
        earlier = "\n".join(self._texts).casefold()
        local, _, domain = value.casefold().rpartition("@")
        if value.casefold() in earlier or (
            domain in earlier and all(part in earlier for part in re.split(r"[._+-]", local))
        ):
            return
        near = max(
            _MAIL.findall(earlier),
            key=lambda given: SequenceMatcher(None, value.casefold(), given).ratio(),
            default="",
        )
        yield self._untraced("address", near=near)

    def _identifier(self, value: str) -> Iterator[Untraced]:
        """Yield an id or a number in digits that no text before has."""
        ends = [*map(read_moment, _ENDS.split(value))]
        if len(ends) == 2 and all(ends):  # noqa: PLR2004  a range
            for part, moment in zip(_ENDS.split(value), filter(None, ends), strict=True):
                yield from self._moment(part, *moment)
            return
        if _PERIOD.fullmatch(value) or self._is_composed(value):
            return
        slipped = slip(squeezed(value), self._tokens)
        if slipped:
            yield self._untraced("id", "slip", near=self._written(slipped))
        elif self._is_long(value):
            yield self._untraced("id", near=self._like(value))
        else:
            yield from self._guessed(value)

    def _guessed(self, value: str) -> Iterator[Untraced]:
        """Yield an id of an action as a guess, an error only if a later result gives it."""
        if self.acts and not self._names and len(squeezed(value)) >= _SHORTEST_GUESS:
            yield self._untraced("id", "guess")

    def _is_composed(self, value: str) -> bool:
        """Return whether the numbers of an id are given, or follow from given ones."""
        parts = [part for part in raw_tokens(value) if any(map(str.isdigit, part))]
        if len(value.split()) > 1 and all(squeezed(part) in self._tokens for part in parts):
            return True
        digits = "".join(filter(str.isdigit, value))
        if len(digits) >= 7 and any(digits[-7:] in token for token in self._tokens):  # noqa: PLR2004
            return True
        is_number = re.fullmatch(r"-?\d+(?:\.\d+)?", value)
        is_measure = len(value) <= 8 and re.search(r"\d+ ?[a-z]+$|^\d", value)  # noqa: PLR2004
        if is_number or (is_measure and not value.isdigit()):
            numbers = re.findall(r"\d+(?:\.\d+)?", value)
            if all(numerals(self._texts).lead_to(float(number)) for number in numbers):
                return True
        return self._is_joined(value)

    def _is_joined(self, value: str) -> bool:
        """Return whether `value` joins given values and words, as a path or a key does."""
        joined = [part for part in _JOINTS.split(value) if part]
        return len(joined) > 1 and all(
            squeezed(part) in self._tokens or not any(map(str.isdigit, part)) for part in joined
        )

    def _written(self, token: str) -> str:
        """Return how a text before the call writes a squeezed token, such as ``XK 09 534``."""
        pattern = r"[\W_]{0,3}".join(map(re.escape, token))
        matches = (re.search(pattern, text, re.IGNORECASE) for text in self._texts)
        return next((match.group() for match in matches if match), token)

    def _like(self, value: str) -> str:
        """Return the token before the call most similar to `value`; empty if none is similar."""
        size = len(value.split())
        best, score = "", 0.5
        for text in self.context.sources.values():
            tokens = raw_tokens(text)
            rows = [" ".join(tokens[n : n + size]) for n in range(len(tokens) - size + 1)]
            for row in dict.fromkeys(rows):
                if row not in text:
                    continue
                likeness = SequenceMatcher(None, value.casefold(), row.casefold()).ratio()
                if likeness > score:
                    best, score = row, likeness
        return best


def _is_named(option: str, stems: Sequence[str]) -> bool:
    """Return whether a text with these stems contains the words of an option in sequence."""
    parts = [*map(stem, folded_words(option.replace("_", " ")))]
    runs = (stems[at : at + len(parts)] for at in range(len(stems)))
    return bool(parts) and any(run == parts for run in runs)


def _is_prose(value: str) -> bool:
    """Return whether `value` is a phrase or a sentence, not a name: it has lower-case words."""
    small = [word for word in words(value) if word.text.islower()]
    return len(value.split()) > 6 or (  # noqa: PLR2004
        len([word for word in small if word.folded not in FUNCTION_WORDS]) >= 3  # noqa: PLR2004
    )
