"""Rows that are validated field by field, so that each error can say what was expected."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from spanjury.adapters.files.reading.row_values import (
    OTHER_NAMES,
    as_list,
    as_text,
    by_header,
    by_rater,
)
from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import (
    MAX_SEVERITY,
    MIN_SEVERITY,
    DataError,
    ErrorSpan,
    Located,
    Segment,
)

SEVERITIES = MappingProxyType({"neutral": 1, "minor": 2, "major": 4, "critical": 5})
"""Severities of MQM annotations by name -> our severities."""


def _as_number(severity: object) -> object:
    """Convert a severity's name, or an integer written as 4.0, to an int."""
    if isinstance(severity, str):
        return SEVERITIES.get(severity.strip().casefold(), severity)
    if isinstance(severity, float) and severity.is_integer():
        return int(severity)
    return severity


class GoldSpan(BaseModel):
    """One marked error; a field's description is the expectation in error messages.

    A span has both offsets, or neither if it is an omission or a quote that is not in the output.
    Other keys are kept in ``model_extra``; a text under ``kind`` is used as the category if there
    is none.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    start: int | None = Field(default=None, description="a whole number")
    end: int | None = Field(default=None, description="a whole number")
    text: str | None = Field(default=None, description="a text")
    explanation: str | None = Field(default=None, description="a text")
    severity: Annotated[int | None, BeforeValidator(_as_number)] = Field(
        default=None,
        ge=MIN_SEVERITY,
        le=MAX_SEVERITY,
        description=f"{MIN_SEVERITY} to {MAX_SEVERITY} or one of {', '.join(SEVERITIES)}",
    )
    category: str | None = Field(default=None, description="a text")
    annotator: str | None = Field(default=None, description="a text")

    def error_span(self, output: str) -> ErrorSpan:
        """Return the error span; `annotator` becomes the only entry of its `found_by`.

        Raises `DataError` if the offsets are outside `output`, or the text there is another.
        """
        kind = (self.model_extra or {}).get("kind")
        return ErrorSpan(
            text=self._quote(output),
            start=self.start,
            end=self.end,
            explanation=self.explanation or "",
            severity=self.severity,
            category=self.category or (kind if isinstance(kind, str) else ""),
            located=Located.UNLOCATED if self.start is None else Located.EXACT,
            found_by=() if self.annotator is None else (self.annotator,),
        )

    def _quote(self, output: str) -> str:
        """Return the marked text; raise `DataError` if the output differs from the span's text."""
        if self.start is None and self.end is None:
            return self.text or ""
        if self.start is None or self.end is None:
            raise DataError(f"got start {self.start} and end {self.end}, expected both or none")
        if not 0 <= self.start < self.end <= len(output):
            raise DataError(
                f"got start {self.start} and end {self.end}, expected 0 <= start < end <= "
                f"{len(output)}, the length of the output in code points"
            )
        quote = output[self.start : self.end]
        if self.text is not None and self.text != quote:
            raise DataError(
                f"got the text {self.text[:60]!r}, expected {quote[:60]!r}, which is what the "
                f"output has from {self.start} to {self.end} (in code points)"
            )
        return quote


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
