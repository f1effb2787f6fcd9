"""The OpenAPI description of the service: possible problems, and how to send a token."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from spanjury.judges.core import VERSION
from spanjury.orchestration.servers.http.problems import BASE, KINDS, MEDIA_TYPE, Problem

_DESCRIPTION = """\
A panel of judges marks the error spans of generated texts, says why, and scores them.

Whatever cannot be done is answered by a problem (RFC 9457) whose `type` is stable. A judge's
failure is none: it is an outcome inside a report, and never turned into a score.
"""
_ALWAYS = (
    "address-not-allowed",
    "internal-error",
    "origin-not-allowed",
    "token-in-url",
    "token-missing",
    "token-wrong",
)
JUDGING = (
    "body-invalid",
    "body-too-large",
    "body-too-slow",
    "media-type-not-supported",
    "panel-not-found",
    "quota-reached",
    "quota-used-up",
    "request-not-understood",
    "service-closing",
    "service-starting",
    "too-busy",
)
"""Problems of every request that has texts judged."""
_NO_TOKEN = frozenset({"/healthz", "/readyz"})
_ERROR_STATUS = 400
_JSON, _EVENTS = "application/json", "text/event-stream"
_FOREIGN = "HTTPValidationError"
"""A schema that FastAPI adds by default."""


def problems(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return the responses for these problems and those of every route, by status."""
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for kind in sorted({*kinds, *_ALWAYS}):
        by_status[KINDS[kind][0]].append(kind)
    return {
        status: {
            "model": Problem,
            "description": ", ".join(f"`{BASE}{kind}`" for kind in named),
        }
        for status, named in sorted(by_status.items())
    }


def texts(description: str, media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the response of a route that answers with a text."""
    content = {media_type: {"schema": {"type": "string"}}}
    return {200: {"description": description, "content": content}}


def describe(app: FastAPI) -> Mapping[str, Any]:
    """Return the OpenAPI document of the service."""
    page = get_openapi(
        title="spanjury",
        version=VERSION,
        summary="A jury of judges for generated texts.",
        description=_DESCRIPTION,
        routes=app.routes,
    )
    parts = page["components"]
    for gone in (_FOREIGN, "ValidationError"):
        parts["schemas"].pop(gone, None)
    parts["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "Where the service has any."}
    }
    for path, methods in page["paths"].items():
        for operation in methods.values():
            if path not in _NO_TOKEN:
                operation["security"] = [{"token": []}, {}]
            _correct(operation["responses"])
    return page


def _correct(responses: dict[str, Any]) -> None:
    """Correct the media types of problems and events, and remove responses that are never sent."""
    for status, response in [*responses.items()]:
        content = response.get("content", {})
        if _FOREIGN in str(content):
            del responses[status]
        elif status.isdecimal() and int(status) >= _ERROR_STATUS and _JSON in content:
            content[MEDIA_TYPE] = content.pop(_JSON)
        elif {_EVENTS, _JSON} <= content.keys():
            content[_EVENTS] = content.pop(_JSON)
