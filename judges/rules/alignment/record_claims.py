"""Claims that the records of a source contradict.

A sentence names a record and states a value of another one, or denies a field; a row of a table has
a cell that differs from the record that it names.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple

from spanjury.judges.rules.alignment.contradiction import covered
from spanjury.judges.rules.alignment.index import between
from spanjury.judges.rules.alignment.keys import key, keys_of
from spanjury.judges.rules.alignment.lexicon import LIGHT
from spanjury.judges.rules.alignment.opposites import OPPOSITES
from spanjury.judges.rules.alignment.record import (
    LONGEST_VALUE,
    Cell,
    Entry,
    Field,
    Record,
    Records,
    Row,
    table_rows,
)
from spanjury.judges.rules.alignment.tokens import UNITS, Phrase, phrase
from spanjury.judges.text.words import name_words

_TRUE = frozenset(("true", "yes", "y", "✓", "✔"))
_FALSE = frozenset(("false", "no", "n", "✗", "✘"))
_NOTHING = frozenset(("", "null", "n/a", "-", "none", "unknown"))
"""Values in lower case that state nothing."""
# Generic words of keys, which a sentence may have without meaning the key.
_FRAME = keys_of(
    """has have is are accept allow available offer offers include provide welcome permitted
    serves with currently"""
)
_AFFIRMING = frozenset(
    """has have had is are was were with accept accepts allow allows allowed available offer offers
    offered include includes included provide provides provided welcome permitted there comes
    features serves""".split()  # noqa: SIM905
)
_BLURRING = frozenset(
    """only except unless until but if may might must could should would some most other another
    both all average total combined together than more less fewer difference between compared
    unlike whereas neither respectively also too not never no nor""".split()  # noqa: SIM905
)
_DENYING = frozenset(("not", "never", "no", "nor"))
_LACKING = frozenset(("lacks", "lack", "lacking"))
_NO_VALUES = _TRUE | _FALSE | _NOTHING | LIGHT
_WORD = re.compile(r"\w+")
_CLAUSE = re.compile(r"[,;:–—]|\b(?:and|but|while|although|though|whereas|which|who)\b")
_ZERO = "#0"  # key of the number
_LETTERS = 3  # minimum letters of a value in words
_LEAST = 2  # minimum cells of a row of a table
_LARGE = 20  # integers below it may count something by chance
_YEARS = range(1500, 2100)
_SAYING = MappingProxyType(
    {
        key(name): keys_of(words)
        for name, words in {
            "price": "cost costs priced charge charges pay pays paid",
            "cost": "price prices priced charge charges pay pays paid",
            "fee": "cost costs charge charges pay pays paid price",
            "weight": "weigh weighs weighed heavy",
            "height": "tall high",
            "length": "long",
            "width": "wide",
            "depth": "deep",
            "age": "old aged",
            "rating": "rated stars scores",
            "score": "scored scores",
            "capacity": "holds hold",
            "duration": "lasts takes long",
        }.items()
    }
)
"""Key of a word for a property -> keys of words that state it."""


class Claimed(NamedTuple):
    """Offsets of a claim within its sentence, and the field that contradicts it."""

    start: int
    end: int
    field: Field


def record_claims(sentence: Phrase, records: Records) -> Iterator[Claimed]:
    """Yield the claims of `sentence` that the record it names contradicts.

    These are values that another record has under a key of this record, and the opposite of a
    true or false field.
    """
    record = _named(sentence, records)
    if record is None or sentence.question:
        return
    if len(records.records) > 1 and _BLURRING.isdisjoint(_words(sentence)):
        yield from _borrowed(sentence, record, records=records)
    for field in record.all_fields:
        yield from _denied(sentence, field)


def _words(sentence: Phrase) -> set[str]:
    """Return all words of a sentence, in lower case."""
    words = {word for token in sentence.tokens for word in token.before}
    words.update(sentence.after)
    words.update(map(sentence.written, sentence.tokens))
    return words


def _named(sentence: Phrase, records: Records) -> Record | None:
    """Return the only record that the sentence names, or the one that all others are in."""
    names = {index for index, _ in _sequences(sentence) if index in records.names}
    longest = [
        index for index in names if not any(index in other and index != other for other in names)
    ]
    if not longest:
        return records.only
    entries = records.names[longest[0]] if len(longest) == 1 else ()
    return entries[0].record if len(entries) == 1 else None


def _key_words(name: str) -> list[str]:
    """Return the keys of the words in an identifier.

    >>> _key_words("hasOutdoor_seating")
    ['has', 'outdo', 'seat']
    """
    return [*map(key, name_words(name))]


def _interval_of(sentence: Phrase, value: str) -> tuple[int, int] | None:
    """Return the interval in which a sentence contains a value verbatim."""
    pattern = r"\W+".join(map(re.escape, re.findall(r"\w+", value)))
    match = re.search(rf"\b{pattern}\b", sentence.text, re.IGNORECASE) if pattern else None
    return match.span() if match else None


def _borrowed(sentence: Phrase, record: Record, *, records: Records) -> Iterator[Claimed]:
    """Yield the values of other records that the sentence states of the record it names."""
    own = {field.key: field for field in record.all_fields}
    name = record.name
    named = covered(interval for index, interval in _sequences(sentence) if index in records.names)
    for (start, end), entry in _stated(sentence, records):
        given = own.get(entry.field.key)
        if entry.field.number is not None and start in named:
            continue  # the 200 of RX-200
        if entry.record.group != record.group or given is None or given is name:
            continue
        if entry.field is entry.record.name or given.value.lower() in _NOTHING:
            continue
        value = sentence.text[start:end]
        if _interval_of(sentence, given.value) or any(
            _holds(field, value) for field in record.all_fields
        ):
            continue
        if _is_of(sentence, entry, start=start, records=records):
            yield Claimed(start, end, given)


def _stated(sentence: Phrase, records: Records) -> Iterator[tuple[tuple[int, int], Entry]]:
    """Yield the values of records that occur in a sentence, with their intervals."""
    for token in sentence.tokens:
        if token.kind == "number":
            for entry in records.values.get(token.key, ()):
                yield (token.start, token.end), entry
    for index, sequence in dict(_sequences(sentence)).items():
        if len(index) >= _LETTERS and index not in _NO_VALUES:
            for entry in records.values.get(index, ()):
                yield sequence, entry


def _sequences(sentence: Phrase) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each sequence of lower-cased words as long as a value may be, and its interval."""
    words = [(match.group().lower(), *match.span()) for match in _WORD.finditer(sentence.text)]
    for first, (_, start, _) in enumerate(words):
        for stop in range(first + 1, min(first + LONGEST_VALUE, len(words)) + 1):
            yield " ".join(word for word, _, _ in words[first:stop]), (start, words[stop - 1][2])


