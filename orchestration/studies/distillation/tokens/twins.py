"""Clean texts and their damaged versions, which stand in one batch: the words that differ teach.

Made-up records, as JSON, tables and blocks, have a true and a false sentence about them. The false
one states the value of another record, the opposite of a flag, or a number close by: what a text
about data gets wrong, and what no word that is missing gives away.
"""

import json
import re
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from itertools import count
from types import MappingProxyType

from numpy.random import Generator, default_rng

from spanjury.judges.core import Label, Segment, fingerprint
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.words import folded_words
from spanjury.orchestration.studies.distillation.damage import Harm
from spanjury.orchestration.studies.distillation.targets import Row
from spanjury.orchestration.studies.distillation.tokens.example import (
    LabelledSpan,
    TokenExample,
    of_row,
)
from spanjury.orchestration.studies.distillation.training_set import Split
from spanjury.orchestration.studies.estimates import grouped
from spanjury.perturbations import Case, Damage, NothingToDamageError

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
    name = str(record[sort.key])
    if isinstance(value, bool):
        stated = sort.flags[key][0 if value else 1]
        return f"{name} {stated}.", stated
    stated = str(value)
    return pattern.format(name=name, key=key.replace("_", " "), value=stated), stated


def _table(records: Sequence[Record], *, between: str) -> str:
    lines = [list(records[0]), *([str(value) for value in record.values()] for record in records)]
    return "\n".join(between.join(line) for line in lines)


def _blocks(records: Sequence[Record]) -> str:
    return "\n\n".join(
        "\n".join(f"{key}: {value}" for key, value in record.items()) for record in records
    )


_WRITERS: Sequence[Callable[[Sequence[Record]], str]] = (
    lambda records: json.dumps(records if len(records) > 1 else records[0], indent=1),
    json.dumps,
    partial(_table, between=" | "),
    partial(_table, between=","),
    _blocks,
)


_ABSENT = frozenset(("fictional-entity", "fabricate-detail", "invent-term"))
"""Rules that add what no source says; what the others do contradicts it."""

_COPIED = 0.5
"""Share of clean texts that are copied from a source; the rest are outputs."""

_CHANGED = 0.4
"""Share of clean texts that are changed without harm before they are damaged."""

_TRIES = 4
"""Harms that are tried on a text before another text is drawn."""

_FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinPlan:
    """The pairs to make.

    `harms`, `harmless`: the damage, and changes that harm nothing.
    """

    harms: Sequence[Harm]
    harmless: Sequence[Harm]
    pairs: int
    """Number of pairs to make, of rows of the `split`."""
    split: Split = "train"
    seed: int


def twins(
    rows: Sequence[Row], plan: TwinPlan, *, clean: Container[str] = ()
) -> Iterator[TokenExample]:
    """Yield clean texts, each followed by its damaged version, drawn from the rows of a split.

    Rows that are not known to be supported, and whose file is not `clean`, give their source only.
    There are fewer pairs than asked for if little can be damaged.
    """
    usable = (row for row in rows if row.split == plan.split and row.segment.inputs)
    # Each data set is equally likely to be drawn from, however large it is.
    material = [*grouped(usable, lambda row: row.dataset).values()]
    if not material:
        return
    rng = default_rng(plan.seed)
    made = 0
    for draw in count():
        if made == plan.pairs or draw > plan.pairs * _TRIES * 2:
            return
        rows_of_one = material[int(rng.integers(len(material)))]
        row = rows_of_one[int(rng.integers(len(rows_of_one)))]
        text = _clean_text(row.segment, rng, is_good=row.source in clean)
        if len(text.split()) < _FEWEST_WORDS:
            continue
        text = _changed(text, plan.harmless, rng)
        damaged = _damaged(Case(text=text, inputs=row.segment.inputs), plan.harms, rng)
        if damaged is None:
            continue
        made += 1
        yield from _pair(row, text, damaged, number=made)


