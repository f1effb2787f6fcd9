"""Records: the objects, rows and blocks of keys and values in an input."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from spanjury.judges.text.kept import KeptByText

_JSON = re.compile(r'"(?:\\.|[^"\\])*+"|-?\d[\d.eE+-]*|true|false|null|[{}\[\]:,]')
_PAIR = re.compile(
    r"(?P<key>[A-Za-z][\w -]{0,40}?) ?(?:=|\[) ?"
    r"(?P<value>'[^'\n]*'|\"[^\"\n]*\"|[^|,;\[\]()\n]+)\]?"
)
_SIGN = re.compile(r"[=\[]")
_KEY = re.compile(r"[A-Za-z][\w -]{0,40} ?\Z")
_LONGEST_KEY = 42  # including the space after it
_LINE = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?\**(?P<key>[A-Za-z][\w /-]{0,40}?)\**[ \t]*:\**[ \t]+"
    r"(?P<value>\S[^\n]{0,120}?)[ \t]*$",
    re.MULTILINE,
)
_AMOUNT = re.compile(r"(?P<sign>[$£€])? ?\d+(?:[.,]\d+)*(?: ?(?P<unit>%|[^\W\d_]{1,12}))?")
_ENTRY = re.compile(
    r"(?:^[ \t]*(?:[-*•][ \t]+)?|(?<=[.;] ))\**(?P<key>[A-Z][\w /-]{0,40}?)\**:\**[ \t]+"
    rf"(?P<value>{_AMOUNT.pattern})(?=[ \t]*[.;]?(?:\s|$))",
    re.MULTILINE,
)
_ROW = re.compile(r"^[ \t]*\|?(?P<row>[^|\n]*(?:\|[^|\n]*)+?)\|?[ \t]*$", re.MULTILINE)
_CSV = re.compile(
    r"^(?P<head>[A-Za-z][\w ]{0,30}(?P<mark>[,;\t])[A-Za-z][\w ]{0,30}"
    r"(?:(?P=mark)[A-Za-z][\w ]{0,30})*)\n"
    r"(?P<rows>(?:[^\n]+(?P=mark)[^\n]+(?:\n|\Z)){2,})",
    re.MULTILINE,
)
"""A line of names without a space after the mark, and two or more lines with that mark."""
_RULE = re.compile(r"[\s|:-]*")
_LEAST = 2  # minimum fields of a record of lines, minimum rows of a table
LONGEST_VALUE = 6
"""Maximum number of words of a value that is looked for in a sentence."""
_POSTINGS = 16  # maximum fields indexed per word
_NUMBER = re.compile(r"[$£€]?\s*(\d[\d,]*(?:\.\d+)?)\s*[%A-Za-z]{0,12}")
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?i)(?:^|_|[a-z]\b|\b)(?:name|title)$")
_SENTENCE_END = tuple(".?!")
_SINGLE = 3  # minimum fields of a block that is the only one
_OPENING = frozenset("{[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A key and its value, with the offsets of the pair in its input."""

    key: str
    value: str
    start: int
    end: int

    @property
    def number(self) -> str | None:
        """Token key of the value if it consists of a number and a unit, else None."""
        number = number_of_cell(self.value)
        return None if number is None else f"#{number:g}"

    @property
    def index(self) -> str:
        """Words or number to look up the value by; empty if it has none or too many words."""
        words = _WORD.findall(self.value.lower())
        return self.number or (" ".join(words) if len(words) <= LONGEST_VALUE else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The fields of one object.

    Parameters
    ----------
    group
        Records of one group are of the same kind: objects of one list, rows of one table.
    nested
        The fields of objects in it, if their keys occur once among all of its fields.
    is_nested
        Whether it is in another object, and not in a list.
    """

    group: int
    fields: Sequence[Field]
    nested: Sequence[Field] = ()
    is_nested: bool = False

    @property
    def all_fields(self) -> Sequence[Field]:
        """Its own fields, then those of objects in it."""
        return (*self.fields, *self.nested)

    @property
    def name(self) -> Field | None:
        """The field that names it: by its key, or else the first field in words."""
        for field in self.fields:
            if _NAME.search(field.key):
                return field
        return next((field for field in self.fields if field.value[:1].isalpha()), None)


def number_of_cell(cell: str) -> float | None:
    """Return the number of a cell, which may have a unit, or None."""
    match = _NUMBER.fullmatch(cell)
    return float(match[1].replace(",", "")) if match else None


class Entry(NamedTuple):
    """A field of a record."""

    record: Record
    field: Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The records of an input.

    Parameters
    ----------
    only
        The record that the others are in, or the only one; None if there are several.
    names, values
        `index` of a name or a value -> the fields that have it.
    """

    records: Sequence[Record]
    only: Record | None
    names: Mapping[str, Sequence[Entry]]
    values: Mapping[str, Sequence[Entry]]


def _read(text: str) -> Records:
    parsed: Sequence[Record] = ()
    for read in (_objects, _rows, _delimited, _blocks, _pairs, _listed):
        parsed = parsed or tuple(record for record in read(text) if record.fields)
    names: dict[str, list[Entry]] = {}
    values: dict[str, list[Entry]] = {}
    for record in parsed:
        name = record.name
        for field in record.all_fields:
            for index in (names, values) if field is name else (values,):
                held = index.setdefault(field.index, [])
                if len(held) < _POSTINGS:
                    held.append(Entry(record, field))
    whole = [record for record in parsed if not record.is_nested or len(parsed) == 1]
    only = whole[0] if len(whole) == 1 else None
    return Records(records=parsed, only=only, names=names, values=values)


records = KeptByText(_read)
"""Parse the records of a text; empty for prose.

It reads JSON, Markdown tables, lines of CSV below a head, blocks of ``key: value``, lines of
``key=value`` and lists of amounts: ``RX-200: 89.90 EUR.``"""


def _objects(text: str) -> Iterator[Record]:
    """Yield the objects of a JSON text; objects of the same list or object form a group."""
    if text.lstrip()[:1] not in _OPENING:
        return
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _Objects(text).records()


@dataclass(slots=True, kw_only=True)
class _Opened:
    """An object or a list that is being read; `named` of its fields, 0 or 1, are its own key."""

    mark: str
    number: int
    fields: list[Field]
    named: int
    nested: list[Field]


class _Objects:
    """The objects of a JSON text, collected while it is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[_Opened] = []
        self._opened = 0
        self._key: re.Match[str] | None = None
        self._string: re.Match[str] | None = None

    def records(self) -> Iterator[Record]:
        """Yield each object at its end, with its own key as a field."""
        for match in _JSON.finditer(self._text):
            mark = match.group()
            if mark in _OPENING:
                self._begin(mark)
            elif mark in {"}", "]"}:
                ended = self._open.pop()
                if ended.mark == "{":
                    yield self._record(ended)
            elif mark == ":":
                self._key = self._string
            elif mark != ",":
                self._value(match)

    def _record(self, ended: "_Opened") -> Record:
        """Return an object that has ended, and give its fields to the object that it is in."""
        around = self._open[-1] if self._open else None
        keys = Counter(field.key for field in (*ended.fields, *ended.nested))
        nested = tuple(field for field in ended.nested if keys[field.key] == 1)
        is_nested = around is not None and around.mark == "{"
        if around is not None and is_nested:
            around.nested += [*ended.fields[ended.named :], *ended.nested]
        return Record(
            group=around.number if around else 0,
            fields=tuple(ended.fields),
            nested=nested,
            is_nested=is_nested,
        )

    def _begin(self, mark: str) -> None:
        fields = []
        if mark == "{" and self._key is not None:
            fields.append(self._field(self._key, self._key, key="name"))
        self._key = None
        self._opened += 1
        number, named = self._opened, len(fields)
        self._open.append(_Opened(mark=mark, number=number, fields=fields, named=named, nested=[]))

    def _value(self, match: re.Match[str]) -> None:
        if self._key is not None and self._open:
            self._open[-1].fields.append(self._field(self._key, match))
            self._key = None
        self._string = match

    def _field(self, first: re.Match[str], last: re.Match[str], *, key: str = "") -> Field:
        value = last.group()
        return Field(
            key=key or json.loads(first.group()),
            value=str(json.loads(value)) if value[0] == '"' else value,
            start=first.start(),
            end=last.end(),
        )


def _rows(text: str) -> Iterator[Record]:
    """Yield the rows of Markdown tables, with the names in their first rows as keys."""
    if "|" not in text:
        return
    group = 0
    head: list[str] = []
    for row in table_rows(text):
        if row.is_first or not head:
            head = [cell.text for cell in row.cells]
            group += 1
        elif not row.is_rule and len(row.cells) == len(head):
            yield Record(
                group=group,
                fields=tuple(
                    Field(key=key, value=cell.text, start=cell.start, end=cell.end)
                    for key, cell in zip(head, row.cells, strict=True)
                    if key and cell.text
                ),
            )


def _delimited(text: str) -> Iterator[Record]:
    """Yield the rows of CSV whose first line has the names of its columns."""
    for match in _CSV.finditer(text):
        mark = match["mark"]
        head = match["head"].split(mark)
        if len(set(head)) < len(head):
            continue
        start = match.start("rows")
        for line in match["rows"].splitlines(keepends=True):
            cells = line.rstrip("\n").split(mark)
            if len(cells) == len(head):
                yield Record(group=match.start(), fields=tuple(_columns(head, cells, start=start)))
            start += len(line)


def _columns(head: Sequence[str], cells: Sequence[str], *, start: int) -> Iterator[Field]:
    """Yield the cells of a line that starts at `start` as fields, without empty ones."""
    for key, cell in zip(head, cells, strict=True):
        if value := cell.strip():
            yield Field(key=key.strip(), value=value, start=start, end=start + len(cell))
        start += len(cell) + 1


class Cell(NamedTuple):
    """A cell of a table and its offsets."""

    text: str
    start: int
    end: int


class Row(NamedTuple):
    """A line of a Markdown table: cells, or a rule below the first row."""

    cells: Sequence[Cell]
    is_first: bool
    is_rule: bool


def table_rows(text: str) -> Iterator[Row]:
    """Yield the lines of the Markdown tables of a text."""
    reached = -2  # a row at offset 0 follows none
    for match in _ROW.finditer(text):
        is_first = match.start() != reached + 1
        yield Row([*_cells(match)], is_first, bool(_RULE.fullmatch(match.group())))
        reached = match.end()


def _cells(match: re.Match[str]) -> Iterator[Cell]:
    """Yield the cells of a row."""
    start = match.start("row")
    for cell in match["row"].split("|"):
        value = cell.strip()
        begin = start + cell.find(value)
        yield Cell(value, begin, begin + len(value))
        start += len(cell) + 1


def _blocks(text: str) -> Iterator[Record]:
    """Yield blocks of ``key: value`` lines in which no key is repeated."""
    if ":" not in text:
        return
    lines = list(_LINE.finditer(text))
    numbered = [(text.count("\n", 0, lines[0].start()) if lines else 0, line) for line in lines[:1]]
    for before, line in pairwise(lines):
        gap = text[before.end() : line.start()]
        numbered.append((numbered[-1][0] + (0 if gap == "\n" else 1), line))
    blocks = [
        [_paired(line) for _, line in block]
        for _, block in groupby(numbered, key=lambda pair: pair[0])
    ]
    shared = Counter(field.key for block in blocks for field in block)
    for block in blocks:
        keys = {field.key for field in block}
        alike = sum(shared[key] > 1 for key in keys) >= _LEAST or (
            len(blocks) == 1
            and len(block) >= _SINGLE
            and not any(field.value.endswith(_SENTENCE_END) for field in block)
        )
        if alike and len(keys) == len(block):  # a repeated key suggests a script with speakers
            units = {_measured(field.value) for field in block}
            is_list = len(blocks) == len(units) == 1 and None not in units
            yield from _entries(block) if is_list else (Record(group=0, fields=tuple(block)),)


def _listed(text: str) -> Iterator[Record]:
    """Yield the entries of a list of amounts of one unit, such as ``RX-200: 89.90 EUR.``.

    A key that is repeated suggests a script with speakers.
    """
    fields = [_paired(match) for match in _ENTRY.finditer(text)] if ":" in text else []
    units = {_measured(field.value) for field in fields}
    is_list = len(fields) >= _LEAST and len(units) == 1
    if is_list and all(text.count(f"{field.key}:") == 1 for field in fields):
        yield from _entries(fields)


def _measured(value: str) -> str | None:
    """Return the unit of an amount, empty if it has none, or None if a value is not an amount."""
    match = _AMOUNT.fullmatch(value)
    return (match["sign"] or match["unit"] or "").lower() if match else None


def _entries(fields: Sequence[Field]) -> Iterator[Record]:
    """Yield each field of a list of amounts as a record: its key is a name."""
    for field in fields:
        yield Record(
            group=0, fields=(replace(field, key="name", value=field.key), replace(field, key=""))
        )


def _pairs(text: str) -> Iterator[Record]:
    """Yield lines with two or more ``key=value`` or ``key[value]``."""
    if text.count("=") + text.count("[") < _LEAST:
        return
    start = 0
    for line in text.splitlines(keepends=True):
        if line.count("=") + line.count("[") >= _LEAST:
            fields = tuple(_paired(match, offset=start) for match in _matches(line))
            keys = {field.key.lower() for field in fields}
            if len(keys) == len(fields) >= _LEAST:
                yield Record(group=0, fields=fields)
        start += len(line)


def _matches(line: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `_PAIR`; searching only at signs avoids scanning the whole line."""
    reached = 0
    for sign in _SIGN.finditer(line):
        key = _KEY.search(line, max(reached, sign.start() - _LONGEST_KEY), sign.start())
        match = _PAIR.match(line, key.start()) if key else None
        if match and sign.start() >= reached:
            yield match
            reached = match.end()


def _paired(match: re.Match[str], *, offset: int = 0) -> Field:
    return Field(
        key=match["key"].strip(),
        value=match["value"].strip().strip("'\""),
        start=offset + match.start("key"),
        end=offset + match.end(),
    )