def _holds(field: Field, words: str) -> bool:
    """Return whether a field contains the words, or the number."""
    numbers = [token.key for token in phrase(words).tokens if token.kind == "number"]
    return words.lower() in field.value.lower() or field.number in numbers


def _is_of(sentence: Phrase, entry: Entry, *, start: int, records: Records) -> bool:
    """Return whether a statement of a sentence, at `start`, is surely a value of the entry's key.

    Words are if they belong to no other key. A number needs a word for the key in the sentence, the
    unit of the value, or a value that no other number has by chance.
    """
    field = entry.field
    if any(other.field.key != field.key for other in records.values[field.index]):
        return False
    if field.number is None:
        return True
    meant = [word for word in _key_words(field.key) if word not in _FRAME]
    stating = {*meant}.union(*(_SAYING.get(word, ()) for word in meant))
    if not stating.isdisjoint(sentence.keys):
        return True
    at = next(at for at, token in enumerate(sentence.tokens) if token.start == start)
    return _is_telling(sentence, at, field) and not _counts_else(sentence, at, field)


def _is_telling(sentence: Phrase, at: int, field: Field) -> bool:
    """Return whether a number is hardly in a sentence by chance: 89.90, 120, 5 EUR, not 1998."""
    token = sentence.tokens[at]
    (value, *_) = phrase(field.value).tokens
    if token.unit is not None and token.unit == value.unit:
        return True
    is_count = token.value.is_integer() and token.value < _LARGE
    return not is_count and token.value not in _YEARS


def _counts_else(sentence: Phrase, at: int, field: Field) -> bool:
    """Return whether a number counts the word after it, of which the field says nothing."""
    words = [
        sentence.written(token) for token in sentence.tokens[at + 1 : at + 2] if not token.before
    ]
    return any(word not in UNITS and word not in field.value.lower() for word in words)


def _denied(sentence: Phrase, field: Field) -> Iterator[Claimed]:
    """Yield a clause that affirms a false field, or denies a true one."""
    value = field.value.lower()
    meant = [word for word in _key_words(field.key) if word not in _FRAME and word not in LIGHT]
    if value not in _TRUE | _FALSE or not meant:
        return
    for start, end in between(sentence.text, _CLAUSE):
        clause = phrase(sentence.text[start:end])
        opposite = OPPOSITES.get(meant[0], frozenset()) if len(meant) == 1 else frozenset()
        turned = not opposite.isdisjoint(clause.keys)
        if not turned and not all(word in clause.keys for word in meant):
            continue
        about = {*meant, *opposite} | _FRAME
        if any(
            token.key == _ZERO or (token.denials and token.key not in about)
            for token in sentence.tokens
        ):
            return  # it denies something else, or counts zero of it
        denied = _polarity(clause)
        if denied is not None and (denied != turned) == (value in _TRUE):
            first, last = _extent(clause, about)
            yield Claimed(start + first, start + last, field)


