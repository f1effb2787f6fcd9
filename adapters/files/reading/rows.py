"""Rows of data, as users write them, and the segments that they become; read and written."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import chain
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeGuard

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from spanjury.adapters.files.line_writer import LineWriter, json_line
from spanjury.adapters.files.reading.gold import GoldSpan
from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import DataError, ErrorSpan, Segment
from spanjury.judges.core.passages import passages_apart

INPUT_HEADER = "Input"
"""The header of an input that comes as a plain text."""
OTHER_NAMES = MappingProxyType(
    {"input": "inputs", "source": "inputs", "reference": "references", "scores": "human"}
)
"""Other names of a key; the first of them counts, and only where the key itself is absent."""

_TEXTS = {str}
_OTHER_SCALARS = (date, time, timedelta, Decimal, bytes)
_FIELDS = frozenset(
    {"id", "output", "inputs", "task", "system", "references", "human", "spans", "meta"}
)
"""Names of what a segment is made of; `checked_rows.Row` says what each must be."""

_RENAMED = frozenset({"aspect", *OTHER_NAMES})
"""Keys for which a row is looked through before it is read."""

_TEXT = {str}

_EXACT = 2**53
"""Whole numbers below it are floats without a loss."""


def as_text(identity: object) -> object:
    """Write a number as a text; True and False are no numbers here."""
    if isinstance(identity, int | float) and not isinstance(identity, bool):
        return str(identity)
    return identity


def by_header(inputs: object) -> object:
    """Render every input, passages apart; one that comes without a header gets the usual one."""
    if isinstance(inputs, str | list):
        return {INPUT_HEADER: rendered(inputs)}
    if not isinstance(inputs, dict):
        return inputs
    if {*map(type, inputs.values())} == _TEXTS:
        return dict(inputs)
    return passages_apart(
        {
            header: value
            if isinstance(header, str) and _is_list_of_texts(value)
            else rendered(value)
            for header, value in inputs.items()
            if value is not None
        }
    )


def as_list(references: object) -> object:
    """Take a single text for a list of one."""
    return [references] if isinstance(references, str) else references


def by_rater(human: object) -> object:
    """Give a bare score the rater ``""`` and drop what has no rating."""
    if not isinstance(human, dict):
        return human
    rated = {}
    for aspect, scores in human.items():
        by_rater = scores if isinstance(scores, dict) else {"": scores}
        given = {rater: score for rater, score in by_rater.items() if score is not None}
        if given:
            rated[aspect] = given
    return rated


def rendered(value: object) -> str:
    """Write an input as text: the turns of a list on lines of their own, else as JSON.

    Raise `DataError` for what is neither text nor JSON's, nor a date, a number or text in bytes.
    """
    if isinstance(value, str):
        return value
    if _is_list_of_texts(value):
        return "\n".join(value)
    if isinstance(value, _OTHER_SCALARS):
        return _scalar(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_scalar)


def _scalar(value: object) -> str:
    """Write what tables hold and JSON does not."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
        raise DataError("an input holds bytes that are no text, expected a text")
    raise DataError(f"an input holds a {type(value).__name__}, expected a text")


def _is_list_of_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


