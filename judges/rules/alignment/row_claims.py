"""Claims of the rows of a table in a text: cells that the records of its source contradict."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from spanjury.judges.rules.alignment.record import (
    Cell,
    Entry,
    Field,
    Record,
    Records,
    Row,
    table_rows,
)
from spanjury.judges.rules.alignment.record_claims import NOTHING, SAYING, Claimed, key_words

_LEAST = 2  # minimum cells of a row


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
    named = [(at, entry) for at, cell in enumerate(row.cells) if (entry := _named(cell, records))]
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


def _named(cell: Cell, records: Records) -> Entry | None:
    """Return the only record that a cell names."""
    index = _field(cell).index
    entries = records.names.get(index, ()) if index else ()
    return entries[0] if len(entries) == 1 else None


def _field(cell: Cell) -> Field:
    return Field(key="", value=cell.text, start=cell.start, end=cell.end)


def _under(head: str, fields: Sequence[Field]) -> Field | None:
    """Return the only field that the head of a column means."""
    words = {*key_words(head)}
    same = [field for field in fields if {*key_words(field.key)} == words]
    matching = same or [field for field in fields if _says(words, field)]
    return matching[0] if len(matching) == 1 else None


def _says(words: set[str], field: Field) -> bool:
    return any(not words.isdisjoint(SAYING.get(word, ())) for word in key_words(field.key))


def _contradicts(cell: Cell, given: Field, *, record: Record, records: Records) -> bool:
    """Return whether a cell has a value of the records that differs from the given one."""
    own = _field(cell)
    if given.value.lower() in NOTHING or own.index in {"", given.index}:
        return False
    if own.value.lower() in given.value.lower() or given.value.lower() in own.value.lower():
        return False
    return any(
        other.record.group == record.group
        and (other.record is record or other.field.key == given.key)
        for other in records.values.get(own.index, ())
    )