def _extent(clause: Phrase, about: AbstractSet[str]) -> tuple[int, int]:
    """Return the offsets from the first to the last word of the statement."""
    intervals = [
        (min([token.start, *(start for start, _ in token.denials)]), token.end)
        for token in clause.tokens
        if token.key in about
    ]
    return min(start for start, _ in intervals), max(end for _, end in intervals)


def _polarity(clause: Phrase) -> bool | None:
    """Return whether a clause denies its topic; None if it neither denies nor affirms it."""
    words = _words(clause)
    if clause.question or not (_BLURRING - _DENYING).isdisjoint(words):
        return None
    denials = sum(token.denied for token in clause.tokens) + (not _LACKING.isdisjoint(words))
    if denials:
        return denials % 2 == 1
    return None if _AFFIRMING.isdisjoint(words) else False


def row_claims(text: str, records: Records) -> Iterator[Claimed]:
    """Yield the cells with a value that the record named by their row has not under their key.

    The value is another record's under this key, or the record's own under another key. The first
    row of a table gives the keys if a rule follows it; otherwise cells are compared by position.
    """
    for row, head in _headed_rows(text):
        is_whole = not head or len(head) == len(row.cells)
        if is_whole and not _repeats(row, records):
            yield from _of_row(row, head, records=records)


def settled_rows(text: str, records: Records) -> Sequence[int]:
    """Return the offsets of rows that say no more than their cells under the heads of a table.

    So do rows with the values of one record.
    """
    return [
        row.cells[0].start for row, head in _headed_rows(text) if head or _repeats(row, records)
    ]


def _headed_rows(text: str) -> Iterator[tuple[Row, Sequence[Cell]]]:
    """Yield the rows of tables below their heads, with the cells of the head if there is one."""
    rows = [*table_rows(text)] if "|" in text else []
    head: Sequence[Cell] = ()
    for row, following in zip_longest(rows, rows[1:]):
        head = () if row.is_first else head
        if row.is_first and following is not None and following.is_rule and not following.is_first:
            head = row.cells
        elif not row.is_rule:
            yield row, head


def _repeats(row: Row, records: Records) -> bool:
    """Return whether one record has all cells of a row."""
    cells = {cell.text.lower() for cell in row.cells if cell.text}
    return any(
        cells.issubset(field.value.lower() for field in record.all_fields)
        for record in records.records
    )


def _of_row(row: Row, head: Sequence[Cell], *, records: Records) -> Iterator[Claimed]:
    named = [
        (at, entry) for at, cell in enumerate(row.cells) if (entry := _named_by(cell, records))
    ]
    if len(named) != 1 or len(row.cells) < _LEAST:
        return
    (naming, entry) = named[0]
    fields = entry.record.fields
    if head and _under(head[naming].text, fields) not in {entry.field, None}:
        return
    is_alike = len(row.cells) == len(fields) and fields[naming] is entry.field
    for at, cell in enumerate(row.cells):
        if at == naming:
            continue
        given = _under(head[at].text, fields) if head else fields[at] if is_alike else None
        if given is not None and _contradicts(cell, given, record=entry.record, records=records):
            yield Claimed(cell.start, cell.end, given)


def _named_by(cell: Cell, records: Records) -> Entry | None:
    """Return the only record that a cell names."""
    index = _field(cell).index
    entries = records.names.get(index, ()) if index else ()
    return entries[0] if len(entries) == 1 else None


def _field(cell: Cell) -> Field:
    return Field(key="", value=cell.text, start=cell.start, end=cell.end)


def _under(head: str, fields: Sequence[Field]) -> Field | None:
    """Return the only field that the head of a column means."""
    words = {*_key_words(head)}
    same = [field for field in fields if {*_key_words(field.key)} == words]
    matching = same or [field for field in fields if _says(words, field)]
    return matching[0] if len(matching) == 1 else None


def _says(words: set[str], field: Field) -> bool:
    return any(not words.isdisjoint(_SAYING.get(word, ())) for word in _key_words(field.key))


def _contradicts(cell: Cell, given: Field, *, record: Record, records: Records) -> bool:
    """Return whether a cell has a value of the records that differs from the given one."""
    own = _field(cell)
    if given.value.lower() in _NOTHING or own.index in {"", given.index}:
        return False
    if own.value.lower() in given.value.lower() or given.value.lower() in own.value.lower():
        return False
    return any(
        other.record.group == record.group
        and (other.record is record or other.field.key == given.key)
        for other in records.values.get(own.index, ())
    )
