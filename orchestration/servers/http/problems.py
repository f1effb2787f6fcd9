"""Problems: error responses in the format of RFC 9457.

The ``type`` of a problem is stable, so programs may rely on it. No problem repeats a text, a token
or a path of this machine.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from spanjury.orchestration.servers.invalid_fields import invalid_fields
from spanjury.orchestration.services.serving.quotas import QuotaError

MEDIA_TYPE = "application/problem+json"
_UNKNOWN = "there is no such field; /openapi.json lists the fields"
BASE = "/problems/"
"""Prefix of a type, followed by its name."""

_NOTHING: Mapping[str, object] = MappingProxyType({})
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})

KINDS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        "address-not-allowed": (403, "Requests to this service must name a loopback address"),
        "batch-not-found": (404, "There is no such batch"),
        "body-invalid": (422, "The request does not have the expected form"),
        "body-not-json": (400, "The body is not JSON"),
        "body-too-large": (413, "The body is too large"),
        "body-too-slow": (408, "The body did not arrive in time"),
        "check-timed-out": (504, "The check took too long"),
        "client-closed": (499, "The client went away"),
        "disk-not-writable": (507, "The service cannot write to its disk"),
        "internal-error": (500, "The service failed"),
        "media-type-not-supported": (415, "The body has the wrong media type"),
        "method-not-allowed": (405, "This address does not accept this method"),
        "not-found": (404, "There is nothing at this address"),
        "origin-not-allowed": (403, "Pages of other sites may not call this service"),
        "panel-not-found": (422, "This service has no such panel"),
        "quota-reached": (429, "One of your quotas is used up for now"),
        "quota-used-up": (403, "One of your quotas is used up"),
        "request-not-understood": (422, "Unknown name or invalid value in the request"),
        "rows-invalid": (422, "Rows of the batch cannot be read"),
        "service-closing": (503, "The service is shutting down"),
        "service-starting": (503, "The service is still starting"),
        "text-too-long": (413, "A text is too long"),
        "token-in-url": (400, "A token must not be in a URL"),
        "token-missing": (401, "A token is needed"),
        "token-wrong": (401, "The token is unknown"),
        "too-busy": (429, "The service is at its limit"),
        "too-many-rows": (413, "The batch has too many rows"),
    }
)
"""Name of a problem -> its status and its title."""


class FieldProblem(BaseModel):
    """A field that is not as expected."""

    field: str = Field(description="Where it is, as `inputs.Context.2`.")
    detail: str = Field(description="The expectation that it does not meet.")


class RowProblem(BaseModel):
    """A row of a batch that cannot be read."""

    line: int | None = Field(description="Its line, from 1; null if no line is at fault.")
    detail: str = Field(description="The reason.")


class Problem(BaseModel):
    """A problem, as RFC 9457 has it."""

    type: str = Field(description="Stable name of the kind of problem, as `/problems/too-busy`.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(default="", description="The particular case.")
    fields: list[FieldProblem] | None = Field(
        default=None, description="The fields at fault, with `body-invalid`."
    )
    rows: list[RowProblem] | None = Field(
        default=None, description="The first 20 rows at fault, with `rows-invalid`."
    )
    quota: str | None = Field(
        default=None, description="The quota: `calls`, `dollars`, `rows` or `disk`."
    )
    free_again: datetime | None = Field(
        default=None, description="The time at which it is free again, with `quota-reached`."
    )
    rows_in_all: int | None = Field(
        default=None, description="The number of rows at fault, with `rows-invalid`."
    )


class ProblemError(Exception):
    """A request that cannot be fulfilled, for a reason in `KINDS`.

    `detail` describes the particular case, and `more` has further members of the response body.
    """

    def __init__(
        self,
        kind: str,
        detail: str = "",
        *,
        more: Mapping[str, object] = _NOTHING,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.detail = detail
        self.more = more
        self.headers = headers

    @property
    def status(self) -> int:
        """The status of the response."""
        return KINDS[self.kind][0]

    @property
    def body(self) -> dict[str, object]:
        """The response body as a JSON-compatible mapping."""
        status, title = KINDS[self.kind]
        detail = {"detail": self.detail} if self.detail else {}
        about = {"type": f"{BASE}{self.kind}", "title": title, "status": status}
        return {**about, **detail, **self.more}

    def response(self) -> Response:
        """Return the response."""
        return Response(
            json.dumps(self.body),
            status_code=self.status,
            media_type=MEDIA_TYPE,
            headers=dict(self.headers),
        )


def answer_problem(_: Request, problem: Exception) -> Response:
    """Return the response of a `ProblemError`."""
    assert isinstance(problem, ProblemError)
    return problem.response()


@contextmanager
def quota_problems() -> Iterator[None]:
    """Turn a `QuotaError` into a `ProblemError`, with the time at which the quota is free again."""
    try:
        yield
    except QuotaError as error:
        raise _quota_problem(error) from error


def _quota_problem(error: QuotaError) -> ProblemError:
    more: dict[str, object] = {"quota": error.quota}
    if error.free_again is None:
        return ProblemError("quota-used-up", str(error), more=more)
    left = (error.free_again - datetime.now(UTC)).total_seconds()
    return ProblemError(
        "quota-reached",
        str(error),
        more={**more, "free_again": error.free_again.isoformat()},
        headers={"Retry-After": f"{max(1, math.ceil(left))}"},
    )


def answer_invalid(_: Request, error: Exception) -> Response:
    """Return the response to invalid fields, without repeating their values."""
    assert isinstance(error, RequestValidationError)
    problems: Sequence[Mapping[str, object]] = error.errors()
    for problem in problems:
        if problem["type"] == "json_invalid":
            return ProblemError("body-not-json", _where_not_json(problem)).response()
    return ProblemError("body-invalid", more={"fields": fields_at_fault(problems)}).response()


def fields_at_fault(problems: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the first 20 fields that pydantic rejects, without their values."""
    named = invalid_fields(problems, unknown=_UNKNOWN)
    return [{"field": field, "detail": detail} for field, detail in named[:20]]


def _where_not_json(problem: Mapping[str, object]) -> str:
    """Return what the parser of the body expected, and where."""
    where, context = problem["loc"], problem.get("ctx")
    assert isinstance(where, tuple)
    assert isinstance(context, Mapping)
    return f"{context['error']} (character {where[-1]}, counted from 0)"


def answer_http_error(_: Request, error: Exception) -> Response:
    """Return the response to an error of the framework."""
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, RecursionError):  # of the parser of the body
        return ProblemError("body-invalid", "the body is nested too deeply to be read").response()
    kinds = {404: "not-found", 405: "method-not-allowed", 400: "body-not-json"}
    headers = error.headers or {}
    return ProblemError(kinds.get(error.status_code, "internal-error"), headers=headers).response()
