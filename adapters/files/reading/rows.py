"""Rows of data, as users write them, and the segments that they become; read and written."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from spanjury.adapters.files.line_writer import LineWriter, json_line
from spanjury.adapters.files.reading.gold import GoldSpan
from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import DataError, ErrorSpan, Segment

INPUT_HEADER = "Input"
"""The header of an input that comes as a plain text."""
# Other names of a key; the first of them counts, and only where the key itself is absent.
_OTHER_NAMES = MappingProxyType(
    {"input": "inputs", "source": "inputs", "reference": "references", "scores": "human"}
)


def _as_text(identity: object) -> object:
    """Write a number as a text; True and False are no numbers here."""
    if isinstance(identity, int | float) and not isinstance(identity, bool):
        return str(identity)
    return identity


def _by_header(inputs: object) -> object:
    """Render every input; one that comes without a header gets the usual one."""
    if isinstance(inputs, str | list):
        return {INPUT_HEADER: _rendered(inputs)}
    if isinstance(inputs, dict):
        return {header: _rendered(text) for header, text in inputs.items() if text is not None}
    return inputs


def _as_list(references: object) -> object:
    """Take a single text for a list of one."""
    return [references] if isinstance(references, str) else references


def _by_rater(human: object) -> object:
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


class Row(BaseModel):
    """The native row, by its own names; each field's description says what it must be.

    Keys beyond these are kept in ``model_extra``.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    id: Annotated[str, BeforeValidator(_as_text)] = Field(
        default="", min_length=1, description="a text that is not empty, or a number"
    )
    output: str = Field(description="a text")
    inputs: Annotated[dict[str, str], BeforeValidator(_by_header)] = Field(
        default_factory=dict, description="a text, or an object of headers and texts"
    )
    task: str = Field(default="", description="a text")
    system: str = Field(default="", description="a text")
    references: Annotated[list[str], BeforeValidator(_as_list)] = Field(
        default_factory=list, description="a text or a list of texts"
    )
    human: Annotated[
        dict[str, dict[str, Annotated[float, Field(allow_inf_nan=False)]]],
        BeforeValidator(_by_rater),
    ] = Field(
        default_factory=dict,
        description='a finite number, in an object as {"fluency": 4} or '
        '{"fluency": {"rater": 4}}, or on its own beside "aspect"',
    )
    spans: list[GoldSpan] = Field(default_factory=list, description="a list of objects")
    meta: dict[str, object] = Field(default_factory=dict, description="an object")


def parse_row(row: object, *, line: int) -> Segment:
    """Return the segment that `row` describes, whose texts must be encodable (see `parse_json`).

    A row without an ``id`` is called ``line-N`` after its line.

    Raises `DataError` if it is not an object, has no output, or a field is not what it must be;
    the message says which, what was got and what was expected, but not where.
    """
    if not isinstance(row, dict):
        raise DataError(f"got {excerpt(row)}, expected a JSON object")
    if _is_plain(row):
        return _plain_segment(row)
    native = _native(row)
    if "output" not in native:
        raise DataError(f"the row has no output, only {excerpt([*row])}")
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


def _is_plain(row: Mapping[str, object]) -> bool:
    """Say whether nothing in `row` needs a closer look: texts by their own names, no ratings."""
    inputs, references = row.get("inputs", {}), row.get("references", [])
    return (
        _CLOSER.isdisjoint(row)
        and type(row.get("id")) is str
        and row["id"] != ""
        and type(row.get("output")) is str
        and type(row.get("task", "")) is str
        and type(row.get("system", "")) is str
        and type(inputs) is dict
        and all(type(text) is str for text in inputs.values())
        and type(references) is list
        and all(type(text) is str for text in references)
    )


def _plain_segment(row: Mapping[str, Any]) -> Segment:
    return Segment(
        segment_id=row["id"],
        output=row["output"],
        inputs=row.get("inputs", {}),
        task=row.get("task", ""),
        references=tuple(row.get("references", ())),
        system=row.get("system", ""),
        human={},
        meta={key: value for key, value in row.items() if key not in _FIELDS},
    )


def _native(row: Mapping[str, object]) -> dict[str, object]:
    """Call everything by its own name; a known key that holds null does not count."""
    native = {key: value for key, value in row.items() if value is not None or key not in _FIELDS}
    for other, name in _OTHER_NAMES.items():
        if row.get(other) is not None and name not in row and name not in native:
            native[name] = native.pop(other)
    aspect = native.get("aspect")
    if isinstance(aspect, str) and isinstance(native.get("human"), int | float):
        native["human"] = {native.pop("aspect"): native["human"]}
    return native


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
    """Say of the first field that is wrong what was got and what was expected."""
    problems = error.errors(include_url=False, include_context=False)
    name, *inner = problems[0]["loc"]
    fields = Row.model_fields
    if name == "spans" and len(inner) > 1:
        fields = GoldSpan.model_fields
    known = fields[str(inner[1] if fields is GoldSpan.model_fields else name)]
    others = (other for other, meant in _OTHER_NAMES.items() if meant == name)
    written = next((key for key in (name, *others) if key in row), name)
    place = str(written) + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in inner if part != ""
    )
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{place}: got {excerpt(problems[0]['input'])}, expected {known.description}{more}"


def write_segments(path: Path, segments: Iterable[Segment]) -> int:
    """Write `segments` as JSON Lines; return how many.

    Raises `StoreError` if the file cannot be written. Raises `DataError` if a segment holds what
    JSON cannot; names it.
    """
    with LineWriter(path, keep_part=False) as lines:
        for segment in segments:
            lines.append(json_line(_segment_row(segment), name=segment.segment_id))
        return lines.lines


def _segment_row(segment: Segment) -> dict[str, object]:
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


def _rendered(value: object) -> str:
    """Write an input as text: the turns of a list on lines of their own, else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(turn, str) for turn in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_FIELDS = frozenset(Row.model_fields)
_CLOSER = frozenset({"human", "spans", "meta", "aspect", *_OTHER_NAMES})
"""Keys whose values are looked at more closely."""
