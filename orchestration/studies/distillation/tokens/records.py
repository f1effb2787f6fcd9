"""Made-up records as JSON, tables and blocks, each with a true and a false sentence about it.

The false one states the value of another record, the opposite of a flag, or a number close by: what
a text about data gets wrong, and what no word that is missing gives away.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from types import MappingProxyType

from numpy.random import Generator, default_rng

from spanjury.judges.core import Label, fingerprint
from spanjury.orchestration.studies.distillation.tokens.example import LabelledSpan, TokenExample

_TEMPLATES = "spanjury.orchestration.studies.distillation.templates"
_MOST_RECORDS = 4
_NEAR = (-10, -3, -2, -1, 1, 2, 3, 10)
_OTHERS_VALUE = 0.7
"""Share of false sentences that state another record's value, where one differs."""

Value = bool | int | str
Record = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sort:
    """A sort of record."""

    key: str
    """The key that names a record."""
    names: Sequence[str]
    """Names to draw from."""
    values: Mapping[str, Sequence[int | str]]
    """Other key -> values to draw from; two numbers are the ends of a range."""
    flags: Mapping[str, tuple[str, str]]
    """Key of a flag -> how a sentence ends where it is true, and where it is false."""


@cache
def _lists() -> tuple[tuple[_Sort, ...], tuple[str, ...]]:
    """Read the sorts of records, and the sentences that state a value."""
    text = files(_TEMPLATES).joinpath("records.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    sorts = tuple(
        _Sort(
            key=record["key"],
            names=record["names"],
            values=MappingProxyType(record["values"]),
            flags=MappingProxyType({key: tuple(ends) for key, ends in record["flags"].items()}),
        )
        for record in data["records"]
    )
    return sorts, tuple(data["sentences"])


def record_examples(pairs: int, *, seed: int) -> Iterator[TokenExample]:
    """Yield `pairs` true sentences about made-up records, each followed by a false one."""
    sorts, sentences = _lists()
    rng = default_rng(seed)
    for number in range(pairs):
        sort = sorts[int(rng.integers(len(sorts)))]
        records = _records(sort, rng)
        record = records[int(rng.integers(len(records)))]
        data = _WRITERS[int(rng.integers(len(_WRITERS)))](records)
        fields = [*sort.values, *sort.flags]
        key = fields[int(rng.integers(len(fields)))]
        pattern = sentences[int(rng.integers(len(sentences)))]
        for value, label in (
            (record[key], Label.SUPPORTED),
            (_false_value(records, record[key], key=key, rng=rng), Label.CONTRADICTED),
        ):
            output, stated = _sentence(sort, record, key=key, value=value, pattern=pattern)
            at = output.rindex(stated)
            span = LabelledSpan(start=at, end=at + len(stated), label=label)
            yield TokenExample(
                dataset="made-up records",
                row=f"record {number}",
                input_id=fingerprint(data),
                inputs={"Data": data},
                output=output,
                spans=(span,) if label > 0 else (),
                label=label,
                group=f"record {number}",
                split="train",
                made_of="damage" if label > 0 else "copy or clean text",
                damage="wrong-value" if label > 0 else "",
                licence="Apache-2.0",
            )


def _records(sort: _Sort, rng: Generator) -> list[Record]:
    count = int(rng.integers(1, _MOST_RECORDS + 1))
    names = rng.permutation(len(sort.names))[:count].tolist()
    return [
        {
            sort.key: sort.names[at],
            **{key: _drawn(values, rng) for key, values in sort.values.items()},
            **{key: bool(rng.integers(2)) for key in sort.flags},
        }
        for at in names
    ]


def _drawn(values: Sequence[int | str], rng: Generator) -> Value:
    first, last = values[0], values[-1]
    if isinstance(first, int) and isinstance(last, int):
        return int(rng.integers(first, last + 1))
    return values[int(rng.integers(len(values)))]


def _false_value(records: Sequence[Record], value: Value, *, key: str, rng: Generator) -> Value:
    if isinstance(value, bool):
        return not value
    others = sorted({str(record[key]) for record in records} - {str(value)})
    if others and (isinstance(value, str) or rng.random() < _OTHERS_VALUE):
        return others[int(rng.integers(len(others)))]
    if isinstance(value, int):
        near = abs(value + _NEAR[int(rng.integers(len(_NEAR)))])
        return near if near not in {0, value} else value + 1
    return f"{value} or later"


def _sentence(
    sort: _Sort, record: Record, *, key: str, value: Value, pattern: str
) -> tuple[str, str]:
    """Return a sentence about a record, and the part that states the value."""
    name = str(record[sort.key])
    if isinstance(value, bool):
        stated = sort.flags[key][0 if value else 1]
        return f"{name} {stated}.", stated
    stated = str(value)
    return pattern.format(name=name, key=key.replace("_", " "), value=stated), stated


def _json(records: Sequence[Record]) -> str:
    return json.dumps(records if len(records) > 1 else records[0], indent=1)


def _table(records: Sequence[Record], *, between: str) -> str:
    lines = [list(records[0]), *([str(value) for value in record.values()] for record in records)]
    return "\n".join(between.join(line) for line in lines)


def _blocks(records: Sequence[Record]) -> str:
    return "\n\n".join(
        "\n".join(f"{key}: {value}" for key, value in record.items()) for record in records
    )


_WRITERS: Sequence[Callable[[Sequence[Record]], str]] = (
    _json,
    json.dumps,
    partial(_table, between=" | "),
    partial(_table, between=","),
    _blocks,
)
