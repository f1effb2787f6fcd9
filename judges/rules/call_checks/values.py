"""Values: where each value among the arguments of a call comes from, and those from nowhere."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher

from spanjury.judges.core import ToolSpec
from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.context import Context, raw_tokens, squeezed, tokens_of
from spanjury.judges.rules.call_checks.moments import Moments, moments, nearest_dates, read_moment
from spanjury.judges.rules.call_checks.numerals import nearest, numerals
from spanjury.judges.rules.call_checks.schema import resolved
from spanjury.judges.rules.call_checks.wishes import wish, words_of
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words, words

_PAGING = frozenset(
    """limit offset page size per max maximum top count results radius depth timeout retries
    temperature precision version level rows take skip""".split()  # noqa: SIM905
)
_FREE = frozenset(
    """query q search text body message note notes subject title description desc reason comment
    content summary instructions details prompt question label keywords topic name_of remarks
    memo caption heading""".split()  # noqa: SIM905
)
_PARTS = frozenset(("year", "month", "day", "hour", "week", "minute", "season", "date", "start"))
_NAMED = frozenset(
    """name guest passenger patient customer city town recipient owner person member driver doctor
    contact author attendee place address origin destination to""".split()  # noqa: SIM905
)
_CURRENCIES = {
    "eur": ("euro", "euros", "€"),
    "usd": ("dollar", "dollars", "$"),
    "gbp": ("pound", "pounds", "£", "sterling"),
    "jpy": ("yen", "¥"),
    "chf": ("franc", "francs"),
    "inr": ("rupee", "rupees", "₹"),
}
_CODE = re.compile(
    r"^(?:[\d*/,-]+ ){4}[\d*/,-]+$|^P(?:T?\d+[A-Z])+|[=<>*(){}\[\]]|\b(?:select|where|from) \w+ ",
    re.IGNORECASE,
)
"""A schedule, a length of time, a condition or a query: texts of a language of their own."""
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Untraced:
    """A value that comes from nowhere.

    Parameters
    ----------
    path
        JSON path among the arguments.
    text
        The part of the value that is meant; empty for all of it.
    nearest
        The value of its kind in what came before that is most like it; empty for none.
    kind
        A word for what it is: ``"date"``, ``"time"``, ``"number"``, ``"name"``, ``"word"``,
        ``"id"`` or ``"choice"``.
    """

    path: str
    text: str
    nearest: str
    kind: str


def untraced(
    arguments: Mapping[str, object], tool: ToolSpec | None, context: Context
) -> Iterator[Untraced]:
    """Yield the values among `arguments` that nothing before the call leads to."""
    for path, value in json_leaves(arguments):
        schema = _schema_at(tool, path)
        if value is None or value in ("", [], {}):
            continue
        is_default = "default" in schema and schema["default"] == value
        if is_default and not isinstance(value, bool):
            continue
        own = _Own(path=path, tool=tool, schema=schema, context=context)
        if isinstance(value, bool):
            yield from own.flag(value=value)
        elif isinstance(schema.get("enum"), list):
            yield from own.choice(value)
        elif isinstance(value, int | float):
            yield from own.number(float(value))
        elif isinstance(value, str):
            yield from own.text(value)


def _schema_at(tool: ToolSpec | None, path: str) -> Mapping[str, object]:
    """Return the schema of the argument at `path`; empty if none is declared."""
    if tool is None:
        return {}
    schema = resolved(tool.parameters, tool.parameters)
    for key in re.findall(r"\.(\w+)|\[(\d+)\]|\[(\"[^\"]*\")\]", path):
        if key[1]:
            schema = resolved(schema.get("items"), tool.parameters)
        else:
            properties = schema.get("properties")
            name = key[0] or key[2].strip('"')
            inner = properties.get(name) if isinstance(properties, Mapping) else None
            schema = resolved(inner, tool.parameters)
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """An argument with its schema and what came before its call."""

    path: str
    tool: ToolSpec | None
    schema: Mapping[str, object]
    context: Context

    def _untraced(self, kind: str, *, text: str = "", near: str = "") -> Untraced:
        return Untraced(path=self.path, text=text, nearest=near, kind=kind)

    @property
    def _described(self) -> str:
        """The words of the schema on the argument, apart from its bounds."""
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

    def choice(self, value: object) -> Iterator[Untraced]:
        """Yield a choice of the schema in whose place the user names another one."""
        options = self.schema.get("enum")
        asked = " ".join(self.context.asked)
        stems = {*map(stem, folded_words(asked))}
        named = [
            option
            for option in (options if isinstance(options, list) else ())
            if isinstance(option, str) and _is_named(option, stems)
        ]
        if isinstance(value, str) and named and value not in named and len(named) == 1:
            near = next(
                (
                    token
                    for token in raw_tokens(asked)
                    if stem(token.lower()) in {*map(stem, folded_words(named[0].replace("_", " ")))}
                ),
                "",
            )
            yield self._untraced("choice", near=near or named[0])

    def number(self, value: float) -> Iterator[Untraced]:
        """Yield a number that is neither stated nor follows from what is."""
        if words_of(self.path) & _PAGING or value in {0.0, 1.0, -1.0}:
            return
        if numerals(self._texts).lead_to(value):
            yield from self._listed(value)
            return
        parts = bool(words_of(self.path) & _PARTS)
        if value in self._moments.numbers(with_parts=parts):
            return
        asked = nearest(value, self.context.asked)
        near = asked or nearest(value, [*self.context.sources.values()])
        yield self._untraced("number", near=near)

    def _listed(self, value: float) -> Iterator[Untraced]:
        """Yield a choice of a description in whose place the user names another of its numbers."""
        listed = numerals((str(self.schema.get("description", "")),)).amounts
        stated = numerals(self.context.asked).stated
        others = [number for number in listed if number in stated and number != value]
        if len(listed) > 1 and value in listed and value not in stated and len(others) == 1:
            yield self._untraced("choice", near=f"{others[0]:g}")

    def flag(self, *, value: bool) -> Iterator[Untraced]:
        """Yield a flag that is off although the user named what it turns on."""
        parts = words_of(self.path)
        if not value and wish(parts, self.context.asked):
            yield self._untraced("choice", near=self._like(" ".join(parts)))

    def text(self, value: str) -> Iterator[Untraced]:
        """Yield what is from nowhere in a text: all of it, or names and numbers within."""
        moment = read_moment(value)
        if moment is not None:
            yield from self._moment(value, *moment)
        elif squeezed(value) in self._tokens or not squeezed(value) or _CODE.search(value):
            return
        elif re.fullmatch(r"\d{4}-\d\d", value):
            if not self._moments.names_month(int(value[:4]), int(value[5:])):
                yield self._untraced("date")
        elif words_of(self.path) & _FREE or len(value.split()) > 6:  # noqa: PLR2004
            yield from self._prose(value)
        elif value.casefold() in _CURRENCIES:
            yield from self._currency(value)
        elif any(map(str.isdigit, value)) or _ADDRESS.fullmatch(value):
            yield from self._identifier(value)
        elif len(value) <= 5 and value.isupper():  # noqa: PLR2004
            yield self._untraced("id", near=self._like(value))
        else:
            yield from self._name(value)

    @property
    def _tokens(self) -> frozenset[str]:
        return frozenset().union(*map(tokens_of, self._texts))

    def _moment(self, value: str, day: date | None, minute: int | None) -> Iterator[Untraced]:
        named = self._moments
        if day is not None and not named.names(day):
            dated = [*nearest_dates([*self.context.sources.values()])]
            near = min(dated, key=lambda item: abs((item[3] - day).days), default=None)
            texts = [*self.context.sources.values()]
            yield self._untraced(
                "date", text=value[:10], near=texts[near[0]][near[1] : near[2]] if near else ""
            )
        elif minute is not None and not named.names_time(
            minute, in_utc=value.endswith("Z") or "utc" in words_of(self.path)
        ):
            yield self._untraced("time", text=value[-5:] if day is None else "")

    def _prose(self, value: str) -> Iterator[Untraced]:
        """Yield the first number, date or id in a free text that is from nowhere."""
        for token in raw_tokens(value):
            if not any(map(str.isdigit, token)) or squeezed(token) in self._tokens:
                continue
            moment = read_moment(token)
            if moment:
                day, minute = moment
                if (day is None or self._moments.names(day)) and (
                    minute is None or self._moments.names_time(minute)
                ):
                    continue
            number = re.fullmatch(r"[^\w]*(\d+(?:[.,]\d+)*)\D{0,4}", token)
            if number and (
                numerals(self._texts).lead_to(float(number[1].replace(",", "")), loosely=True)
                if number[1].count(".") <= 1
                else True
            ):
                continue
            yield self._untraced("id", text=token, near=self._like(token))
            return

    def _currency(self, value: str) -> Iterator[Untraced]:
        whole = " ".join(self._texts).casefold()
        if not any(word in whole for word in _CURRENCIES[value.casefold()]):
            yield self._untraced("id")

    def _identifier(self, value: str) -> Iterator[Untraced]:
        """Yield an id, a number in digits, or an address that no text before has."""
        parts = [part for part in raw_tokens(value) if any(map(str.isdigit, part))]
        if len(value.split()) > 1 and all(squeezed(part) in self._tokens for part in parts):
            yield from self._name(value)
            return
        digits = "".join(filter(str.isdigit, value))
        if len(digits) >= 7 and any(digits[-7:] in token for token in self._tokens):  # noqa: PLR2004
            return
        if re.fullmatch(r"-?\d+(?:\.\d+)?", value) and numerals(self._texts).lead_to(float(value)):
            return
        ends = [read_moment(part) for part in re.split(r"/|–| to |(?<=:\d\d)-", value)]
        if len(ends) == 2 and all(ends):  # noqa: PLR2004  a range
            for part, (day, minute) in zip(
                re.split(r"/|–| to |(?<=:\d\d)-", value), filter(None, ends), strict=True
            ):
                yield from self._moment(part, day, minute)
            return
        joined = [part for part in re.split(r"[/:_,;|]", value) if part]
        if len(joined) > 1 and all(
            squeezed(part) in self._tokens or not any(map(str.isdigit, part)) for part in joined
        ):
            return
        if (
            re.search(r"\d+ ?[a-z]+$|^\d", value)
            and all(
                numerals(self._texts).lead_to(float(number))
                for number in re.findall(r"\d+(?:\.\d+)?", value)
            )
            and len(value) <= 8  # noqa: PLR2004
            and not value.isdigit()
        ):
            return
        yield self._untraced("id", near=self._like(value))

    def _name(self, value: str) -> Iterator[Untraced]:
        """Yield a value with a name that no text before has."""
        stems = {stem(word) for text in self._texts for word in folded_words(text)}
        strange = [
            word
            for word in words(value.replace("_", " "))
            if word.folded not in FUNCTION_WORDS and stem(word.folded) not in stems
        ]
        strange = [
            word
            for word in strange
            if not any(
                word.folded in token or token in word.folded
                for token in self._near_tokens(word.folded)
            )
        ]
        capital = [word for word in strange if word.text[:1].isupper()]
        if not capital or ("/" in value and len(capital) < len(words(value))):
            return
        is_sure = len(capital) > 1 or bool(words_of(self.path) & _NAMED)
        yield self._untraced("name" if is_sure else "word", near=self._like(value))

    def _near_tokens(self, word: str) -> list[str]:
        return [
            token
            for token in self._tokens
            if len(token) >= 4 and len(word) >= 4 and token[:4] == word[:4]  # noqa: PLR2004
        ]

    def _like(self, value: str) -> str:
        """Return the token before the call that is most like `value`; empty if none is like it."""
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


def _is_named(option: str, stems: Sequence[str] | set[str]) -> bool:
    parts = [
        stem(word) for word in folded_words(option.replace("_", " ")) if word not in FUNCTION_WORDS
    ]
    return bool(parts) and all(part in stems for part in parts)