class Row(BaseModel):
    """The native row, by its own names; each field's description says what it must be.

    Keys beyond these are kept in ``model_extra``.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    id: Annotated[str, BeforeValidator(as_text)] = Field(
        default="", min_length=1, description="a text that is not empty, or a number"
    )
    output: str = Field(description="a text")
    inputs: Annotated[dict[str, str], BeforeValidator(by_header)] = Field(
        default_factory=dict, description="a text, or an object of headers and texts"
    )
    task: str = Field(default="", description="a text")
    system: str = Field(default="", description="a text")
    references: Annotated[list[str], BeforeValidator(as_list)] = Field(
        default_factory=list, description="a text or a list of texts"
    )
    human: Annotated[
        dict[str, dict[str, Annotated[float, Field(allow_inf_nan=False)]]],
        BeforeValidator(by_rater),
    ] = Field(
        default_factory=dict,
        description='a finite number, in an object as {"fluency": 4} or '
        '{"fluency": {"rater": 4}}, or on its own beside "aspect"',
    )
    spans: list[GoldSpan] = Field(default_factory=list, description="a list of objects")
    meta: dict[str, object] = Field(default_factory=dict, description="an object")


def checked_row(native: Mapping[str, object], *, row: Mapping[str, object], line: int) -> Segment:
    """Return the segment that `native` describes, the `row` by its own names.

    Raises `DataError` if a field is not what it must be.
    """
    try:
        checked = Row.model_validate(native)
    except ValidationError as error:
        raise DataError(_complaint(error, row)) from error
    return Segment(
        segment_id=checked.id or f"line-{line}",
        output=checked.output,
        inputs=checked.inputs,
        task=checked.task,
        references=tuple(checked.references),
        system=checked.system,
        human=checked.human,
        gold=_gold(checked),
        meta=_meta(checked, spans=native.get("spans")),
    )


def _gold(row: Row) -> tuple[ErrorSpan, ...]:
    """Check each marked span against the output."""
    spans = []
    for number, span in enumerate(row.spans):
        try:
            spans.append(span.error_span(row.output))
        except DataError as error:
            raise DataError(f"spans[{number}]: {error}") from error
    return tuple(spans)


def _meta(row: Row, *, spans: object) -> dict[str, object]:
    """Return whatever a segment has no field for.

    The spans are there as written if they hold any of it, or if the list is empty: a row that
    lists no spans says that there are none, one without a list says nothing.
    """
    unknown = dict(row.model_extra or {})
    if spans == [] or any(span.model_extra for span in row.spans):
        unknown["spans"] = spans
    return unknown | row.meta


def _complaint(error: ValidationError, row: Mapping[str, object]) -> str:
    """Say what was got and what was expected for the first invalid field."""
    problems = error.errors(include_url=False, include_context=False)
    name, *inner = problems[0]["loc"]
    fields = Row.model_fields
    if name == "spans" and len(inner) > 1:
        fields = GoldSpan.model_fields
    field = fields[str(inner[1] if fields is GoldSpan.model_fields else name)]
    others = (other for other, meant in OTHER_NAMES.items() if meant == name)
    written = next((key for key in (name, *others) if key in row), name)
    field_path = str(written) + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in inner if part != ""
    )
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{field_path}: got {excerpt(problems[0]['input'])}, expected {field.description}{more}"


def parse_row(row: object, *, line: int) -> Segment:
    """Return the segment that `row` describes, whose texts must be encodable (see `parse_json`).

    A row without an ``id`` is called ``line-N`` after its line.

    Raises `DataError` if it is not an object, has no output, or a field is not what it must be;
    the message says which, what was got and what was expected, but not where.
    """
    if not isinstance(row, dict):
        raise DataError(f"got {excerpt(row)}, expected a JSON object")
    is_native = _RENAMED.isdisjoint(row) and None not in row.values()
    native = row if is_native else _native(row)
    if "output" not in native:
        raise DataError(f"the row has no output, only {excerpt([*row])}")
    segment = _plain_segment(native, line=line)
    return segment or checked_row(native, row=row, line=line)


def _plain_segment(native: Mapping[str, Any], *, line: int) -> Segment | None:
    """Return the segment of a row that is as it must be; None for one with spans, or in doubt.

    Most rows are plain. `checked_rows` makes the same of them, and takes several times as long.
    """
    inputs: Any = by_header(native.get("inputs", {}))
    references: Any = as_list(native.get("references", []))
    human = _plain_scores(native["human"]) if "human" in native else {}
    meta = native.get("meta", {})
    parts = (type(inputs), type(references), type(meta))
    if "spans" in native or human is None or parts != (dict, list, dict):
        return None
    identity: Any = as_text(native.get("id", f"line-{line}"))
    output, task, system = native["output"], native.get("task", ""), native.get("system", "")
    texts = chain((identity, output, task, system), inputs, inputs.values(), references, meta)
    if {*map(type, chain(texts, native))} != _TEXT or not identity:
        return None
    unknown = {name: value for name, value in native.items() if name not in _FIELDS}
    return Segment(
        segment_id=identity,
        output=output,
        inputs=inputs,
        task=task,
        references=tuple(references),
        system=system,
        human=human,
        meta=unknown | meta if meta else unknown,
    )


def _plain_scores(human: object) -> dict[str, dict[str, float]] | None:
    """Return aspect -> rater -> score; None if anything is in doubt."""
    rated = by_rater(human)
    if type(rated) is not dict:
        return None
    names = chain(rated, *rated.values())
    scores = chain.from_iterable(scores.values() for scores in rated.values())
    if not all(type(name) is str for name in names) or not all(map(_is_plain_score, scores)):
        return None
    return {
        aspect: {rater: float(score) for rater, score in scores.items()}
        for aspect, scores in rated.items()
    }


def _is_plain_score(score: object) -> bool:
    if type(score) is int:
        return -_EXACT < score < _EXACT
    return type(score) is float and isfinite(score)


def _native(row: Mapping[str, object]) -> dict[str, object]:
    """Call everything by its own name; a known key that holds null does not count."""
    native = {key: value for key, value in row.items() if value is not None or key not in _FIELDS}
    for other, name in OTHER_NAMES.items():
        if row.get(other) is not None and name not in row and name not in native:
            native[name] = native.pop(other)
    aspect = native.get("aspect")
    if isinstance(aspect, str) and isinstance(native.get("human"), int | float):
        native["human"] = {native.pop("aspect"): native["human"]}
    return native


def write_segments(path: Path, segments: Iterable[Segment]) -> int:
    """Write `segments` as JSON Lines; return how many.

    Raises `StoreError` if the file cannot be written. Raises `DataError` if a segment holds what
    JSON cannot; names it.
    """
    with LineWriter(path, keep_part=False) as lines:
        for segment in segments:
            lines.append(json_line(segment_row(segment), name=segment.segment_id))
        return lines.lines


def segment_row(segment: Segment) -> dict[str, object]:
    """Return the native row of `segment`, without what is empty; see ``docs/data.md``."""
    row: dict[str, object] = {
        "id": segment.segment_id,
        "task": segment.task,
        "system": segment.system,
        "inputs": dict(segment.inputs),
        "output": segment.output,
        "references": list(segment.references),
        "human": {aspect: dict(scores) for aspect, scores in segment.human.items()},
        "spans": [_span(span) for span in segment.gold],
        "meta": dict(segment.meta),
    }
    return {key: value for key, value in row.items() if value or key == "output"}


def _span(span: ErrorSpan) -> dict[str, object]:
    row: dict[str, object] = {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "severity": span.severity,
        "category": span.category,
        "explanation": span.explanation,
        "annotator": span.found_by[0] if span.found_by else None,
    }
    return {key: value for key, value in row.items() if value not in {None, ""}}
