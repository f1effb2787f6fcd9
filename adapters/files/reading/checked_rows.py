"""Rows that are validated field by field, so that each error can say what was expected."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from spanjury.adapters.files.reading.gold import GoldSpan
from spanjury.adapters.files.reading.row_values import (
    OTHER_NAMES,
    as_list,
    as_text,
    by_header,
    by_rater,
)
from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import DataError, ErrorSpan, Segment


class Row(BaseModel):
    """The native row; a field's description is the expectation in error messages.

    Other keys are kept in ``model_extra``.
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
    """Return the segment described by `native`, which is `row` with its keys renamed to ours.

    Raises `DataError` if a field is invalid.
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
    """Check each marked span against the output, and return the error spans."""
    spans = []
    for number, span in enumerate(row.spans):
        try:
            spans.append(span.error_span(row.output))
        except DataError as error:
            raise DataError(f"spans[{number}]: {error}") from error
    return tuple(spans)


def _meta(row: Row, *, spans: object) -> dict[str, object]:
    """Return all values that have no field in a segment.

    The original spans are included if they have extra keys, or if the list is empty: an empty list
    says that there are no spans, and a row without a list says nothing.
    """
    unknown = dict(row.model_extra or {})
    if spans == [] or any(span.model_extra for span in row.spans):
        unknown["spans"] = spans
    return unknown | row.meta


def _complaint(error: ValidationError, row: Mapping[str, object]) -> str:
    """Return a message with the actual and the expected value of the first invalid field."""
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
