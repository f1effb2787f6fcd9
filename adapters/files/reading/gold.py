"""Gold error spans: annotators' marks in an output, as stored in rows."""

from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, DataError, ErrorSpan, Located

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
        return ErrorSpan(
            text=self._quote(output),
            start=self.start,
            end=self.end,
            explanation=self.explanation or "",
            severity=self.severity,
            category=self.category or self._kind(),
            located=Located.UNLOCATED if self.start is None else Located.EXACT,
            found_by=() if self.annotator is None else (self.annotator,),
        )

    def _kind(self) -> str:
        kind = (self.model_extra or {}).get("kind")
        return kind if isinstance(kind, str) else ""

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