def _clean_text(segment: Segment, rng: Generator, *, is_good: bool) -> str:
    """Draw the output, if it is known to be supported, or a copy from the source."""
    is_supported = segment.meta.get("supported") is True and not segment.gold
    if not (is_good or is_supported) or rng.random() < _COPIED:
        sources = list(segment.inputs.values())
        return copied_sentence(sources[int(rng.integers(len(sources)))], rng)
    return segment.output


def _changed(text: str, harmless: Sequence[Harm], rng: Generator) -> str:
    if not harmless or rng.random() >= _CHANGED:
        return text
    change = harmless[int(rng.integers(len(harmless)))]
    damage = _applied(change, Case(text=text), rng)
    return damage.text if damage else text


def _damaged(case: Case, harms: Sequence[Harm], rng: Generator) -> tuple[Harm, Damage] | None:
    for at in rng.permutation(len(harms))[:_TRIES].tolist():
        damage = _applied(harms[at], case, rng)
        if damage:
            return harms[at], damage
    return None


def _applied(harm: Harm, case: Case, rng: Generator) -> Damage | None:
    try:
        return harm.perturbation.damage(case, rng, **harm.options)
    except NothingToDamageError:
        return None


def _pair(
    row: Row, clean: str, damaged: tuple[Harm, Damage], *, number: int
) -> Iterator[TokenExample]:
    harm, damage = damaged
    label = Label.ABSENT if harm.rule in _ABSENT else Label.CONTRADICTED
    twin = partial(of_row(row), group=f"twins {number}")
    yield twin(output=clean, label=Label.SUPPORTED, made_of="copy or clean text")
    yield twin(
        output=damage.text,
        spans=tuple(_widened(interval, damage.text, label) for interval in damage.places),
        label=label,
        made_of="damage",
        damage=harm.name,
    )


def _widened(interval: tuple[int, int], text: str, label: Label) -> LabelledSpan:
    """Mark, where something was taken out, what now stands side by side."""
    start, end = interval
    if start == end:
        start, end = max(0, start - 1), min(len(text), end + 1)
    return LabelledSpan(start=start, end=end, label=label)


_FEWEST, _MOST = 6, 40  # words of a sentence that is copied
_LEADING = re.compile(
    r"^(?:however|but|and|so|meanwhile|also|in addition|moreover|still|then)\s*,?\s+(?=\w)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()]*\)|, (?:which|who) [^,.]*,")
_SPEAKER = re.compile(r"^[\w \-]{1,25}:\s+")
_MARK = re.compile(r'([.,;:!?()"])')
_CLITIC = re.compile(r"(\w)'(s|re|ve|ll|d)\b")
_SHORTENED = 0.5
_LOWER = 0.12
_TOKENISED = 0.12


def copied_sentence(source: str, rng: Generator) -> str:
    """Return a sentence of `source`, perhaps shortened, lower-cased or tokenised; "" if none fits.

    Left out are a first connective, asides in brackets or relative clauses, and who speaks.
    """
    fitting = [
        (start, end)
        for start, end in sentence_intervals(source)
        if _FEWEST <= len(folded_words(source[start:end])) <= _MOST
    ]
    if not fitting:
        return ""
    start, end = fitting[int(rng.integers(len(fitting)))]
    text = " ".join(source[start:end].split())
    if rng.random() < _SHORTENED:
        text = _ASIDE.sub("", _LEADING.sub("", _SPEAKER.sub("", text)))
        text = text[:1].upper() + text[1:]
    if rng.random() < _LOWER:
        text = text.lower()
    return tokenised(text) if rng.random() < _TOKENISED else text


def tokenised(text: str) -> str:
    """Put blanks around marks, as old data sets do.

    Examples
    --------
    >>> tokenised("Ann's dog barked, twice.")
    "Ann 's dog barked , twice ."
    """
    return " ".join(_CLITIC.sub(r"\1 '\2", _MARK.sub(r" \1 ", text)).split())
